"""Two means and how sure they are together: their difference, and their ratio, by one model.

Numerator and denominator of a ratio are the means of the difference, with the same errors: drift
is out of both, and what both have in common counts once. An interval of a ratio is Fieller's: the
factors whose contrast, treatment − factor × baseline, may be 0.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import inf, sqrt

from pcaplat.records import dataclass
from pcaplat.statistics.intervals import Estimate

SURELY_NOT_0 = 0.99
"""A ratio has no interval unless its baseline differs from 0 at this confidence."""

LEAST_OF_A_LINE = 3
"""Degrees of freedom that must be left where a line over time is taken out of a ratio's error."""

N_HALVINGS = 100
MOST_DOUBLINGS = 60


@dataclass(frozen=True)
class JointError:
    """One source of error: the variance of both means, what they share of it, and its freedom."""

    treatment: float
    baseline: float
    shared: float
    df: float

    def of(self, factor: float) -> tuple[float, float]:
        """Variance of treatment − factor × baseline, and its degrees of freedom."""
        alone = self.treatment + factor**2 * self.baseline
        return max(alone - 2 * factor * self.shared, 0.0), self.df

    def widened(self, factor: float) -> "JointError":
        """Give the error that is so many times as large."""
        more = factor**2
        treatment, baseline = more * self.treatment, more * self.baseline
        return JointError(treatment, baseline, more * self.shared, self.df)


@dataclass(frozen=True)
class LinedError:
    """An error of which some may be a change with time, along a line: all of it, and the `rest`.

    A difference keeps all of it: if it changes itself, nobody knows how far. A ratio of two that
    change by as much changes with them, and is told at the middle of the time by the rest alone. Of
    a few rounds too little is left. A test that decides whether there is a line takes one out where
    chance made one, and leaves the interval too short (92 % for 95 %, of three rounds at 5 %).
    """

    all: JointError
    rest: JointError

    def of(self, factor: float) -> tuple[float, float]:
        """Variance of treatment − factor × baseline, and its degrees of freedom."""
        is_along_a_line = factor != 1 and self.rest.df >= LEAST_OF_A_LINE
        return (self.rest if is_along_a_line else self.all).of(factor)

    def widened(self, factor: float) -> "LinedError":
        """Give the error that is so many times as large."""
        return LinedError(self.all.widened(factor), self.rest.widened(factor))


@dataclass(frozen=True)
class MeanPair:
    """Means of a treatment and its baseline; `biases` bound the systematic error of either."""

    treatment: float
    baseline: float
    errors: Sequence[JointError | LinedError]
    biases: tuple[float, float] = (0.0, 0.0)

    def contrast(self, factor: float) -> Estimate:
        """Treatment − factor × baseline, with Welch and Satterthwaite's degrees of freedom."""
        found = [error.of(factor) for error in self.errors]
        total = sum(variance for variance, _ in found)
        spread = sum(variance**2 / df for variance, df in found if variance)
        df = total**2 / spread if spread else inf
        bias = self.biases[0] + abs(factor) * self.biases[1]
        return Estimate(self.treatment - factor * self.baseline, sqrt(total), df, bias)

    def widened(self, factor: float) -> "MeanPair":
        """Give the same with errors that are so many times as large."""
        return replace(self, errors=[one.widened(factor) for one in self.errors])

    def difference(self) -> Estimate:
        """Treatment − baseline."""
        return self.contrast(1.0)

    def relative_change(self) -> "RelativeChange | None":
        """(Treatment − baseline) / baseline; None if the baseline may well be 0."""
        lo, hi = self.baseline_alone().interval(SURELY_NOT_0)
        if lo <= 0 <= hi:
            return None
        turned = self if self.baseline > 0 else self._negative()
        return RelativeChange(turned)

    def baseline_alone(self) -> Estimate:
        """Estimate of the baseline's mean."""
        alone = (e.all if isinstance(e, LinedError) else e for e in self.errors)
        errors = [JointError(e.baseline, 0.0, 0.0, e.df) for e in alone]
        return MeanPair(self.baseline, 0.0, errors, (self.biases[1], 0.0)).contrast(0.0)

    def _negative(self) -> "MeanPair":
        return MeanPair(-self.treatment, -self.baseline, self.errors, self.biases)


@dataclass(frozen=True)
class RelativeChange:
    """A relative change of a positive baseline, as a share; asked like an `Estimate`."""

    means: MeanPair

    @property
    def value(self) -> float:
        """The ratio of both means, less 1."""
        return self.means.treatment / self.means.baseline - 1

    @property
    def bias(self) -> float:
        """What no data can shrink of it."""
        return self.means.contrast(1 + self.value).bias / self.means.baseline

    @property
    def se(self) -> float:
        """Standard error, to first order."""
        return self.means.contrast(1 + self.value).se / self.means.baseline

    def half_width(self, confidence: float) -> float:
        """Half the interval's width."""
        lo, hi = self.interval(confidence)
        return (hi - lo) / 2

    def interval(self, confidence: float) -> tuple[float, float]:
        """Give Fieller's interval; infinite where the baseline may be 0 at this confidence."""
        if self.means.baseline_alone().interval(confidence)[0] <= 0:
            return -inf, inf
        return self._end(confidence, -1), self._end(confidence, 1)

    def _end(self, confidence: float, side: int) -> float:
        """Find the last factor on one side whose contrast may be 0."""
        inside = 1 + self.value
        step = max(self.means.contrast(inside).half_width(confidence) / self.means.baseline, 1e-12)
        for _ in range(MOST_DOUBLINGS):
            if not self._may_be(inside + side * step, confidence):
                break
            step *= 2
        outside = inside + side * step
        for _ in range(N_HALVINGS):
            middle = (inside + outside) / 2
            if self._may_be(middle, confidence):
                inside = middle
            else:
                outside = middle
        return inside - 1

    def _may_be(self, factor: float, confidence: float) -> bool:
        lo, hi = self.means.contrast(factor).interval(confidence)
        return lo <= 0 <= hi

    def p_not_below(self, limit: float) -> float:
        """Give the p-value of "the truth is `limit` or more": small, if it is surely less."""
        return self.means.contrast(1 + limit).p_not_below(0.0)

    def p_not_above(self, limit: float) -> float:
        """Give the p-value of "the truth is `limit` or less"."""
        return self.means.contrast(1 + limit).p_not_above(0.0)


def independent(treatment: Estimate, baseline: Estimate) -> MeanPair:
    """Join two means that share no error (Welch)."""
    errors = [
        JointError(treatment.se**2, 0.0, 0.0, treatment.df),
        JointError(0.0, baseline.se**2, 0.0, baseline.df),
    ]
    return MeanPair(treatment.value, baseline.value, errors, (treatment.bias, baseline.bias))
