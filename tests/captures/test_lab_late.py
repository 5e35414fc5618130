"""Real captures in which some packets pass the switch later: slow, and none of them lost."""

from __future__ import annotations

import csv
import statistics
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import pcaplat
from tests.captures.lab_merge import captures_of
from tests.support.moved_packets import Moved, moved
from tests.support.shelf import lab_set

pytestmark = pytest.mark.skipif(
    not lab_set("l2").exists(), reason="the shared captures are not here"
)

MS, SECOND = 1_000_000, 1_000_000_000
BEHIND = ("sw-a", "sw-b")
LATE_TIMES = 20
"""What takes more than so many times the usual delay is late."""
LOSSY = "vxlan-loss-dup"
"""Lasts long enough for packets that are late by seconds; a per cent of them really was lost."""


@dataclass(frozen=True)
class Case:
    """A set of the lab, and which share of its packets comes later."""

    name: str
    share: float
    late_ns: int
    same_clock: tuple[str, ...]

    def __str__(self) -> str:
        clock = "one clock" if self.same_clock else "not declared"
        return f"{self.name}, {self.share:.1%} by {self.late_ns // MS} ms, {clock}"


CASES = tuple(
    Case(name, share, late_ns, same_clock)
    for name, share, late_ns, same_clock in (
        ("l2", 0.003, 30 * MS, ("all",)),
        ("l2", 0.01, 5 * MS, ()),
        ("vxlan", 0.05, 200 * MS, ("all",)),
        (LOSSY, 0.003, 200 * MS, ()),
        (LOSSY, 0.01, 3 * SECOND, ("all",)),
    )
)
SLOW = tuple(
    Case(name, share, late_ns, same_clock)
    for name in ("l2", "vxlan", "vxlan-routed", "vxlan-delay200", LOSSY)
    for share in (0.003, 0.01, 0.05)
    for late_ns in (5 * MS, 30 * MS, 200 * MS, 3 * SECOND)
    for same_clock in (("all",), ())
    if name == LOSSY or late_ns < SECOND
)


@dataclass
class Merged:
    """What was moved, and what was told."""

    moved: Moved
    document: dict[str, Any]
    pairs: set[tuple[str, int, str, int]]

    def rows(self) -> dict[tuple[str, str, str], dict[str, Any]]:
        """Segments of neighbours."""
        every = {(r["near"], r["far"], r["direction"]): r for r in self.document["segments"]}
        return {key: every[key] for key in self.moved.pairs}


@cache
def merged(case: Case, folder: Path) -> Merged:
    scratch = folder / str(len(list(folder.iterdir())))
    scratch.mkdir()
    made = moved(captures_of(lab_set(case.name)), scratch, BEHIND, case.share, case.late_ns)
    columns = ("up_point", "up_frame", "down_point", "down_frame")
    files = [str(file) for file in made.files.values()]
    with pcaplat.merge(files, same_clock=case.same_clock) as result:
        rows = set(result.matches.select(columns).collect().iter_rows())
        return Merged(made, dict(result.document), rows)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that lasts as long as the merges are kept."""
    return tmp_path_factory.mktemp("moved")


def each(cases: tuple[Case, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", [pytest.param(case, id=str(case)) for case in cases])


def dropped(case: Case, waited_ns: float) -> dict[str, tuple[int, int]]:
    """Per direction what the forwarder dropped: up to the waiting time before the end, and all."""
    log = lab_set(case.name) / "delay.csv"
    if case.name != LOSSY:
        return {"forward": (0, 0), "reverse": (0, 0)}
    with log.open() as lines:
        rows = list(csv.DictReader(lines))
    end_ns = max(int(row["in_ns"]) for row in rows)
    found = {}
    for direction, side in (("forward", "ab"), ("reverse", "ba")):
        mine = [int(r["in_ns"]) for r in rows if r["dir"] == side and r["what"] == "drop"]
        found[direction] = (sum(ns < end_ns - waited_ns - MS for ns in mine), len(mine))
    return found


def lost_wrongly(case: Case, found: Merged) -> dict[Any, Any]:
    wrong = {}
    for (near, far, direction), row in found.rows().items():
        bounds = dropped(case, row.get("loss_threshold_ns") or 0)[direction]
        least, most = bounds if (near, far) == BEHIND else (0, 0)
        if not least <= row["n_lost"] <= most:
            wrong[near, far, direction] = (row["n_lost"], least, most)
    return wrong


def told_wrongly(found: Merged) -> dict[Any, Any]:
    """Where n, max or mean is not that of all packets that came, early or late."""
    wrong = {}
    for key, row in found.rows().items():
        true_ns = found.moved.latencies_ns[key]
        mean_ns, slack_ns = statistics.fmean(true_ns), row["clock_half_width_ns"] + 1
        # the oracle is silent about a few packets that repeat
        is_n = abs(row["n"] - len(true_ns)) <= 0.002 * len(true_ns)
        is_max = abs(row["max_ns"] - max(true_ns)) <= slack_ns
        if not (is_n and is_max and abs(row["mean_ns"] - mean_ns) <= slack_ns + 0.02 * mean_ns):
            wrong[key] = (row["n"], row["max_ns"], row["mean_ns"], max(true_ns), mean_ns)
    return wrong


def late_wrongly(found: Merged) -> dict[Any, Any]:
    """Late are those that were moved, and the few that took long anyway, by the oracle."""
    wrong = {}
    for key, row in found.rows().items():
        true_ns = found.moved.latencies_ns[key]
        # by as much as the clocks are off, which the other tests see to, all are off
        off_ns = row["p50_ns"] - statistics.median(true_ns)
        edge_ns = LATE_TIMES * row["p50_ns"] - off_ns
        slack_ns = edge_ns / 1024  # latencies are kept in bins
        least, most = (sum(ns > edge_ns + by for ns in true_ns) for by in (slack_ns, -slack_ns))
        assert least >= len(found.moved.late[key])
        if not least <= row["n_late"] <= most:
            wrong[key] = (row["n_late"], least, most)
    return wrong


def unmatched_late(found: Merged) -> set[tuple[str, int, str, int]]:
    wanted = set()
    for (near, far, direction), pairs in found.moved.late.items():
        up, down = (near, far) if direction == "forward" else (far, near)
        wanted |= {(up, a, down, b) for a, b in pairs}
    assert wanted
    return wanted - found.pairs


@each(CASES)
def test_no_packet_that_was_moved_is_lost(case: Case, scratch: Path) -> None:
    assert lost_wrongly(case, merged(case, scratch)) == {}


@each(CASES)
def test_max_and_mean_have_packets_in_that_were_moved(case: Case, scratch: Path) -> None:
    assert told_wrongly(merged(case, scratch)) == {}


@each(CASES)
def test_packets_that_were_moved_are_late(case: Case, scratch: Path) -> None:
    assert late_wrongly(merged(case, scratch)) == {}


@each(CASES)
def test_packets_that_were_moved_are_matched_to_their_own(case: Case, scratch: Path) -> None:
    assert unmatched_late(merged(case, scratch)) == set()


@pytest.mark.slow
@each(SLOW)
def test_packets_of_any_set_that_were_moved(case: Case, tmp_path: Path) -> None:
    found = merged.__wrapped__(case, tmp_path)
    assert unmatched_late(found) == set()
    assert lost_wrongly(case, found) == {}
    assert told_wrongly(found) == {}
    assert late_wrongly(found) == {}
