"""Points that little passes, or nothing for a while: the whole path is that of its ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import pcaplat
from tests.recovery.networks.talk import with_clocks
from tests.support.networks import START_NS, Edges, Network, Packet, both_ways, datagram, walk

if TYPE_CHECKING:
    from pathlib import Path

N, GAP_NS, LOST = 6_000, 400_000, 0.01
ENDS = ("in", "out")
TAKES_NS = both_ways(
    {
        ("in", "left"): 20_000,
        ("left", "out"): 31_000,
        ("in", "right"): 24_000,
        ("right", "out"): 33_000,
        ("left", "mid"): 9_000,
        ("in", "mid"): 27_000,
        ("mid", "out"): 17_000,
    }
)


class Kind(NamedTuple):
    """The way that a flow takes at a time, from end to end, and the edges of all."""

    way: Any
    edges: frozenset[tuple[str, str]]


LEFT, RIGHT = ("in", "left", "out"), ("in", "right", "out")
PAST, THROUGH = ("in", "mid", "out"), ("in", "left", "mid", "out")
FORK = frozenset({("in", "left"), ("in", "right"), ("left", "out"), ("right", "out")})
SHORTCUT = frozenset({("in", "left"), ("left", "mid"), ("in", "mid"), ("mid", "out")})
KINDS = {
    "a branch takes over": Kind(lambda _flow, share: RIGHT if share > 0.5 else LEFT, FORK),
    "and gives back": Kind(lambda _flow, share: RIGHT if 0.4 < share < 0.6 else LEFT, FORK),
    "a branch of one flow": Kind(lambda flow, _share: RIGHT if flow == 7 else LEFT, FORK),
    "a point of one flow for a while": Kind(
        lambda flow, share: THROUGH if flow == 7 and 0.3 < share < 0.5 else PAST, SHORTCUT
    ),
}


def sent(kind: Kind, seed: int) -> Network:
    """Requests of 100 flows, and an answer to each that came, the same way back."""
    chance = np.random.default_rng(seed)
    packets = list[Packet]()
    for turn in range(N):
        flow, t_ns = turn % 100, START_NS + turn * GAP_NS
        way = kind.way(flow, turn / N)
        hosts, ports = (f"10.0.{flow % 9}.{flow}", "192.0.2.1"), (5_000 + flow, 443)
        ident = int(chance.integers(1, 65_536))
        packets.append(Packet(t_ns, (way,), datagram(hosts, ports, ident, chance.bytes(60))))
        data = datagram(hosts[::-1], ports[::-1], ident ^ 255, chance.bytes(90))
        packets.append(Packet(t_ns + 200_000, (way[::-1],), data, len(packets) - 1))
    return walk(packets, Edges(TAKES_NS, lost=dict.fromkeys(TAKES_NS, LOST)), seed)


def rows_of(files: list[str], same_clock: tuple[str, ...]) -> list[dict[str, Any]]:
    with pcaplat.merge(files, same_clock=same_clock, keep_rows=False) as result:
        return [dict(row) for row in result.document["segments"]]


def is_whole(row: dict[str, Any]) -> bool:
    return {row["near"], row["far"]} == set(ENDS)


@pytest.mark.parametrize("same_clock", [("all",), ()], ids=["one clock", "own clocks"])
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", KINDS)
def test_an_idle_point_takes_no_loss_from_the_whole_path(
    name: str, seed: int, same_clock: tuple[str, ...], tmp_path: Path
) -> None:
    kind = KINDS[name]
    network = with_clocks(sent(kind, seed), has_own=not same_clock)
    files = network.save(tmp_path)
    rows = rows_of(files, same_clock)
    edges = {tuple(sorted((row["near"], row["far"]))) for row in rows}
    assert edges == {tuple(sorted(one)) for one in kind.edges | {ENDS}}
    alone = rows_of([file for file in files if file.endswith(("in.pcap", "out.pcap"))], same_clock)
    both = [
        {row["direction"]: (row["n"], row["n_lost"]) for row in some if is_whole(row)}
        for some in (rows, alone)
    ]
    for direction, (n, n_lost) in both[1].items():
        assert abs(both[0][direction][0] - n) <= 1
        assert abs(both[0][direction][1] - n_lost) <= 2
        assert n_lost > 20


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.edges == FORK])
def test_each_edge_of_a_branch_that_little_passes_has_its_losses(
    name: str, seed: int, tmp_path: Path
) -> None:
    network = sent(KINDS[name], seed)
    for row in rows_of(network.save(tmp_path), ("all",)):
        edge = (row["near"], row["far"])
        edge = edge if row["direction"] == "forward" else edge[::-1]
        lost = [number for at, number in network.lost if is_whole(row) or at == edge]
        first = ENDS if row["direction"] == "forward" else ENDS[::-1]
        mine = [number for number in lost if network.packets[number].ways[0][0] == first[0]]
        assert abs(row["n_lost"] - len(mine)) <= 2, (edge, row["n_lost"], len(mine))


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("share", [0.4, 0.5, 0.6])
def test_a_mirror_that_samples_makes_no_way_past_its_point(
    share: float, seed: int, tmp_path: Path
) -> None:
    """Packets of each flow are seen there now and then; what goes another way is never seen."""
    network = sent(Kind(lambda _flow, _share: THROUGH, SHORTCUT), seed)
    chance = np.random.default_rng(seed)
    some = network.seen["left"]
    network.seen["left"] = [one for one in some if chance.random() > share]
    rows = rows_of(network.save(tmp_path), ("all",))
    edges = {frozenset((row["near"], row["far"])) for row in rows}
    assert edges == set(map(frozenset, (("in", "left"), ("left", "mid"), ("mid", "out"), ENDS)))
    for row in rows:
        if not is_whole(row):
            edge = (row["near"], row["far"])
            edge = edge if row["direction"] == "forward" else edge[::-1]
            n_lost = sum(at == edge for at, _ in network.lost)
            seen_frac = 1 - share if "left" in edge else 1
            # how many of the others were missed is told within a few
            assert abs(row["n_lost"] - n_lost * seen_frac) <= 25, edge
