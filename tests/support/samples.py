"""A survey's sample made by hand: packets of known truth, seen by points with wrong clocks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pcaplat.model.points import Point
from pcaplat.stages.survey import Observations, Sample

if TYPE_CHECKING:
    from pcaplat.model.arrays import Bools, Ints

START_NS = 1_700_000_000_000_000_000
N_PAIRS = 3


@dataclass(frozen=True)
class Watcher:
    """A point of the path: its clock, and what it fails to see."""

    name: str
    offset_ns: int = 0
    drift_ppm: float = 0.0
    resolution_ns: int = 1
    missed_share: float = 0.0
    sees: str = "both"
    ttl: int = 64
    """Of packets going forward; of those in reverse 128 less that."""

    def stamps(self, true_ns: Ints) -> Ints:
        drifted = np.rint((true_ns - START_NS) * (self.drift_ppm * 1e-6)).astype(np.int64)
        whole: Ints = (true_ns + self.offset_ns + drifted) // self.resolution_ns
        return whole * self.resolution_ns

    def sees_these(self, is_forward: Bools, chance: np.random.Generator) -> Bools:
        seen = chance.random(len(is_forward)) >= self.missed_share
        ways = {"both": seen, "forward": seen & is_forward, "reverse": seen & ~is_forward}
        return ways[self.sees]


@dataclass(frozen=True)
class Walk:
    """Packets that walk past watchers in a line, both ways, and what each of them takes."""

    watchers: tuple[Watcher, ...]
    forward_ns: int = 3_000
    reverse_ns: int = 5_000
    tail_ns: int = 400
    n_packets: int = 600
    gap_ns: int = 50_000
    forward_share: float = 0.5
    seed: int = 1
    order: tuple[int, ...] = field(default=())
    """Which watcher is the first file, and so on; as they stand by default."""

    def sample(self) -> tuple[Sample, list[Point]]:
        """What a survey would be given, files in `order`."""
        chance = np.random.default_rng(self.seed)
        is_forward = chance.random(self.n_packets) < self.forward_share
        key = chance.integers(-(2**62), 2**62, self.n_packets)
        pair = chance.integers(0, N_PAIRS, self.n_packets) * 1_000_003
        true_ns = self._true_times(chance, is_forward)
        order = self.order or tuple(range(len(self.watchers)))
        parts, points = [], []
        for file, place in enumerate(order):
            watcher = self.watchers[place]
            rows = np.flatnonzero(watcher.sees_these(is_forward, chance))
            t_ns = watcher.stamps(true_ns[place][rows])
            # the smaller address is at the first end for every second pair only
            is_toward = is_forward[rows] ^ (pair[rows] % 2 == 1)
            ones = np.ones(len(rows), np.int64)
            observations = Observations(
                key=key[rows],
                flow=pair[rows] + 7,
                pair=pair[rows],
                is_toward=is_toward,
                is_directed=ones > 0,
                copy_tag=0 * ones,
                t_ns=t_ns,
                ttl=np.where(is_forward[rows], watcher.ttl, 128 - watcher.ttl),
                tcp_bytes=100 * ones,
                source=pair[rows] * 2 + is_toward,
            )
            parts.append((file, observations))
            points.append(point_of(watcher.name, file, t_ns, watcher.resolution_ns))
        return sample_of(parts), points

    def _true_times(self, chance: np.random.Generator, is_forward: Bools) -> Ints:
        """When each packet passes each watcher."""
        n = len(self.watchers)
        gaps = chance.integers(self.gap_ns // 2, self.gap_ns * 3 // 2, self.n_packets)
        sent_ns = START_NS + np.cumsum(gaps)
        tails = chance.exponential(self.tail_ns, (n - 1, self.n_packets)).astype(np.int64)
        zero = np.zeros((1, self.n_packets), np.int64)
        there = np.cumsum(np.concatenate((zero, tails + self.forward_ns)), axis=0)
        back = np.cumsum(np.concatenate((zero, tails + self.reverse_ns)), axis=0)[::-1]
        return np.where(is_forward, sent_ns + there, sent_ns + back)


def point_of(name: str, file: int, t_ns: Ints, resolution_ns: int = 1) -> Point:
    return Point(name, ((file, 0),), resolution_ns, int(t_ns.min()), int(t_ns.max()), 0)


def sample_of(
    parts: list[tuple[int, Observations]], opens: dict[int, bool] | None = None
) -> Sample:
    """Put observations of some files together. `opens`: by flow, whether it begins with a SYN."""
    flows: dict[str, list[int]] = {
        name: []
        for name in ("file", "interface", "flow", "pair", "first_t_ns", "is_first_toward", "opens")
    }
    for file, seen in parts:
        for flow in np.unique(seen.flow).tolist():
            of_flow = np.flatnonzero(seen.flow == flow)
            first = of_flow[np.argmin(seen.t_ns[of_flow])]
            row = (file, 0, flow, seen.pair[first], seen.t_ns[first], seen.is_toward[first])
            for name, value in zip(flows, (*row, (opens or {}).get(flow, False)), strict=True):
                flows[name].append(int(value))
    source = np.concatenate(
        [np.array([[file, 0]] * len(seen)) for file, seen in parts if len(seen)]
    )
    columns = {
        name: np.concatenate([getattr(seen, name) for _, seen in parts])
        for name in Observations.__dataclass_fields__
    }
    as_arrays = {name: np.array(column, dtype=np.int64) for name, column in flows.items()}
    return Sample(Observations(**columns), source, as_arrays)


def observations(
    key: list[int],
    t_ns: list[int],
    *,
    copy_tag: list[int] | None = None,
    is_directed: bool = True,
    is_toward: list[bool] | None = None,
    tcp_bytes: list[int] | None = None,
) -> Observations:
    """Observations of a few packets, written out."""
    n = len(key)
    zeros = np.zeros(n, np.int64)
    return Observations(
        key=np.array(key, np.int64),
        flow=zeros,
        pair=zeros,
        is_toward=np.array(is_toward or [True] * n, np.bool_),
        is_directed=np.full(n, is_directed),
        copy_tag=np.array(copy_tag or [0] * n, np.int64),
        t_ns=np.array(t_ns, np.int64),
        ttl=zeros + 64,
        tcp_bytes=np.array(tcp_bytes or [0] * n, np.int64),
        source=zeros,
    )
