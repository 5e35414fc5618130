"""Terms that more packets do not shrink: what clocks and stamps leave of a mean."""

from __future__ import annotations

import numpy as np
import pytest

from pcaplat.asked import Figure
from pcaplat.blocks import Blocks
from pcaplat.figures import read
from pcaplat.readings import Reading
from pcaplat.scenario import MeasuredRun
from pcaplat.segments import Distribution
from pcaplat.stages.summarize.trips import Resampling
from pcaplat.systematic import drift_ns

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
    row = {"near": "a", "far": "b", "class": "packet", "clock_half_width_ns": half_ns}
    segments = [row | {"direction": way} for way in ("forward", "reverse")]
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
    found = read(run, Figure("two-way-contribution", ends=("a", "b")))
    assert isinstance(found, Reading)
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


@pytest.mark.parametrize(
    ("points", "off_ns"), [(("a", "b"), 600.0), (("a",), 500.0), (("b",), 100.0)]
)
def test_what_waits_widens_every_figure_of_pairs(points: tuple[str, ...], off_ns: float) -> None:
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
    late = {"a": {"batch_ns": 300, "mirror_wait_ns": 200}, "b": {"batch_ns": 100}}
    widths = []
    for captures in ([{"point": point} | late[point] for point in "ab"], []):
        known = [{"resolution_ns": 1.0} | row for row in captures]
        run = MeasuredRun("run", {"captures": known}, {})
        row = Resampling(run, is_resampled=True).figures(points, total, of_time, 0.0)
        widths.append(
            [row[f"{x}_hi_ns"] - row[f"{x}_lo_ns"] for x in ("mean", "p50", "p90", "p99")]
        )
    wide, narrow = np.array(widths)
    assert wide - narrow == pytest.approx(2 * off_ns)
