"""Bounds that rest on a single packet, and how many packets support the others.

    bounds → bounds that more than one packet supports, and those that were left out

One timestamp is not evidence enough. One that is too early makes a packet too quick, and the
quickest packet is what bounds a clock. The interval from the second quickest is wider and holds the
truth in either case.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from pcaplat.model.arrays import Bools, Floats, Ints, moving_medians
from pcaplat.model.clocks import Step, middle_of
from pcaplat.model.points import Pair
from pcaplat.records import dataclass
from pcaplat.stages.align.bounds import OffsetBounds
from pcaplat.stages.align.interval import Stretch, fit_stretch, steps_between, stretches
from pcaplat.stages.align.windows import AROUND, Both, usual_slope, windows_of

NEIGHBOURS = 100
"""Bounds on either side in time that one is compared with."""

NEXT = slice(2, 12)
"""Of those the tightest, but for the first two, say how far apart tight bounds usually are."""

FAR = 5
"""One is alone if it is farther from the second than this many times all of those."""

FAR_OF_FEW = {5: 110, 6: 16, 7: 6}
"""So many have fewer next ones, whose spread may be small by chance: with delays of an exponential
tail, one in 100,000 quickest packets seems alone."""

MOST_DRIFT = 600e-6
"""Of few the drift is not known; it is no more than this."""

LEAST_GAP_NS = 500.0
"""What moves an interval by less is no doubt."""

MOST_ROUNDS = 8
"""One that is alone hides the next; so many are looked for in one place."""

NEAR_FRAC = 0.1
"""Packets that alone would leave an interval wider by at most this support its end."""


@dataclass(frozen=True)
class LoneBound:
    """A bound that was left out, the clocks upstream and downstream, and what it would narrow."""

    clocks: Pair
    bound: OffsetBounds
    gap_ns: float


def apart_from_others(
    bounds: Mapping[Pair, OffsetBounds], cut_ns: Mapping[int, float]
) -> dict[Pair, Bools]:
    """Find the bounds that are far tighter than all others about their time.

    Args:
        bounds: Of all pairs of clocks.
        cut_ns: How coarse the timestamps of each clock are.
    """
    found = {ends: np.zeros(len(one.t_ns), dtype=bool) for ends, one in bounds.items()}
    for a, b in bounds:
        if a < b and (b, a) in bounds:
            least_ns = max(LEAST_GAP_NS, 2 * (cut_ns[a] + cut_ns[b]))
            f, r = _levelled(bounds[a, b], bounds[b, a])
            found[a, b] = _is_apart(bounds[a, b], f, least_ns)
            found[b, a] = _is_apart(bounds[b, a], -r, least_ns)
    return found


def without_lone(
    bounds: Mapping[Pair, OffsetBounds],
    apart: Mapping[Pair, Bools],
    steps: Mapping[int, Sequence[Step]],
    doubtful: Mapping[Pair, Sequence[Step]],
) -> tuple[dict[Pair, OffsetBounds], list[LoneBound]]:
    """Leave out those of the bounds `apart` that would narrow an interval.

    Args:
        bounds: Of all pairs of clocks.
        apart: Which of them are far from others.
        steps: Of each clock.
        doubtful: Of pairs of clocks, steps that a path may hide.

    Returns:
        The others, and what was left out.
    """
    kept, lone = dict(bounds), list[LoneBound]()
    for a, b in bounds:
        if a < b and (b, a) in bounds and (apart[a, b].any() or apart[b, a].any()):
            both = [bounds[ends].at(~apart[ends]) for ends in ((a, b), (b, a))]
            doubted = [bounds[ends].at(apart[ends]) for ends in ((a, b), (b, a))]
            for stretch in stretches(both[0], both[1], steps_between((a, b), steps, doubtful)):
                for one in _narrowing(stretch, doubted[0], doubted[1], (a, b)):
                    lone.append(one)
                    kept[one.clocks] = kept[one.clocks].without(one.bound)
    return kept, lone


def _levelled(forward: OffsetBounds, reverse: OffsetBounds) -> tuple[Floats, Floats]:
    """Bounds beside what both clocks usually do, which a single packet does not move."""
    t0, base = int(forward.t_ns[0]), int(forward.most_ns[0])
    x, f = (forward.t_ns - t0).astype(np.float64), (forward.most_ns - base).astype(np.float64)
    y, r = (reverse.t_ns - t0).astype(np.float64), (-reverse.most_ns - base).astype(np.float64)
    windows = windows_of(Both(x, f, y, r, forward.n, reverse.n))
    if windows is None:
        slope = _usual_slope(x, f)
        return f - slope * x, r - slope * y
    slope = usual_slope(windows.edges[:-1], windows.middle)
    rest = np.pad(windows.middle - slope * windows.centres, AROUND // 2, mode="reflect")
    level = moving_medians(rest, AROUND + 1)
    usual, usual_back = (slope * t + np.interp(t, windows.centres, level) for t in (x, y))
    return f - usual, r - usual_back


def _usual_slope(x: Floats, f: Floats) -> float:
    """The median slope of bounds in order of time; 0 of a few."""
    _, first = np.unique(x, return_index=True)
    return usual_slope(x[first], f[first]) if len(first) >= NEXT.stop else 0.0


def _is_apart(bounds: OffsetBounds, f: Floats, least_ns: float) -> Bools:
    """Which bounds are alone below their neighbours, one round after the other."""
    is_apart = np.zeros(len(f), dtype=bool)
    order = np.argsort(bounds.t_ns, kind="stable")
    for _ in range(MOST_ROUNDS):
        left = order[~is_apart[order]]
        if len(left) <= NEXT.stop:
            if not is_apart.any():
                is_apart[left] = _is_apart_of_few(bounds.at(left), f[left], least_ns)
            break
        beside = min(2 * NEIGHBOURS + 1, len(left))
        rows = np.lib.stride_tricks.sliding_window_view(f[left], beside)
        # most have others of their bin of time close behind them
        may_be = np.flatnonzero(bounds.gap_ns[left] > least_ns)
        some = left[may_be]
        at = np.clip(may_be - NEIGHBOURS, 0, len(rows) - 1)
        near = np.partition(rows[at], range(NEXT.stop), axis=1)[:, : NEXT.stop]
        gaps_ns, usual_ns = near[:, 1] - near[:, 0], near[:, -1] - near[:, NEXT.start]
        far_ns = np.maximum(least_ns, FAR * usual_ns)
        # others of its bin of time stand behind it, whatever is in other bins
        is_alone = (bounds.gap_ns[some] > far_ns) & (gaps_ns > far_ns)
        new = some[is_alone & (f[some] == near[:, 0])]
        if not len(new):
            break
        is_apart[new] = True
    return is_apart


def _is_apart_of_few(bounds: OffsetBounds, f: Floats, least_ns: float) -> Bools:
    """The same of so few that all others are the neighbours of one."""
    is_apart = np.zeros(len(f), dtype=bool)
    if len(f) >= min(FAR_OF_FEW):
        first, second, third, *_, last = np.argsort(f, kind="stable").tolist()
        drift_ns = MOST_DRIFT * abs(int(bounds.t_ns[second] - bounds.t_ns[first]))
        usual_ns = float(f[last] - f[third])
        far_ns = max(least_ns, FAR_OF_FEW.get(len(f), FAR) * usual_ns + drift_ns)
        is_apart[first] = min(float(bounds.gap_ns[first]), float(f[second] - f[first])) > far_ns
    return is_apart


def _narrowing(
    stretch: Stretch, doubted: OffsetBounds, doubted_back: OffsetBounds, clocks: Pair
) -> Iterator[LoneBound]:
    """Give the doubted bounds that are tighter than all others of a stretch are at their time."""
    if not (len(stretch.forward.t_ns) and len(stretch.reverse.t_ns)):
        return
    t_ns = np.concatenate([stretch.forward.t_ns, stretch.reverse.t_ns])
    fit = fit_stretch(stretch, np.array([t_ns.min(), t_ns.max()]))
    sides = ((doubted, fit.x, fit.f, 1, clocks), (doubted_back, fit.y, -fit.r, -1, clocks[::-1]))
    for several, x, f, sign, ends in sides:
        near = several.within(stretch.may_start_ns, stretch.may_end_ns)
        times = (near.t_ns - fit.t0_ns).astype(np.float64)
        level = near.most_ns - sign * fit.base_ns - sign * fit.baseline.at(times)
        gaps_ns = fit.lowest(times, x, f) - level
        for at in np.flatnonzero(gaps_ns > LEAST_GAP_NS).tolist():
            yield LoneBound(ends, near.at(np.array([at])), float(gaps_ns[at]))


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
