"""Payload bytes: slices of one pool of random bytes, whose checksums are differences of sums."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from tests.recovery.simulator.pieces import POOL_BYTES

if TYPE_CHECKING:
    from tests.recovery.simulator.scenario import Numbers

LONGEST_BYTES = 70_000


@cache
def pool() -> bytes:
    """The bytes, and enough of them again that a slice never wraps."""
    once = np.random.default_rng(2026).bytes(POOL_BYTES)
    return once + once[:LONGEST_BYTES]


@cache
def _sums() -> tuple[Numbers, Numbers]:
    raw = np.frombuffer(pool(), np.uint8).astype(np.int64)
    is_even = np.arange(len(raw)) % 2 == 0
    high_first, low_first = np.where(is_even, raw << 8, raw), np.where(is_even, raw, raw << 8)
    return np.r_[0, np.cumsum(high_first)], np.r_[0, np.cumsum(low_first)]


def word_sums(start: Numbers, size: Numbers) -> Numbers:
    """The sum of each slice's 16-bit words, a last odd byte padded with zero (RFC 1071)."""
    high_first, low_first = _sums()
    end = start + size
    is_even = start % 2 == 0
    sums = high_first[end] - high_first[start], low_first[end] - low_first[start]
    return np.asarray(np.where(is_even, *sums))
