"""What the screen says of clocks: which are declared, and which may be."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

import pcaplat
from pcaplat.cli import run as run_command
from tests.laws.retimed import SetClock, retimed
from tests.support.shelf import SAMPLES
from tests.unit.diagnostics.lint_causes import THREE, ahead, far

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.diagnostics.lint_by_hand import Records, Set

APART = THREE.having(far=far(clock=ahead(500_000)))
"""The clock of the far end is ahead by more than any packet takes."""


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def screen(of: Set, folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    run_command(["merge", *of.save(folder), "--quiet", *options])
    return " ".join(capsys.readouterr().out.split())


def test_clocks_that_differ_are_named_and_nobody_is_told_to_declare_all_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = screen(APART, tmp_path, capsys)
    assert "The clocks differ at middle – far (5" in out
    assert "--same-clock all" not in out
    assert "contradicts equal clocks" not in out


@pytest.mark.parametrize("ahead_ns", [0, 400, 500, 1_000, 50_000])
def test_equal_clocks_are_called_possible_if_packets_bear_them(
    ahead_ns: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The clock of the second host is ahead; the fastest packet between takes 480 ns."""
    files = [tmp_path / path.name for path in sorted((SAMPLES / "vxlan").glob("*.pcap"))]
    for file in files:
        is_second = file.name.startswith("host2")
        retimed(SAMPLES / "vxlan" / file.name, file, SetClock(ahead_ns * is_second))
    run_command(["merge", *map(str, files), "--quiet"])
    is_possible = "No packet contradicts equal clocks" in " ".join(capsys.readouterr().out.split())
    declared = pcaplat.lint(files, same_clock="all")
    codes = {row["code"] for row in declared["findings"]}
    assert is_possible == ("negative-latency" not in codes)
    assert is_possible == (ahead_ns < 480)


def test_where_equal_clocks_are_possible_they_are_not_called_proved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "No packet contradicts equal clocks, but none proves them." in screen(
        THREE, tmp_path, capsys
    )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--same-clock all", "(packets do not prove it): equal at all points"),
        ("--same-clock near,middle", "(packets do not prove it): equal at middle, near"),
        (
            "--clock-accuracy near=1us --clock-accuracy far=1us",
            "(packets do not prove it): near within 1.00 µs; far within 1.00 µs",
        ),
    ],
)
def test_the_screen_names_the_declarations_that_figures_rest_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: str, expected: str
) -> None:
    assert f"Clocks declared {expected}" in screen(THREE, tmp_path, capsys, *options.split())


def test_a_declaration_that_packets_contradict_is_called_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = screen(APART, tmp_path, capsys, "--same-clock", "near,far")
    assert "Clocks declared (packets contradict it): equal at " in out
    assert "here one clock: near and far" in out or "remove --same-clock" in out


@pytest.mark.parametrize("offset_ns", [6_000, 500_000, -500_000])
def test_what_a_false_declaration_makes_of_latencies_is_no_headline(
    offset_ns: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = THREE.having(far=far(clock=ahead(offset_ns))).save(tmp_path)
    run_command(["merge", *files, "--quiet", "--same-clock", "all"])
    out = capsys.readouterr().out
    path, _, rest = out.partition("\n\n")[2].partition("\n\n")
    headline, _, below = rest.partition("Before you rely on these figures")
    run_command(["merge", *files, "--quiet", "--same-clock", "all", "--format", "json"])
    rows = json.loads(capsys.readouterr().out)["segments"]
    of = {(row["near"], row["far"]): row["clock_apart_ns"] for row in rows}
    assert of["near", "middle"] == 0
    assert of["middle", "far"] == of["near", "far"] > 0
    # both directions together hold, whatever the clocks
    assert re.search(r"near ─\S+→ middle ⇄─[\d.]+─⇄ far", path)
    assert "near ⇄ far: median" in headline
    assert not re.search(r"-\d|middle [→←] far", headline)
    assert "error: negative-latency" in below


def test_one_early_packet_takes_no_figure_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def early(records: Records) -> Records:
        return [(t - 50_000 * (at == 201), frame) for at, (t, frame) in enumerate(records)]

    files = THREE.having(far=far(order=early)).save(tmp_path)
    run_command(["merge", *files, "--quiet", "--same-clock", "all"])
    out = capsys.readouterr().out
    assert "error: negative-latency" in out
    assert "middle → far: median" in out or "near → far: median" in out


def test_an_accuracy_that_was_not_used_is_not_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = screen(THREE, tmp_path, capsys, "--clock-accuracy", "near=1us")
    assert "Clocks declared" not in out
    assert "clock-accuracy-alone" in out
