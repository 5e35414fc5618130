"""A step of a series is found; a steady one is seldom said to have stepped."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom  # type: ignore[import-untyped]

from pcaplat.statistics.change_point import FALSE_ALARMS, change_points

N = 300


@pytest.mark.one_in(4)
@pytest.mark.parametrize("n", [10, 12, 30])
@pytest.mark.parametrize("kind", ["normal", "exponential", "levels"])
def test_false_alarms_are_as_rare_as_said(n: int, kind: str) -> None:
    chance = np.random.default_rng(n)
    values = {
        "normal": chance.normal(size=(N, n)),
        "exponential": chance.exponential(size=(N, n)),
        "levels": chance.integers(3, size=(N, n)).astype(float),
    }[kind]
    alarms = sum(change_points([one]) != [None] for one in values.tolist())
    assert alarms <= binom.ppf(0.999, N, FALSE_ALARMS)


@pytest.mark.parametrize("at", [4, 8])
def test_a_step_is_found_where_it_is(at: int) -> None:
    chance, found = np.random.default_rng(at), 0
    for _ in range(40):
        values = chance.normal(size=12) + 8.0 * (np.arange(12) >= at)
        other = chance.normal(size=12)
        step, none = change_points([values.tolist(), other.tolist()])
        assert none is None
        found += step is not None and step.at == at
    assert found >= 36


@pytest.mark.parametrize("values", [[], [1.0] * 20, [1.0, 9.0] * 3])
def test_too_few_and_equal_values_tell_nothing(values: list[float]) -> None:
    assert change_points([values]) == [None]
