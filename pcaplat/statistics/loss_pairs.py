"""Two loss ratios of runs that lose by factors: their difference, and their ratio.

The upper end of one ratio is that of a run that may lose a hundred times as much and was not seen
(pcaplat.statistics.scattered_shares). A difference keeps it: the distance of its end from its value
is made of those of both ratios, each to its own side.

Source: G. Y. Zou and A. Donner, Construction of confidence limits about effect measures: a general
approach, Statistics in Medicine 27, 2008.
"""

from collections.abc import Callable, Sequence
from math import hypot

from pcaplat.records import dataclass
from pcaplat.statistics.intervals import Estimate, t_quantile
from pcaplat.statistics.loss_ratio import LossEstimate
from pcaplat.statistics.mean_pairs import MeanPair, independent

LEAST_TAIL, MOST_TAIL = 1e-4, 0.5
N_HALVINGS = 20


@dataclass(frozen=True)
class LossContrast(Estimate):
    """Treatment − factor × baseline; `sides` are both ratios, in this order."""

    sides: Sequence[LossEstimate] = ()
    factor: float = 1.0

    def half_width(self, confidence: float) -> float:
        """Half the interval's width."""
        lo, hi = self.interval(confidence)
        return (hi - lo) / 2

    def interval(self, confidence: float) -> tuple[float, float]:
        """Give the interval: it holds that of normal errors."""
        tail = (1 - confidence) / 2
        half = super().half_width(confidence)
        lo, hi = self.value - half, self.value + half
        return min(lo, self._lower(tail)), max(hi, self._upper(tail))

    def p_not_below(self, limit: float) -> float:
        """Give the p-value of "the truth is `limit` or more"."""
        told = _tail(lambda tail: self._upper(tail) >= limit)
        return max(super().p_not_below(limit), told)

    def p_not_above(self, limit: float) -> float:
        """Give the p-value of "the truth is `limit` or less"."""
        told = _tail(lambda tail: self._lower(tail) <= limit)
        return max(super().p_not_above(limit), told)

    def _upper(self, tail: float) -> float:
        (_, above), (below, _) = (_distances(one, tail) for one in self.sides)
        return self.value + hypot(above, self.factor * below)

    def _lower(self, tail: float) -> float:
        (below, _), (_, above) = (_distances(one, tail) for one in self.sides)
        return self.value - hypot(below, self.factor * above)


def _distances(one: LossEstimate, tail: float) -> tuple[float, float]:
    """How far a ratio's interval reaches below and above its value."""
    normal = one.normal()
    half = t_quantile(1 - tail, normal.df) * normal.se
    scattered = one.scattered if one.n_lost else None
    above = half if scattered is None else max(half, scattered.upper(tail) - one.value)
    return min(half, one.value), above


def _tail(reaches: Callable[[float], bool]) -> float:
    """Find the largest tail whose interval still reaches a limit."""
    low, high = LEAST_TAIL, MOST_TAIL
    if reaches(high):
        return high
    if not reaches(low):
        return 0.0
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if reaches(middle) else (low, middle)
    return high


@dataclass(frozen=True)
class LossPair(MeanPair):
    """Loss ratios of a treatment and its baseline, in this order."""

    sides: Sequence[LossEstimate] = ()

    def contrast(self, factor: float) -> Estimate:
        """Treatment − factor × baseline."""
        one = super().contrast(factor)
        return LossContrast(one.value, one.se, one.df, one.bias, sides=self.sides, factor=factor)


def of_losses(treatment: LossEstimate, baseline: LossEstimate) -> MeanPair:
    """Join two loss ratios that share no error."""
    sides = (treatment, baseline)
    both = independent(treatment.normal(), baseline.normal())
    if all(one.scattered is None for one in sides):
        return both
    return LossPair(both.treatment, both.baseline, both.errors, both.biases, sides)
