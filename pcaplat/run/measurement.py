"""What a merge measures, stage by stage: the path asked for, and all that was found on it."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from pcaplat import _native
from pcaplat.model.blocks import Blocks, BlockTimes, Key
from pcaplat.model.clocks import Clocks
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.files.time_range import TimeRange
from pcaplat.model.latencies.exchanges import Trips
from pcaplat.model.latencies.segments import Segment
from pcaplat.model.matched import Matched
from pcaplat.model.path import Findings
from pcaplat.model.points import Pair
from pcaplat.records import dataclass
from pcaplat.run.scan import Scan
from pcaplat.stages.match import measured_links


@dataclass(frozen=True)
class Course:
    """The path and the time that are measured: what all stages after the survey go by.

    `reference` is the point whose clock times are given in, `range_ns` start and end on it.
    """

    scan: Scan
    findings: Findings
    reference: int
    range_ns: TimeRange

    @cached_property
    def settings(self) -> _native.Settings:
        """How captures are read from now on."""
        return self.scan.job.settings(self.scan.sampled)

    @cached_property
    def links(self) -> list[Pair]:
        """The segments (near, far), the whole path among them."""
        return measured_links(self.findings)[0]

    @cached_property
    def times(self) -> BlockTimes:
        """The blocks of time that latencies are kept by."""
        return BlockTimes.of(self.findings, self.range_ns)


@dataclass(frozen=True)
class MeasuredPath:
    """All that was found: what the core counted, clocks, latencies, and what is doubtful."""

    course: Course
    matched: Matched
    clocks: Clocks
    segments: Sequence[Segment]
    trips: Trips
    blocks: Mapping[Key, Blocks]
    diagnostics: Sequence[Diagnostic]


def n_by_status(matched: Matched) -> dict[str, int]:
    """Frames of all points, by status."""
    columns = zip(*matched.counts, matched.elsewhere, strict=True)
    return dict(zip(_native.STATUSES, map(sum, columns), strict=True))
