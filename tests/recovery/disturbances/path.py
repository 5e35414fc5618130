"""A path of four points under disturbance: what its clocks say, and how its packets fare.

Datagrams that are all unlike each other go both ways. Times are ns since the start, as floats.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tests.support.networks import START_NS, Edge, Network, Packet, Sighting, Way, datagram

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

US, MS, SECOND = 1e3, 1e6, 1e9
LINE = ("a", "b", "c", "d")
CLIENT, SERVER = "10.0.0.1", "10.0.9.9"
FLOORS_NS = {("a", "b"): 6_000.0, ("b", "c"): 25_000.0, ("c", "d"): 9_000.0, ("a", "c"): 37_000.0}
BYTES = 32

Clock = Callable[["Floats"], "Floats"]
"""How far a clock is ahead at true times."""
Delay = Callable[["Floats", np.random.Generator], "Floats"]
"""How much longer packets take that enter an edge at these times."""
Fate = Callable[["Floats", np.random.Generator], "Flags"]
"""Which packets are lost that enter an edge at these times."""
Late = Callable[["Floats", np.random.Generator], "Floats"]
"""How much too late packets are stamped that pass a point at these times."""


@dataclass
class Disturbed:
    """What is to happen in so many ns, to so many packets."""

    n: int
    span_ns: float
    seed: int
    clocks: dict[str, Clock] = field(default_factory=dict)
    delays: dict[Edge, Delay] = field(default_factory=dict)
    fates: dict[Edge, Fate] = field(default_factory=dict)
    stamps_late: dict[str, Late] = field(default_factory=dict)
    covers: dict[str, tuple[float, float]] = field(default_factory=dict)
    """The part of the time in which a point captures."""
    tail_ns: float = 1_500.0
    back: Way = LINE[::-1]
    back_share: float = 0.5

    @property
    def chance(self) -> np.random.Generator:
        """Draws of this seed."""
        return np.random.default_rng([self.seed, self.n])

    def network(self) -> DisturbedNetwork:
        """What the points saw."""
        chance = self.chance
        sent = np.sort(chance.uniform(0, self.span_ns, self.n))
        is_back = chance.random(self.n) < self.back_share
        at_ns = {point: np.full(self.n, np.nan) for point in LINE}
        lost: list[tuple[Edge, int]] = []
        for way, mine in ((LINE, ~is_back), (self.back, is_back)):
            at_ns[way[0]][mine] = sent[mine]
            for edge in pairwise(way):
                rows = np.flatnonzero(mine & np.isfinite(at_ns[edge[0]]))
                out, gone = self._cross(edge, at_ns[edge[0]][rows], chance)
                at_ns[edge[1]][rows[~gone]] = out[~gone]
                lost += [(edge, int(row)) for row in rows[gone]]
        packets = [
            self._packet(row, sent[row], chance, is_back=bool(back))
            for row, back in enumerate(is_back)
        ]
        stamps = {point: self._stamps(point, at_ns[point], chance) for point in LINE}
        return DisturbedNetwork.of(packets, at_ns, stamps, lost)

    def _cross(self, edge: Edge, t: Floats, chance: np.random.Generator) -> tuple[Floats, Flags]:
        forward = edge in FLOORS_NS
        floor_ns = FLOORS_NS[edge if forward else edge[::-1]] * (1.0 if forward else 1.3)
        out = t + floor_ns + chance.exponential(self.tail_ns, len(t))
        if edge in self.delays:
            out += self.delays[edge](t, chance)
        gone = np.zeros(len(t), bool)
        if edge in self.fates:
            gone = self.fates[edge](t, chance)
        return out, gone

    def _packet(
        self, row: int, sent_ns: float, chance: np.random.Generator, *, is_back: bool
    ) -> Packet:
        ends, ports = (CLIENT, SERVER), (40_000 + row % 7, 5_001)
        if is_back:
            ends, ports = ends[::-1], ports[::-1]
        way = self.back if is_back else LINE
        frame = datagram(ends, ports, row % 65_535 + 1, chance.bytes(BYTES))
        return Packet(START_NS + int(sent_ns), (way,), frame)

    def _stamps(self, point: str, t: Floats, chance: np.random.Generator) -> Floats:
        first, last = (share * self.span_ns for share in self.covers.get(point, (0.0, 1.0)))
        is_in = np.isfinite(t) & (t >= first)
        if last < self.span_ns:
            is_in &= t <= last
        said = np.where(is_in, t, np.nan)
        if point in self.clocks:
            said = said + self.clocks[point](t)
        if point in self.stamps_late:
            said = said + self.stamps_late[point](t, chance)
        return said


@dataclass
class DisturbedNetwork(Network):
    """A network of which every sighting has a stamp of its own."""

    stamps_ns: dict[str, list[int]] = field(default_factory=dict)
    passed_ns: dict[str, Floats] = field(default_factory=dict)
    """Per point when each packet was captured there, NaN for never."""

    @classmethod
    def of(
        cls,
        packets: list[Packet],
        at_ns: dict[str, Floats],
        stamps: dict[str, Floats],
        lost: list[tuple[Edge, int]],
    ) -> DisturbedNetwork:
        """Of when packets passed each point and what was written down, NaN for never."""
        seen, said_ns = {}, {}
        passed_ns = {
            point: np.where(np.isfinite(stamps[point]), np.floor(ns), np.nan)
            for point, ns in at_ns.items()
        }
        for point in LINE:
            rows = np.flatnonzero(np.isfinite(stamps[point]))
            rows = rows[np.argsort(at_ns[point][rows], kind="stable")]
            seen[point] = [
                Sighting(START_NS + int(at_ns[point][row]), int(row), packets[row].frame)
                for row in rows
            ]
            said_ns[point] = [START_NS + round(stamps[point][row]) for row in rows]
        return cls(packets, seen, lost, stamps_ns=said_ns, passed_ns=passed_ns)

    def _stamp_ns(self, point: str, one: Sighting) -> int:
        """What was written down at a true time."""
        return self._said[point][one.t_ns]

    @cached_property
    def _said(self) -> dict[str, dict[int, int]]:
        said: dict[str, dict[int, int]] = {}
        for point, all_ns in self.stamps_ns.items():
            each = zip(self.seen[point], all_ns, strict=True)
            said[point] = {one.t_ns: ns for one, ns in each}
        return said

    def took_ns(self, edge: Edge) -> Floats:
        """How long packets took that both ends of an edge captured, one after the other."""
        is_next = np.array([edge in pairwise(packet.ways[0]) for packet in self.packets])
        took = self.passed_ns[edge[1]] - self.passed_ns[edge[0]]
        return np.asarray(took[is_next & np.isfinite(took)])

    def lost_of(self, edge: Edge) -> tuple[int, int]:
        """How many packets were lost on an edge, and how many came, while both ends captured."""
        up_ns, down_ns = (self.passed_ns[point] for point in edge)
        first_ns = max(np.nanmin(up_ns), np.nanmin(down_ns))
        last_ns = min(np.nanmax(up_ns), np.nanmax(down_ns))
        is_in = (up_ns >= first_ns) & (up_ns <= last_ns)
        gone = np.zeros(len(self.packets), bool)
        gone[[packet for where, packet in self.lost if where == edge]] = True
        is_next = np.array([edge in pairwise(packet.ways[0]) for packet in self.packets])
        return int((gone & is_in).sum()), int((is_next & is_in & np.isfinite(down_ns)).sum())
