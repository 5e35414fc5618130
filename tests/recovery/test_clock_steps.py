"""A clock is set during the capture: no packet is lost by that, and none is paired with another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.recovery.networks.judge import Merged, merge_network, pairs_wrong
from tests.recovery.networks.talk import Pair, datagrams, host, seldom, way, with_clocks
from tests.support.networks import Edges, Network, both_ways, walk

if TYPE_CHECKING:
    from pathlib import Path

LINE = ("p1", "p2", "p3")
TAKES_NS = both_ways({("p1", "p2"): 4_000, ("p2", "p3"): 9_000})
EDGES = {("p1", "p2"), ("p2", "p3"), ("p1", "p3")}
"""Of packets from p1."""

MS_NS = 1_000_000


def set_by(step_ns: int, where: str, n: int, slower: int) -> Network:
    """Datagrams both ways; the clock of a point is set in the middle."""
    pairs = tuple(
        Pair(ends, (way(*along),))
        for at in range(4)
        for ends, along in (((host(at), host(50)), LINE), ((host(50), host(at)), LINE[::-1]))
    )
    packets = seldom(datagrams(pairs, n, 1), slower)
    middle_ns = (packets[0].t_ns + packets[-1].t_ns) // 2
    network = walk(packets, Edges(TAKES_NS))
    at_ns = network.times()

    def ahead_ns(point: str, packet: int) -> int:
        return step_ns if point == where and at_ns[point][packet] > middle_ns else 0

    network.ahead_ns = ahead_ns
    return with_clocks(network, has_own=True)


def n_of(found: Merged, name: str) -> dict[tuple[str, str, str], int]:
    """A count of every segment and direction, where it is not null."""
    rows = found.document["segments"]
    return {(row["near"], row["far"], row["direction"]): row[name] or 0 for row in rows}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("where", ["p1", "p2"])
@pytest.mark.parametrize("step_ms", [-1_000, -30, 30, 1_000, 10_000])
@pytest.mark.parametrize(("n", "slower"), [(6_000, 1), (3_000, 30)])
def test_no_packet_is_lost_where_a_clock_is_set(
    n: int, slower: int, step_ms: int, where: str, tmp_path: Path
) -> None:
    network = set_by(step_ms * MS_NS, where, n, slower)
    found = merge_network(network, tmp_path, [])
    assert pairs_wrong(found) == []
    assert set(n_of(found, "n_lost").values()) == {0}
    n_open = n_of(found, "n_undecided")
    assert all(n <= 100 for n in n_open.values())
    for (near, far, way_), n_counted in n_of(found, "n").items():
        ends = (near, far) if way_ == "forward" else (far, near)
        n_true = sum(one.ways[0][0] == LINE[0 if ends in EDGES else -1] for one in network.packets)
        assert n_counted + n_open[near, far, way_] >= n_true - 2


def test_what_is_lost_while_a_clock_is_set_is_lost(tmp_path: Path) -> None:
    """One in a hundred packets does not arrive, also of those that have times said twice."""
    network = set_by(-30 * MS_NS, "p2", 3_000, 30)
    is_lost = {number for number in range(3_000) if number % 100 == 7 or 1_490 < number < 1_494}
    for point, seen in network.seen.items():
        network.seen[point] = [
            one
            for one in seen
            if one.packet not in is_lost or network.packets[one.packet].ways[0][0] == point
        ]
    found = merge_network(network, tmp_path, [])
    assert pairs_wrong(found) == []
    total = sum(n for row, n in n_of(found, "n_lost").items() if row[:2] != ("p1", "p3"))
    assert abs(total - len(is_lost)) <= 1


@pytest.mark.one_in(5)
@pytest.mark.parametrize("same_clock", [[], ["all"]])
@pytest.mark.parametrize(
    ("deep_ms", "period_ms", "since_ms"), [(40, 1_000, 300), (60, 1_500, 150), (20, 700, 0)]
)
def test_a_queue_that_fills_quickly_sets_no_clock(
    deep_ms: int, period_ms: int, since_ms: int, same_clock: list[str], tmp_path: Path
) -> None:
    """It fills as fast as its packets wait, and drains slowly, in one direction of one segment."""
    network = set_by(0, "p1", 12_000, 4)
    deep_ns, period_ns = deep_ms * MS_NS, period_ms * MS_NS
    begin_ns = network.packets[0].t_ns - since_ms * MS_NS
    sent_ns = {one.packet: one.t_ns for one in network.seen["p2"]}

    def waits_ns(packet: int) -> int:
        since_ns = (sent_ns[packet] - begin_ns) % period_ns
        left_ns = (period_ns - since_ns) * deep_ns // (period_ns - deep_ns)
        is_queued = network.packets[packet].ways[0][0] == "p1"
        return min(since_ns, left_ns) if is_queued else 0

    seen = [one._replace(t_ns=one.t_ns + waits_ns(one.packet)) for one in network.seen["p3"]]
    network.seen["p3"] = sorted(seen)
    if same_clock:
        network.clocks = {}
    found = merge_network(network, tmp_path, same_clock)
    assert set(n_of(found, "n_lost").values()) == {0}
    assert pairs_wrong(found) == []
    n_open = n_of(found, "n_undecided")
    assert set(n_open.values()) == {0}
