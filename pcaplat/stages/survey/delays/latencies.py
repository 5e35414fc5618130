"""Where latencies lie, for all points and both directions: centres and bands."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations

import numpy as np

from pcaplat.model.arrays import Bools, Ints, quantile
from pcaplat.model.band import LEAST_ALONE_NS, Band
from pcaplat.model.centre import NO_OFFSET, Centre
from pcaplat.model.points import Pair, Point
from pcaplat.records import dataclass
from pcaplat.stages.survey.delays.centres import band_of, by_time, follow, is_within
from pcaplat.stages.survey.delays.relations import (
    NOTHING_SHARED,
    Relations,
    Shared,
    between,
    spanning_steps,
)
from pcaplat.stages.survey.observations import (
    Observations,
    Occasions,
    come_again_ns,
    occasions,
    places,
)
from pcaplat.stages.survey.offload import find_torn, whole_everywhere
from pcaplat.stages.survey.path_order.routes import Routes, is_along

ENOUGH_VOTES, CLEARER = 3, 4
"""So many packets of two addresses lie where packets of their direction do, and so many times more
than where others do: """

NEARLY_ALL = 0.95
"""as near to the centre as this share of all."""

RARE_FRAC = 0.0005
"""A pair is accepted where no more than this speaks against it."""


def fit_centres(
    relations: Relations,
    components: Sequence[list[int]],
    routes: Routes,
    n_points: int,
) -> tuple[list[Centre], list[Centre]]:
    """Give each point's usual difference to its component's first, forward and reverse."""
    sides = ([NO_OFFSET] * n_points, [NO_OFFSET] * n_points)
    for component in components:
        for known, new in spanning_steps(relations, component):
            both = between(relations, known, new)
            with_path = is_along(component, (known, new))
            goes = [routes.is_going(both, ends) for ends in ((known, new), (new, known))]
            for side, centres in enumerate(sides):
                is_outward = with_path == (side == 0)
                own, other = goes if is_outward else goes[::-1]
                known_both = centres[known], sides[1 - side][known]
                late_sign = 1 if is_outward else -1
                centres[new] = _beyond(known_both, both, (own, other), late_sign)
    return sides


def orient_recurring(
    relations: Relations, toward: Mapping[int, bool], centres: tuple[list[Centre], list[Centre]]
) -> dict[int, bool]:
    """Orient address pairs whose packets did not tell the order, for they come again.

    Some of them are two packets that seem to take any time; the others lie where packets of their
    direction usually do, and nowhere else.

    Args:
        relations: What the points share.
        toward: Address pairs that are oriented.
        centres: The usual differences, forward and reverse.
    """
    known = np.array(sorted(toward), np.int64)
    votes = Counter[tuple[int, bool]]()
    for ends, both in relations.items():
        is_left = (both.again_ns > 0) & both.is_directed & ~both.are_of(known)
        rest, others = both.at(is_left), both.at(~is_left)
        if not len(rest) or not len(others):
            continue
        sides = [(some[ends[0]], some[ends[1]]) for some in centres]
        spread_ns = quantile(np.min([_off_ns(others, side) for side in sides], axis=0), NEARLY_ALL)
        is_near = np.array([_off_ns(rest, side) <= spread_ns for side in sides])
        for toward_is_forward, is_so in zip((True, False), (is_near, is_near[::-1]), strict=True):
            pairs = rest.pair[np.where(rest.is_toward, *is_so)]
            votes.update((pair, toward_is_forward) for pair in pairs.tolist())
    return {
        pair: is_forward
        for (pair, is_forward), n in votes.items()
        if n >= max(ENOUGH_VOTES, CLEARER * votes[pair, not is_forward])
    }


def _off_ns(both: Shared, centres: tuple[Centre, Centre]) -> Ints:
    return np.abs(residuals(both, centres))


def fit_bands(
    relations: Relations,
    components: Sequence[list[int]],
    centres: tuple[list[Centre], list[Centre]],
    routes: Routes,
    seen: Sequence[tuple[Observations, Observations]],
    points: Sequence[Point],
) -> tuple[dict[Pair, Band], dict[Pair, Band]]:
    """Give the band of every pair of points, upstream first, forward and reverse.

    `seen` is what each point saw, and what it saw once.
    """
    all_seen = [occasions(one) for one, _ in seen]
    ways = [
        OneWay(some, [routes.side(one, side) for one, _ in seen])
        for side, some in enumerate(centres)
    ]
    bands: tuple[dict[Pair, Band], dict[Pair, Band]] = ({}, {})
    n_seen: tuple[dict[Pair, int], dict[Pair, int]] = ({}, {})
    for near, far in (ends for component in components for ends in combinations(component, 2)):
        resolution_ns = int(max(points[near].resolution_ns, points[far].resolution_ns))
        is_torn = bool(find_torn([(near, far)], [unique for _, unique in seen]))
        for up, down in ((near, far), (far, near)):
            goes = routes.going(between(relations, up, down), (up, down))
            of_both = all_seen[up], all_seen[down]
            for side, packets in enumerate(goes):
                if not len(packets):
                    continue
                shares = ways[side].missing((up, down), of_both, is_torn=is_torn)
                band = ways[side].band(packets, (up, down), shares, resolution_ns)
                bands[side][up, down] = band
                n_seen[side][up, down] = len(packets)
    first, second = (_as_elsewhere(*one) for one in zip(bands, n_seen, strict=True))
    return first, second


@dataclass(frozen=True)
class OneWay:
    """What each point saw that goes forward along its route, or in reverse, and the centres."""

    centres: Sequence[Centre]
    seen: Sequence[Observations]

    @cached_property
    def _occasions(self) -> list[Occasions]:
        return list(map(occasions, self.seen))

    @cached_property
    def _again_ns(self) -> list[Ints]:
        return list(map(come_again_ns, self.seen))

    @cached_property
    def _doubtful_ns(self) -> Ints:
        return doubtful(self.centres)

    def missing(
        self, ends: Pair, all_seen: tuple[Occasions, Occasions], *, is_torn: bool
    ) -> tuple[float, float]:
        """Shares that the downstream point does not see, and that the upstream one did not."""
        (up, down), (at_up, at_down) = ends, all_seen
        return (
            _missing(self._occasions[up], at_down, is_torn=is_torn),
            _missing(self._occasions[down], _always(at_up), is_torn=is_torn),
        )

    def band(
        self, packets: Shared, ends: Pair, shares: tuple[float, float], resolution_ns: int
    ) -> Band:
        """Where the residuals of the packets that two points share lie."""
        up, down = ends
        of_ends = self.centres[up], self.centres[down]
        packets = packets.sure
        residual_ns = residuals(packets, of_ends)
        is_doubtful = passed_in(packets, of_ends[0], self._doubtful_ns)
        again_ns = self._again_ns[up], self._again_ns[down]
        n_both = len(self.seen[up]) + len(self.seen[down])
        lost_frac, phantom_frac = shares
        return replace(
            band_of(residual_ns, resolution_ns, is_doubtful, again_ns, sum(shares)),
            lost_frac=lost_frac,
            phantom_frac=phantom_frac,
            alone_ns=alone_ns(np.sort(np.concatenate(again_ns)), n_both, phantom_frac),
        )


def _as_elsewhere(bands: dict[Pair, Band], n_seen: Mapping[Pair, int]) -> dict[Pair, Band]:
    """What is rare is not seen often enough at one pair of points: the others count too."""
    n_far = sum(band.far_frac * n_seen[ends] for ends, band in bands.items())
    far_frac = (n_far + 0.5) / (sum(n_seen.values()) + 1)
    return {
        ends: replace(band, far_frac=(band.far_frac + far_frac) / 2) for ends, band in bands.items()
    }


def _beyond(
    known: tuple[Centre, Centre], both: Shared, ways: tuple[Bools, Bools], late_sign: int
) -> Centre:
    """Centre of the next point; by the other direction's packets where this was not seen.

    `known` are the centres of the point before, of this direction and of the other. Late packets of
    this direction have differences of that sign.
    """
    near, near_back = known
    own, others = (both.at(way).sure for way in ways)
    for choice, rest, sign in (
        (own, others, late_sign),
        (others, own, -late_sign),
        (both, NOTHING_SHARED, 0),
    ):
        if len(choice):
            back = by_time(near_back, rest.t_ns, rest.d_ns)
            return follow(near, choice.t_ns, choice.d_ns, back, sign)
    return near


def alone_ns(again_ns: Ints, n: int, phantom_frac: float) -> int:
    """Within which time hardly any of so many packets come again and are missed before."""
    n_rare = int(RARE_FRAC * n / max(phantom_frac, RARE_FRAC))
    return int(min([LEAST_ALONE_NS, *again_ns[n_rare : n_rare + 1]]))


def residuals(both: Shared, centres: tuple[Centre, Centre]) -> Ints:
    """How much later than usual each packet arrived."""
    up, down = centres
    return both.d_ns - (down.at(both.t_ns + both.d_ns) - up.at(both.t_ns))


def doubtful(centres: Sequence[Centre]) -> Ints:
    """Rows of when some clock was being set: from, to."""
    return np.concatenate([one.doubtful() for one in centres])


def passed_in(both: Shared, up: Centre, doubtful_ns: Ints) -> Bools:
    """Which packets passed while some clock was being set."""
    return is_within(both.t_ns - up.at(both.t_ns), doubtful_ns)


def _always(seen: Occasions) -> Occasions:
    """What was seen at all, as if as often as anywhere.

    Of equal packets that leave at once and of which one is late, more seem to arrive than left.
    """
    first, n = seen
    return first, np.full_like(n, np.iinfo(n.dtype).max // 2)


def _missing(here: Occasions, there: Occasions, *, is_torn: bool) -> float:
    """Share of the flows' common packets that were seen here, and more often than there.

    What was lost, and sent again as it was, is not missing: it was there less often. Where TCP is
    cut or joined between, its data is not missing there, but in other packets: of what can be
    neither, few packets may be left, so that none missing says little.
    """
    (first, n), (first_there, n_there) = here, there
    is_common = first.are_of(first_there.pairs) & first.is_directed
    if is_torn:
        is_common &= whole_everywhere(first)
    at, is_there = places(first.key, first_there.key)
    n_more = n - np.where(is_there, n_there[at], 0) if len(n_there) else n
    n_missing = int(np.maximum(n_more, 0)[is_common].sum())
    n_common = int(n[is_common].sum())
    return (n_missing + 0.5) / (n_common + 1) if is_torn else n_missing / max(n_common, 1)
