"""What may shift the mean of every packet of a segment alike, so that more packets do not help."""

import numpy as np

from pcaplat.blocks import Blocks
from pcaplat.scenario import MeasuredRun


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
