"""Rates of a run: its traffic block by block of time, frame sizes, transactions and overhead."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pcaplat.model.arrays import Ints
from pcaplat.records import dataclass

TrafficRow = Mapping[str, Any]
PointAndWay = tuple[str, str]
"""A point and a direction."""

RATE_TABLES = ("traffic", "transactions", "overhead", "frame_sizes", "traffic_blocks")
COUNTED = ("n_frames", "frame_bytes", "l3_bytes", "payload_bytes")


@dataclass(frozen=True)
class TrafficSeries:
    """What passed one point in one direction, over equal blocks of time."""

    length_ns: int
    counts: Mapping[str, Ints]
    start_ns: int = 0

    @property
    def seconds(self) -> float:
        """The time of all blocks."""
        return len(self.counts["n_frames"]) * self.length_ns / 1e9

    def part(self, first: int, end: int) -> "TrafficSeries":
        """Give the blocks from `first` up to, but not with, `end`."""
        counts = {name: some[first:end] for name, some in self.counts.items()}
        return TrafficSeries(self.length_ns, counts, self.start_ns + first * self.length_ns)


@dataclass(frozen=True)
class Rates:
    """The traffic of a run; rows as the tables of pcaplat.tables.traffic have them."""

    flows: Mapping[PointAndWay, TrafficSeries]
    traffic: Sequence[TrafficRow]
    transactions: Sequence[TrafficRow]
    overhead: Sequence[TrafficRow]
    sizes: Sequence[TrafficRow]

    def part(self, first: int, end: int) -> "Rates":
        """Leave out blocks at either end; sizes, transactions and overhead are of the whole run."""
        flows = {place: flow.part(first, end) for place, flow in self.flows.items()}
        return Rates(flows, self.traffic, self.transactions, self.overhead, self.sizes)

    def row(self, place: PointAndWay) -> TrafficRow | None:
        """Give the row of a point and direction."""
        rows = (row for row in self.traffic if (row["point"], row["direction"]) == place)
        return next(rows, None)

    def turned(self) -> "Rates":
        """See the same the other way round."""
        sides = {"forward": "reverse", "reverse": "forward", "unknown": "unknown"}

        def rows(given: Sequence[TrafficRow]) -> list[TrafficRow]:
            return [dict(row) | {"direction": sides[row["direction"]]} for row in given]

        flows = {(point, sides[way]): flow for (point, way), flow in self.flows.items()}
        overhead = [_swapped(row) for row in rows(self.overhead)]
        return Rates(flows, rows(self.traffic), self.transactions, overhead, rows(self.sizes))


def _swapped(row: TrafficRow) -> TrafficRow:
    """Give the overhead as seen from the other end."""
    near, far = row["far"], row["near"]
    least, most = -row["max_bytes"], -row["min_bytes"]
    frames = {"near_frame_bytes": row["far_frame_bytes"]}
    frames |= {"far_frame_bytes": row["near_frame_bytes"]}
    bounds = {"mean_bytes": -row["mean_bytes"], "min_bytes": least, "max_bytes": most}
    usual = {"usual_bytes": -row["usual_bytes"]}
    return dict(row) | {"near": near, "far": far} | bounds | usual | frames


def rates_of(tables: Mapping[str, Sequence[TrafficRow]]) -> Rates:
    """Make them of rows, by the names of the tables."""
    by_place: dict[PointAndWay, list[TrafficRow]] = {}
    for row in tables["traffic_blocks"]:
        by_place.setdefault((row["point"], row["direction"]), []).append(row)
    flows = {
        place: TrafficSeries(
            rows[0]["length_ns"],
            {name: np.array([row[name] for row in rows], dtype=np.int64) for name in COUNTED},
            rows[0]["start_ns"],
        )
        for place, rows in by_place.items()
    }
    return Rates(flows, *(tables[name] for name in RATE_TABLES[:-1]))
