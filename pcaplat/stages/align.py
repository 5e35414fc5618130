"""Align: bound each clock against the reference, from packets in both directions.

    least latencies → clocks

A packet cannot arrive before it left: every forward pair bounds the offset of the far clock from
above, every reverse pair from below (Paxson 1998; reference: docs/stages/align.md). Between pairs
the clocks drift, so a bound loosens with time. The interval is what the captures say; a value in it
is a convention.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pcaplat.clocks import Clocks
from pcaplat.path import Ends, Findings, Floats, Ints, Warn

N_KNOTS = 65
"""Knots of an interval over the capture."""

LEAST_DRIFT_PPM = 1.0
"""A clock that seems not to drift may still do so by this much."""

WANDER_PPM = 10.0
"""First guess where no straight line fits between the bounds."""


@dataclass(frozen=True)
class Bounds:
    """Upper bounds of one clock against another: at `t_ns`, theta(down) - theta(up) <= `most_ns`."""

    t_ns: Ints
    most_ns: Ints
    n: Ints


def align(
    findings: Findings,
    domains: Sequence[int],
    least: Sequence[Mapping[str, object]],
    accuracy_ns: Mapping[int, int] | None = None,
) -> Clocks:
    """Bound all clocks.

    Args:
        findings: What the survey found.
        domains: Clock domain of each point; points of one domain share a clock.
        least: Per pair of points and direction, the least raw differences over time.
        accuracy_ns: How far a point's clock may be off, as declared; tested against the packets.

    Returns:
        The clocks.

    Assumes:
        Drift of a clock is bounded over the time between two matched packets; stamps are cut, not
        rounded, to their resolution.
    """
    start_ns, end_ns = findings.cover(findings.components[0])
    knots_ns = (
        np.unique(np.linspace(0, max(end_ns - start_ns, 1), N_KNOTS).astype(np.int64)) + start_ns
    )
    n_domains = max(domains) + 1
    bounds = _bounds(findings, domains, least)
    upper = np.full((len(knots_ns), n_domains, n_domains), np.inf)
    upper[:, range(n_domains), range(n_domains)] = 0.0
    for (a, b), forward in bounds.items():
        if a < b or (b, a) not in bounds:
            _bound_pair(upper, knots_ns, (a, b), forward, bounds.get((b, a)))
    warnings: list[Warn] = []
    upper = _with_accuracy(findings, domains, _closure(upper), accuracy_ns or {}, warnings)
    one_way = {
        ends: found
        for ends, found in _one_way(bounds).items()
        if np.isinf(upper[0][ends[1], ends[0]])
    }
    value, related, is_raw = _values(findings, domains, upper)
    warnings += _warn_of(findings, domains, upper, is_raw)
    weights = _weights(knots_ns, bounds)
    return Clocks(knots_ns, domains, upper, value, weights, one_way, related, is_raw, warnings)


def _bounds(
    findings: Findings, domains: Sequence[int], least: Sequence[Mapping[str, object]]
) -> dict[Ends, Bounds]:
    """All bounds by domain: upstream, downstream. A stamp is up to one resolution too early."""
    found: dict[Ends, list[Bounds]] = {}
    for one in least:
        up, down = int(str(one["up"])), int(str(one["down"]))
        t_ns, raw_ns, n = (_ints(one[name]) for name in ("aligned_ns", "raw_ns", "n"))
        cut_ns = int(np.ceil(findings.points[down].resolution_ns))
        cut_ns = 0 if cut_ns <= 1 else cut_ns
        found.setdefault((domains[up], domains[down]), []).append(Bounds(t_ns, raw_ns + cut_ns, n))
    return {
        ends: Bounds(
            *(
                np.concatenate([getattr(b, name) for b in all_of])
                for name in ("t_ns", "most_ns", "n")
            )
        )
        for ends, all_of in found.items()
    }


def _ints(column: object) -> Ints:
    return np.frombuffer(column, dtype="<i8") if isinstance(column, bytes) else np.asarray(column)


def _floats(values: Ints) -> Floats:
    return values.astype(np.float64)


def _bound_pair(
    upper: Floats, knots_ns: Ints, ends: Ends, forward: Bounds, reverse: Bounds | None
) -> None:
    """Write the interval of one pair of clocks at every knot, as far as it is bounded."""
    a, b = ends
    if reverse is None:
        return
    base_ns, t0 = int(forward.most_ns[0]), int(knots_ns[0])
    x, f = _floats(forward.t_ns - t0), _floats(forward.most_ns - base_ns)
    y, r = _floats(reverse.t_ns - t0), _floats(-reverse.most_ns - base_ns)
    slope, loosening = _drift_bounds(x, f, y, r)
    knots = _floats(knots_ns - t0)
    while True:
        hi = _cone(knots, x, f - slope * x, loosening)
        lo = -_cone(knots, y, slope * y - r, loosening)
        if np.all(hi >= lo) or loosening > 1e-2:
            break
        loosening *= 3
    upper[:, a, b] = hi + slope * knots + base_ns
    upper[:, b, a] = -(lo + slope * knots + base_ns)


def _drift_bounds(x: Floats, f: Floats, y: Floats, r: Floats) -> tuple[float, float]:
    """A drift to take out, and how fast the bounds loosen after that, both ns per ns.

    The gap between the bounds is concave in the drift, so the drifts that leave one open form an
    interval. A drift of 0 is taken where it is among them.
    """

    def gap(slope: float) -> float:
        return float(np.min(f - slope * x) - np.max(r - slope * y))

    low, high = -1e-2, 1e-2
    for _ in range(80):
        third = (high - low) / 3
        low, high = (
            (low + third, high) if gap(low + third) < gap(high - third) else (low, high - third)
        )
    best = (low + high) / 2
    if gap(best) < 0:
        return best, WANDER_PPM * 1e-6
    least, most = _edge(gap, best, -1e-2), _edge(gap, best, 1e-2)
    slope = 0.0 if least <= 0 <= most else (least + most) / 2
    reach = max(abs(least - slope), abs(most - slope), LEAST_DRIFT_PPM * 1e-6)
    return slope, reach + LEAST_DRIFT_PPM * 1e-6


def _edge(gap: object, inside: float, outside: float) -> float:
    """Where the gap closes, between a drift that fits and one that does not."""
    if not callable(gap) or gap(outside) >= 0:
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
    from_after = np.where(
        at < len(x), after[np.minimum(at, len(x) - 1)] - loosening * knots, np.inf
    )
    return np.asarray(np.minimum(from_before, from_after))


def _closure(upper: Floats) -> Floats:
    """Difference constraints, closed at every knot (Floyd and Warshall)."""
    closed = upper.copy()
    for k in range(upper.shape[1]):
        closed = np.minimum(closed, closed[:, :, k, None] + closed[:, None, k, :])
    return closed


def _with_accuracy(
    findings: Findings,
    domains: Sequence[int],
    upper: Floats,
    accuracy_ns: Mapping[int, int],
    warnings: list[Warn],
) -> Floats:
    """Add what was declared, unless the packets contradict it."""
    if len(accuracy_ns) < 2:
        return upper
    declared = upper.copy()
    for one, off in accuracy_ns.items():
        for other, other_off in accuracy_ns.items():
            a, b = domains[one], domains[other]
            if a != b:
                declared[:, a, b] = np.minimum(declared[:, a, b], off + other_off)
    declared = _closure(declared)
    if np.all(declared[:, range(declared.shape[1]), range(declared.shape[1])] >= 0):
        return declared
    names = ", ".join(sorted(findings.name(point) for point in accuracy_ns))
    text = f"the declared accuracy of {names} is contradicted by the packets and was not used; check how the clocks were set"
    warnings.append(Warn("clock-accuracy-contradicted", None, text))
    return upper


def _one_way(bounds: Mapping[Ends, Bounds]) -> dict[Ends, tuple[float, float]]:
    """Drift from one direction: the edge under all bounds that is nearest to their mean time.

    Moon, Skelly and Towsley, INFOCOM 1999. Its uncertainty: the neighbouring edges of the hull.
    """
    found = {}
    for (a, b), one in bounds.items():
        if (b, a) in bounds or len(one.t_ns) < 3:
            continue
        x, y = (one.t_ns - one.t_ns[0]) * 1e-9, (one.most_ns - one.most_ns[0]) * 1.0
        hull = _lower_hull(x, y)
        slopes = np.diff(y[hull]) / np.diff(x[hull])
        at = int(np.clip(np.searchsorted(x[hull], x.mean()) - 1, 0, len(slopes) - 1))
        near = slopes[max(at - 1, 0) : at + 2]
        width = float(np.ptp(near)) / 1000
        found[a, b] = (float(slopes[at]) / 1000, width)
        found[b, a] = (-float(slopes[at]) / 1000, width)
    return found


def _lower_hull(x: Floats, y: Floats) -> list[int]:
    hull: list[int] = []
    for i in np.lexsort((y, x)).tolist():
        if hull and x[hull[-1]] == x[i]:
            continue
        while len(hull) > 1 and _turns_down(x, y, hull[-2], hull[-1], i):
            hull.pop()
        hull.append(i)
    return hull if len(hull) > 1 else [0, len(x) - 1]


def _turns_down(x: Floats, y: Floats, a: int, b: int, c: int) -> bool:
    return bool((y[b] - y[a]) * (x[c] - x[a]) >= (y[c] - y[a]) * (x[b] - x[a]))


def _values(
    findings: Findings, domains: Sequence[int], upper: Floats
) -> tuple[Floats, dict[int, int], frozenset[Ends]]:
    """Offset of each domain against its component's first: neighbour by neighbour along the path.

    The middle of the interval; 0 where that lies inside throughout, for then the raw difference is
    the value that contradicts nothing.
    """
    value = np.zeros((len(upper), upper.shape[1]))
    related: dict[int, int] = {}
    is_raw: set[Ends] = set()
    for component in findings.components:
        related.setdefault(domains[component[0]], component[0])
        for point in component[1:]:
            new = domains[point]
            if new in related:
                continue
            for before in reversed(component[: component.index(point)]):
                known = domains[before]
                hi, lo = upper[:, known, new], -upper[:, new, known]
                if known in related and np.all(np.isfinite(hi)) and np.all(np.isfinite(lo)):
                    fits = bool(np.all((lo <= 0) & (hi >= 0)))
                    is_raw |= {(before, point)} if fits else set()
                    value[:, new] = value[:, known] + (0.0 if fits else (lo + hi) / 2)
                    related[new] = related[known]
                    break
            else:
                related.setdefault(new, point)
    return value, related, frozenset(is_raw)


def _warn_of(
    findings: Findings, domains: Sequence[int], upper: Floats, is_raw: frozenset[Ends]
) -> list[Warn]:
    found = []
    diagonal = upper[:, range(upper.shape[1]), range(upper.shape[1])]
    for point in findings.along:
        if np.any(diagonal[:, domains[point]] < 0):
            text = "its packets contradict each other: some arrive before they left; are matches false, or did a clock step?"
            found.append(Warn("clock-contradiction", findings.name(point), text))
    if is_raw:
        names = ", ".join(f"{findings.name(a)}-{findings.name(b)}" for a, b in sorted(is_raw))
        text = f"no common clock is declared; equal clocks fit the packets between {names}, so raw differences are shown there, with the interval beside them; declare it with --same-clock if it is so"
        found.append(Warn("raw-difference", None, text))
    return found


def _weights(knots_ns: Ints, bounds: Mapping[Ends, Bounds]) -> Floats:
    """Matched packets nearest to each knot."""
    weights = np.full(len(knots_ns), 1e-9)
    for one in bounds.values():
        at = np.clip(np.searchsorted(knots_ns, one.t_ns), 0, len(knots_ns) - 1)
        np.add.at(weights, at, one.n)
    return weights
