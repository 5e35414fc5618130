"""Files whose two directions are stamped by two clocks are told from paths that are asymmetric."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat import lint, merge
from pcaplat.diagnostics.encapsulation import find_interruptions
from tests.recovery.simulator import Clock, Score, Truth, run
from tests.recovery.simulator.effects import NO_BRIDGED, ROUTED, base, each, together, tunnel
from tests.recovery.simulator.effects import at as points_at
from tests.support.alignments import findings_of
from tests.unit.diagnostics.lint_by_hand import (
    ACK,
    CLIENT,
    MIDDLE,
    START_NS,
    Packet,
    Place,
    Set,
    sent,
    turns,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.recovery.simulator.effects import Contrast

TAI_NS = 37_000_000_000
NAMES = ("near", "middle", "far")
CODE = "two-clocks-in-file"


def ahead_by(off_ns: int) -> Callable[[int], int]:
    return lambda t_ns: t_ns + off_ns


def asymmetric(seed: int) -> tuple[Set, int]:
    """Three clocks, ways there and back of 1 to 300 µs; and how long the answer takes."""
    chance = np.random.default_rng(seed)
    there = np.cumsum([0, *chance.integers(1_000, 300_000, 2)]).tolist()
    back = np.cumsum([0, *chance.integers(1_000, 300_000, 2)])[::-1].tolist()
    answer_ns = there[-1] + int(np.exp(chance.uniform(np.log(1_000), np.log(200_000))))
    offsets = chance.integers(-TAI_NS, TAI_NS, 3).tolist()
    places = {
        # what leaves the server arrives so much later
        name: Place(at_ns=to, of_ns=to + fro, clock=ahead_by(off))
        for name, to, fro, off in zip(NAMES, there, back, offsets, strict=True)
    }
    gap_ns = answer_ns + back[0] + int(chance.integers(2_000, 500_000))
    return Set(places, turns(150, gap_ns, answer_ns)), answer_ns + back[0]


def split(given: Set, name: str, ahead_ns: int) -> Set:
    """At one point the stamps of what goes forward are so much ahead."""

    def ahead(packet: Packet) -> int:
        return ahead_ns if packet.is_forward else 0

    return given.having(**{name: replace(given.places[name], ahead_ns=ahead)})


def found(given: Set, folder: Path) -> list[str | None]:
    return [row["point"] for row in lint(given.save(folder))["findings"] if row["code"] == CODE]


def check_none(seeds: range, folder: Path) -> None:
    for seed in seeds:
        assert found(asymmetric(seed)[0], folder) == [], seed


def check_found(seeds: range, folder: Path) -> None:
    """37 s is found anywhere; what is a little more than the answer takes is found too."""
    for seed in seeds:
        given, answered_ns = asymmetric(seed)
        name = NAMES[seed % 3]
        for ahead_ns in (TAI_NS, -TAI_NS, answered_ns + 40_000):
            assert found(split(given, name, ahead_ns), folder) == [name], (seed, ahead_ns)


def test_an_asymmetric_path_is_no_split(tmp_path: Path) -> None:
    check_none(range(1_000, 1_012), tmp_path)


def test_a_split_is_found_beside_asymmetric_paths(tmp_path: Path) -> None:
    check_found(range(1_000, 1_005), tmp_path)


@pytest.mark.slow
def test_none_of_two_hundred_asymmetric_paths_is_a_split(tmp_path: Path) -> None:
    check_none(range(200), tmp_path)


@pytest.mark.slow
def test_splits_are_found_in_forty_asymmetric_paths(tmp_path: Path) -> None:
    check_found(range(40), tmp_path)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ahead_ns", [TAI_NS, 40_000])
def test_no_figure_rests_on_two_clocks(name: str, ahead_ns: int, tmp_path: Path) -> None:
    """Those of other points stand, with their signs, also where the split point is an end."""
    captures = split(
        Set({"near": Place(), "middle": Place(4_000), "far": Place(10_000)}), name, ahead_ns
    )
    with merge(captures.save(tmp_path), path=NAMES, same_clock=["all"], keep_rows=False) as result:
        document = result.document
    assert [row["point"] for row in document["warnings"] if row["code"] == CODE] == [name]
    assert "clock-contradiction" not in {row["code"] for row in document["warnings"]}
    for row in document["segments"]:
        assert (row["mean_ns"] is None) == (name in {row["near"], row["far"]})
        assert row["mean_ns"] is None or 3_000 <= row["mean_ns"] <= 11_000
    (trip,) = document["round_trips"]
    assert name not in {trip["near"], trip["far"]}
    least_ns = {"near": 12_000, "middle": 20_000, "far": 8_000}[name]
    assert least_ns <= trip["mean_ns"] <= least_ns + 1_000


def downloads(n: int = 60, n_answers: int = 4) -> list[Packet]:
    """Each request is answered by several segments; one client's address is above the server's."""
    found, n_bytes = [], 100
    for at in range(n):
        t_ns = START_NS + at * 400_009 + at * at % 977
        asked, answered = 1 + at * n_bytes, 1 + at * n_bytes * n_answers
        payload = at.to_bytes(4) * (n_bytes // 4)
        found.append(sent(t_ns, asked, answered, payload, is_forward=True))
        for number in range(n_answers):
            seq, later_ns = answered + number * n_bytes, 50_000 + number * 2_003
            found.append(sent(t_ns + later_ns, seq, asked + n_bytes, payload, is_forward=False))
        acked = answered + n_answers * n_bytes
        found.append(sent(t_ns + 100_003, asked + n_bytes, acked, b"", is_forward=True, flags=ACK))
    there = ip_address(CLIENT).packed, ip_address("11.0.0.1").packed
    moved = [replace(one, frame=one.frame.replace(*there)) for one in found]
    return sorted([*found, *moved], key=lambda one: one.t_ns)


@pytest.mark.parametrize("ahead_ns", [TAI_NS, -TAI_NS, 3_000_000, -3_000_000])
def test_a_sorted_file_of_little_data_one_way_is_split_either_way(
    ahead_ns: int, tmp_path: Path
) -> None:
    """Which direction is early does not matter, though one has a fifth of the data."""
    given = split(Set({"middle": replace(MIDDLE, order=sorted)}, downloads()), "middle", ahead_ns)
    assert found(given, tmp_path) == ["middle"]


def test_acknowledgments_that_are_written_first_are_no_split(tmp_path: Path) -> None:
    """One in five requests is stamped behind its answers, by the processor that was slow."""

    def slow(packet: Packet) -> int:
        return 120_000 if packet.is_forward and packet.t_ns % 5 == 0 else 0

    late = replace(MIDDLE, order=sorted, ahead_ns=slow)
    assert found(Set({"middle": late}, downloads()), tmp_path) == []


OWN_CLOCKS = each(
    "clock",
    *(Clock(), Clock(5_000_003, 9.0), Clock(-TAI_NS, -14.0), Clock(700_001, 4.0), Clock(12_000)),
)
CONTRADICTED = "ttl-contradicts-order"
INTERRUPTED = {"tunnel-interrupted", "tunnel-left"}


@pytest.mark.parametrize("has_own_clocks", [True, False], ids=["own clocks", "one clock"])
@pytest.mark.parametrize(("n", "seed"), [(1_000, 1), (4_000, 2)])
def test_a_point_that_two_clocks_move_into_a_tunnel_is_not_measured(
    n: int, seed: int, *, has_own_clocks: bool, tmp_path: Path
) -> None:
    """What it sends is stamped 15 µs late: it seems to be 7 µs farther along the path."""
    moved = together(tunnel("vxlan"), points_at(("vm",), forward_ahead_ns=15_000))(base(n, seed))
    outcome = run(OWN_CLOCKS(moved) if has_own_clocks else moved)
    files = [str(file) for file in outcome.save(tmp_path)]
    with merge(files, same_clock=[] if has_own_clocks else ["all"]) as result:
        document = result.document
        score = Score(Truth(outcome), result)
        # some packets at the very ends of the time are counted or not
        assert score.worst_ns("mean_beyond_ns") <= 5
    found = {row["code"]: row for row in document["warnings"] if row["code"] in INTERRUPTED}
    assert set(found) == {"tunnel-interrupted"}
    assert found["tunnel-interrupted"]["point"] == "vm"
    for row in document["segments"]:
        assert (row["mean_ns"] is None) == ("vm" in {row["near"], row["far"]})


@pytest.mark.parametrize("has_own_clocks", [True, False], ids=["own clocks", "one clock"])
@pytest.mark.parametrize(("n", "seed"), [(1_000, 1), (4_000, 2)])
def test_a_point_that_two_clocks_move_behind_a_router_is_not_measured(
    n: int, seed: int, *, has_own_clocks: bool, tmp_path: Path
) -> None:
    """Before the router, it seems to be behind it; TTL says that it is not."""
    moved = together(ROUTED, points_at(("vm",), forward_ahead_ns=15_000))(base(n, seed))
    outcome = run(OWN_CLOCKS(moved) if has_own_clocks else moved)
    files = [str(file) for file in outcome.save(tmp_path)]
    with merge(files, same_clock=[] if has_own_clocks else ["all"]) as result:
        document = result.document
        score = Score(Truth(outcome), result)
        segments = list(score.segments())
    found = [row["point"] for row in document["warnings"] if row["code"] == CONTRADICTED]
    assert found == ["vm"]
    assert "clock-step" not in {row["code"] for row in document["warnings"]}
    for row, near, far, is_forward in segments:
        is_at = "vm" in {row["near"], row["far"]}
        assert (row["mean_ns"] is None) == is_at
        if not is_at:
            true_ns = score.truth.hop(near, far, forward=is_forward).latencies_ns[row["class"]]
            slack_ns = (row["clock_half_width_ns"] or 0) + 0.01 * true_ns.mean()
            assert abs(row["mean_ns"] - true_ns.mean()) <= slack_ns


def test_a_device_that_sets_the_ttl_leaves_the_latencies(tmp_path: Path) -> None:
    """Behind it all points gain from all before it: no single one is elsewhere."""
    set_again = together(NO_BRIDGED, each("routers", 0, 0, -3, -3, -3))
    files = [str(file) for file in run(set_again(base(1_000))).save(tmp_path)]
    with merge(files, same_clock=["all"], keep_rows=False) as result:
        document = result.document
    assert [row["point"] for row in document["warnings"]] == [None]
    assert document["warnings"][0]["code"] == CONTRADICTED
    assert all(row["mean_ns"] is not None for row in document["segments"])


@pytest.mark.parametrize(
    "effect",
    [tunnel("erspan2", ("up", "spine")), tunnel("vxlan")],
    ids=["mirrors beside a host", "hosts at the ends"],
)
def test_points_in_no_tunnel_beside_others_are_measured(effect: Contrast, tmp_path: Path) -> None:
    files = [str(file) for file in run(effect(base(1_000))).save(tmp_path)]
    with merge(files, same_clock=["all"], keep_rows=False) as result:
        document = result.document
    assert not INTERRUPTED & {row["code"] for row in document["warnings"]}
    assert all(row["mean_ns"] is not None for row in document["segments"])


@pytest.mark.parametrize(
    ("macs_behind", "found"),
    [
        ({0: (1, 2), 1: (2, 1)}, [True]),
        ({0: (3, 4), 1: (4, 3)}, [False]),
        # all that a mirror sends goes to one receiver
        ({0: (7, 9), 1: (7, 9)}, []),
    ],
    ids=["one link", "gateways or routers", "a mirror"],
)
def test_who_unpacks_is_told_by_the_frames_around(
    macs_behind: dict[int, tuple[int, int]], found: list[bool]
) -> None:
    n = 40
    toward = np.arange(n) % 2
    rows = {
        "key": np.tile(np.arange(n), 3),
        "is_toward": np.tile(toward, 3),
        "depth": np.repeat([1, 0, 1], n),
        "tunnel": np.repeat([5001, -1, 5001], n),
    }
    macs = [
        {0: (1, 2), 1: (2, 1)},
        {0: (5, 6), 1: (6, 5)},
        macs_behind,
    ]
    for side, name in enumerate(("outer_src_mac", "outer_dst_mac")):
        rows[name] = np.array([at[way][side] for at in macs for way in toward.tolist()])
    path = findings_of([0, 0, 0])
    seen_by = np.repeat([0, 1, 2], n)
    interruptions = find_interruptions(rows, seen_by, path)
    assert [one.is_sure for one in interruptions] == found
