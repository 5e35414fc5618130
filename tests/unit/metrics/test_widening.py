"""The gate of intervals: as much wider as little is known, and none where it is too little."""

from __future__ import annotations

from math import inf, nan

import pytest

from pcaplat.metrics.means import (
    FEW,
    FEW_PACKETS,
    LEAST_SHARE,
    LEAST_TIMES,
    SURE_TIMES,
    SURELY_ENOUGH,
    TOO_ALIKE,
    TOO_FEW,
    TOO_SLOW,
    WIDEST,
    Measurement,
    gated,
    of_error,
)
from pcaplat.statistics.intervals import Blocking, Estimate
from pcaplat.statistics.post_stratification import StratifiedError

MANY = 10 * FEW_PACKETS


def passed(enough: float, n_times: float, n: int = MANY) -> Measurement:
    reading = Measurement(5.0, Estimate(5.0, 1.0, 15), n, 50 * min(enough, 100), 0.0)
    return gated(reading, Blocking(16, 1.0, n_times), enough)


def factor(reading: Measurement) -> float:
    assert isinstance(reading.within, Estimate)
    return reading.within.se


def test_where_there_is_plenty_the_interval_is_as_it_is() -> None:
    for enough, n_times in ((SURELY_ENOUGH, SURE_TIMES), (1.0, inf), (inf, SURE_TIMES), (9, 200)):
        found = passed(enough, n_times)
        assert (factor(found), found.note, found.why) == (1.0, "", "")


@pytest.mark.parametrize(
    ("enough", "n_times", "expected"),
    [(1.0, 200, 1.5), (2.0, 50, 1.5), (1.0, 50, 2.25), (0.6, 26, 4), (inf, 37.5, 2), (0.8, inf, 1)],
)
def test_little_of_either_makes_it_wider(enough: float, n_times: float, expected: float) -> None:
    found = passed(enough, n_times)
    assert factor(found) == pytest.approx(expected)
    assert found.note
    assert not found.why


def test_too_little_is_a_guess_that_is_never_narrower_than_an_interval() -> None:
    for enough, n_times, why in (
        (LEAST_SHARE - 0.01, 200, TOO_ALIKE),
        (LEAST_SHARE - 0.01, inf, TOO_ALIKE),
        (9, LEAST_TIMES - 0.1, TOO_SLOW),
    ):
        found = passed(enough, n_times)
        assert (factor(found), found.why) == (WIDEST, why)
    for n in (FEW_PACKETS - 1, MANY):
        assert factor(passed(LEAST_SHARE, LEAST_TIMES, n)) == WIDEST
    unknown = Measurement(5.0, Estimate(5.0, nan, 15), MANY, 50, 0.0)
    assert gated(unknown, Blocking(4), 9).why == TOO_FEW


def test_few_packets_are_told_of_first() -> None:
    found = passed(1.2, 100, FEW_PACKETS - 1)
    assert found.note == FEW
    assert factor(found) == pytest.approx(1.5 * SURELY_ENOUGH / 1.2)


# ---- the interval of a mix


def of_mix(n_times_of_kind: float, n_effective: float = 500, n: int = MANY) -> Measurement:
    reading = Measurement(5.0, None, n, n, 0.0)
    error = StratifiedError(1.0, 12, (n_effective / n) ** 0.5, 100, n_times_of_kind)
    return of_error(reading, error)


@pytest.mark.parametrize(
    ("n_times_of_kind", "expected"), [(12.5, 2), (25, 1.379), (50, 1.144), (3, 5), (inf, 1)]
)
def test_few_times_of_a_kind_make_a_mix_wider(n_times_of_kind: float, expected: float) -> None:
    assert factor(of_mix(n_times_of_kind)) == pytest.approx(expected, abs=0.001)


def test_a_mix_that_is_hardly_wider_is_not_approximate() -> None:
    assert not of_mix(40).note
    assert factor(of_mix(40)) > 1.19
    assert of_mix(39).note
    assert factor(of_mix(39)) < 1.21


def test_a_mix_of_fewer_than_five_independent_packets_has_no_interval() -> None:
    assert of_mix(50, 4.9).why == TOO_ALIKE
    assert not of_mix(50, 5.1).why
