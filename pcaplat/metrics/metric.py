"""What is asked of a run, and the answer that there is none."""

from dataclasses import dataclass

from pcaplat.metrics.means import Measurement

SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}


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
