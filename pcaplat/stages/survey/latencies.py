"""Where latencies lie, for all points and both directions: centres and bands."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from pcaplat.path import NO_OFFSET, Band, Centre, Ends, Point
from pcaplat.stages.survey.centres import band_of, fit_centre, follow
from pcaplat.stages.survey.orient import forward_mask
from pcaplat.stages.survey.relations import Relations, Shared, between, spanning_steps
from pcaplat.stages.survey.sights import Sights, among


def fit_centres(
    relations: Relations,
    components: Sequence[list[int]],
    toward: Mapping[int, bool],
    points: Sequence[Point],
) -> tuple[list[Centre], list[Centre]]:
    """Give each point's usual difference to its component's first, forward and reverse."""
    sides = ([NO_OFFSET] * len(points), [NO_OFFSET] * len(points))
    for component in components:
        for known, new in spanning_steps(relations, component):
            both = between(relations, known, new)
            start = np.array([points[known].first_t_ns])
            for side, centres in enumerate(sides):
                centres[new] = follow(centres[known], start, _step(both, toward, side))
    return sides


def fit_bands(
    relations: Relations,
    components: Sequence[list[int]],
    centres: tuple[list[Centre], list[Centre]],
    toward: Mapping[int, bool],
    unique: Sequence[Sights],
    points: Sequence[Point],
) -> tuple[dict[Ends, Band], dict[Ends, Band]]:
    """Give the band of every pair of points, upstream first, forward and reverse."""
    bands: tuple[dict[Ends, Band], dict[Ends, Band]] = ({}, {})
    for near, far in (ends for component in components for ends in combinations(component, 2)):
        resolution_ns = int(max(points[near].resolution_ns, points[far].resolution_ns))
        missing = [_missing(unique[near], unique[far]), _missing(unique[far], unique[near])]
        for side, (up, down) in enumerate(((near, far), (far, near))):
            both = of_side(between(relations, up, down), toward, side)
            if len(both):
                fitted = (centres[side][up], centres[side][down])
                band = _band(both, fitted, resolution_ns)
                lost, phantom = missing if side == 0 else missing[::-1]
                bands[side][up, down] = replace(band, lost_frac=lost, phantom_frac=phantom)
    return bands


def of_side(both: Shared, toward: Mapping[int, bool], side: int) -> Shared:
    """Give what went one way, 0 forward and 1 in reverse; all of it where nothing has a way."""
    known = both.at(both.is_directed & among(both.pair, np.array(sorted(toward), np.int64)))
    if len(known) == 0:
        return both if not np.any(both.is_directed) else known
    is_forward = forward_mask(known, toward)
    return known.at(is_forward if side == 0 else ~is_forward)


def _step(both: Shared, toward: Mapping[int, bool], side: int) -> Centre:
    """Centre of the step between two points; the other direction's where this was not seen."""
    for choice in (of_side(both, toward, side), of_side(both, toward, 1 - side), both):
        if len(choice):
            by = np.argsort(choice.t_ns, kind="stable")
            return fit_centre(choice.t_ns[by], choice.d_ns[by])
    return NO_OFFSET


def _band(both: Shared, centres: tuple[Centre, Centre], resolution_ns: int) -> Band:
    up, down = centres
    expected_ns = down.at(both.t_ns + both.d_ns) - up.at(both.t_ns)
    return band_of(both.d_ns - expected_ns, resolution_ns)


def _missing(here: Sights, there: Sights) -> float:
    """Share of the flows' common packets that were seen here and not there."""
    common = here.key[among(here.pair, there.pairs) & here.is_directed]
    n_missing = len(common) - int(among(common, there.key).sum())
    return n_missing / max(len(common), 1)
