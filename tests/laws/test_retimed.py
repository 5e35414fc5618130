"""Captures of one clock with the stamps of other clocks: what is reported stays what happened."""

from __future__ import annotations

import random
from bisect import bisect
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

import pcaplat
from tests.captures.lab_merge import POINTS, captures_of, frames_of
from tests.laws.retimed import SetClock, retimed
from tests.support.shelf import SAMPLES, lab_set

if TYPE_CHECKING:
    from pathlib import Path

SECOND_NS = 10**9
OFFSETS_NS = (0, 37 * SECOND_NS, 3600 * SECOND_NS, -5 * 3600 * SECOND_NS, 3 * 86_400 * SECOND_NS)
KEPT_NS = 10
"""What drift may leave of a two-way contribution at least: the times there and back are unlike."""

UNSURE_SHARE = {"ipv6": 0.005, "vxlan-loss-dup": 0.005}
"""Of packets that repeat themselves, how many may be told apart or not."""

Clocks = dict[str, SetClock]
Floats = npt.NDArray[np.float64]


@dataclass
class Retimed:
    """A merge of captures with other stamps, beside what happened."""

    result: pcaplat.Result
    folder: Path
    clocks: Clocks

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = self.result.document
        return found

    def intervals(self) -> list[tuple[tuple[str, int, str, int], float, int, float]]:
        """Per match: its frames, least, true and most latency."""
        columns = ("up_point", "up_frame", "down_point", "down_frame")
        edges = ("latency_lo_ns", "latency_hi_ns")
        timed = self.result.matches.filter(pl.col("kind") != "overlap")
        frames = true_frames(self.folder)
        rows = timed.select(*columns, *edges).collect().rows()
        return [
            ((up, m, down, n), lo, frames[down][n].t_ns - frames[up][m].t_ns, hi)
            for up, m, down, n, lo, hi in rows
        ]

    def widths(self) -> Floats:
        """Half-widths, by the half of the least time there and back: what no clock can tell.

        The least of all packets on that side of every step.
        """
        frames = true_frames(self.folder)
        set_ns = sorted(at_ns for clock in self.clocks.values() for at_ns, _ in clock.steps)
        rows = [
            (up, down, bisect(set_ns, frames[up][m].t_ns), lo, ns, hi)
            for (up, m, down, _), lo, ns, hi in self.intervals()
            if ns > 0  # which way multicast goes, clocks that are far off do not tell
        ]
        least_ns: dict[tuple[str, str, int], int] = {}
        for up, down, side, _, ns, _ in rows:
            least_ns[up, down, side] = min(ns, least_ns.get((up, down, side), ns))
        wide = [
            (hi - lo) / (least_ns[up, down, side] + least_ns[down, up, side] + 2)
            for up, down, side, lo, _, hi in rows
            if (down, up, side) in least_ns
        ]
        return np.array(wide)


@cache
def true_frames(folder: Path) -> dict[str, Any]:
    return frames_of(folder)


@cache
def true_document(folder: Path) -> dict[str, Any]:
    """What is reported with the captures' own stamps."""
    return pcaplat.merge(list(captures_of(folder).values())).document


def merged(folder: Path, scratch: Path, clocks: Clocks) -> Retimed:
    files = []
    for point, file in captures_of(folder).items():
        files.append(scratch / f"{point}.pcap")
        retimed(file, files[-1], clocks.get(point, SetClock()))
    return Retimed(pcaplat.merge(files), folder, clocks)


def middle_ns(folder: Path, point: str, share: float) -> int:
    """When so large a share of a point's frames has been captured."""
    stamps_ns = sorted(frame.t_ns for frame in true_frames(folder)[point].values())
    return int(stamps_ns[int(share * (len(stamps_ns) - 1))])


def check(found: Retimed) -> None:
    """Path, matches, segments and round trips are those of the true clock."""
    true = true_document(found.folder)
    assert found.document["path"] == list(POINTS)
    n_off = abs(found.document["matching"]["n_matched"] - true["matching"]["n_matched"])
    assert n_off <= UNSURE_SHARE.get(found.folder.name, 0) * true["matching"]["n_matched"]
    outside = [row for row in found.intervals() if not row[1] - 1 <= row[2] <= row[3] + 1]
    assert not outside, f"{len(outside)}, such as {outside[0]}"
    # only near a step they are much wider than what cannot be told
    most, nearly_all = np.quantile(found.widths(), (0.9, 0.98)).tolist()
    assert most <= 3
    assert nearly_all <= 3 * most
    check_segments(found, true)
    check_round_trips(found, true)


def check_segments(found: Retimed, true: dict[str, Any]) -> None:
    took_ns: dict[tuple[str, str], list[int]] = {}
    for (up, _, down, _), _, ns, _ in found.intervals():
        took_ns.setdefault((up, down), []).append(ns)
    for row, known in zip(found.document["segments"], true["segments"], strict=True):
        up_down = (row["near"], row["far"])[:: 1 if row["direction"] == "forward" else -1]
        names = ("near", "far", "direction")
        assert [row[name] for name in names] == [known[name] for name in names]
        slack = UNSURE_SHARE.get(found.folder.name, 0)
        assert row["n"] == pytest.approx(known["n"], rel=2 * slack)
        assert row["n_lost"] == pytest.approx(known["n_lost"], abs=slack * row["n"])
        if up_down in took_ns and len(took_ns[up_down]) == row["n"] and row["class"] == "packet":
            off_ns = abs(row["mean_ns"] - np.mean(took_ns[up_down]))
            assert off_ns <= row["clock_half_width_ns"] + 1, row


