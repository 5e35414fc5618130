"""Histograms of many blocks of time over the same values, and sums of them over neighbours.

Occupied bins lie block after block and value after value, so that those of any range of values are
found by bisection: a quantile looks at the few bins about it, not at all.
"""

from functools import cached_property

import numpy as np

from pcaplat.model.arrays import Floats, Ints
from pcaplat.records import dataclass


@dataclass(frozen=True)
class Bins:
    """The occupied bins of `n_blocks` blocks, ascending.

    `cell` is the block's number times as many as there are `values`, plus the value's; `counts` how
    often it stands there, `in_all` how often each value does in all blocks together.
    """

    values: Floats
    n_blocks: int
    cell: Ints
    counts: Ints
    in_all: Floats

    @classmethod
    def of(cls, n_blocks: int, block: Ints, value: Floats, counts: Ints) -> "Bins":
        """Take bins in any order: the block, the value, and how often it stands there."""
        values = np.unique(value)
        cell = np.searchsorted(values, value)
        in_all = np.asarray(np.bincount(cell, counts, len(values)), np.float64)
        cell += block * len(values)
        if np.any(cell[1:] < cell[:-1]):
            order = np.argsort(cell)
            cell, counts = cell[order], counts[order]
        return cls(values, n_blocks, cell, counts, in_all)

    @cached_property
    def _reached(self) -> Floats:
        reached = np.zeros(len(self.counts) + 1)
        np.cumsum(self.counts, out=reached[1:])
        return reached

    def _before(self, column: int) -> Ints:
        """Of each block, how many occupied bins lie before one of its values, in all blocks."""
        return np.searchsorted(self.cell, np.arange(self.n_blocks) * len(self.values) + column)

    def below(self, end: int) -> Floats:
        """Of each block, how many lie in its first `end` values."""
        return np.asarray(self._reached[self._before(end)] - self._reached[self._before(0)])

    def totals(self, n_blocks: int) -> Floats:
        """How often each value stands in the first blocks."""
        n_values = len(self.values)
        at = np.searchsorted(self.cell, n_blocks * n_values)
        left = np.bincount(self.cell[at:] % n_values, self.counts[at:], n_values)
        return np.asarray(self.in_all - left)

    def joined(self, length: int, first: int, last: int) -> Floats:
        """How often the values from `first` to `last` stand in every block of `length` fine ones.

        Returns:
            One block a row; what lies before the first counts as that, and what lies behind the
            last likewise. Blocks left over at the end are left out.
        """
        n_rows, n_columns = self.n_blocks // length, last + 1 - first
        if not n_columns:
            return np.zeros((n_rows, 0))
        starts, ends = self._before(first), self._before(last + 1)
        before, behind = self.below(first), self.below(len(self.values)) - self.below(last + 1)
        n_fine = n_rows * length
        lengths = (ends - starts)[:n_fine]
        skipped = np.repeat(starts[:n_fine] - (np.cumsum(lengths) - lengths), lengths)
        at = np.arange(len(skipped)) + skipped
        fine = np.repeat(np.arange(n_fine), lengths)
        column = self.cell[at] - fine * len(self.values) - first
        cell = fine // length * n_columns + column
        counts = np.asarray(np.bincount(cell, self.counts[at], n_rows * n_columns), np.float64)
        counts = counts.reshape(n_rows, n_columns)
        counts[:, 0] += before[:n_fine].reshape(n_rows, length).sum(axis=1)
        counts[:, -1] += behind[:n_fine].reshape(n_rows, length).sum(axis=1)
        return counts
