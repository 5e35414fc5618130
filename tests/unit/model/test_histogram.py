"""Histograms of many blocks: what bisection finds is what plain counting finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pcaplat.model.latencies.histogram import Bins

OCCUPIED = st.dictionaries(
    st.tuples(st.integers(0, 11), st.integers(-4, 9)), st.integers(1, 5), min_size=1, max_size=60
)


def bins_of(n_at: dict[tuple[int, int], int]) -> tuple[Bins, np.ndarray]:
    """Twelve blocks, in whatever order their bins come, and the same counts as a plain table."""
    block, value = np.array([*n_at]).T
    n = np.array([*n_at.values()])
    values = sorted(set(value.tolist()))
    table = np.zeros((12, len(values)))
    for (row, at), count in n_at.items():
        table[row, values.index(at)] = count
    return Bins.of(12, block, value * 2.5, n), table


@given(OCCUPIED, st.data())
@settings(max_examples=200, deadline=None)
def test_counts_of_a_range_are_those_of_the_plain_table(
    n_at: dict[tuple[int, int], int], data: st.DataObject
) -> None:
    """Also the ends, which take what is beyond them, and blocks that are left over."""
    bins, table = bins_of(n_at)
    n_values = table.shape[1]
    first = data.draw(st.integers(0, n_values - 1))
    last = data.draw(st.integers(first, n_values - 1))
    length = data.draw(st.integers(1, 12))
    n_rows = 12 // length
    whole = table[: n_rows * length].reshape(n_rows, length, n_values).sum(axis=1)
    expected = whole[:, first : last + 1].copy()
    expected[:, 0] += whole[:, :first].sum(axis=1)
    expected[:, -1] += whole[:, last + 1 :].sum(axis=1)
    np.testing.assert_array_equal(bins.joined(length, first, last), expected)
    np.testing.assert_array_equal(bins.below(first), table[:, :first].sum(axis=1))
    n_first = data.draw(st.integers(0, 12))
    np.testing.assert_array_equal(bins.totals(n_first), table[:n_first].sum(axis=0))


@pytest.mark.parametrize("order", [1, -1])
def test_bins_that_stand_twice_add_up(order: int) -> None:
    """As those of two directions, put behind one another."""
    block, value = np.array([0, 1, 1, 0, 1])[::order], np.array([3.0, 3, 5, 3, 5])[::order]
    bins = Bins.of(2, block, value, np.array([1, 2, 3, 4, 5])[::order])
    np.testing.assert_array_equal(bins.joined(1, 0, 1), [[5, 0], [2, 8]])


def test_blocks_without_a_bin_have_an_empty_table() -> None:
    nothing = np.zeros(0, np.int64)
    bins = Bins.of(6, nothing, np.zeros(0), nothing)
    assert bins.joined(2, 0, -1).shape == (3, 0)
    assert bins.totals(6).shape == (0,)
    np.testing.assert_array_equal(bins.below(0), np.zeros(6))
