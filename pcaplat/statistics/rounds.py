"""Rounds: runs of two scenarios that were made in turn, and what their differences say.

What all runs of one round share (a day, a temperature, another tenant) is in both sides of it and
falls out of the difference. A change with time meets a round's sides at different times; a line
over the rounds is taken out of each round, unless rounds differ by themselves. Where every round
has the same order, rounds do not tell a line from a step between two days, nor what they differ by
from a line: the interval holds what either would make of it.
"""

import itertools
from collections.abc import Iterator, Sequence
from math import sqrt
from statistics import fmean

import numpy as np

from pcaplat import _native
from pcaplat.model.arrays import Floats
from pcaplat.records import dataclass
from pcaplat.statistics.mean_pairs import JointError, LinedError, MeanPair

LEAST_ROUNDS = 3
"""With fewer, a change with time may be all of a difference."""

ROUNDS_LEVEL = 0.01
"""So rarely are rounds taken to differ by themselves where nothing does."""

LEAST_TO_DIFFER = 5
"""Of fewer rounds nobody can tell."""

MOST_HIDDEN = 8.0
"""Where rounds differ by themselves, a line may rise by so many standard deviations of a run, from
the first run to the last, and nobody sees it."""

Span = tuple[int, int]
"""When a run began and ended."""

Times = tuple[Sequence[Span], Sequence[Span]]
Values = tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class Round:
    """Means of neighbouring runs: of both scenarios, and of when they began.

    `first` and `last` are its first and its last run, each 1 for the treatment, else 0, and value.
    """

    values: tuple[float, float]
    at: tuple[float, float]
    first: tuple[int, float]
    last: tuple[int, float]


def rounds_of(values: Values, times: Times) -> list[Round]:
    """Cut runs into rounds: the shortest stretches of time that hold both scenarios.

    Args:
        values: One a run, of the treatment and of the baseline.
        times: When each run began and ended.

    Returns:
        One round where the scenarios were run one after the other; none where times tell no order,
        for runs were at the same time.

    Example:
        >>> len(rounds_of(([1, 2], [3, 4]), ([(0, 9), (30, 39)], [(10, 19), (20, 29)])))
        2
        >>> len(rounds_of(([1, 2], [3, 4]), ([(0, 9), (10, 19)], [(20, 29), (30, 39)])))
        1
    """
    spans = sorted([*times[0], *times[1]])
    if any(end > start for (_, end), (start, _) in itertools.pairwise(spans)):
        return []
    is_treatment = [True] * len(times[0]) + [False] * len(times[1])
    begins = [start for start, _ in (*times[0], *times[1])]
    runs = sorted(zip(begins, is_treatment, [*values[0], *values[1]], strict=True))
    origin = runs[0][0]
    return [_round(stretch, origin) for stretch in _stretches(runs)]


Run = tuple[int, bool, float]


def _stretches(runs: Sequence[Run]) -> Iterator[list[Run]]:
    """Close each as soon as it holds both scenarios; what is left over belongs to the last."""
    done: list[Run] = []
    current: list[Run] = []
    for run in runs:
        current.append(run)
        if len({is_treatment for _, is_treatment, _ in current}) > 1:
            if done:
                yield done
            done, current = current, []
    yield done + current


def _round(runs: Sequence[Run], origin: int) -> Round:
    sides = [[r for r in runs if r[1]], [r for r in runs if not r[1]]]
    values = [fmean(value for _, _, value in side) for side in sides]
    at = [fmean(start - origin for start, _, _ in side) for side in sides]
    first, last = ((int(is_treatment), value) for _, is_treatment, value in (runs[0], runs[-1]))
    return Round((values[0], values[1]), (at[0], at[1]), first, last)


