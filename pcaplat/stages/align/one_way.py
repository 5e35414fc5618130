"""Drift from packets of one direction only."""

from collections.abc import Mapping, Sequence

import numpy as np

from pcaplat.model.arrays import Floats, Ints
from pcaplat.model.clocks import MOST_DRIFT_PPM, Drift
from pcaplat.model.path import Findings
from pcaplat.model.points import Pair
from pcaplat.stages.align.bounds import OffsetBounds

FEWEST = 3
"""Bounds below which no line under them is one of several."""

PPM_PER_NS_PER_S = 1e-3


def one_way_drifts(bounds: Mapping[Pair, OffsetBounds]) -> dict[Pair, Drift | None]:
    """Drift and half-width, ppm, of every pair of clocks that only one direction bounds.

    The edge under all bounds that is nearest to their mean time (Moon, Skelly and Towsley, INFOCOM
    1999). How far it may be off: its neighbours on the hull. None where that cannot be told: an
    edge without neighbours, or one that is no clock's.
    """
    drifts = {}
    for (a, b), one in bounds.items():
        if (b, a) not in bounds and len(one.t_ns) >= FEWEST:
            drift = _drift_under(one)
            drifts[a, b] = drift
            drifts[b, a] = None if drift is None else (-drift[0], drift[1])
    return drifts


def fastest_offsets(
    bounds: Mapping[Pair, OffsetBounds],
    findings: Findings,
    domains: Sequence[int],
    related: Mapping[int, int],
    known: tuple[Ints, Floats],
) -> dict[int, Floats]:
    """Offset of each clock against the first, by which no packet arrives before it left.

    Args:
        bounds: What packets say of pairs of clocks.
        findings: What the survey found, for the order of the path.
        domains: Clock of each point.
        related: Of each clock the root of those that it is related to.
        known: Times of the path's first clock, the knots; and the offset of each clock against
            its root, by [knot, clock].

    Returns:
        By clock the offset at the first and the last knot, ns, beside the coarse one; clocks
        without packets to those before are missing.
    """
    knots_ns, value = known
    found: dict[int, Floats] = {}
    for new in dict.fromkeys(domains[point] for point in findings.along):
        kin = [old for old in found if related.get(old) == related.get(new, -1)]
        onward = [old for old in found if (old, new) in bounds]
        back = [old for old in found if (new, old) in bounds]
        if kin:
            ends = value[[0, -1]]
            found[new] = found[kin[0]] + ends[:, new] - ends[:, kin[0]]
        elif onward:
            lines = [found[old] + _line_under(bounds[old, new], knots_ns) for old in onward]
            found[new] = np.min(lines, axis=0)
        elif back:
            lines = [found[old] - _line_under(bounds[new, old], knots_ns) for old in back]
            found[new] = np.max(lines, axis=0)
        elif not found:
            found[new] = np.zeros(2)
    return found


def _line_under(bounds: OffsetBounds, knots_ns: Ints) -> Floats:
    """A straight line under all bounds, at the first and the last knot; rounded, it stays there."""
    drift_ppm, _ = (_drift_under(bounds) if len(bounds.t_ns) >= FEWEST else None) or (0.0, 0.0)
    slope = drift_ppm * 1e-6
    least_ns = np.min(bounds.most_ns - slope * (bounds.t_ns - knots_ns[0]))
    ends_ns = (knots_ns[[0, -1]] - knots_ns[0]).astype(np.float64)
    return np.asarray(np.floor(least_ns + slope * ends_ns) - 1)


def _drift_under(bounds: OffsetBounds) -> Drift | None:
    x_s = (bounds.t_ns - bounds.t_ns[0]) * 1e-9
    y_ns = (bounds.most_ns - bounds.most_ns[0]).astype(np.float64)
    hull = _lower_hull(x_s, y_ns)
    run_s = np.diff(x_s[hull])
    slopes_ppm = np.diff(y_ns[hull]) / np.where(run_s > 0, run_s, np.inf) * PPM_PER_NS_PER_S
    at = int(np.clip(np.searchsorted(x_s[hull], x_s.mean()) - 1, 0, len(slopes_ppm) - 1))
    near_ppm = slopes_ppm[max(at - 1, 0) : at + 2]
    drift_ppm, width_ppm = float(slopes_ppm[at]), float(np.ptp(near_ppm))
    is_told = len(near_ppm) > 1 and max(abs(drift_ppm), width_ppm) < MOST_DRIFT_PPM
    return (drift_ppm, width_ppm) if is_told else None


def _lower_hull(x: Floats, y: Floats) -> list[int]:
    """Corners of the convex hull from below, from left to right."""
    hull: list[int] = []
    for i in np.lexsort((y, x)).tolist():
        if hull and x[hull[-1]] == x[i]:
            continue
        while len(hull) > 1 and _turns_down(x, y, (hull[-2], hull[-1], i)):
            hull.pop()
        hull.append(i)
    return hull if len(hull) > 1 else [0, len(x) - 1]


def _turns_down(x: Floats, y: Floats, corners: tuple[int, int, int]) -> bool:
    a, b, c = corners
    return bool((y[b] - y[a]) * (x[c] - x[a]) >= (y[c] - y[a]) * (x[b] - x[a]))
