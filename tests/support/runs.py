"""Runs made of latencies that are given one by one, as if captures had been merged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pcaplat.metrics.runs import MeasuredRun, Scenario
from pcaplat.model.blocks import N_BLOCKS, Blocks
from tests.support.histograms import bin_of, middle_ns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

START_NS = 1_760_000_000_000_000_000
NEAR, FAR = "vnic", "uplink"
GAP_NS = 200_000


def blocks_of(latencies_ns: Floats, start_ns: int = START_NS, gap_ns: int = GAP_NS) -> Blocks:
    """Spread latencies evenly over the time of a run."""
    whole = np.rint(latencies_ns).astype(np.int64)
    length_ns = max(1, -(-len(whole) * gap_ns // N_BLOCKS))
    block = np.arange(len(whole), dtype=np.int64) * gap_ns // length_ns
    codes, counts = np.unique(block * 2**20 + bin_of(whole) + 2**19, return_counts=True)
    return Blocks(
        start_ns,
        length_ns,
        np.bincount(block, minlength=N_BLOCKS),
        np.bincount(block, whole, minlength=N_BLOCKS).astype(np.int64),
        np.bincount(block, whole.astype(np.float64) ** 2, minlength=N_BLOCKS).astype(np.float64),
        codes // 2**20,
        np.asarray(middle_ns(codes % 2**20 - 2**19), dtype=np.float64),
        counts,
    )


def run_of(
    forward_ns: Floats,
    reverse_ns: Floats,
    *,
    start_ns: int = START_NS,
    n_lost: int = 0,
    clock_half_width_ns: float | None = 0.0,
    resolution_ns: float = 1.0,
) -> MeasuredRun:
    """Make a run of two points; both directions have as many packets as latencies."""
    sides = {"forward": forward_ns, "reverse": reverse_ns}
    document: dict[str, Any] = {
        "path": [NEAR, FAR],
        "edges": [{"near": NEAR, "far": FAR}],
        "captures": [{"point": p, "resolution_ns": resolution_ns} for p in (NEAR, FAR)],
        "segments": [
            {
                "near": NEAR,
                "far": FAR,
                "direction": way,
                "class": "packet",
                "n": len(values),
                "n_lost": n_lost,
                "min_ns": float(values.min()),
                "max_ns": float(values.max()),
                "clock_half_width_ns": clock_half_width_ns,
            }
            for way, values in sides.items()
        ],
        "round_trips": [],
    }
    blocks = {(NEAR, FAR, way): blocks_of(values, start_ns) for way, values in sides.items()}
    return MeasuredRun("run", document, blocks)


def scenario_of(name: str, runs: Sequence[MeasuredRun]) -> Scenario:
    """Name runs."""
    return Scenario(name, list(runs))