def of_rounds(rounds: Sequence[Round], biases: tuple[float, float] = (0.0, 0.0)) -> MeanPair:
    """Join the means of both scenarios, round by round.

    Args:
        rounds: Three or more.
        biases: Bounds of the systematic error, of treatment and baseline.
    """
    n = len(rounds)
    both, at = np.array([one.values for one in rounds]), np.array([one.at for one in rounds])
    # what both sides miss of the middle of their round, a line over time takes away
    missing = at.mean(axis=1, keepdims=True) - at
    shift = missing.mean(axis=0)
    slopes, slope_errors = _lines(both, at - at.mean(axis=0))
    is_rough = n >= LEAST_TO_DIFFER and not is_smooth(rounds)
    if is_rough:
        # no line says anything of the inside of one round; what all miss alike may still be one's
        missing = np.broadcast_to(shift, missing.shape)
    # of a few rounds nobody can tell whether they differ by themselves
    may_differ = is_rough or n < LEAST_TO_DIFFER
    share = _hidden_share(both, at, slope_errors) if may_differ else 1.0
    moved = both + (missing - shift) * slopes
    kept = _kept_scatter(at - at.mean(axis=0), missing - shift)
    errors: list[JointError | LinedError] = [_of_mean(moved, at.mean(axis=1), kept)]
    means, off = moved.mean(axis=0), share * shift * slopes / 2
    if shift.any():
        errors.append(_joint(share**2 * slope_errors * np.outer(shift, shift), n - 2))
    after, before = (means + off).tolist()
    biases = biases[0] + abs(float(off[0])), biases[1] + abs(float(off[1]))
    return MeanPair(after, before, errors, biases)


def _hidden_share(values: Floats, at: Floats, slope_errors: Floats) -> float:
    """How much of a line counts that rounds may hide: as steep a one as runs do not show."""
    run_sd = float((values[:, 0] - values[:, 1]).std(ddof=1)) / sqrt(2)
    steepest = MOST_HIDDEN * run_sd / float(np.ptp(at))
    known = sqrt(float(np.diag(slope_errors).mean()))
    return min(1.0, steepest / known) if known else 1.0


def _kept_scatter(at: Floats, moves: Floats) -> float:
    """Share of the variance of runs that is left after a line moved them; at most 1.

    The line is fitted to the same runs, so moved ones lie closer together: by 4 % of the variance
    in three rounds of ABBA, by less than 1 % in more.
    """
    along = (2 * moves * at + moves**2).sum(axis=0) / (at**2).sum(axis=0)
    return min(1.0, 1 + float(along.mean()) / (len(at) - 1))


def _of_mean(values: Floats, at: Floats, kept: float) -> LinedError:
    """What both means are off by, with and without a line over time."""
    n, times = len(values), at - at.mean()
    centred = values - values.mean(axis=0)
    rest = centred - np.outer(times, times @ centred / (times @ times))
    whole = _joint(centred.T @ centred / (n - 1) / n / kept, n - 1)
    return LinedError(whole, _joint(rest.T @ rest / max(n - 2, 1) / n, n - 2))


def _joint(matrix: Floats, df: float) -> JointError:
    return JointError(float(matrix[0, 0]), float(matrix[1, 1]), float(matrix[0, 1]), df)


def _lines(values: Floats, at: Floats) -> tuple[Floats, Floats]:
    """Slope of each column over its own times, and the slopes' covariances."""
    spreads = at.T @ at
    own = np.diag(spreads)
    slopes = (at * values).sum(axis=0) / own
    rest = values - values.mean(axis=0) - at * slopes
    return slopes, rest.T @ rest / (len(at) - 2) * spreads / np.outer(own, own)


def is_smooth(rounds: Sequence[Round]) -> bool:
    """Tell whether what changes does so within rounds as well as between them.

    Where runs on either side of a border differ by far more than those of one round, the change is
    one of rounds (each day its own), and no line over the rounds says anything of their inside.
    """
    within = np.array([one.values[0] - one.values[1] for one in rounds])
    borders = np.array(
        [
            after.first[1] - before.last[1] - within.mean() * (after.first[0] - before.last[0])
            for before, after in itertools.pairwise(rounds)
        ]
    )
    if len(rounds) < LEAST_TO_DIFFER:
        return True
    inner, outer = float(within.var(ddof=1)), float(borders.var(ddof=1))
    if not inner:
        return not outer
    n, m = len(within) - 1, len(borders) - 1
    p = _native.beta_cdf(n / 2, m / 2, n / (n + m * outer / inner))
    return p > ROUNDS_LEVEL
