"""How many packets support the interval of two clocks: one timestamp is not evidence enough."""

from collections.abc import Mapping, Sequence

import numpy as np

from pcaplat.model.arrays import Floats, Ints
from pcaplat.model.clocks import Step, middle_of
from pcaplat.model.points import Pair
from pcaplat.stages.align.bounds import OffsetBounds
from pcaplat.stages.align.interval import fit_stretch, steps_between, stretches

NEAR_FRAC = 0.1
"""Packets that alone would leave an interval wider by at most this support its end."""


def supports(
    bounds: Mapping[Pair, OffsetBounds],
    knots_ns: Ints,
    direct: Floats,
    steps: Mapping[int, Sequence[Step]],
    doubtful: Mapping[Pair, Sequence[Step]],
) -> Ints:
    """Count the packets that support what bounds each clock against each other in the middle.

    Args:
        bounds: Of all pairs of clocks.
        knots_ns: The times that these are evaluated at.
        direct: Upper bounds, not closed, by [knot, of, against].
        steps: Of each clock.
        doubtful: Of pairs of clocks, steps that a path may hide.

    Returns:
        By [of, against], of each end of the interval; where it rests on a way around, the fewest
        of that; 0 where nothing bounds.
    """
    middle = middle_of(knots_ns)
    at_ns, upper = int(knots_ns[middle]), direct[middle]
    n = np.zeros(upper.shape, np.int64)
    for a, b in bounds:
        if a < b and (b, a) in bounds:
            both = steps_between((a, b), steps, doubtful)
            n[a, b], n[b, a] = _of_pair(bounds[a, b], bounds[b, a], at_ns, both)
    np.fill_diagonal(n, np.iinfo(np.int64).max)
    for k in range(len(upper)):
        around = upper[:, k, None] + upper[None, k, :]
        through = np.minimum(n[:, k, None], n[None, k, :])
        n, upper = np.where(around < upper, through, n), np.minimum(upper, around)
    return n


def _of_pair(
    forward: OffsetBounds, reverse: OffsetBounds, at_ns: int, steps: Sequence[Step]
) -> tuple[int, int]:
    for stretch in stretches(forward, reverse, steps):
        is_begun = stretch.may_start_ns is None or stretch.may_start_ns < at_ns
        is_over = stretch.may_end_ns is not None and stretch.may_end_ns <= at_ns
        if is_begun and not is_over and len(stretch.forward.t_ns) and len(stretch.reverse.t_ns):
            fit = fit_stretch(stretch, np.array([at_ns]))
            reach = fit.baseline.reach
            then = fit.f + np.abs(reach(fit.x) - reach(np.zeros(1)))
            then_back = -fit.r + np.abs(reach(fit.y) - reach(np.zeros(1)))
            near_ns = NEAR_FRAC * max(float(then.min() + then_back.min()), 0.0)
            sides = (then, then_back)
            to, back = (int(np.sum(one <= one.min() + near_ns)) for one in sides)
            return to, back
    return 0, 0
