"""Shares that runs scatter by factors: the mean that a few of them tell, from above.

A run in ten loses a hundred times as much as the others: whoever sees three runs may see none of
those, and neither their mean nor their scatter shows it. The logarithms of shares scatter evenly,
so that a few runs tell how far they may go.

Source: K. Krishnamoorthy and T. Mathew, Inferences on the means of lognormal distributions using
generalized p-values and generalized confidence intervals, J. Stat. Plan. Inference 115, 2003.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from math import exp, log

import numpy as np

from pcaplat.model.arrays import Floats
from pcaplat.records import dataclass
from pcaplat.statistics.intervals import SEED

N_DRAWS = 4000

LEAST_COUNTED = 5
"""Runs are joined until so many are counted in each on the average, for few scatter by
themselves."""

LEAST_GROUPS = 3


@dataclass(frozen=True)
class ScatteredShares:
    """Counted and all packets of each run."""

    counts: Sequence[tuple[float, float]]

    def p_not_below(self, limit: float) -> float:
        """Give the p-value of "the mean share is `limit` or more"."""
        if limit <= 0:
            return 1.0
        return float((self._draws >= log(limit)).mean())

    def upper(self, chance: float) -> float:
        """Give the share that the mean exceeds with this chance only."""
        drawn = float(np.quantile(self._draws, 1 - chance))
        return min(exp(min(drawn, 0.0)), 1.0)

    @cached_property
    def _draws(self) -> Floats:
        """Logarithms of the mean that these shares may come from."""
        logs = self._logs()
        normal, scatter = _pivots(len(logs))
        sd = float(logs.std(ddof=1))
        drawn = logs.mean() - normal * sd / np.sqrt(len(logs) * scatter) + sd**2 / scatter / 2
        return np.sort(drawn)

    def _logs(self) -> Floats:
        counted, n = np.array(self.counts, np.float64).T
        wanted = int(counted.sum() // LEAST_COUNTED)
        n_groups = min(max(wanted, LEAST_GROUPS), len(n))
        group = np.arange(len(n)) * n_groups // len(n)
        counted, n = (np.bincount(group, one) for one in (counted, n))
        # half a packet, for none has no logarithm
        return np.asarray(np.log((counted + 0.5) / (n + 1)))


@lru_cache(maxsize=64)
def _pivots(n: int) -> tuple[Floats, Floats]:
    """Draw what a mean of `n` is off by, and its scatter, χ² by its freedom; always the same."""
    chance = np.random.default_rng([SEED, n])
    return chance.normal(size=N_DRAWS), chance.chisquare(n - 1, size=N_DRAWS) / (n - 1)
