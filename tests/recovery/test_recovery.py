"""Known truth, wrong clocks: a merge must report what happened, in intervals that hold it."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import pcaplat
from tests.recovery.simulator import (
    START_NS,
    Clock,
    Link,
    Outcome,
    Point,
    Scenario,
    Score,
    Traffic,
    Truth,
    Tunnel,
    run,
)
from tests.support.oracle import Oracle

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SEEDS = range(1, 7)
SECOND_NS = 10**9
EDGE_NS = 15_000
OVERLAY = Tunnel("vxlan")
DIRECTIONS = ("forward", "reverse")


def merged(
    outcome: Outcome, folder: Path, seed: int = 0, same_clock: Sequence[str] = ()
) -> pcaplat.Result:
    """Save the captures and merge them, shuffled."""
    files = [str(file) for file in outcome.save(folder)]
    random.Random(seed).shuffle(files)  # noqa: S311 - the same shuffle every time
    return pcaplat.merge(files, same_clock=list(same_clock))


def wrong_clocks(seed: int) -> Scenario:
    """Clocks seconds apart and drifting by tens of ppm, delays unlike by direction."""
    chance = random.Random(seed)  # noqa: S311 - the same draw every time
    points = tuple(
        Point(
            name,
            Clock(chance.randrange(-40 * SECOND_NS, 40 * SECOND_NS), chance.uniform(-30, 30)),
            tunnel=OVERLAY if name == "up" else None,
        )
        for name in ("vm", "up", "mirror", "far")
    )
    links = tuple(
        Link(2_000 + chance.randrange(30_000), 2_000 + chance.randrange(30_000), 800)
        for _ in range(3)
    )
    return Scenario(points, links, Traffic(900, gap_ns=400_000), seed=seed)


def true_latencies_ns(outcome: Outcome, result: pcaplat.Result) -> list[tuple[float, float, int]]:
    """Per match: the interval reported, and how long the packet took."""
    score = Score(Truth(outcome), result)
    assert score.n_wrong == 0
    return score.intervals_ns()


@pytest.mark.parametrize("seed", SEEDS)
def test_true_latencies_lie_in_their_intervals(seed: int, tmp_path: Path) -> None:
    outcome = run(wrong_clocks(seed))
    rows = true_latencies_ns(outcome, merged(outcome, tmp_path, seed))
    n_possible = len(Truth(outcome).edges.piece)
    assert len(rows) > 0.99 * n_possible
    outside = [row for row in rows if not row[0] <= row[2] <= row[1]]
    assert not outside, f"{len(outside)} of {len(rows)}, such as (lo, hi, true) {outside[0]}"


@pytest.mark.parametrize("seed", SEEDS)
def test_intervals_are_no_wider_than_the_round_trip_leaves_open(seed: int, tmp_path: Path) -> None:
    scenario = wrong_clocks(seed)
    result = merged(run(scenario), tmp_path, seed)
    widths_ns = {
        (r["near"], r["far"]): r["clock_half_width_ns"] for r in result.document["segments"]
    }
    names = [point.name for point in scenario.points]
    for near, far, link in zip(names, names[1:], scenario.links, strict=False):
        # half of the least two-way time bounds a clock; tail and drift add to it
        assert 0 < widths_ns[near, far] < 0.75 * (link.forward_ns + link.reverse_ns) + 4_000


@pytest.mark.parametrize("seed", SEEDS)
def test_true_clocks_lie_in_their_intervals(seed: int, tmp_path: Path) -> None:
    scenario = wrong_clocks(seed)
    result = merged(run(scenario), tmp_path, seed)
    points = {point.name: point.clock for point in scenario.points}
    n_checked = 0
    for clock in result.document["clocks"]:
        point, reference = points[clock["point"]], points[clock["reference"]]
        rate = 1 + reference.drift_ppm * 1e-6
        true_ns = START_NS + (clock["at_ns"] - reference.offset_ns - START_NS) / rate
        at_ns = np.array([round(true_ns)])
        offset_ns = int((point.stamps_ns(at_ns) - reference.stamps_ns(at_ns))[0])
        assert abs(clock["offset_ns"] - offset_ns) <= clock["half_width_ns"] + 2
        if point is not reference:
            drift_ppm = point.drift_ppm - reference.drift_ppm
            assert abs(clock["drift_ppm"] - drift_ppm) <= clock["drift_half_width_ppm"] + 0.01
            assert clock["quality"] == "bounded"
            n_checked += 1
    assert n_checked == len(points) - 1


@pytest.mark.parametrize("seed", SEEDS)
def test_two_way_contribution_needs_no_clock(seed: int, tmp_path: Path) -> None:
    outcome = run(wrong_clocks(seed))
    result = merged(outcome, tmp_path, seed)
    found = {(row["near"], row["far"]): row for row in result.document["round_trips"]}
    for (near, far), row in found.items():
        hops = [Truth(outcome).named(near, far, way) for way in DIRECTIONS]
        mean_ns = sum(float(hop.packets_ns.mean()) for hop in hops)
        # drift times the difference of the mean forward and reverse times is what is left
        assert abs(row["mean_ns"] - mean_ns) <= max(row["mean_half_width_ns"], 25)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n_points", [2, 3, 4])
def test_path_is_found_whatever_the_names_and_clocks(
    n_points: int, seed: int, tmp_path: Path
) -> None:
    chance = random.Random(seed * 10 + n_points)  # noqa: S311 - the same draw every time
    names = [f"p{chance.getrandbits(24):06x}" for _ in range(n_points)]
    points = tuple(
        Point(
            n,
            Clock(chance.randrange(-SECOND_NS, SECOND_NS)),
            tunnel=OVERLAY if chance.random() < 0.4 else None,
        )
        for n in names
    )
    links = tuple(
        Link(1_000 + chance.randrange(9_000), 1_000 + chance.randrange(9_000), 300)
        for _ in points[1:]
    )
    outcome = run(Scenario(points, links, Traffic(300, gap_ns=60_000), seed=seed))
    document = merged(outcome, tmp_path, seed).document
    assert document["path"] == names
    assert document["path_inferred"] is True


LOSSY = (Link(lost_share=0.02), Link(reverse_ns=9_000, held_share=0.06), Link(lost_share=0.03))
EVENTFUL = Scenario(
    points=(
        Point("vm"),
        Point("up", Clock(3_000_000), tunnel=OVERLAY),
        Point("mirror", Clock(-2_000_000), copied_share=0.05),
        Point("far", Clock(999)),
    ),
    links=LOSSY,
    # IPv6 repeats acknowledgments, and frames of no protocol we know are not said to be lost
    traffic=Traffic(
        1_500,
        gap_ns=60_000,
        shares=(("tcp", 0.4), ("bulk", 0.2), ("udp", 0.3), ("icmp", 0.1)),
        ip6_share=0.0,
    ),
)


@pytest.mark.parametrize("seed", SEEDS)
def test_loss_and_reordering_are_counted_as_they_happened(seed: int, tmp_path: Path) -> None:
    outcome = run(replace(EVENTFUL, seed=seed))
    found = {
        (r["near"], r["far"], r["direction"]): r
        for r in merged(outcome, tmp_path, seed).document["segments"]
    }
    truth, covered_ns = Truth(outcome), Truth(outcome).covered_ns()
    for key, row in found.items():
        hop = truth.named(*key)
        assert (row["n"], row["n_reordered"]) == (len(hop.packets_ns), hop.n_reordered), key
        # clocks that are unsure by some µs leave open what happened at the very ends
        least, most = (hop.n_lost(covered_ns, margin_ns) for margin_ns in (-EDGE_NS, EDGE_NS))
        assert least <= row["n_lost"] <= most, key
        assert most - least <= 2


@pytest.mark.parametrize("seed", SEEDS)
def test_copies_of_a_mirror_are_called_copies(seed: int, tmp_path: Path) -> None:
    outcome = run(replace(EVENTFUL, seed=seed))
    result = merged(outcome, tmp_path, seed)
    score = Score(Truth(outcome), result)
    is_copy = score.truth.joined("is_copy")
    assert is_copy.sum() > 40
    assert np.array_equal(score.status == "duplicate", is_copy)
    first = score.truth.joined("first")
    mirror = slice(*score.truth.starts[2:4])
    trajectories = dict(zip(first[mirror], score.trajectory[mirror], strict=True))
    copies = np.flatnonzero(is_copy)
    assert all(score.trajectory[at] == trajectories[first[at]] for at in copies)


@pytest.mark.parametrize("seed", SEEDS)
def test_packets_that_repeat_themselves_are_never_mistaken(seed: int, tmp_path: Path) -> None:
    points = (
        Point("vm", Clock(SECOND_NS)),
        Point("up", tunnel=OVERLAY),
        Point("far", Clock(-SECOND_NS)),
    )
    links = (Link(tail_ns=300, lost_share=0.01), Link(6_000, 5_000, 300, lost_share=0.01))
    repeating = Traffic(
        840,
        gap_ns=12_000,
        shares=(("tcp", 0.4), ("udp", 0.3), ("icmp", 0.3)),
        n_at_once=7,
        ip6_share=0.5,
        constant_share=1.0,
    )
    outcome = run(Scenario(points, links, repeating, seed=seed))
    truth = Truth(outcome)
    assert truth.is_identical.sum() > 50
    rows = true_latencies_ns(outcome, merged(outcome, tmp_path, seed))
    assert len(rows) > 0.99 * len(truth.edges.piece)


@pytest.mark.parametrize("seed", SEEDS)
def test_coarse_stamps_of_one_clock_keep_their_intervals(seed: int, tmp_path: Path) -> None:
    coarse = Clock(resolution_ns=1_000)
    points = (
        Point("vm", coarse, kind="pcap-us"),
        Point("up"),
        Point("far", coarse, kind="pcap-us"),
    )
    outcome = run(Scenario(points, (Link(), Link(7_000, 2_000)), Traffic(500), seed=seed))
    rows = true_latencies_ns(outcome, merged(outcome, tmp_path, seed, same_clock=["all"]))
    assert len(rows) > 300
    assert all(low_ns <= true_ns <= high_ns for low_ns, high_ns, true_ns in rows)
    assert all(high_ns - low_ns <= 2_002 for low_ns, high_ns, _ in rows)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_oracle_itself_recovers_the_truth(seed: int, tmp_path: Path) -> None:
    points = (
        Point("vm"),
        Point("up", tunnel=OVERLAY),
        Point("mirror", copied_share=0.05),
        Point("far"),
    )
    outcome = run(replace(EVENTFUL, points=points, seed=seed))
    files = dict(zip((p.name for p in points), outcome.save(tmp_path), strict=True))
    truth = Truth(outcome)
    for segment in Oracle(files).segments():
        hop = truth.named(segment.near, segment.far, segment.direction)
        assert segment.latencies_ns == sorted(hop.packets_ns.tolist())
        assert segment.n_lost == hop.n_lost(truth.covered_ns())
