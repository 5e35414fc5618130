"""Change point: where a series steps, and how often a steady one would look so.

For every place the means on both sides are compared (Student's t, equal variances); the largest of
them is the statistic. Its chance is told by putting the same values in other orders, so that it
needs no distribution (A. N. Pettitt, A non-parametric approach to the change-point problem, 1979,
does so with ranks). A series whose neighbours are alike steps more often by chance.
"""

from collections.abc import Sequence
from math import inf

import numpy as np

from pcaplat.model.arrays import Floats
from pcaplat.records import dataclass
from pcaplat.statistics.intervals import SEED

FALSE_ALARMS = 0.01
"""A steady series is said to have stepped in so many of all looks at it."""

LEAST_ON_A_SIDE = 2
"""One value that is unlike the others is no step."""

LEAST_VALUES = 10
"""Of fewer, no order is rare enough: ten have 252 halves, and either may come first."""

N_ORDERS = 4000


@dataclass(frozen=True)
class ChangePoint:
    """The first value after a step, both means, and how often a steady series has such a step."""

    at: int
    before: float
    after: float
    p: float


def change_points(series: Sequence[Sequence[float]]) -> list[ChangePoint | None]:
    """Find the one step of each series, if it is rarer than `FALSE_ALARMS` over all of them.

    Args:
        series: Values in the order of time, equally many in each.

    Example:
        >>> change_points([[1, 2, 1, 2, 1, 2, 1, 2, 9, 8, 9, 8]])[0].at
        8
        >>> change_points([[1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 9]])
        [None]
    """
    values = np.asarray(series, np.float64)
    if not values.size or values.shape[1] < LEAST_VALUES:
        return [None] * len(values)
    found = _steps(values)
    largest = np.zeros(N_ORDERS)
    chance = np.random.default_rng([SEED, values.shape[1]])
    # all series in the same orders: what they share is no news twice
    orders = chance.permuted(np.tile(np.arange(values.shape[1]), (N_ORDERS, 1)), axis=1)
    for one in values:
        np.maximum(largest, _steps(one[orders]).max(axis=1), out=largest)
    return [_step(one, steps, largest) for one, steps in zip(values, found, strict=True)]


def _step(values: Floats, steps: Floats, largest: Floats) -> ChangePoint | None:
    at = int(steps.argmax())
    # what rounding alone tells apart is equal
    n_as_large = int((largest >= steps[at] * (1 - 1e-9)).sum())
    p = (1 + n_as_large) / (1 + N_ORDERS)
    if p > FALSE_ALARMS or not np.ptp(values):
        return None
    first = at + LEAST_ON_A_SIDE
    return ChangePoint(first, float(values[:first].mean()), float(values[first:].mean()), p)


def _steps(series: Floats) -> Floats:
    """Squared t of both sides of each place, a series a row."""
    n = series.shape[1]
    centred = series - series.mean(axis=1, keepdims=True)
    sizes = np.arange(LEAST_ON_A_SIDE, n - LEAST_ON_A_SIDE + 1)
    sums = np.cumsum(centred, axis=1)[:, sizes - 1]
    between = sums**2 * n / (sizes * (n - sizes))
    rest = (centred**2).sum(axis=1, keepdims=True) - between
    with np.errstate(divide="ignore", invalid="ignore"):
        told = np.where(rest > 0, between / rest, inf)
    # equal values have no step
    return np.asarray(np.where(between > 0, told, 0.0))
