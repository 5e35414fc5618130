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
)
from pcaplat.statistics.intervals import Blocking, Estimate

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
