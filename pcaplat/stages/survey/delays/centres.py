"""Where latencies lie: the usual raw difference over time, and the band around it.

A centre holds clock offset, drift and usual delay in one, so matching needs no clock model, and a
clock error cannot become a matching error.
"""

from collections.abc import Iterator

import numpy as np

from pcaplat.model.arrays import Bools, Floats, Ints, median, moving_medians, quantile
from pcaplat.model.band import Band
from pcaplat.model.centre import Centre

BLOCK = 31
"""Neighbours in time whose median is one knot."""

MOST_KNOTS = 512
"""Knots of a centre; with more packets a knot stands for more of them."""

FEWEST_FOR_SLOPE = 8
"""Packets below which a slope is chance."""

MOST_SLOPE = 0.01
"""A centre that rises faster is no drift of a clock: it is a queue that fills."""

JUMP = 20
"""A clock that is set moves the level between two knots by so many times what is usual."""

LEAST_JUMP_NS = 50_000
"""What moves the level by less may be a queue, and widens no band by much."""

SUDDEN_FRAC = 0.5
"""A clock that is set moves the level by so much from one packet to the next; a queue does not."""

NEIGHBOURS, FEWEST_NEIGHBOURS = 9, 3
"""So many packets of the other direction, on either side, tell whether it moves too."""

FAR_NS, FAR_DEVIATIONS = 1_000_000, 30
"""What is farther from the middle than so long, and so many deviations, widens no band,"""

OF_TWO_DEVIATIONS = np.array((10, 30, 100, 300))
"""What is farther than so many deviations, early as often as late, is of two packets,"""

LIKELY = 3
"""where the numbers of both differ by no more than so many standard deviations of chance."""

EXCURSION_KNOTS = 50
"""A level that holds for more knots than these is no excursion."""

MOST_FAR_FRAC = 0.1
"""unless more than this share of packets is."""

DENSITY_BINS = 1024
"""Bins of a band's density."""

LEAST_ALIKE = 32
"""Packets, neighbours by their residuals, that share one density at least."""

MOST_DENSITIES = 128
"""A band has as many densities at most: of more packets, each is shared by more of them."""


NEVER = np.zeros(0, np.int64)
"""No packet comes again."""

NO_OTHERS = (np.zeros(0, np.int64), np.zeros(0, np.int64))
"""No packet goes in the other direction."""


