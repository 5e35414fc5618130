"""Other instruments' results: what netperf and iperf3 say of a run, samples of CPU and memory.

Cross-checks say a rate or a time of the whole run; samples say, interval by interval, how busy the
processors were. See docs/prove/instruments.md.
"""

from pcaplat.records import dataclass

NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class CrossCheck:
    """One figure that another instrument gives of a run.

    `metric` is one of claims' metrics, `value` in its base unit; `digit` is half of the last
    printed digit.
    """

    instrument: str
    where: str
    metric: str
    value: float
    digit: float = 0.0


@dataclass(frozen=True)
class UsageSamples:
    """How busy processors were, or how much memory was used: one value an interval.

    It ends at `end_ns` (UTC, since 1970). `unit` is core (busy cores) or MHz, or MiB. `step_ns` is
    how finely the instrument writes its times.
    """

    where: str
    unit: str
    end_ns: list[int]
    length_ns: list[int]
    busy: list[float]
    step_ns: int = NS_PER_S
