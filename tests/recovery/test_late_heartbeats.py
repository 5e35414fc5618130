"""Heartbeats of many hosts are late by up to seconds beside other traffic: none of these is lost.

They are equal, so that it is open which of them is which. A mirror does not capture some of them,
and some are lost on another segment.
"""

from __future__ import annotations

import statistics
import warnings
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pcaplat
from tests.support.networks import (
    START_NS,
    Edge,
    Network,
    Packet,
    Sighting,
    both_ways,
    datagram,
)

if TYPE_CHECKING:
    from pathlib import Path

US, MS, SECOND = 1_000, 1_000_000, 1_000_000_000
LINE = ("acc", "dist", "edge", "isp")
TAKES_NS = both_ways({LINE[0:2]: 80 * US, LINE[1:3]: 400 * US, LINE[2:4]: 150 * US})
N_HOSTS, SPAN_NS = 12, 60 * SECOND
N_SESSIONS, OF_SESSION = 200, 20
SERVER = "10.9.0.1"
LATE, LATE_MS = 0.01, (5, 3_000)


@dataclass
class Beats:
    """Hosts beat so often, packets are late on some edges, and lost on others."""

    late: tuple[Edge, ...]
    lost: tuple[Edge, ...]
    dropped: str
    tail_ns: int
    period_ms: int
    seed: int
    chance: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.chance = np.random.default_rng(self.seed)

    def network(self) -> Network:
        """What the points saw."""
        packets = sorted([*self._heartbeats(), *self._sessions()], key=lambda one: one.t_ns)
        seen: dict[str, list[Sighting]] = {point: [] for point in LINE}
        lost: list[tuple[Edge, int]] = []
        for number, packet in enumerate(packets):
            at_ns, gone = self._passed(packet)
            lost += [(edge, number) for edge in gone]
            for point, t_ns in at_ns.items():
                if point != self.dropped or self.chance.random() >= LATE:
                    seen[point].append(Sighting(t_ns, number, packet.frame))
        return Network(packets, {point: sorted(seen[point]) for point in LINE}, lost)

    def _heartbeats(self) -> list[Packet]:
        made = []
        for host in range(N_HOSTS):
            ends, ports = (f"10.0.5.{host + 1}", SERVER), (5_000 + host, 3_784)
            beat = datagram(ends, ports, 0, b"BEAT" + bytes(40))
            answer = datagram(ends[::-1], ports[::-1], 0, b"SEEN" + bytes(40))
            first_ns = START_NS + int(self.chance.integers(self.period_ms * MS))
            for number in range(SPAN_NS // (self.period_ms * MS)):
                t_ns = first_ns + number * self.period_ms * MS + int(self.chance.integers(MS))
                made += [
                    Packet(t_ns, (LINE,), beat),
                    Packet(t_ns + 3 * MS, (LINE[::-1],), answer),
                ]
        return made

    def _sessions(self) -> list[Packet]:
        made = []
        for number in range(N_SESSIONS):
            ends, ports = (f"10.1.0.{number + 1}", SERVER), (20_000 + number, 5_001)
            t_ns = START_NS + int(self.chance.integers(SPAN_NS * 9 // 10))
            for _ in range(OF_SESSION):
                t_ns += int(self.chance.integers(100 * US, 8 * MS))
                ident, data = int(self.chance.integers(1, 65_536)), self.chance.bytes(60)
                if self.chance.random() < 1 / 2:
                    made.append(Packet(t_ns, (LINE,), datagram(ends, ports, ident, data)))
                else:
                    answer = datagram(ends[::-1], ports[::-1], ident, data)
                    made.append(Packet(t_ns, (LINE[::-1],), answer))
        return made

    def _passed(self, packet: Packet) -> tuple[dict[str, int], list[Edge]]:
        """When a packet passed each point, and where it was lost."""
        (way,), t_ns = packet.ways, packet.t_ns
        at_ns = {way[0]: t_ns}
        for edge in pairwise(way):
            if edge in self.lost and self.chance.random() < LATE:
                return at_ns, [edge]
            t_ns += TAKES_NS[edge] + int(self.chance.exponential(self.tail_ns))
            if edge in self.late and self.chance.random() < LATE:
                t_ns += int(self.chance.uniform(*LATE_MS) * MS)
            at_ns[edge[1]] = t_ns
        return at_ns, []


KINDS = {
    "in the middle": ((LINE[1:3],), (LINE[0:2], LINE[2:4]), "dist", 3 * MS, 1_000),
    "on the last edge": ((LINE[2:4],), (LINE[0:2],), "dist", MS, 200),
    "both ways": ((LINE[1:3], LINE[2:0:-1]), (LINE[0:2], LINE[3:1:-1]), "dist", MS, 500),
    "on the first edge": ((LINE[0:2], LINE[1::-1]), (LINE[3:1:-1],), "edge", MS, 1_000),
    "soon again": ((LINE[1:3], LINE[2:0:-1]), (LINE[0:2],), "dist", 20 * US, 300),
}
MOST_WRONG = 1
"""Pairs of three runs, and figures: of two late ones, each arrived about when the other was due."""


@pytest.mark.parametrize("name", KINDS)
def test_late_heartbeats_are_neither_lost_nor_others(name: str, tmp_path: Path) -> None:
    pairs, figures = 0, list[str]()
    for seed in (101, 102, 103):
        n_wrong, wrong = judged(Beats(*KINDS[name], seed).network(), tmp_path)
        pairs += n_wrong
        figures += wrong
    assert pairs <= MOST_WRONG
    assert len(figures) <= MOST_WRONG, figures


def judged(network: Network, folder: Path) -> tuple[int, list[str]]:
    """How many pairs are wrong, and which figures."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pcaplat.PcaplatWarning)
        with pcaplat.merge(network.save(folder), same_clock=["all"]) as result:
            document = dict(result.document)
            columns = ("up_file", "up_frame", "down_file", "down_frame")
            pairs = result.matches.select(columns).collect().rows()
    is_open = any(row["n_undecided"] for row in document["segments"])
    assert is_open <= ("identical-packets" in {row["code"] for row in document["warnings"]})
    n_wrong = sum(network.packet(*pair[:2]) != network.packet(*pair[2:]) for pair in pairs)
    told = [_wrong(network, *of) for of in _edges(document)]
    return n_wrong, [wrong for wrong in told if wrong]


def _edges(document: dict[str, Any]) -> list[tuple[Edge, dict[str, Any]]]:
    ways = product(pairwise(LINE), document["segments"])
    return [
        (edge if row["direction"] == "forward" else edge[::-1], row)
        for edge, row in ways
        if (row["near"], row["far"]) == edge
    ]


def _wrong(network: Network, edge: Edge, row: dict[str, Any]) -> str:
    """What is wrong with the figures of an edge, if anything is."""
    took_ns = [*network.crossings()[edge].values()]
    n_lost = sum(where == edge for where, _ in network.lost)
    share = n_lost / (n_lost + len(took_ns))
    told = {key: row[key] for key in ("n", "n_lost", "n_maybe_late", "n_maybe_lost")}
    if not row["lost_lo_frac"] <= share <= row["lost_hi_frac"]:
        return f"{edge}: share {share}, {told}"
    # the near end may not have captured what was lost, and the last ones are not waited for
    if not row["n_lost"] - row["n_maybe_late"] <= n_lost <= row["n_lost"] + row["n_maybe_lost"] + 3:
        return f"{edge}: {n_lost} lost, {told}"
    mean_ns, slack_ns = statistics.fmean(took_ns), LATE_MS[1] * MS / len(took_ns)
    if not row["mean_least_ns"] - 1 <= mean_ns <= row["mean_most_ns"] + slack_ns:
        return f"{edge}: mean {mean_ns}, {row['mean_least_ns']} to {row['mean_most_ns']}"
    return ""
