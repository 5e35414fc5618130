"""Losses that come in bursts: intervals hold the truth as often as they say, and say why."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat.metrics.bursts import of_losses
from pcaplat.metrics.contrasts import metric_of
from pcaplat.metrics.means import Measurement
from pcaplat.metrics.metric import MetricQuery
from pcaplat.run.merge import merge
from pcaplat.statistics.loss_ratio import LossEstimate
from tests.recovery.simulator import Clock, Link, Point, Scenario, Traffic, run
from tests.support.runs import FAR, NEAR, blocks_of, run_of, scenario_of

if TYPE_CHECKING:
    from pathlib import Path

    from pcaplat.model.blocks import Blocks

N = 25_600
SHARE = 0.01
LATENCIES = blocks_of(np.full(N, 5000.0))


def lossy(chance: np.random.Generator, burst: float) -> Blocks:
    """Lose 1 % of the packets, in bursts of so many on average (of geometric lengths)."""
    starts = np.flatnonzero(chance.random(N) < SHARE / burst)
    lengths = chance.geometric(1 / burst, len(starts))
    lost = [np.arange(s, s + n) for s, n in zip(starts, lengths, strict=True)]
    at = np.concatenate([np.zeros(0, dtype=np.int64), *lost])
    n_lost = np.bincount(at[at < N] * 256 // N, minlength=256)
    return replace(LATENCIES, n=np.maximum(LATENCIES.n - n_lost, 0), n_lost=n_lost)


def measurement_of(blocks: Blocks) -> Measurement:
    """Read the loss ratio of such blocks."""
    assert blocks.n_lost is not None
    n_lost, n = int(blocks.n_lost.sum()), N
    return of_losses(Measurement(n_lost / n, LossEstimate(n_lost, n), n, n, 0.0), [blocks])


@pytest.mark.parametrize("burst", [1.0, 4.0, 16.0])
def test_intervals_hold_the_truth_whatever_the_bursts(burst: float) -> None:
    n_seeds, n_right, n_right_alone = 300, 0, 0
    for seed in range(n_seeds):
        found = measurement_of(lossy(np.random.default_rng(seed), burst)).within
        assert isinstance(found, LossEstimate)
        lo, hi = found.interval(0.95)
        n_right += lo <= SHARE <= hi
        lo, hi = LossEstimate(found.n_lost, found.n).interval(0.95)
        n_right_alone += lo <= SHARE <= hi
    assert n_right >= 0.91 * n_seeds
    if burst > 1:
        assert n_right_alone < 0.8 * n_seeds


def test_independent_losses_keep_their_interval() -> None:
    measurements = [measurement_of(lossy(np.random.default_rng(seed), 1.0)) for seed in range(200)]
    assert sum(bool(one.note) for one in measurements) <= 0.06 * len(measurements)


def test_interval_and_p_values_say_the_same() -> None:
    for clustering in (1.0, 7.5):
        found = LossEstimate(40, 10_000, clustering=clustering, df=63)
        lo, hi = found.interval(0.9)
        assert found.p_not_below(hi) == pytest.approx(0.05)
        assert found.p_not_above(lo) == pytest.approx(0.05)
    assert LossEstimate(40, 10_000, clustering=7.5, df=63).half_width(0.9) > 2 * LossEstimate(
        40, 10_000
    ).half_width(0.9)


@pytest.mark.parametrize(("n_lost", "n"), [(0, 50), (50, 50), (1, 50)])
def test_what_cannot_cluster_is_left_alone(n_lost: int, n: int) -> None:
    lost = np.zeros(256, dtype=np.int64)
    lost[3] = n_lost
    blocks = replace(LATENCIES, n=np.zeros(256, dtype=np.int64), n_lost=lost)
    blocks.n[100] = n - n_lost
    measurement = Measurement(n_lost / n, LossEstimate(n_lost, n), n, n, 0.0)
    assert of_losses(measurement, [blocks]) == measurement
    untold = replace(blocks, n_lost=None)
    assert of_losses(measurement, [untold]) == measurement


def test_a_long_outage_decides_nothing() -> None:
    """One outage of a third of the run: another run may have none, or two."""
    n_lost = np.where(np.arange(256) // 85 == 1, LATENCIES.n, 0)
    found = measurement_of(replace(LATENCIES, n=LATENCIES.n - n_lost, n_lost=n_lost))
    assert "changes so slowly" in found.why


def test_several_runs_keep_their_bursts() -> None:
    one = run_of(np.full(N, 5000.0), np.full(N, 5000.0), n_lost=256)
    blocks = lossy(np.random.default_rng(1), 16.0)
    runs = [replace(one, blocks=dict.fromkeys(one.blocks, blocks))] * 2
    effect = metric_of(scenario_of("s", runs), MetricQuery("loss-ratio", ends=(NEAR, FAR)))
    assert isinstance(effect.estimate, LossEstimate)
    assert effect.estimate.clustering > 4
    assert any("come in bursts" in note for note in effect.notes)


def test_losses_of_captures_lie_in_their_blocks(tmp_path: Path) -> None:
    points = (Point("a"), Point("b", Clock(5_000_000_000, 20)))
    scenario = Scenario(points, (Link(lost_share=0.05),), Traffic(n_packets=2000))
    with merge(run(scenario).save(tmp_path)) as result:
        rows = [row for row in result.document["segments"] if row["n_lost"]]
        assert rows
        for row in rows:
            blocks = result.blocks[row["near"], row["far"], row["direction"]]
            assert blocks.n_lost is not None
            assert blocks.n_lost.sum() == row["n_lost"]
            # where packets passed, and evenly
            assert not blocks.n_lost[blocks.n == 0].any()
            assert max(blocks.n_lost) < 0.4 * row["n_lost"]
