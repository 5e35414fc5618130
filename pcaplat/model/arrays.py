"""Types of columns of numbers."""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


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
