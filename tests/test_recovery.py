"""Known truth, wrong clocks: a merge must report what happened, in intervals that hold it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

import pcaplat
from tests.oracle import Oracle
from tests.simulate import START_NS, Link, Outcome, Point, Scenario, run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SEEDS = range(1, 7)
SECOND_NS = 10**9
EDGE_NS = 15_000


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
            chance.randrange(-40 * SECOND_NS, 40 * SECOND_NS),
            chance.uniform(-30, 30),
            in_vxlan=name == "up",
        )
        for name in ("vm", "up", "mirror", "far")
    )
    links = tuple(
        Link(2_000 + chance.randrange(30_000), 2_000 + chance.randrange(30_000), 800)
        for _ in range(3)
    )
    return Scenario(points, links, n_transactions=250, gap_ns=400_000, seed=seed)


def true_latencies_ns(outcome: Outcome, result: pcaplat.Result) -> list[tuple[float, float, int]]:
    """Per match: the interval reported, and how long the packet took."""
    packet_of = outcome.packet_of()
    place = {point.name: at for at, point in enumerate(outcome.scenario.points)}
    columns = ("up_point", "up_frame", "down_point", "down_frame", "latency_lo_ns", "latency_hi_ns")
    rows = []
    for up, up_frame, down, down_frame, low_ns, high_ns in (
        result.matches.select(columns).collect().iter_rows()
    ):
        packet = packet_of[up, up_frame]
        assert packet == packet_of[down, down_frame]
        at_ns = outcome.passages[packet].at_ns
        rows.append((low_ns, high_ns, at_ns[place[down]] - at_ns[place[up]]))
    return rows


@pytest.mark.parametrize("seed", SEEDS)
def test_true_latencies_lie_in_their_intervals(seed: int, tmp_path: Path) -> None:
    outcome = run(wrong_clocks(seed))
    rows = true_latencies_ns(outcome, merged(outcome, tmp_path, seed))
    n_possible = sum(len(hop.latencies_ns) for hop in outcome.hops().values())
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
    points = {point.name: point for point in scenario.points}
    n_checked = 0
    for clock in result.document["clocks"]:
        point, reference = points[clock["point"]], points[clock["reference"]]
        rate = 1 + reference.drift_ppm * 1e-6
        true_ns = START_NS + (clock["at_ns"] - reference.offset_ns - START_NS) / rate
        offset_ns = point.stamp_ns(round(true_ns)) - reference.stamp_ns(round(true_ns))
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
    hops = outcome.hops()
    for near, far, direction in hops:
        if direction == "forward":
            ways = [hops[near, far, way].latencies_ns for way in ("forward", "reverse")]
            mean_ns = sum(sum(way) / len(way) for way in ways)
            row = found[near, far]
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
        Point(n, chance.randrange(-SECOND_NS, SECOND_NS), in_vxlan=chance.random() < 0.4)
        for n in names
    )
    links = tuple(
        Link(1_000 + chance.randrange(9_000), 1_000 + chance.randrange(9_000), 300)
        for _ in points[1:]
    )
    outcome = run(Scenario(points, links, n_transactions=120, seed=seed))
    document = merged(outcome, tmp_path, seed).document
    assert document["path"] == names
    assert document["path_inferred"] is True


LOSSY = (Link(lost_share=0.02), Link(reverse_ns=9_000, held_share=0.06), Link(lost_share=0.03))
EVENTFUL = Scenario(
    points=(
        Point("vm"),
        Point("up", 3_000_000, in_vxlan=True),
        Point("mirror", -2_000_000, copied_share=0.05),
        Point("far", 999),
    ),
    links=LOSSY,
    n_transactions=240,
    burst=3,
)


@pytest.mark.parametrize("seed", SEEDS)
def test_loss_and_reordering_are_counted_as_they_happened(seed: int, tmp_path: Path) -> None:
    outcome = run(Scenario(EVENTFUL.points, LOSSY, n_transactions=240, burst=3, seed=seed))
    found = {
        (r["near"], r["far"], r["direction"]): r
        for r in merged(outcome, tmp_path, seed).document["segments"]
    }
    for key, hop in outcome.hops().items():
        row, covered_ns = found[key], outcome.covered_ns()
        assert (row["n"], row["n_reordered"]) == (len(hop.latencies_ns), hop.n_reordered), key
        # clocks that are unsure by some µs leave open what happened at the very ends
        least, most = (hop.n_lost(covered_ns, margin_ns) for margin_ns in (-EDGE_NS, EDGE_NS))
        assert least <= row["n_lost"] <= most, key
        assert most - least <= 2


@pytest.mark.parametrize("seed", SEEDS)
def test_copies_of_a_mirror_are_called_copies(seed: int, tmp_path: Path) -> None:
    outcome = run(Scenario(EVENTFUL.points, LOSSY, n_transactions=240, burst=3, seed=seed))
    result = merged(outcome, tmp_path, seed)
    columns = ("point", "frame", "status", "trajectory_id")
    rows = list(result.packets.select(columns).collect().iter_rows())
    called = {(point, frame) for point, frame, status, _ in rows if status == "duplicate"}
    names = [point.name for point in outcome.scenario.points]
    copies = {
        (names[p], n)
        for p, capture in enumerate(outcome.seen)
        for n, s in enumerate(capture, 1)
        if s.is_copy
    }
    assert called == copies
    trajectory, packet_of = {(p, f): t for p, f, _, t in rows}, outcome.packet_of()
    originals = {
        packet_of[key]: trajectory[key]
        for key in packet_of
        if key not in copies and key[0] == "mirror"
    }
    assert all(trajectory[key] == originals[packet_of[key]] for key in copies)


@pytest.mark.parametrize("seed", SEEDS)
def test_packets_that_repeat_themselves_are_never_mistaken(seed: int, tmp_path: Path) -> None:
    points = (Point("vm", SECOND_NS), Point("up", in_vxlan=True), Point("far", -SECOND_NS))
    links = (Link(tail_ns=300, lost_share=0.01), Link(6_000, 5_000, 300, lost_share=0.01))
    outcome = run(
        Scenario(points, links, n_transactions=420, gap_ns=12_000, has_twins=True, seed=seed)
    )
    rows = true_latencies_ns(
        outcome, merged(outcome, tmp_path, seed)
    )  # asserts that each pair is one packet
    n_possible = sum(len(hop.latencies_ns) for hop in outcome.hops().values())
    assert len(rows) > 0.99 * n_possible


@pytest.mark.parametrize("seed", SEEDS)
def test_coarse_stamps_of_one_clock_keep_their_intervals(seed: int, tmp_path: Path) -> None:
    points = (Point("vm", resolution_ns=1_000), Point("up"), Point("far", resolution_ns=1_000))
    outcome = run(Scenario(points, (Link(), Link(7_000, 2_000)), n_transactions=200, seed=seed))
    rows = true_latencies_ns(outcome, merged(outcome, tmp_path, seed, same_clock=["all"]))
    assert len(rows) > 300
    assert all(low_ns <= true_ns <= high_ns for low_ns, high_ns, true_ns in rows)
    assert all(high_ns - low_ns <= 2_002 for low_ns, high_ns, _ in rows)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_oracle_itself_recovers_the_truth(seed: int, tmp_path: Path) -> None:
    points = (
        Point("vm"),
        Point("up", in_vxlan=True),
        Point("mirror", copied_share=0.05),
        Point("far"),
    )
    outcome = run(Scenario(points, LOSSY, n_transactions=240, burst=3, seed=seed))
    files = dict(zip((p.name for p in points), outcome.save(tmp_path), strict=True))
    hops = outcome.hops()
    for segment in Oracle(files).segments():
        hop = hops[segment.near, segment.far, segment.direction]
        assert segment.latencies_ns == sorted(hop.latencies_ns)
        assert segment.n_lost == hop.n_lost(outcome.covered_ns())
