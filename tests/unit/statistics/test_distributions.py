"""Tails and quantiles of distributions: against scipy, and against sums with fifty digits."""

from __future__ import annotations

import subprocess
import sys
from math import inf, isnan, nan, sqrt
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import special  # type: ignore[import-untyped]

from pcaplat import _native

if TYPE_CHECKING:
    from collections.abc import Iterator

SCIPYS_OWN = 3e-9
"""What scipy is off by itself, where one parameter is small and the other 10^8."""

many = settings(max_examples=300, deadline=None, derandomize=True, database=None)
worth = st.floats(-2.5, 8).map(lambda exponent: 10**exponent)
chances = st.floats(1e-12, 1 - 1e-12)


def counts() -> Iterator[tuple[float, float]]:
    """Losses and packets, few and many, and as many fewer as clustering makes of them."""
    chance = np.random.default_rng(20_261_122)
    for n in np.unique(np.round(10 ** chance.uniform(0, 8, 150))):
        few, rest = np.round(n ** chance.uniform(size=2))
        for k in {1.0, few, n - rest + 1, np.ceil(n * chance.uniform()), n}:
            share = chance.choice([1.0, 10 ** -chance.uniform(0, 2)])
            yield float(k * share), float(n * share)


COUNTS = list(counts())


def test_quantiles_of_the_beta_distribution_are_scipys() -> None:
    for k, n in COUNTS:
        for tail in (0.05, 0.025, 0.005):
            low = special.betaincinv(k, n - k + 1, tail)
            assert _native.beta_quantile(k, n - k + 1, tail) == pytest.approx(
                low, rel=SCIPYS_OWN, abs=1e-300
            )
            if k < n:
                high = special.betaincinv(k + 1, n - k, 1 - tail)
                assert _native.beta_quantile(k + 1, n - k, 1 - tail) == pytest.approx(
                    high, rel=SCIPYS_OWN
                )


def test_tails_of_the_beta_distribution_are_scipys_far_out_too() -> None:
    least = 1.0
    for k, n in COUNTS:
        spread = sqrt((k / n + 1 / n) * (1 - k / n + 1 / n) / n)
        for far in (-30, -8, -2, -0.1, 0, 1, 4, 20):
            x = min(max(k / n + far * spread, k / n / 1000), 1.0)
            low = special.betainc(k, n - k + 1, x)
            least = min(least, low or 1.0)
            assert _native.beta_cdf(k, n - k + 1, x) == pytest.approx(
                low, rel=SCIPYS_OWN, abs=1e-300
            )
            if k < n:
                high = special.betainc(n - k, k + 1, 1 - x)
                assert _native.beta_cdf(n - k, k + 1, 1 - x) == pytest.approx(
                    high, rel=SCIPYS_OWN, abs=1e-300
                )
    assert least < 1e-100


DFS = (1, 1.3, 2, 4.5, 7, 31, 255, 1e3 + 0.1, 1e6)
FAR = (-300.0, -40.0, -8.0, -1.96, -0.5, -1e-3, 0.0, 1e-3, 0.7, 2.5, 12.0)


@pytest.mark.parametrize("df", DFS)
def test_students_distribution_is_scipys(df: float) -> None:
    for t in FAR:
        assert _native.student_cdf(df, t) == pytest.approx(special.stdtr(df, t), rel=1e-11, abs=0)
    for chance in (1e-12, 1e-4, 0.025, 0.2, 0.2501, 0.49, 0.501, 0.7, 0.975, 0.9999999):
        assert _native.student_quantile(df, chance) == pytest.approx(
            special.stdtrit(df, chance), rel=1e-11
        )


def test_with_infinite_df_it_is_the_normal_one() -> None:
    for z in (-37.0, -30.0, -8.0, -1.0, 0.0, 2.0, 9.0):
        assert _native.student_cdf(inf, z) == pytest.approx(special.ndtr(z), rel=1e-12, abs=0)
    for chance in (1e-300, 1e-9, 0.025, 0.4, 0.5, 0.95, 1 - 1e-9):
        found = _native.student_quantile(inf, chance)
        assert found == pytest.approx(special.ndtri(chance), rel=1e-12, abs=1e-15)
        assert _native.student_quantile(1e15, chance) == pytest.approx(found, rel=1e-11, abs=1e-12)


