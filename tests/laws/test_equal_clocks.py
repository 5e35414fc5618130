"""Equal clocks are called possible only where no packet would arrive before it left by them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pcaplat import merge
from pcaplat.cli import run as run_command
from pcaplat.stages.align import align
from tests.captures.lab_merge import POINTS
from tests.laws.retimed import SetClock, retimed
from tests.support.alignments import TwoClocks, findings_of
from tests.support.shelf import lab_set
from tests.unit.diagnostics.lint_by_hand import FAR, MIDDLE, NEAR, Set, requests
from tests.unit.diagnostics.lint_causes import THREE, ahead, far

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Shifted = Callable[[Mapping[str, SetClock]], list[str]]

POSSIBLE = "No packet contradicts equal clocks"
DECLARE_ALL = "--same-clock all"
HOST2 = ("host2-up", "host2-vm")


def screen(files: list[str], capsys: pytest.CaptureFixture[str], *options: str) -> str:
    run_command(["merge", *files, "--quiet", *options])
    return " ".join(capsys.readouterr().out.split())


def contradicted(files: list[str], path: str | None = None) -> dict[tuple[str, str], float]:
    """Segments at which a packet would arrive before it left by one clock, and the worst, ns."""
    found: dict[tuple[str, str], float] = {}
    with merge(files, same_clock="all", path=path and path.split(",")) as result:
        codes = {row["code"] for row in result.document["warnings"]}
        for row in result.document["segments"]:
            if row["min_ns"] is not None and row["min_ns"] < 0:
                ends = (row["near"], row["far"])
                found[ends] = max(found.get(ends, 0.0), -row["min_ns"])
    assert bool(found) == ("negative-latency" in codes)
    return found


def document(files: list[str]) -> dict[str, Any]:
    with merge(files) as result:
        return result.document


def assert_agrees(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """What is said without a declaration holds when the clocks are declared equal."""
    out, early = screen(files, capsys), contradicted(files)
    assert (POSSIBLE in out) == (DECLARE_ALL in out) == (not early)
    summary = document(files)
    (raw,) = [r["text"] for r in summary["warnings"] if r["code"] == "clocks-assumed-equal"] or [""]
    apart = {(row["near"], row["far"]): row["clock_apart_ns"] for row in summary["segments"]}
    for (near, far_end), apart_ns in apart.items():
        least_ns = early.get((near, far_end), 0.0)
        assert apart_ns >= least_ns
        assert bool(apart_ns) == bool(least_ns)
        if least_ns:
            assert f"{near}–{far_end}" not in raw


@pytest.fixture
def shifted(tmp_path: Path) -> Shifted:
    """The captures of the lab, one host with another clock."""

    def of(clocks: Mapping[str, SetClock]) -> list[str]:
        folder = lab_set("vxlan-routed")
        if not folder.exists():
            pytest.skip("the lab captures are not here")
        for name in POINTS:
            source = folder / f"{name}.pcap"
            retimed(source, tmp_path / source.name, clocks.get(name, SetClock()))
        return [str(tmp_path / f"{name}.pcap") for name in POINTS]

    return of


@pytest.mark.parametrize("offset_ns", [0, 430, 440, 500, 1_000, 2_000, 20_000, -1_000])
def test_of_a_host_in_the_lab(
    offset_ns: int, shifted: Shifted, capsys: pytest.CaptureFixture[str]
) -> None:
    assert_agrees(shifted(dict.fromkeys(HOST2, SetClock(offset_ns))), capsys)


@pytest.mark.parametrize("drift_ppm", [0.05, 0.2, 2.0])
def test_of_a_host_that_drifts(
    drift_ppm: float, shifted: Shifted, capsys: pytest.CaptureFixture[str]
) -> None:
    assert_agrees(shifted(dict.fromkeys(HOST2, SetClock(0, drift_ppm))), capsys)


@pytest.mark.parametrize("offset_ns", [0, 300, 2_000, 4_000, 5_000, 6_000, 8_000, 50_000, -3_000])
def test_of_the_far_end(offset_ns: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert_agrees(THREE.having(far=far(clock=ahead(offset_ns))).save(tmp_path), capsys)


@pytest.mark.parametrize("offset_ns", [0, 500_000])
def test_one_direction_may_contradict_them_too(
    offset_ns: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    middle = replace(MIDDLE, clock=ahead(offset_ns))
    files = Set({"near": NEAR, "middle": middle, "far": FAR}, requests()).save(tmp_path)
    path = "near,middle,far"
    out = screen(files, capsys, "--path", path)
    early = contradicted(files, path)
    assert list(early) == ([("middle", "far")] if offset_ns else [])
    assert ("contradict equal clocks at middle → far" in out) == bool(early)
    assert ("or --same-clock" in out) == (not early)


def test_where_no_clocks_fit_equal_ones_do_not_either(
    shifted: Shifted, capsys: pytest.CaptureFixture[str]
) -> None:
    path = "host1-vm,sw-a,host1-up,sw-b,host2-up,host2-vm"
    out = screen(shifted({}), capsys, "--path", path)
    assert "clock-contradiction" in out
    assert POSSIBLE not in out
    assert DECLARE_ALL not in out


@pytest.mark.parametrize(
    ("seed", "n_each_way", "drift_ppm", "tail_ns", "offset_ns"),
    [(3, 300, 0.05, 100, 860), (0, 300, 0.05, 3_000, 860), (8, 60, 0.0, 1_000, 940)],
)
def test_a_packet_between_two_knots_counts(
    seed: int, n_each_way: int, drift_ppm: float, tail_ns: float, offset_ns: int
) -> None:
    clocks = TwoClocks(
        offset_ns,
        drift_ppm,
        forward_ns=900,
        reverse_ns=900,
        tail_ns=tail_ns,
        span_ns=10**9,
        n_each_way=n_each_way,
        seed=seed,
    )
    found = align(findings_of([0, 0], clocks.span_ns), [0, 1], clocks.min_delays())
    early_ns = max(-one.raw_ns.min() for one in clocks.min_delays())
    assert early_ns > 0
    assert np.any(found.relation(0, 1).value_ns)
    assert not found.is_raw
    assert found.relation(0, 1).apart_ns >= early_ns
