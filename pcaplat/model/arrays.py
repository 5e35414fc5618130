"""Types of columns of numbers."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Numbers = TypeVar("Numbers", Ints, Floats)


def distinct(values: Numbers) -> Numbers:
    """Distinct numbers, ascending.

    As numpy's, which looks for each in a table, takes twenty times as long, and imports numpy.ma.

    Example:
        >>> distinct(np.array([7, 1, 7]))
        array([1, 7])
    """
    ordered = np.sort(values)
    is_new = np.ones(len(ordered), np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return np.asarray(ordered[is_new])


def rows_by(first: Ints, then: Ints) -> Ints:
    """Rows in the order of one column, those of one value in that of another.

    As numpy's lexsort, which sorts all rows twice: here few have one value.

    Example:
        >>> rows_by(np.array([5, 2, 5, 5]), np.array([9, 9, 9, 1]))
        array([1, 3, 0, 2])
    """
    by = np.argsort(first)
    is_same = np.diff(first[by]) == 0
    tied = np.flatnonzero(np.append(is_same, False) | np.append(False, is_same))
    if len(tied):
        rows = np.sort(by[tied])
        by[tied] = rows[np.lexsort((then[rows], first[rows]))]
    return by


def distinct_columns(rows: Ints) -> tuple[Ints, Ints, Ints]:
    """Distinct columns of some rows in lexicographic order, which of them each is, how often it is.

    As numpy's, which compares whole columns as octets and takes ten times as long.

    Example:
        >>> distinct_columns(np.array([[2, 1, 2], [0, 5, 0]]))
        (array([[1, 2],
               [5, 0]]), array([1, 0, 1]), array([1, 2]))
    """
    order = np.lexsort(rows[::-1])
    ordered = rows[:, order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    of = np.empty(len(order), np.int64)
    of[order] = np.cumsum(is_new) - 1
    firsts = np.flatnonzero(is_new)
    return ordered[:, firsts], of, np.diff(firsts, append=len(order))


def quantile(values: Ints | Floats, share: float) -> float:
    """Between which of some numbers lies such a share of them, and how far; there is one at least.

    As numpy's, which takes ten times as long for few, and imports numpy.ma.

    Example:
        >>> quantile(np.array([4, 1, 2]), 0.75)
        3.0
    """
    place = (len(values) - 1) * share
    at = int(place)
    ordered = np.partition(values, (at, min(at + 1, len(values) - 1)))
    low, high = ordered[at], ordered[min(at + 1, len(values) - 1)]
    rest = place - at
    # from the nearer end, so that no end is missed by a rounding
    near = high - (high - low) * (1 - rest) if rest >= 0.5 else low + (high - low) * rest  # noqa: PLR2004
    return float(near)


def median(values: Ints | Floats) -> float:
    """Middle of some numbers, of an even number the mean of both; NaN if any is, or of none.

    As numpy's, which takes ten times as long for few.

    Example:
        >>> median(np.array([7, 1, 3])), median(np.array([4.0, 1.0]))
        (3.0, 2.5)
    """
    n = len(values)
    if not n:
        return float("nan")
    ordered = np.partition(values, ((n - 1) // 2, n // 2, n - 1))
    last = float(ordered[-1])
    middle = (float(ordered[(n - 1) // 2]) + float(ordered[n // 2])) / 2
    return middle if last == last else last  # noqa: PLR0124 - NaN is not itself


def moving_medians(values: Floats, n: int) -> Floats:
    """Median of each so many neighbours.

    As numpy's, which takes twenty times as long.

    Example:
        >>> moving_medians(np.array([7.0, 1.0, 3.0, 5.0]), 3)
        array([3., 3.])
    """
    ordered = np.sort(np.lib.stride_tricks.sliding_window_view(values, n), axis=1)
    return np.asarray((ordered[:, (n - 1) // 2] + ordered[:, n // 2]) / 2)
