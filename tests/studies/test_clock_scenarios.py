"""Clocks that misbehave in every way: the truth is inside, the interval narrow, steps are named."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import pcaplat
from tests.studies.clock_scenarios import EFFECTS, SLEWS, TOGETHER
from tests.studies.clock_studies import study, study_one_way
from tests.unit.diagnostics.lint_by_hand import CLEAN, NEAR

if TYPE_CHECKING:
    from pathlib import Path


def check(effect: str, seeds: range) -> None:
    """What is identifiable is found, and no path is taken for a clock, nor the reverse."""
    found = study(effect, seeds)
    assert np.mean(found.inside) >= 0.995, sorted(zip(found.inside, seeds, strict=True))[:5]
    assert np.median(found.ratios) <= 1.1
    assert np.quantile(found.ratios, 0.95) <= 1.3, sorted(found.ratios)[-5:]
    assert (found.n_false, found.n_missed_clear) == (0, 0)
    assert max(found.size_off, default=0) <= 0.1


def check_together(effect: str, seeds: range) -> None:
    """Of two effects the truth is inside; steps may be missed, but are not made up."""
    found = study(effect, seeds)
    assert np.mean(found.inside) >= 0.995, sorted(zip(found.inside, seeds, strict=True))[:5]
    assert found.n_false == 0
    # the level before or after a step is that of few packets where a path changed too
    assert max(found.size_off, default=0) <= 0.25


def check_slews(effect: str, seeds: range) -> None:
    """Where a rate changes between packets the truth is inside, and little wider for it."""
    found = study(effect, seeds)
    assert np.mean(found.inside) >= 0.999, sorted(zip(found.inside, seeds, strict=True))[:5]
    assert min(found.inside) >= 0.98
    assert np.median(found.ratios) <= 1.6
    assert np.quantile(found.ratios, 0.95) <= 6, sorted(found.ratios)[-5:]


def check_one_way(seeds: range) -> None:
    """Drift, and nothing else."""
    found = study_one_way(seeds)
    assert found.kinds == {"one-way"}
    assert max(found.off_ppm) <= 1


@pytest.mark.parametrize("effect", EFFECTS)
def test_the_truth_is_inside_a_narrow_interval(effect: str) -> None:
    check(effect, range(1_000, 1_012))


@pytest.mark.parametrize("effect", TOGETHER)
def test_two_effects_are_told_apart(effect: str) -> None:
    check_together(effect, range(1_000, 1_012))


@pytest.mark.parametrize("effect", SLEWS)
def test_a_line_between_two_knots_does_not_leave_the_interval(effect: str) -> None:
    check_slews(effect, range(1_000, 1_012))


def test_what_came_about_a_step_tells_no_level() -> None:
    """Queues as long as the step: packets between the sure ones may be of either side."""
    check("drift and step", range(188, 189))


def test_of_one_direction_only_drift_is_told() -> None:
    check_one_way(range(1_000, 1_012))


@pytest.mark.slow
def test_the_same_of_one_direction_in_two_hundred() -> None:
    check_one_way(range(200))


@pytest.mark.slow
@pytest.mark.parametrize("effect", EFFECTS)
def test_the_same_of_two_hundred(effect: str) -> None:
    check(effect, range(200))


@pytest.mark.slow
@pytest.mark.parametrize("effect", TOGETHER)
def test_two_effects_are_told_apart_in_two_hundred(effect: str) -> None:
    check_together(effect, range(200))


@pytest.mark.slow
@pytest.mark.parametrize("effect", SLEWS)
def test_the_same_of_two_hundred_slews(effect: str) -> None:
    check_slews(effect, range(200))


def test_the_batches_of_a_mirror_are_allowed_for(tmp_path: Path) -> None:
    """As long as its timer, 300 µs, is what its stamps leave open, not the 20 µs there and back."""
    mirror = replace(NEAR, clock=lambda t_ns: -(-t_ns // 300_007) * 300_007)
    document = pcaplat.merge(CLEAN.having(near=mirror).save(tmp_path)).document
    far = next(row for row in document["clocks"] if row["point"] == "far")
    assert abs(far["offset_ns"]) <= far["half_width_ns"] <= 1.3 * (300_007 + 20_000) / 2
    assert "batched-timestamps" in {row["code"] for row in document["warnings"]}
