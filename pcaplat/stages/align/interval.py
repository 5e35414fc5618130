"""The interval in which a clock's offset lies, over time."""

from collections.abc import Callable, Mapping

import numpy as np

from pcaplat.path import Ends, Floats, Ints
from pcaplat.stages.align.bounds import Bounds

LEAST_DRIFT_PPM = 1.0
"""A clock that seems not to drift may still do so by this much."""

WANDER_PPM = 10.0
"""How fast bounds loosen at first where no straight line fits between them."""

MOST_DRIFT = 1e-2
"""No clock drifts faster than this, ns per ns."""

PPM = 1e-6


def bound_all(bounds: Mapping[Ends, Bounds], knots_ns: Ints, n_domains: int) -> Floats:
    """Upper bounds of every clock against every other at every knot, by [knot, of, against], ns.

    Infinite where no packets bound one.
    """
    upper = np.full((len(knots_ns), n_domains, n_domains), np.inf)
    upper[:, range(n_domains), range(n_domains)] = 0.0
    for (a, b), forward in bounds.items():
        if a < b and (b, a) in bounds:
            lo, hi = bound_pair(forward, bounds[b, a], knots_ns)
            upper[:, a, b], upper[:, b, a] = hi, -lo
    return upper


def close(upper: Floats) -> Floats:
    """Close the constraints on differences at every knot (Floyd and Warshall)."""
    closed = upper.copy()
    for k in range(upper.shape[1]):
        closed = np.minimum(closed, closed[:, :, k, None] + closed[:, None, k, :])
    return closed


def bound_pair(forward: Bounds, reverse: Bounds, knots_ns: Ints) -> tuple[Floats, Floats]:
    """Least and most that the second clock of `forward` is ahead of its first, at every knot, ns.

    Bounds loosen with the distance in time, after the drift that fits them is taken out.
    """
    base_ns, t0 = int(forward.most_ns[0]), int(knots_ns[0])
    x, f = _floats(forward.t_ns - t0), _floats(forward.most_ns - base_ns)
    y, r = _floats(reverse.t_ns - t0), _floats(-reverse.most_ns - base_ns)
    drift, loosening = fit_drift(x, f, y, r)
    knots = _floats(knots_ns - t0)
    while True:
        hi = _cone(knots, x, f - drift * x, loosening)
        lo = -_cone(knots, y, drift * y - r, loosening)
        if np.all(hi >= lo) or loosening > MOST_DRIFT:
            return lo + drift * knots + base_ns, hi + drift * knots + base_ns
        loosening *= 3


def _floats(values: Ints) -> Floats:
    return values.astype(np.float64)


def fit_drift(x: Floats, f: Floats, y: Floats, r: Floats) -> tuple[float, float]:
    """Give a drift to take out, and how fast the bounds loosen after that, ns per ns.

    The gap between the bounds `f` at `x` above and `r` at `y` below is concave in the drift, so the
    drifts that leave it open form an interval. A drift of 0 is taken where it is among them.
    """

    def gap(drift: float) -> float:
        return float(np.min(f - drift * x) - np.max(r - drift * y))

    best = _widest(gap)
    if gap(best) < 0:
        return best, WANDER_PPM * PPM
    least, most = _edge(gap, best, -MOST_DRIFT), _edge(gap, best, MOST_DRIFT)
    drift = 0.0 if least <= 0 <= most else (least + most) / 2
    at_least = LEAST_DRIFT_PPM * PPM
    return drift, max(drift - least, most - drift, at_least) + at_least


def _widest(gap: Callable[[float], float]) -> float:
    """The drift that leaves most room between the bounds."""
    low, high = -MOST_DRIFT, MOST_DRIFT
    for _ in range(80):
        third = (high - low) / 3
        if gap(low + third) < gap(high - third):
            low += third
        else:
            high -= third
    return (low + high) / 2


def _edge(gap: Callable[[float], float], inside: float, outside: float) -> float:
    """Where the gap closes, between a drift that fits and one that does not."""
    if gap(outside) >= 0:
        return outside
    for _ in range(60):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if gap(middle) >= 0 else (inside, middle)
    return inside


def _cone(knots: Floats, x: Floats, f: Floats, loosening: float) -> Floats:
    """Lowest of all bounds at each knot, each loosened by its distance in time: O(n log n)."""
    by = np.argsort(x, kind="stable")
    x, f = x[by], f[by]
    before = np.minimum.accumulate(f - loosening * x)
    after = np.minimum.accumulate((f + loosening * x)[::-1])[::-1]
    at = np.searchsorted(x, knots, side="right")
    from_before = np.where(at > 0, before[np.maximum(at - 1, 0)] + loosening * knots, np.inf)
    later = np.minimum(at, len(x) - 1)
    from_after = np.where(at < len(x), after[later] - loosening * knots, np.inf)
    return np.asarray(np.minimum(from_before, from_after))
