"""Histograms of many blocks of time over the same values, and sums of them over neighbours.

Occupied bins lie block after block and value after value, so that those of any range of values are
found by bisection: a quantile looks at the few bins about it, not at all.
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pcaplat import _native
from pcaplat.model.arrays import Floats, Ints
from pcaplat.records import dataclass

BINS_AT_ONCE = 1 << 15
"""Bins that are added up at one time: what that takes is several times as much as they do."""


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
        values, column = _native.distinct_of(np.asarray(value, np.float64).tobytes())
        in_all = np.asarray(np.bincount(column, counts, len(values)), np.float64)
        cell = column + block * len(values)
        if (n_blocks + 1) * len(values) <= np.iinfo(np.int32).max:
            cell = cell.astype(np.int32)
        if np.any(cell[1:] < cell[:-1]):
            order = np.argsort(cell)
            cell, counts = cell[order], counts[order]
        return cls(values, n_blocks, cell, counts, in_all)

    @cached_property
    def _reached(self) -> NDArray[Any]:
        is_short = self.in_all.sum() <= np.iinfo(np.int32).max
        reached = np.zeros(len(self.counts) + 1, np.int32 if is_short else np.int64)
        np.cumsum(self.counts, out=reached[1:], dtype=reached.dtype)
        return reached

    @cached_property
    def _edges(self) -> Ints:
        """How many occupied bins lie before each block, and in all."""
        return self._found(np.arange(self.n_blocks + 1) * len(self.values))

    def _found(self, cells: Ints) -> Ints:
        """How many occupied bins lie before some cells."""
        # of another type, it would make a copy of all cells
        return np.searchsorted(self.cell, cells.astype(self.cell.dtype))

    def _before(self, column: int) -> Ints:
        """Of each block, how many occupied bins lie before one of its values, in all blocks."""
        if column == len(self.values):
            return self._edges[1:]
        return self._found(np.arange(self.n_blocks) * len(self.values) + column)

    def below(self, end: int) -> Floats:
        """Of each block, how many lie in its first `end` values."""
        n_below = self._reached[self._before(end)] - self._reached[self._edges[:-1]]
        return np.asarray(n_below, np.float64)

    def totals(self, n_blocks: int) -> Floats:
        """How often each value stands in the first blocks."""
        n_values = len(self.values)
        at = self._edges[n_blocks]
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
        n_at_once = max(1, n_rows * BINS_AT_ONCE // max(1, len(self.cell)))
        counts = np.zeros((n_rows, n_columns))
        for row in range(0, n_rows, n_at_once):
            fine = np.arange(row * length, min(row + n_at_once, n_rows) * length)
            lengths = (ends - starts)[fine]
            skipped = np.repeat(starts[fine] - (np.cumsum(lengths) - lengths), lengths)
            at = np.arange(len(skipped)) + skipped
            fine = np.repeat(fine, lengths)
            column = self.cell[at] - fine * len(self.values) - first
            cell = (fine // length - row) * n_columns + column
            some = counts[row : row + n_at_once]
            some += np.bincount(cell, self.counts[at], some.size).reshape(some.shape)
        n_fine = n_rows * length
        counts[:, 0] += before[:n_fine].reshape(n_rows, length).sum(axis=1)
        counts[:, -1] += behind[:n_fine].reshape(n_rows, length).sum(axis=1)
        return counts