def check_round_trips(found: Retimed, true: dict[str, Any]) -> None:
    for row, known in zip(found.document["round_trips"], true["round_trips"], strict=True):
        assert (row["near"], row["far"]) == (known["near"], known["far"])
        slack_ns = max(KEPT_NS, row["mean_half_width_ns"])
        assert abs(row["mean_ns"] - known["mean_ns"]) <= slack_ns, row


def random_clocks(seed: int) -> Clocks:
    """Every clock is off and drifts."""
    chance = random.Random(seed)  # noqa: S311 - the same draw every time
    return {
        point: SetClock(offset_ns + chance.randrange(10**9), chance.uniform(-50, 50))
        for point, offset_ns in zip(POINTS, chance.choices(OFFSETS_NS, k=6), strict=True)
    }


NAMES = ("vxlan", "l2", "ipv6", "vxlan-routed", "vxlan-delay200")
STEPS = [
    ("vxlan", "host1-vm", 500_000),
    ("vxlan", "sw-a", 500_000),
    ("vxlan", "host2-vm", -2_000_000),
    ("l2", "host1-up", 2_000_000),
    ("l2", "host2-up", -500_000),
    ("ipv6", "sw-a", 500_000),
    ("ipv6", "host2-vm", 100_000),
    ("vxlan-routed", "host1-vm", -100_000),
    ("vxlan-routed", "sw-b", 500_000),
    ("vxlan-delay200", "host2-up", 2_000_000),
]


@pytest.mark.parametrize("name", NAMES)
def test_offsets_and_drifts_change_no_latency(name: str, tmp_path: Path) -> None:
    check(merged(SAMPLES / name, tmp_path, random_clocks(len(name))))


@pytest.mark.parametrize(("name", "point", "size_ns"), STEPS)
def test_a_step_lies_between_two_packets(
    name: str, point: str, size_ns: int, tmp_path: Path
) -> None:
    at_ns = middle_ns(SAMPLES / name, point, 0.5)
    found = merged(SAMPLES / name, tmp_path, {point: SetClock(steps=((at_ns, size_ns),))})
    check(found)
    check_step(found, point, size_ns)


def check_step(found: Retimed, point: str, size_ns: int) -> None:
    """A step of the reference shows at every other point, negated."""
    is_reference = point == found.document["clocks"][0]["reference"]
    for row in found.document["clocks"]:
        is_set = (row["point"] == point) != is_reference
        sizes_ns = [step["step_ns"] for step in row["steps"]]
        wanted_ns = [-size_ns if is_reference else size_ns] if is_set else []
        if row["point"] == row["reference"]:
            wanted_ns = []
        assert sizes_ns == pytest.approx(wanted_ns, abs=row["half_width_ns"] + 1_000), row


def test_no_packet_arrives_before_it_left(tmp_path: Path) -> None:
    """Aligned times keep cause and effect in order, whatever the clocks do."""
    at_ns = middle_ns(SAMPLES / "vxlan", "sw-b", 0.6)
    clocks = random_clocks(3) | {"sw-b": SetClock(5 * SECOND_NS, 20, ((at_ns, 700_000),))}
    found = merged(SAMPLES / "vxlan", tmp_path, clocks)
    packets = found.result.packets.select("point", "frame", "aligned_ns").collect().rows()
    aligned_ns = {(point, frame): t_ns for point, frame, t_ns in packets}
    rows = found.intervals()
    assert len(rows) > 1_600
    early = [m for m, *_ in rows if aligned_ns[m[2], m[3]] < aligned_ns[m[0], m[1]]]
    assert not early


needs_lab = pytest.mark.skipif(
    not lab_set("l2").exists(), reason="the shared captures are not here"
)
LAB = ("l2", "ipv6", "vxlan-routed", "vxlan-dfw100", "vxlan-loss-dup", "vxlan-snap96", "vxlan-tso")
LAB_STEPS = [(name, size_ns) for name in LAB for size_ns in (-300_000, 1_000_000)]


@needs_lab
def test_a_step_among_few_packets_is_found(tmp_path: Path) -> None:
    """In the second half of the time of this set there are 8 % of its packets."""
    folder = lab_set("vxlan")
    stamps_ns = [frame.t_ns for frame in true_frames(folder)["sw-a"].values()]
    at_ns = (min(stamps_ns) + max(stamps_ns)) // 2
    found = merged(folder, tmp_path, {"sw-a": SetClock(steps=((at_ns, 500_000),))})
    check(found)
    check_step(found, "sw-a", 500_000)


@needs_lab
@pytest.mark.slow
@pytest.mark.parametrize("name", LAB)
def test_lab_captures_with_other_clocks_say_the_same(name: str, tmp_path: Path) -> None:
    check(merged(lab_set(name), tmp_path, random_clocks(len(name))))


@needs_lab
@pytest.mark.slow
@pytest.mark.parametrize(("name", "size_ns"), LAB_STEPS)
def test_lab_captures_with_a_step_say_the_same(name: str, size_ns: int, tmp_path: Path) -> None:
    point = POINTS[len(name) % len(POINTS)]
    at_ns = middle_ns(lab_set(name), point, 0.4)
    check(merged(lab_set(name), tmp_path, {point: SetClock(steps=((at_ns, size_ns),))}))