def fit_centre(t_ns: Ints, d_ns: Ints, others: tuple[Ints, Ints] = NO_OTHERS) -> Centre:
    """Medians of blocks of neighbours in time; a slope only where it explains the spread.

    Args:
        t_ns: Raw times, ascending.
        d_ns: Raw differences at them.
        others: Both of packets of the other direction.
    """
    n_blocks = int(np.clip(len(t_ns) // BLOCK, 1, MOST_KNOTS))
    t0, d0 = t_ns[0], d_ns[0]
    x, y = (t_ns - t0).astype(np.float64), (d_ns - d0).astype(np.float64)
    slope = _slope(x, y)
    rest = y - slope * x
    block = np.arange(len(x)) * n_blocks // len(x)
    knots = _medians(x, block)
    levels = _medians(rest, block)
    is_whole = np.ones(n_blocks, np.bool_)
    for at, i in _jumps(rest, block, levels):
        ends, sides = x[at - 1 : at + 1], levels[i : i + 2]
        rise = float(np.diff(sides)[0])
        is_sudden = abs(rest[at] - rest[at - 1]) > SUDDEN_FRAC * abs(rise)
        if is_sudden and _is_set(others, t_ns[at - 1 : at + 1], rise):
            torn = block[at - 1 : at + 1]
            if torn[0] == torn[1]:
                is_whole[torn] = False
                sides = levels[np.clip(torn + np.array((-1, 1)), 0, n_blocks - 1)]
            ends = _around_jump(ends, rise)
        knots, levels = np.append(knots, ends), np.append(levels, sides)
        is_whole = np.append(is_whole, (True, True))
    knots, levels = knots[is_whole], levels[is_whole]
    by = np.argsort(knots, kind="stable")
    whole_knots = np.rint(knots[by]).astype(np.int64)
    _, keep = np.unique(whole_knots, return_index=True)
    offsets = d0 + np.rint(levels[by] + slope * knots[by]).astype(np.int64)
    return Centre(t0 + whole_knots[keep], offsets[keep], slope)


def without_drift(t_ns: Ints, d_ns: Ints) -> Floats:
    """Differences, from the first on, less a slope that explains their spread, ns.

    The fewer packets a time has, the more do clocks drift from each to the next.

    Args:
        t_ns: Raw times, ascending.
        d_ns: Raw differences at them.
    """
    x, y = (np.asarray(column - column[:1], np.float64) for column in (t_ns, d_ns))
    return np.asarray(y - _slope(x, y) * x)


def _jumps(rest: Floats, block: Ints, levels: Floats) -> Iterator[tuple[int, int]]:
    """The first packets after the level jumps, and the blocks before."""
    rises = np.abs(np.diff(levels))
    spread = median(np.abs(rest - levels[block]))
    usual = median(rises) if len(rises) else 0.0
    is_jump = rises > max(JUMP * max(usual, spread), LEAST_JUMP_NS)
    for i in np.flatnonzero(is_jump).tolist():
        start, end = np.searchsorted(block, (i, i + 2)).tolist()
        # how much nearer each packet is to the level after, summed up to each of them
        nearer = np.abs(rest[start:end] - levels[i]) - np.abs(rest[start:end] - levels[i + 1])
        at = start + int(np.argmin(np.cumsum(nearer))) + 1
        if at < end:
            yield at, i


def _is_set(others: tuple[Ints, Ints], ends_ns: Ints, by_ns: float) -> bool:
    """Whether the other direction's differences jump there too, by as much: a clock was set.

    Of the clock that times are of, some times are said twice, so that it is asked beyond these too.
    """
    t_ns, d_ns = others
    for beyond_ns in (0, abs(by_ns)):
        before = d_ns[: np.searchsorted(t_ns, ends_ns[0] - beyond_ns, "right")][-NEIGHBOURS:]
        after = d_ns[np.searchsorted(t_ns, ends_ns[1] + beyond_ns) :][:NEIGHBOURS]
        if min(len(before), len(after)) >= FEWEST_NEIGHBOURS:
            moved_ns = median(after) - median(before)
            if abs(moved_ns - by_ns) < abs(by_ns) / 4:
                return True
    return False


def _around_jump(ends: Floats, rise: float) -> tuple[float, float]:
    """The last time before a jump, and the first after it: in the middle between two packets.

    Times in between would get an offset in between, which the clocks never had, unless a clock that
    was set ahead never said them.
    """
    last, first = ends.tolist()
    gap = first - last
    half = min((each for each in (gap, gap - abs(rise)) if each > 0), default=0.0) / 2
    since = float(np.rint(first - half))
    return min(last + half, since - 1), since


def _medians(values: Floats, block: Ints) -> Floats:
    """Median of each block; blocks ascend from 0."""
    n, at = np.bincount(block), np.arange(block[-1] + 1)
    # one block a row: short rows are sorted much faster than all values
    is_filled = np.arange(n.max()) < n[:, None]
    rows = np.full(is_filled.shape, np.inf)
    rows[is_filled] = values
    rows.sort(axis=1)
    return np.asarray((rows[at, (n - 1) // 2] + rows[at, n // 2]) / 2)


def _slope(x: Floats, y: Floats) -> float:
    """Theil-Sen slope over quarters of the time; 0 unless it clearly shrinks the spread.

    A step of the clock lies in a third of those only, so it is no slope.
    """
    if len(x) < FEWEST_FOR_SLOPE or x[-1] <= x[0]:
        return 0.0
    few = np.linspace(0, len(x) - 1, min(len(x), 2000)).astype(np.int64)
    x, y = x[few], y[few]
    quarter = len(x) // 4
    run = x[quarter:] - x[:-quarter]
    slopes = (y[quarter:] - y[:-quarter])[run > 0] / run[run > 0]
    slope = median(slopes) if len(slopes) else 0.0
    if abs(slope) > MOST_SLOPE:
        return 0.0
    rest = y - slope * x
    spread = median(np.abs(y - median(y)))
    return slope if median(np.abs(rest - median(rest))) < 0.7 * spread else 0.0


def follow(
    near: Centre,
    t_ns: Ints,
    d_ns: Ints,
    others: tuple[Ints, Ints] = NO_OTHERS,
    late_sign: int = 0,
) -> Centre:
    """Centre of a second point, by packets seen at both.

    The near clock is taken out first, so that its steps are no steps of the second.

    Args:
        near: The centre of the near point.
        t_ns: Raw times there, at least one.
        d_ns: Raw differences at them.
        others: Times and differences of packets of the other direction, without the near clock.
        late_sign: 1 where late packets have greater differences, -1 where lesser; 0: some and some.
    """
    at_ns, beside_ns = by_time(near, t_ns, d_ns)
    found = _without_excursions(fit_centre(at_ns, beside_ns, others), others, late_sign)
    return Centre.of_clock(found.t_ns, found.offset_ns, found.slope)


def by_time(near: Centre, t_ns: Ints, d_ns: Ints) -> tuple[Ints, Ints]:
    """Times and differences without the near clock, but for those while it was being set."""
    offset_ns = near.at(t_ns)
    at_ns, beside_ns = t_ns - offset_ns, d_ns + offset_ns
    is_known = ~is_within(t_ns, near.set_ns)
    if 2 * is_known.sum() > len(at_ns):
        at_ns, beside_ns = at_ns[is_known], beside_ns[is_known]
    by = np.argsort(at_ns, kind="stable")
    return at_ns[by], beside_ns[by]


def is_within(at_ns: Ints, spans_ns: Ints) -> Bools:
    """Which times lie within one of some spans: first and last, one a row."""
    first_ns, last_ns = spans_ns.T
    is_in = (at_ns[:, None] >= first_ns) & (at_ns[:, None] <= last_ns)
    return np.asarray(is_in.any(axis=1))


def _without_excursions(centre: Centre, others: tuple[Ints, Ints], late_sign: int) -> Centre:
    """Leave out where the level goes far away and comes back: packets were late, the clock not set.

    A clock that was set, and set back, moves the level of the other direction too. Where packets
    are faster for some time, as by a shorter route, none is late.
    """
    level_ns = centre.offset_ns - np.rint(centre.slope * (centre.t_ns - centre.t_ns[0]))
    last = len(level_ns) - 1
    around = np.pad(level_ns, EXCURSION_KNOTS, "edge")
    away_ns = level_ns - moving_medians(around, 2 * EXCURSION_KNOTS + 1)
    later_ns = late_sign * away_ns if late_sign else np.abs(away_ns)
    is_far = later_ns > FAR_NS + FAR_DEVIATIONS * median(np.abs(away_ns))
    edges = np.flatnonzero(np.diff(np.concatenate(([0], is_far, [0]))))
    keep = np.ones(last + 1, np.bool_)
    for start, end in edges.reshape(-1, 2).tolist():
        during = (centre.t_ns[max(start - 1, 0)], centre.t_ns[min(end, last)])
        moved_ns = median(away_ns[start:end])
        if start > 0 and end <= last and not _moves(others, during, moved_ns):
            keep[start:end] = False
    return Centre(centre.t_ns[keep], centre.offset_ns[keep], centre.slope)


def _moves(others: tuple[Ints, Ints], during: tuple[int, int], by_ns: float) -> bool:
    """Whether the other direction's differences move by as much meanwhile."""
    t_ns, d_ns = others
    is_during = (t_ns >= during[0]) & (t_ns <= during[1])
    if not is_during.any() or is_during.all():
        return False
    moved_ns = median(d_ns[is_during]) - median(d_ns[~is_during])
    return bool(abs(moved_ns - by_ns) < abs(by_ns) / 2)


def band_of(
    residual_ns: Ints,
    resolution_ns: int,
    is_doubtful: Bools | None = None,
    again_ns: tuple[Ints, Ints] = (NEVER, NEVER),
    missed_frac: float = 0.0,
) -> Band:
    """The band: the middle 99 %, widened by half its width and what stamps leave open.

    Packets near the setting of a clock are left out where they are not most: they would make it as
    wide as the step, for all of the time.

    Args:
        residual_ns: How much later than usual packets arrived.
        resolution_ns: The coarser one of the two points.
        is_doubtful: Which of them passed while a clock was being set.
        again_ns: Of each point, how long after a packet it saw the same bytes again, ascending.
        missed_frac: Share of packets that one of the two did not see.
    """
    usual_ns = residual_ns if is_doubtful is None else residual_ns[~is_doubtful]
    usual_ns = usual_ns if 2 * len(usual_ns) > len(residual_ns) else residual_ns
    usual_ns = _without_two(usual_ns, resolution_ns, again_ns, missed_frac)
    near_ns = _near(usual_ns)
    lo, hi = (int(quantile(near_ns, share)) for share in (0.005, 0.995))
    more = (hi - lo) // 2 + 300 + 2 * resolution_ns
    lo, hi = lo - more, hi + more
    reach_ns = (min(lo, int(usual_ns.min()) - more), max(hi, int(usual_ns.max()) + more))
    half = (hi - lo) // 2
    n_outside, n_far = (
        int(np.sum((usual_ns < lo - by) | (usual_ns > hi + by))) for by in (0, half)
    )
    density = _density(usual_ns, np.linspace(lo, hi, DENSITY_BINS + 1), resolution_ns)
    # what none of few packets did, one of more may do
    outside_frac = (n_outside + 0.5) / (len(usual_ns) + 1)
    far_frac = n_far / len(usual_ns)
    return Band(
        *(lo, hi, density.tolist()),
        outside_frac=outside_frac,
        far_frac=far_frac,
        reach_ns=reach_ns,
    )


def _without_two(
    residual_ns: Ints, resolution_ns: int, again_ns: tuple[Ints, Ints], missed_frac: float
) -> Ints:
    """Leave out pairs of two packets with the same bytes, of which each point saw another.

    They are as often early as late, and packets are late more often. Both points see packets come
    again after the time between the two, and of so many, one of them misses enough.
    """
    later_ns = residual_ns - int(median(residual_ns))
    away_ns = np.abs(later_ns)
    limits_ns = OF_TWO_DEVIATIONS * max(median(away_ns), resolution_ns)
    within_ns = [some_ns[some_ns <= away_ns.max()] for some_ns in again_ns]
    n_again = np.min([(some_ns > limits_ns[:, None]).sum(axis=1) for some_ns in within_ns], axis=0)
    n_most = len(again_ns) * missed_frac * n_again
    n_late, n_early = (
        (side_ns > limits_ns[:, None]).sum(axis=1) for side_ns in (later_ns, -later_ns)
    )
    is_chance = np.abs(n_late - n_early) <= LIKELY * np.sqrt(2 * np.minimum(n_late, n_early))
    # what is farther is explained too
    is_told = np.logical_and.accumulate((n_late + n_early <= n_most)[::-1])[::-1]
    of_two = np.flatnonzero(is_chance & is_told)
    return residual_ns[away_ns <= limits_ns[of_two[0]]] if len(of_two) else residual_ns


def _near(residual_ns: Ints) -> Ints:
    """Leave out what is far from the middle, as late packets are, unless that is not seldom."""
    away_ns = np.abs(residual_ns - median(residual_ns))
    near_ns = residual_ns[away_ns <= FAR_NS + FAR_DEVIATIONS * median(away_ns)]
    return near_ns if len(near_ns) >= (1 - MOST_FAR_FRAC) * len(residual_ns) else residual_ns


def _density(residual_ns: Ints, edges_ns: Floats, resolution_ns: int) -> Floats:
    """Density in equal bins, relative to a uniform one: as fine as there are packets to tell."""
    n = len(residual_ns)
    n_alike = min(n, max(LEAST_ALIKE, n // MOST_DENSITIES))
    knots_ns = np.sort(residual_ns)[n_alike // 2 :: n_alike]
    # other packets than these may be somewhat faster, or slower
    least, most = residual_ns.min(), residual_ns.max()
    first, last = 2 * least - knots_ns[:1] - resolution_ns, 2 * most - knots_ns[-1:] + resolution_ns
    knots_ns = np.concatenate([first, knots_ns, last])
    # no stamp is surer than its resolution, and what lies on an edge belongs to both bins
    blur_ns = max(resolution_ns, float(edges_ns[1] - edges_ns[0]))
    share = np.diff(_blurred(knots_ns, edges_ns, blur_ns))
    # what 1 of 10,000 packets did is possible, not impossible
    smooth = share + 0.5 / (n + 1) / DENSITY_BINS
    return np.asarray(smooth / smooth.sum() * DENSITY_BINS)


def _blurred(knots_ns: Ints, at_ns: Floats, blur_ns: float) -> Floats:
    """Share of packets below each place, if each lies anywhere within `blur_ns` of its own.

    Args:
        knots_ns: Ascending, with equal shares of the packets between them.
        at_ns: The places.
        blur_ns: Above 0.
    """
    knots = knots_ns.astype(np.float64)
    below = np.linspace(0, 1, len(knots))
    sums = np.concatenate(([0], np.cumsum(np.diff(knots) * (below[1:] + below[:-1]) / 2)))

    def summed(ns: Floats) -> Floats:
        """Integral of the share of packets below, up to a place."""
        part = np.interp(ns, knots, below)
        before = np.clip(np.searchsorted(knots, ns, "right") - 1, 0, None)
        beyond = np.maximum(ns - knots[before], 0)
        return np.asarray(sums[before] + beyond * (below[before] + part) / 2)

    return (summed(at_ns + blur_ns) - summed(at_ns - blur_ns)) / (2 * blur_ns)
