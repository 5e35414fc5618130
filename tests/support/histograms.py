"""Bins of the core's histograms, worked out in numpy: an independent opinion."""

import numpy as np

from pcaplat.model.arrays import Floats, Ints

PRECISION_BITS = 11
HALF = 1 << (PRECISION_BITS - 1)


def bin_of(values_ns: Ints) -> Ints:
    """Give the bin of each value, as rust/src/base/histogram.rs has it.

    Example:
        >>> bin_of(np.array([5, -5, 2048, 4095]))
        array([   5,   -5, 2048, 3071])
    """
    size = np.abs(values_ns)
    n_bits = np.frexp(size.astype(np.float64))[1].astype(np.int64)
    # a float rounds large values up, to one bit more
    n_bits -= (n_bits > 0) & (size >> np.maximum(n_bits - 1, 0) == 0)
    shift = np.maximum(n_bits - PRECISION_BITS, 0)
    return np.asarray(np.sign(values_ns) * (shift * HALF + (size >> shift)))


def middle_ns(bins: Ints) -> Floats:
    """Give the middle of each bin, ns.

    Example:
        >>> middle_ns(np.array([5, -5, 2048]))
        array([   5. ,   -5. , 2048.5])
    """
    index = np.abs(bins)
    shift = np.maximum(index // HALF - 1, 0)
    low = (index - shift * HALF) << shift
    return np.asarray(np.sign(bins) * (low + ((1 << shift) - 1) / 2))
