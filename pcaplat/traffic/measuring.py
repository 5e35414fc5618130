"""What counting the traffic of a run needs to know of it, and what it comes to."""

from collections.abc import Sequence

from pcaplat.model.blocks import BlockTimes
from pcaplat.model.matches.traffic import CountedTraffic, TrafficPlan
from pcaplat.model.path import Findings
from pcaplat.model.points import Pair
from pcaplat.records import dataclass
from pcaplat.traffic import TrafficTables


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
        from pcaplat.traffic.counted_tables import tables_of  # noqa: PLC0415 - needs polars

        links = [(self.findings.name(near), self.findings.name(far)) for near, far in self.links]
        return tables_of(counted, self.order, links, self.times)
