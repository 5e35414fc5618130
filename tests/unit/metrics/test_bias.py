"""Terms that more packets do not shrink: what clocks and stamps leave of a mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pcaplat.metrics.bias import drift_ns
from pcaplat.metrics.means import Measurement
from pcaplat.metrics.metric import MetricQuery
from pcaplat.metrics.registry import read
from pcaplat.metrics.runs import MeasuredRun
from pcaplat.model.blocks import Blocks
from pcaplat.model.latencies.exchanges import Share, Trips, Wait, all_kinds
from pcaplat.model.latencies.segments import Distribution
from pcaplat.stages.summarize.exchanges import Resampling

SECOND_NS = 10**9
N_BLOCKS, LENGTH_NS = 256, 10_000_000
HALF_NS = 900.0
THERE_NS, BACK_NS = 40_000, 1_000


def blocks(n: np.ndarray, latency_ns: np.ndarray) -> Blocks:
    """So many packets in each block, all of one latency."""
    empty = np.zeros(0, np.int64)
    sums = n * latency_ns
    return Blocks(0, LENGTH_NS, n, sums, sums * latency_ns * 1.0, empty, np.zeros(0), empty)


def run_of(n_there: np.ndarray, n_back: np.ndarray, slope: float, half_ns: float) -> MeasuredRun:
    """Latencies by clocks that drift apart, within what the clocks leave open."""
    off_ns = np.rint(slope * (np.arange(N_BLOCKS) - N_BLOCKS / 2) * LENGTH_NS).astype(np.int64)
    row = {"near": "a", "far": "b", "class": "packet"}
    # the wider of the two is what clocks leave open
    segments = [
        row | {"direction": way, "clock_half_width_ns": half_ns * share}
        for way, share in (("forward", 0.5), ("reverse", 1.0))
    ]
    captures = [{"point": point, "resolution_ns": 1.0} for point in "ab"]
    document = {"path": ["a", "b"], "edges": [{"near": "a", "far": "b"}], "segments": segments}
    return MeasuredRun(
        "run",
        document | {"captures": captures},
        {
            ("a", "b", "forward"): blocks(n_there, THERE_NS + off_ns),
            ("a", "b", "reverse"): blocks(n_back, BACK_NS - off_ns),
        },
    )


EVEN = np.full(N_BLOCKS, 20)
EARLY = np.where(np.arange(N_BLOCKS) < N_BLOCKS // 2, 40, 0)
RAMP = np.arange(N_BLOCKS)


@pytest.mark.parametrize("n_there", [EVEN, EARLY, RAMP], ids=["even", "early", "ramp"])
@pytest.mark.parametrize("n_back", [EVEN, EARLY[::-1], RAMP[::-1]], ids=["even", "late", "ebb"])
def test_no_drift_that_the_clocks_leave_open_moves_a_round_trip_out(
    n_there: np.ndarray, n_back: np.ndarray
) -> None:
    slope = 2 * HALF_NS / (N_BLOCKS * LENGTH_NS)
    run = run_of(n_there, n_back, slope, HALF_NS)
    found = read(run, MetricQuery("two-way-contribution", ends=("a", "b")))
    assert isinstance(found, Measurement)
    off_ns = abs(found.value - THERE_NS - BACK_NS)
    assert off_ns <= found.bias + 1
    # and no wider than what such a drift does, but for directions that overtake each other
    assert found.bias <= 1.01 * off_ns + 1


def test_what_is_there_at_the_same_times_is_moved_by_no_drift() -> None:
    run = run_of(RAMP, RAMP, 0.0, HALF_NS)
    sides = list(run.blocks.values())
    assert drift_ns(run, ("a", "b"), sides) == 0.0
    apart = run_of(EARLY, EARLY[::-1], 0.0, HALF_NS)
    # half of the run apart: half of what the clocks leave open from one end to the other
    found_ns = drift_ns(apart, ("a", "b"), list(apart.blocks.values()))
    assert found_ns == pytest.approx(HALF_NS, rel=1e-3)


def test_one_clock_does_not_drift_against_itself() -> None:
    run = run_of(EARLY, EARLY[::-1], 0.0, 0.0)
    assert drift_ns(run, ("a", "b"), list(run.blocks.values())) == 0.0


def pairs() -> tuple[Distribution, Blocks]:
    """Many times from request to response, by twenty in each block of time."""
    values = np.random.default_rng(5).normal(10_000, 500, (N_BLOCKS, 20)).round()
    sums, squares = values.sum(axis=1).astype(np.int64), (values**2).sum(axis=1)
    block = np.repeat(np.arange(N_BLOCKS), 20)
    every = values.ravel()
    ones = np.ones(len(every), np.int64)
    of_time = Blocks(0, LENGTH_NS, np.full(N_BLOCKS, 20), sums, squares, block, every, ones)
    total = Distribution(
        n=len(every),
        sum_ns=int(sums.sum()),
        sum_of_squares=float(squares.sum()),
        min_ns=int(every.min()),
        max_ns=int(every.max()),
        middles_ns=np.sort(every).tolist(),
        counts=ones.tolist(),
    )
    return total, of_time


def widths(
    captures: list[dict[str, Any]], points: tuple[str, ...], drift_ns: float = 0.0
) -> np.ndarray:
    """Widths of the intervals of pairs."""
    run = MeasuredRun("run", {"captures": captures}, {})
    row = Resampling(run, is_resampled=True).figures(points, *pairs(), drift_ns)
    found = [row[f"{name}_hi_ns"] - row[f"{name}_lo_ns"] for name in FIGURES]
    return np.array(found)


FIGURES = ("mean", "p50", "p90", "p99")
FINE: list[dict[str, Any]] = [{"point": point, "resolution_ns": 1.0} for point in "ab"]


@pytest.mark.parametrize(
    ("points", "off_ns"), [(("a", "b"), 600.0), (("a",), 500.0), (("b",), 100.0)]
)
def test_what_waits_widens_every_figure_of_pairs(points: tuple[str, ...], off_ns: float) -> None:
    late = {"a": {"batch_ns": 300, "mirror_wait_ns": 200}, "b": {"batch_ns": 100}}
    captures = [row | late[row["point"]] for row in FINE]
    assert widths(captures, points) - widths(FINE, points) == pytest.approx(2 * off_ns)


def test_what_drift_leaves_widens_every_figure_of_pairs() -> None:
    share = Share(0, 1, "dns", 5.0, *pairs())
    waits = [Wait(0, "dns", False, *pairs()), Wait(0, "icmp-echo", False, *pairs())]  # noqa: FBT003 - its direction
    off_ns = Trips([share], waits).drift_ns(share)
    assert off_ns == pytest.approx(5e-6 * np.quantile(pairs()[0].middles_ns, 0.99), rel=1e-3)
    wide = widths(FINE, ("a", "b"), 250.0)
    assert wide - widths(FINE, ("a", "b")) == pytest.approx(2 * 250.0)


def test_coarse_stamps_widen_quantiles_of_pairs_by_all_four() -> None:
    coarse = [row | {"resolution_ns": 200.0} for row in FINE]
    wider = widths(coarse, ("a", "b")) - widths(FINE, ("a", "b"))
    # two at each point, each up to 200 ns off, on both sides of an interval
    assert wider[1:] == pytest.approx(2 * 2 * 2 * 200.0)


def test_pairs_of_all_kinds_are_added_up_block_by_block() -> None:
    total, of_time = pairs()
    shares = [Share(0, 1, kind, 0.0, total, of_time) for kind in ("dns", "icmp-echo")]
    both, blocks = all_kinds(shares)
    assert blocks is not None
    assert (both.n, both.sum_ns) == (2 * total.n, 2 * total.sum_ns)
    for name in ("n", "sum_ns", "sum_of_squares"):
        assert np.array_equal(getattr(blocks, name), 2 * getattr(of_time, name))
    assert int(blocks.counts.sum()) == both.n == sum(both.counts)
