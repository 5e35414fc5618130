"""The order of a profile's points along a path."""

from collections.abc import Mapping, Sequence
from itertools import combinations

from pcaplat.points.schema import Profile, ProfilePoint

HOSTS_OF_A_PATH = 2


def path_of(
    profile: Profile, points: Mapping[str, tuple[ProfilePoint, ...]], host_of: Mapping[str, str]
) -> list[str] | None:
    """Give the points in order: from the near host's guest on, up to the far host's guest."""
    hosts = list(dict.fromkeys(host_of[name] for name in points))
    ranks = {name: rank_of(profile, of_name) for name, of_name in points.items()}
    known = {name: rank for name, rank in ranks.items() if rank is not None}
    n_hosts = HOSTS_OF_A_PATH if profile.extent == "host" else 1
    if len(hosts) > n_hosts or len(known) < len(ranks) or one_way_pairs(points, host_of):
        return None
    sides = [[name for name in points if host_of[name] == host] for host in hosts]
    return [
        name
        for side, is_far in zip(sides, (False, True), strict=False)
        for name in sorted(side, key=lambda name: known[name], reverse=is_far)
    ]


def one_way_pairs(
    points: Mapping[str, tuple[ProfilePoint, ...]], host_of: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Find points that packets pass in the same order out and back: they are no two places."""
    both = [
        (point.order_tx, point.order_rx, name)
        for name, of_name in points.items()
        for point in of_name
        if point.order_tx is not None and point.order_rx is not None
    ]
    return [
        (one, other)
        for (tx, rx, one), (later_tx, later_rx, other) in combinations(sorted(both), 2)
        if host_of[one] == host_of[other] and (later_tx > tx) == (later_rx > rx)
    ]


def rank_of(profile: Profile, points: Sequence[ProfilePoint]) -> int | None:
    """Give the place on the way out; what is only on the way back counts from the far end."""
    places = {point.place for point in points} - {None}
    twins = [point for point in profile.points if point in points or point.place in places]
    out = [point.order_tx for point in twins if point.order_tx is not None]
    back = [point.order_rx for point in twins if point.order_rx is not None]
    if out:
        return min(out)
    ranks = [rank for point in profile.points for rank in (point.order_tx, point.order_rx)]
    far_end = 1 + max((rank for rank in ranks if rank is not None), default=0)
    return far_end - min(back) if back else None
