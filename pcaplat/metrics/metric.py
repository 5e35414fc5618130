"""A metric: what may be asked of a run, and the answer, or that there is none."""

from collections.abc import Callable

from pcaplat.metrics.dimensions import BASE
from pcaplat.metrics.means import Measurement
from pcaplat.metrics.runs import MeasuredRun
from pcaplat.records import dataclass

SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}
"""Share of packets below each quantile, by its name."""


FORWARD, BOTH, OF_HOST = "forward", "both", ""


@dataclass(frozen=True)
class MetricQuery:
    """What is asked of a run: a metric, one statistic of it, and where.

    Without `ends` the whole path; a metric of one way without `direction` takes both ways
    together where it can (loss), else forward. `unit`, where a metric may be in several: its base.
    """

    metric: str
    statistic: str = "mean"
    ends: tuple[str, str] | None = None
    direction: str | None = None
    unit: str | None = None


@dataclass(frozen=True)
class Unavailable:
    """A run that cannot give a figure: why, and what would."""

    why: str


Answer = Measurement | Unavailable


@dataclass(frozen=True)
class Metric:
    """A quantity that scenarios are compared by and claims are about.

    `dimensions` are those of the units it may be given in (pcaplat.metrics.dimensions), its own
    first. `read` takes it from a run. An element on the path is passed several times in each sample
    of a metric that `is_round_trip`; one that `is_of_frames` is counted from frames, whose sizes a
    claim may name. One that `is_rate` says what was offered, unless packets were lost. What is
    `is_fixed` by protocols does not differ from run to run. Only what `is_signed` may be below 0.
    `ways` are those that it takes where no direction is named: forward, both, or none where it is
    of a host and not of a path.
    """

    name: str
    meaning: str
    dimensions: tuple[str, ...]
    read: Callable[[MeasuredRun, MetricQuery], Answer]
    is_round_trip: bool = False
    is_of_frames: bool = False
    is_rate: bool = False
    is_fixed: bool = False
    is_signed: bool = False
    ways: str = FORWARD

    @property
    def base_unit(self) -> str:
        """The unit that it is measured in."""
        return BASE[self.dimensions[0]]
