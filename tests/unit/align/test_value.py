"""The value in a clock's interval: it follows the clock, and not the packets that bound it."""

from __future__ import annotations

import numpy as np
import pytest

from pcaplat.stages.align.value import ASIDE_SHARE, middle

SECOND_NS = 10**9
WIDTH_NS = 20_000.0


def tube(seed: int, bends_ns: float) -> tuple[np.ndarray, ...]:
    """Knots, an interval that dips at each packet, and on which side each knot dips."""
    chance = np.random.default_rng(seed)
    knots_ns = np.sort(chance.choice(60 * SECOND_NS, 800, replace=False)).astype(np.int64)
    clock_ns = bends_ns * np.abs((knots_ns / (10 * SECOND_NS)) % 2 - 1)
    is_above = chance.random(800) < 0.5
    dip_ns = chance.uniform(500, 4_000, 800)
    lo = clock_ns - WIDTH_NS / 2 + np.where(is_above, 0, dip_ns)
    hi = clock_ns + WIDTH_NS / 2 - np.where(is_above, dip_ns, 0)
    return knots_ns, lo, hi, is_above


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("bends_ns", [0.0, 80_000.0, 500_000.0])
def test_it_does_not_dip_where_the_interval_does(bends_ns: float, seed: int) -> None:
    knots_ns, lo, hi, is_above = tube(seed, bends_ns)
    value = middle(knots_ns, lo, hi, [])
    beside = value - bends_ns * np.abs((knots_ns / (10 * SECOND_NS)) % 2 - 1)
    # the middle itself is off by more than 1 µs between the two
    assert abs(beside[is_above].mean() - beside[~is_above].mean()) < 400
    assert np.all((value >= lo) & (value <= hi))


@pytest.mark.parametrize("seed", range(5))
def test_it_stays_near_the_middle_where_no_line_fits(seed: int) -> None:
    knots_ns, lo, hi, _ = tube(seed, 500_000.0)
    aside = np.abs(middle(knots_ns, lo, hi, []) - (lo + hi) / 2)
    assert np.all(aside <= ASIDE_SHARE * (hi - lo) / 2 + 1e-3)


def test_a_line_is_taken_where_one_fits() -> None:
    knots_ns = np.arange(0, 10 * SECOND_NS, SECOND_NS)
    level = 3e-6 * knots_ns
    most = level + np.where(knots_ns % 2, 500.0, 300.0)
    value = middle(knots_ns, np.asarray(level - 100.0), np.asarray(most), [])
    assert np.allclose(value - level, 100.0)
