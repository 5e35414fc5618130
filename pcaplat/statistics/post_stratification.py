"""Post-stratification: how sure the mean of mixed traffic is, for the mix of packets that was seen.

Packets of a kind scatter about a mean of their own. Where a run has one kind after another, blocks
of time differ by what is in them, which says nothing of how sure the mean of just these packets is.
What does is how the cells of each kind scatter about its own mean. Kinds are weighed by the shares
that were seen, so that these are no error.

Source: D. Holt and T. M. F. Smith, Post Stratification, 1979. Why so: docs/method/summarize.md.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf, isfinite, sqrt

import numpy as np

from pcaplat.model.arrays import Floats, Ints
from pcaplat.model.blocks import CELLS_OF_BLOCK
from pcaplat.records import dataclass
from pcaplat.statistics.long_run_variance import LongRunVariance, long_run_variance

LEAST_ALONE, LEAST_CELLS = 64, 16
"""Connections with fewer cells join others of their family, and families others of the run."""


@dataclass(frozen=True)
class Stratum:
    """Packets of one kind, cell by cell of its own time, ascending; its cells are equally long.

    `at` is where each begins, in shortest cells of the run. Kinds of a `family` are what some
    connections have of the same.
    """

    family: int
    at: Ints
    n: Ints
    sum_ns: Floats
    sum_of_squares: Floats

    @classmethod
    def joined(cls, several: Sequence["Stratum"]) -> "Stratum":
        """Put the cells of several in order."""
        at = np.concatenate([one.at for one in several])
        order = np.argsort(at, kind="stable")
        columns = (
            np.concatenate([getattr(one, name) for one in several])[order]
            for name in ("n", "sum_ns", "sum_of_squares")
        )
        return cls(several[0].family, at[order], *columns)

    def influence(self, n_all: int) -> Floats:
        """What each cell adds to the error of the mean of all; sums to 0."""
        mean = self.sum_ns.sum() / self.n.sum()
        return np.asarray((self.sum_ns - mean * self.n) / n_all, np.float64)

    def spread(self, n_all: int) -> Floats:
        """Variance that each cell adds, were packets independent."""
        return np.asarray(self.n * (self.alone(n_all) / self.n.sum()), np.float64)

    def alone(self, n_all: int) -> float:
        """Variance that it adds, were packets independent."""
        n = self.n.sum()
        squares = self.sum_of_squares.sum() - self.sum_ns.sum() ** 2 / n
        return max(float(squares), 0.0) / n_all**2


@dataclass(frozen=True)
class Cells:
    """Cells of several kinds, in order of time: what each adds to the error of the mean of all.

    `at` is where each begins, in shortest cells of the run, and `spread` the variance that it adds,
    were packets independent.
    """

    at: Ints
    influence: Floats
    spread: Floats

    @classmethod
    def joined(cls, several: Sequence["Cells"]) -> "Cells":
        """Put the cells of several in order."""
        at = np.concatenate([np.zeros(0, np.int64), *(one.at for one in several)])
        order = np.argsort(at, kind="stable")
        columns = (
            np.concatenate([np.zeros(0), *(getattr(one, name) for one in several)])[order]
            for name in ("influence", "spread")
        )
        return cls(at[order], *columns)

    def influence_of_blocks(self, n_blocks: int) -> Floats:
        """What each block of the run adds by its cells."""
        added = np.bincount(self.at // CELLS_OF_BLOCK, self.influence, n_blocks)
        return np.asarray(added, np.float64)


@dataclass(frozen=True)
class StratifiedError:
    """Standard error of a mean on `df` degrees of freedom; `alone`, were packets independent.

    `n_times` is how many autocorrelation times the run holds, of all kinds together, and
    `n_times_of_kind` of a usual one; infinite without likeness. Kinds that were seen one after
    another hold few each, and many together.
    """

    se: float
    df: float
    alone: float
    n_times: float
    n_times_of_kind: float


@dataclass(frozen=True)
class ErrorsByKind:
    """What the kinds of one direction add to the error of its mean.

    Kinds of too few cells are joined, so that `n_kinds` may be more than there are `sources`.
    """

    n_kinds: int
    cells: Cells
    sources: Sequence[LongRunVariance]

    @classmethod
    def of(cls, kinds: Sequence[Stratum]) -> "ErrorsByKind":
        """Measure the kinds of a run."""
        n_all = int(sum(one.n.sum() for one in kinds))
        strata = _large_enough(kinds)
        cells = [Cells(one.at, one.influence(n_all), one.spread(n_all)) for one in strata]
        sources = [_source(one, n_all) for one in strata]
        return cls(len(kinds), Cells.joined(cells), sources)


def stratified_error(
    sides: Sequence[ErrorsByKind], cells: Cells, n_blocks: int
) -> StratifiedError | None:
    """Take the error of the sum of the means of one direction, or of both.

    Args:
        sides: The kinds of each direction.
        cells: The cells of all of them.
        n_blocks: Blocks that the run has.

    Returns:
        None where too little is left of the run.
    """
    sources = [one for side in sides for one in side.sources]
    if not sources or n_blocks < LEAST_CELLS:
        return None
    together = long_run_variance(cells.influence_of_blocks(n_blocks))
    apart = _sum(sources)
    # kinds that are seen at the same time may share what makes them slow
    more = max((apart, together), key=lambda one: one.variance)
    n_times = min(apart.n_times, together.n_times)
    of_kind = min(_times_of_kind(sources), together.n_times)
    return StratifiedError(sqrt(more.variance), more.df, sqrt(cells.spread.sum()), n_times, of_kind)


def _times_of_kind(sources: Sequence[LongRunVariance]) -> float:
    """Harmonic mean of the times that kinds hold, by their shares of the variance."""
    total = sum(one.variance for one in sources)
    alike = sum(one.variance / one.n_times for one in sources)
    return total / alike if alike else inf


def _large_enough(strata: Iterable[Stratum]) -> list[Stratum]:
    """Join kinds of too few cells: those of a family first, and small families in one."""
    large: list[Stratum] = []
    families: dict[int, list[Stratum]] = {}
    for one in strata:
        if len(one.n) >= LEAST_ALONE:
            large.append(one)
        else:
            families.setdefault(one.family, []).append(one)
    joined = [Stratum.joined(some) for some in families.values()]
    small = [one for one in joined if len(one.n) < LEAST_CELLS]
    large += [one for one in joined if len(one.n) >= LEAST_CELLS]
    return [*large, Stratum.joined(small)] if small else large


def _source(stratum: Stratum, n_all: int) -> LongRunVariance:
    """Tell what a kind adds to the variance: no less than were its packets independent."""
    influence, alone = stratum.influence(n_all), stratum.alone(n_all)
    if len(influence) < LEAST_CELLS:
        # as if all its packets were one
        n = float(stratum.n.sum())
        return LongRunVariance(alone * n, max(n - 1, 1.0))
    found = long_run_variance(influence)
    return replace(found, variance=max(found.variance, alone))


def _sum(sources: Sequence[LongRunVariance]) -> LongRunVariance:
    """Add up sources that do not depend on each other; freedom and times by Satterthwaite."""
    total = sum(one.variance for one in sources)
    if not total:
        return LongRunVariance(0.0, inf, inf)
    shares = [(one.variance / total) ** 2 for one in sources]
    df = 1 / sum(share / one.df for share, one in zip(shares, sources, strict=True))
    alike = [share / one.n_times for share, one in zip(shares, sources, strict=True)]
    slow = sum(each for each in alike if isfinite(each))
    return LongRunVariance(total, df, 1 / slow if slow else inf)
