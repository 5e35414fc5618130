"""Intervals of what cannot be negative begin at 0; those of differences may lie below."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat.metrics.contrasts import difference_of, metric_of
from pcaplat.metrics.means import Measurement
from pcaplat.metrics.metric import MetricQuery
from pcaplat.metrics.registry import METRICS, metric_named, read
from pcaplat.statistics.intervals import CONFIDENCE, Estimate, across
from tests.support.runs import START_NS, run_of, scenario_of

if TYPE_CHECKING:
    from pcaplat.metrics.runs import MeasuredRun

SIGNED = {"encapsulation-overhead"}
LEVELS_NS = (1_000, 2_000, 20_000)
"""Runs so unlike each other that their mean may be anything."""


def runs(levels_ns: tuple[int, ...], *, clock_ns: float = 0.0) -> list[MeasuredRun]:
    chance = np.random.default_rng(7)
    return [
        run_of(
            level_ns + chance.exponential(200, 4_000),
            level_ns + chance.exponential(200, 4_000),
            start_ns=START_NS + at * 10**12,
            clock_half_width_ns=clock_ns,
        )
        for at, level_ns in enumerate(levels_ns)
    ]


@pytest.mark.parametrize("clock_ns", [0.0, 5_000.0])
@pytest.mark.parametrize("statistic", ["mean", "p50", "p99", "max"])
@pytest.mark.parametrize("metric", ["one-way-latency", "delay-variation"])
def test_no_latency_is_below_nothing(metric: str, statistic: str, clock_ns: float) -> None:
    found = metric_of(
        scenario_of("s", runs(LEVELS_NS, clock_ns=clock_ns)), MetricQuery(metric, statistic)
    )
    assert isinstance(found.estimate, Estimate)
    lo, hi = found.estimate.interval(CONFIDENCE)
    assert 0 <= lo <= found.estimate.value <= hi
    assert found.estimate.p_not_above(-1.0) == 0


def test_the_other_end_is_as_it_is_without_that() -> None:
    found = metric_of(scenario_of("s", runs(LEVELS_NS)), MetricQuery("rtt"))
    assert isinstance(found.estimate, Estimate)
    alone = across(found.values)
    assert alone.interval(CONFIDENCE)[0] < 0
    assert found.estimate.interval(CONFIDENCE) == (0, alone.interval(CONFIDENCE)[1])
    assert found.estimate.p_not_below(40_000) == alone.p_not_below(40_000)


def test_a_run_by_itself_is_above_nothing_too() -> None:
    (run,) = runs((1_000,), clock_ns=9_000.0)
    found = read(run, MetricQuery("one-way-latency"))
    assert isinstance(found, Measurement)
    assert found.within is not None
    assert found.within.interval(CONFIDENCE)[0] == 0


def test_a_negative_latency_stays_what_was_measured() -> None:
    # of clocks that were declared to be one, and are not
    found = metric_of(scenario_of("s", runs((-9_000, -8_000, -1_000))), MetricQuery("rtt"))
    assert isinstance(found.estimate, Estimate)
    lo, hi = found.estimate.interval(CONFIDENCE)
    assert lo < found.estimate.value < hi


def test_a_difference_may_be_negative() -> None:
    one, other = scenario_of("a", runs(LEVELS_NS)), scenario_of("b", runs((900, 1_900, 20_100)))
    found = difference_of(one, other, MetricQuery("rtt"), accepts_order=True)
    assert found.estimate is not None
    assert found.estimate.interval(CONFIDENCE)[0] < 0


@pytest.mark.parametrize("name", METRICS)
def test_what_may_be_negative_is_known(name: str) -> None:
    assert metric_named(name).is_signed == (name in SIGNED)
