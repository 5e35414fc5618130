"""From what the core counted while it read all frames to the tables of traffic."""

from collections.abc import Sequence

import polars as pl

from pcaplat.model.blocks import BlockTimes
from pcaplat.model.matches.traffic import CountedTraffic, TrafficPlan
from pcaplat.model.path import Findings
from pcaplat.model.points import Pair
from pcaplat.records import dataclass
from pcaplat.traffic import TrafficTables
from pcaplat.traffic.overhead import overhead_rows
from pcaplat.traffic.rows import block_rows, size_rows, traffic_rows
from pcaplat.traffic.transactions import transaction_rows

NAMES = ("traffic", "transactions", "overhead", "frame_sizes", "traffic_blocks")


@dataclass(frozen=True)
class TrafficRun:
    """What counting the traffic of a run needs to know of it."""

    findings: Findings
    links: Sequence[Pair]
    times: BlockTimes

    @property
    def order(self) -> list[str]:
        """Points of the path."""
        return [self.findings.name(point) for point in self.findings.components[0]]

    def counting(self, pairs: Sequence[str], folder: str) -> TrafficPlan:
        """Say what is to be counted; `pairs` are the files of matched pairs."""
        centres = self.findings.centres[0]
        return TrafficPlan(
            names=self.order,
            centres=[centres[point] for point in self.findings.components[0]],
            links=self.links,
            pairs=pairs,
            folder=folder,
            start_ns=self.times.start_ns,
            end_ns=self.times.end_ns,
            block_ns=self.times.length_ns,
        )

    def tables(self, counted: CountedTraffic) -> TrafficTables:
        """Give all tables of traffic, by name."""
        volumes, sizes, open_ = map(pl.DataFrame, (counted.volumes, counted.sizes, counted.open))
        if not len(volumes):
            return {name: [] for name in NAMES}
        times, order = self.times, self.order
        span_ns = times.end_ns - times.start_ns
        links = [(self.findings.name(near), self.findings.name(far)) for near, far in self.links]
        connections = pl.DataFrame(counted.connections)
        return {
            "traffic": traffic_rows(volumes, sizes, open_, order, span_ns),
            "transactions": _transactions(connections, order),
            "overhead": overhead_rows(pl.DataFrame(counted.overhead), links),
            "frame_sizes": size_rows(sizes, order),
            "traffic_blocks": block_rows(volumes, open_, order, times.start_ns, times.length_ns),
        }


def _transactions(connections: pl.DataFrame, order: Sequence[str]) -> pl.DataFrame:
    """Sum up the connections of one point after the other, which takes less memory."""
    places = connections["point"].unique(maintain_order=True).sort()
    each = [transaction_rows(connections.filter(point=place)) for place in places]
    return _named(pl.concat(each) if each else connections, order)


def _named(frame: pl.DataFrame, order: Sequence[str]) -> pl.DataFrame:
    names = pl.Series(order, dtype=pl.String)
    return frame.with_columns(point=names.gather(frame["point"]))
