"""merged.pcapng merged again answers the same: with one clock, several, and on a tree."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pcaplat
from tests.recovery.simulator import run
from tests.recovery.simulator.scenario import Clock, Link, Point, Scenario, Traffic
from tests.support.frames import write_pcap
from tests.support.tracers import START_NS, request

if TYPE_CHECKING:
    from pathlib import Path

UNRELATED = (Point("a"), Point("b", Clock(5_000_000, 20.0)), Point("c", Clock(-7_000_000, -8.0)))
TREE = (
    Point("a"),
    Point("b0", Clock(5_000_000), hop=1, branch=0),
    Point("b1", Clock(-1_000_000), hop=1, branch=1),
    Point("c", Clock(-7_000_000), hop=2),
)
LINKS = (Link(), Link())
TRAFFIC = Traffic(n_packets=3_000)
COUNTS = ("near", "far", "direction", "class", "n", "n_lost", "n_late", "n_reordered")
TIMES = ("min_ns", "mean_ns", "p50_ns", "p99_ns", "max_ns", "clock_half_width_ns")
ROUNDED_NS = 1.5
"""Times on the reference clock are whole ns, and so is what is left of offsets."""


def merged(files: list[Path], out: Path, **options: Any) -> dict[str, Any]:  # noqa: ANN401 - of merge
    with pcaplat.merge([str(one) for one in files], **options) as result:
        pcaplat.write(result, out, pcapng=True)
        return result.document


def assert_same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    def name(text: str) -> str:
        return text.removeprefix("merged/")

    assert [name(one) for one in found["path"]] == wanted["path"]
    assert len(found["segments"]) == len(wanted["segments"]) > 0
    for one, other in zip(found["segments"], wanted["segments"], strict=True):
        row = one | {"near": name(one["near"]), "far": name(one["far"])}
        assert {key: row[key] for key in COUNTS} == {key: other[key] for key in COUNTS}
        for key in TIMES:
            assert row[key] == pytest.approx(other[key], abs=ROUNDED_NS), (row["near"], key)


@pytest.mark.parametrize(
    ("scenario", "same_clock"),
    [
        (Scenario(UNRELATED, LINKS, TRAFFIC), []),
        (Scenario(tuple(Point(name) for name in "abc"), LINKS, TRAFFIC), ["all"]),
        (Scenario(TREE, LINKS, TRAFFIC, n_branches=2), []),
        (Scenario((Point("a"), *UNRELATED[1:], Point("d")), (*LINKS, Link()), TRAFFIC), ["a,d"]),
    ],
    ids=["unrelated", "one-clock", "tree", "some-share"],
)
def test_the_second_answer_is_the_first(
    scenario: Scenario, same_clock: list[str], tmp_path: Path
) -> None:
    groups = [one.split(",") if one != "all" else one for one in same_clock]
    wanted = merged(run(scenario).save(tmp_path), tmp_path / "out", same_clock=groups)
    again = merged([tmp_path / "out" / "merged.pcapng"], tmp_path / "again")
    assert_same(again, wanted)
    assert {one["quality"] for one in again["clocks"]} == {
        one["quality"] for one in wanted["clocks"]
    }
    if not same_clock:
        assert min(one["clock_half_width_ns"] for one in again["segments"]) > 1_000


def test_more_packets_than_are_sampled(tmp_path: Path) -> None:
    traffic = Traffic(n_packets=20_000)
    scenario = Scenario(tuple(Point(name) for name in "abc"), LINKS, traffic)
    wanted = merged(run(scenario).save(tmp_path), tmp_path / "out", same_clock=["all"])
    assert_same(merged([tmp_path / "out" / "merged.pcapng"], tmp_path / "again"), wanted)


@pytest.mark.parametrize("order", ["abc", "cab"])
def test_packets_of_one_direction_stay_in_it(order: str, tmp_path: Path) -> None:
    """Clocks that are apart and drift, and nothing comes back: what is not known stays so."""
    chance = np.random.default_rng(11)
    sent_ns = START_NS + np.cumsum(chance.exponential(40_000, 1_500)).astype(np.int64)
    files = []
    for name, point in zip(order, UNRELATED, strict=True):
        clock_ns = point.clock.offset_ns + point.clock.drift_ppm * 1e-6 * (sent_ns - START_NS)
        stamps = (sent_ns + np.rint(clock_ns).astype(np.int64)).tolist()
        frames = [(t_ns, request(number)) for number, t_ns in enumerate(stamps)]
        files.append(tmp_path / f"{name}.pcap")
        write_pcap(files[-1], frames)
        sent_ns = sent_ns + 2_000 + chance.exponential(1_500, 1_500).astype(np.int64)
    wanted = merged(files, tmp_path / "out")
    again = merged([tmp_path / "out" / "merged.pcapng"], tmp_path / "again")
    assert_same(again, wanted)
    qualities = [[one["quality"] for one in document["clocks"]] for document in (wanted, again)]
    assert qualities[0] == qualities[1] == ["same-clock", "one-way", "one-way"]


@pytest.mark.oracle
@pytest.mark.parametrize(
    "how", [["-I", "none"], ["-I", "all"]], ids=["interfaces", "one-interface"]
)
def test_what_mergecap_made_is_given_no_common_clock(how: list[str], tmp_path: Path) -> None:
    """Three captures of a routed path by unrelated clocks, in one file that does not say so."""
    points = tuple(
        Point(name, clock, routers=at)
        for at, (name, clock) in enumerate(
            zip("abc", (one.clock for one in UNRELATED), strict=True)
        )
    )
    files = run(Scenario(points, LINKS, TRAFFIC)).save(tmp_path)
    both = tmp_path / "both.pcapng"
    subprocess.run(["mergecap", *how, "-w", both, *files], check=True)
    document = merged([both], tmp_path / "out")
    notes = [one for one in document["warnings"] if one["code"] == "clock-not-stated"]
    assert len(notes) == 1
    assert "both.pcapng: combines captures" in notes[0]["text"]
    exact = [one for one in document["segments"] if one["clock_half_width_ns"] == 0]
    assert exact == []
    told = merged([both], tmp_path / "declared", same_clock=["all"])
    assert "clock-not-stated" not in {one["code"] for one in told["warnings"]}