def test_quantiles_of_the_gamma_distribution_are_scipys() -> None:
    for n in (*range(50), 100, 999, 12_345, 10**6):
        assert _native.gamma_quantile(n + 1, 0.95) == pytest.approx(
            special.gammaincinv(n + 1, 0.95), rel=1e-12
        )


def test_they_are_what_fifty_digits_give() -> None:
    # by the continued fraction DLMF 8.17.22; scipy is less sure of the first, third and last
    near = _native.beta_cdf(2, 82_626_320, 3.104710152002475e-08)
    assert near == pytest.approx(0.72584384081065320779, rel=1e-14)
    far = _native.beta_cdf(31_899_254, 35_861_460, 0.4693556066942629)
    assert far == pytest.approx(1.5369333539699104e-119, rel=1e-11, abs=0)
    middle = _native.student_cdf(1, -1e-7)
    assert middle == pytest.approx(0.49999996816901138162, rel=1e-15)
    tail = _native.student_cdf(1e6, -30)
    assert tail == pytest.approx(6.0100471168317189413e-198, rel=1e-12, abs=0)
    quantile = _native.beta_quantile(2, 82_626_320, 0.95)
    assert quantile == pytest.approx(5.7413477370200663e-8, rel=1e-14)


@many
@given(worth, worth, chances)
def test_a_quantile_of_the_beta_distribution_has_its_chance(
    a: float, b: float, chance: float
) -> None:
    x = _native.beta_quantile(a, b, chance)
    assume(1e-290 < x < 0.5)  # closer to 1 than to 0, the digits of 1 - x are lost
    found = _native.beta_cdf(a, b, x)
    # x has 53 bits, which may be coarse against the spread
    coarse = 1e-15 * sqrt(a + b)
    assert found == pytest.approx(chance, rel=1e-11 + 40 * coarse)


@many
@given(st.floats(0, 9).map(lambda exponent: 10**exponent), chances)
def test_a_quantile_of_students_distribution_has_its_chance(df: float, chance: float) -> None:
    t = _native.student_quantile(df, chance)
    assert _native.student_cdf(df, t) == pytest.approx(chance, rel=1e-11, abs=0)
    assert (t < 0) == (chance < 0.5) or t == 0


@many
@given(worth, worth, st.lists(chances, min_size=2, max_size=2, unique=True).map(sorted))
def test_a_larger_chance_never_has_a_smaller_quantile(
    a: float, b: float, pair: list[float]
) -> None:
    low, high = (_native.beta_quantile(a, b, chance) for chance in pair)
    assert 0 <= low <= high * (1 + 1e-12) <= 1 + 1e-12


def test_the_ends_have_limits_and_what_is_undefined_is_nan() -> None:
    assert [_native.beta_cdf(2, 3, x) for x in (-1, 0, 1, 2)] == [0, 0, 1, 1]
    assert [_native.beta_quantile(2, 3, chance) for chance in (0, 1)] == [0, 1]
    # too near 0 for a number
    assert _native.beta_quantile(1e-3, 1e6, 0.025) == 0
    assert [_native.student_quantile(3, chance) for chance in (0, 0.5, 1)] == [-inf, 0, inf]
    for df in (3, inf):
        assert [_native.student_cdf(df, t) for t in (-inf, -1e200, inf)] == [0, 0, 1]
    assert [_native.gamma_quantile(2, chance) for chance in (0, 1)] == [0, inf]
    for strange in (nan, -1.0):
        assert isnan(_native.beta_cdf(strange, 1, 0.5))
        assert isnan(_native.beta_quantile(1, strange, 0.5))
        assert isnan(_native.beta_quantile(1, 1, strange))
        assert isnan(_native.gamma_quantile(strange, 0.5))
        assert isnan(_native.gamma_quantile(1, strange))
        assert isnan(_native.student_cdf(strange, 0.5))
        assert isnan(_native.student_quantile(strange, 0.5))
        assert isnan(_native.student_quantile(1, strange))
    assert isnan(_native.beta_cdf(1, 1, nan))
    assert isnan(_native.student_cdf(1, nan))


EVERYTHING = """
import importlib, pkgutil, sys, pcaplat
for module in pkgutil.walk_packages(pcaplat.__path__, "pcaplat."):
    importlib.import_module(module.name)
print("pcaplat.statistics.loss_ratio" in sys.modules, "scipy" in sys.modules)
"""


def test_the_program_does_without_scipy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", EVERYTHING], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "False"]
