"""Clocks that misbehave in every way: the truth is inside, the interval narrow, steps are named."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import pcaplat
from pcaplat.stages.align import align
from tests.align_by_hand import START_NS
from tests.clock_scenarios import EFFECTS, TOGETHER, Scenario, scenario
from tests.lint_by_hand import CLEAN, NEAR

if TYPE_CHECKING:
    from pathlib import Path

    from pcaplat.clocks import Relation

ROUNDING_NS = 2
CLEAR_STEP_NS = 20_000
"""Steps above this are found in all scenarios; smaller ones where queues let them be seen."""


def relate(one: Scenario) -> Relation:
    return align(one.findings(), [0, 1], one.least()).relation(0, 1)


def inside_frac(one: Scenario, relation: Relation) -> float:
    """Share of the knots at which the true clock lies in the interval."""
    t = (relation.t_ns - START_NS).astype(np.float64)
    truth = one.offset_ns - relation.base_ns + one.clock(t)
    is_in = (relation.lo_ns - ROUNDING_NS <= truth) & (truth <= relation.hi_ns + ROUNDING_NS)
    return float(np.mean(is_in[(t >= 0) & (t <= one.span_ns)]))


def width_ratio(one: Scenario, relation: Relation) -> float:
    """Mean half-width over what is identifiable."""
    t = (relation.t_ns - START_NS).astype(np.float64)
    half = np.trapezoid((relation.hi_ns - relation.lo_ns) / 2, t)
    return float(half / np.trapezoid(one.identifiable_ns(t), t))


def check(effect: str, seeds: range) -> None:
    ones = [scenario(effect, seed) for seed in seeds]
    relations = [relate(one) for one in ones]
    inside = [inside_frac(*both) for both in zip(ones, relations, strict=True)]
    assert np.mean(inside) >= 0.995, sorted(zip(inside, seeds, strict=True))[:5]
    ratios = [width_ratio(*both) for both in zip(ones, relations, strict=True)]
    assert np.median(ratios) <= 1.1
    assert np.quantile(ratios, 0.95) <= 1.3, sorted(ratios)[-5:]
    for one, relation in zip(ones, relations, strict=True):
        check_steps(one, relation)


def check_together(effect: str, seeds: range) -> None:
    """Of two effects the truth is inside, and no path is taken for a clock, nor the reverse."""
    ones = [scenario(effect, seed) for seed in seeds]
    relations = [relate(one) for one in ones]
    inside = [inside_frac(*both) for both in zip(ones, relations, strict=True)]
    assert np.mean(inside) >= 0.995, sorted(zip(inside, seeds, strict=True))[:5]
    for one, relation in zip(ones, relations, strict=True):
        if one.step is None:
            assert not relation.steps
        for step in relation.steps:
            at, size = one.step or (0, 0)
            assert step.before_ns - START_NS <= at <= step.after_ns - START_NS
            # the level before or after a step is that of few packets where a path changed too
            assert step.size_ns == pytest.approx(size, rel=0.25, abs=2_000)


def check_steps(one: Scenario, relation: Relation) -> None:
    if one.step is None:
        assert not relation.steps
        return
    at, size = one.step
    if abs(size) > CLEAR_STEP_NS:
        assert len(relation.steps) == 1
    for step in relation.steps:
        assert step.before_ns - START_NS <= at <= step.after_ns - START_NS
        assert step.size_ns == pytest.approx(size, rel=0.1, abs=2_000)


@pytest.mark.parametrize("effect", EFFECTS)
def test_the_truth_is_inside_a_narrow_interval(effect: str) -> None:
    check(effect, range(1_000, 1_012))


@pytest.mark.parametrize("effect", TOGETHER)
def test_two_effects_are_told_apart(effect: str) -> None:
    check_together(effect, range(1_000, 1_012))


def test_what_came_about_a_step_tells_no_level() -> None:
    """Queues as long as the step: packets between the sure ones may be of either side."""
    one = scenario("drift and step", 188)
    check_steps(one, relate(one))


@pytest.mark.slow
@pytest.mark.parametrize("effect", EFFECTS)
def test_the_same_of_two_hundred(effect: str) -> None:
    check(effect, range(200))


@pytest.mark.slow
@pytest.mark.parametrize("effect", TOGETHER)
def test_two_effects_are_told_apart_in_two_hundred(effect: str) -> None:
    check_together(effect, range(200))


def test_the_batches_of_a_mirror_are_allowed_for(tmp_path: Path) -> None:
    """As long as its timer, 300 µs, is what its stamps leave open, not the 20 µs there and back."""
    mirror = replace(NEAR, clock=lambda t_ns: -(-t_ns // 300_007) * 300_007)
    document = pcaplat.merge(CLEAN.having(near=mirror).save(tmp_path)).document
    far = next(row for row in document["clocks"] if row["point"] == "far")
    assert abs(far["offset_ns"]) <= far["half_width_ns"] <= 1.3 * (300_007 + 20_000) / 2
    assert "equal-stamps" in {row["code"] for row in document["warnings"]}
