"""Clocks hours and days apart that drift, and files in no order: what once gave wrong figures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat.model.centre import Centre
from tests.recovery.simulator import Clock, Link, Point, Scenario, Traffic, Truth, Tunnel, run
from tests.recovery.test_recovery import SECOND_NS, merged, true_latencies_ns

if TYPE_CHECKING:
    from pathlib import Path

HOUR_NS = 3600 * SECOND_NS


def far_apart(hours: int, near_ppm: float, far_ppm: float) -> Scenario:
    """A path whose middle clock is hours off; raw and reference time differ by drift there."""
    points = (
        Point("vm"),
        Point("up", Clock(hours * HOUR_NS, near_ppm), tunnel=Tunnel("vxlan")),
        Point("far", Clock(0, far_ppm)),
    )
    links = (Link(5_000, 9_000, 800), Link(12_000, 3_000, 800))
    return Scenario(points, links, Traffic(800, gap_ns=5_000_000))


@pytest.mark.parametrize(
    ("hours", "near_ppm", "far_ppm"), [(1, -30, 20), (5, -50, 50), (69 * 24, -3, 2), (-72, 10, -10)]
)
def test_true_latencies_lie_in_their_intervals_however_far_the_clocks(
    hours: int, near_ppm: float, far_ppm: float, tmp_path: Path
) -> None:
    outcome = run(far_apart(hours, near_ppm, far_ppm))
    result = merged(outcome, tmp_path)
    rows = true_latencies_ns(outcome, result)
    assert len(rows) == len(Truth(outcome).edges.piece)
    assert all(low_ns <= true_ns <= high_ns for low_ns, high_ns, true_ns in rows)
    for row in result.document["segments"]:
        hop = Truth(outcome).named(row["near"], row["far"], row["direction"])
        assert abs(row["mean_ns"] - hop.packets_ns.mean()) <= row["clock_half_width_ns"] + 1


def test_records_in_any_order_say_the_same(tmp_path: Path) -> None:
    found = []
    for order in ("sorted", "shuffled"):
        scenario = far_apart(0, 0, 0)
        points = tuple(replace(point, order=order) for point in scenario.points)
        outcome = run(replace(scenario, points=points))
        folder = tmp_path / order
        folder.mkdir()
        document = merged(outcome, folder, same_clock=["all"]).document
        found.append([document[name] for name in ("path", "segments", "round_trips", "matching")])
    assert found[0] == found[1]
    assert found[0][0] == ["vm", "up", "far"]


def test_raw_times_are_found_from_aligned_ones() -> None:
    t_ns = np.array([0, 2 * 10**9]) + 1_763_640_000 * SECOND_NS
    centre = Centre(t_ns, np.array([5 * HOUR_NS, 5 * HOUR_NS + 70_000]), 5e-5)
    raw_ns = t_ns[0] + (np.linspace(-2, 5, 50) * 1e9).astype(np.int64)
    aligned_ns = raw_ns - centre.at(raw_ns)
    assert np.max(np.abs(centre.raw(aligned_ns) - raw_ns)) <= 1
