"""What may shift the mean of every packet of a segment alike, so that more packets do not help."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pcaplat.blocks import Blocks
from pcaplat.scenario import MeasuredRun

BETWEEN_SCENARIOS = (
    ("statistical", "stays", "runs and packets scatter in both"),
    ("resolution", "stays", "traffic may keep step with the stamps in one of them only"),
    ("clock", "cancels", "of two-way contributions; of one-way latencies it stays"),
    ("drift", "stays", "clocks may drift otherwise in the other"),
    ("mirror_queue", "stays", "the wait changes with the load"),
    ("stamp_convention", "cancels", "first bit, last bit or host: at the same points and sizes"),
    ("ambiguity", "stays", "other packets are ambiguous in the other; not in the interval"),
)
"""Each term of the error budget, what becomes of it in the difference of two scenarios, and why."""


def between_scenarios() -> list[dict[str, Any]]:
    """Give one row for each term of the error budget: whether it cancels in a difference.

    Example:
        >>> [row["term"] for row in between_scenarios() if row["between"] == "cancels"]
        ['clock', 'stamp_convention']
    """
    return [
        {"term": term, "between": between, "why": why} for term, between, why in BETWEEN_SCENARIOS
    ]


def drift_ns(run: MeasuredRun, ends: tuple[str, str], sides: list[Blocks]) -> float:
    """Bound what drift leaves of a two-way contribution.

    A clock that is off by the same all the time cancels. One that drifts is off by more where the
    packets of one direction were, if those of the other were there at another time. What the
    clocks leave open, at most from one of its edges to the other in the time of the run, is a
    slope; it counts for as long as the directions are apart.

    Args:
        run: What was measured.
        ends: Of the segment.
        sides: Its blocks, both directions.
    """
    rows = [run.segments.get((*ends, way)) for way in ("forward", "reverse")]
    halves_ns = [row["clock_half_width_ns"] or 0.0 for row in rows if row]
    first = sides[0]
    slope = 2 * max(halves_ns, default=0.0) / (first.length_ns * len(first.n))
    there, back = (np.cumsum(side.n) / side.n_all for side in sides)
    apart_ns = float(np.abs(there - back).sum()) * first.length_ns
    return slope * apart_ns


def waiting_ns(run: MeasuredRun, points: Sequence[str]) -> float:
    """Bound what batches of stamps and the queues of mirrors add or take away.

    Each makes stamps of its point later by something from 0 to that, and so a latency longer at its
    downstream end, and shorter at its upstream end.
    """
    return run.late_ns("batch_ns", points) + run.late_ns("mirror_wait_ns", points)
