"""Which points are neighbours: the edges of the path."""

import numpy as np

from pcaplat.model.arrays import Ints
from pcaplat.model.points import Pair
from pcaplat.stages.survey.observations import Observations

LEAST_SHARE = 0.02
"""An edge that fewer trajectories than this share of the busiest one took is chance, unless nothing
else joins its ends: how busy other parts of the path are says nothing of it."""


def find_edges(unique: list[Observations], along: list[int]) -> list[Pair]:
    """Edges of one component: pairs of points that trajectories visit one after the other.

    A pair that is passed over by a point in between is an edge only if more trajectories jump than
    go through: a mirror that drops a fifth of its packets makes no shortcut.
    """
    taken = _visits(unique, along)
    busiest = max(taken.values(), default=0)
    taken = _joined({e: n for e, n in taken.items() if n >= LEAST_SHARE * busiest}, taken)
    edges = [ends for ends, n in taken.items() if _widest_detour(taken, ends, along) < n]
    place = {point: i for i, point in enumerate(along)}
    return sorted(edges, key=lambda ends: (place[ends[0]], place[ends[1]]))


def _joined(busy: dict[Pair, int], taken: dict[Pair, int]) -> dict[Pair, int]:
    """Add the busiest of the other edges between points that nothing joins."""
    group = {point: {point} for ends in taken for point in ends}
    links = dict(busy)
    for ends in sorted(taken, key=lambda ends: (ends not in busy, -taken[ends], ends)):
        near, far = (group[end] for end in ends)
        if far is not near:
            links[ends] = taken[ends]
            joined = near | far
            group |= dict.fromkeys(joined, joined)
    return links


def _visits(unique: list[Observations], along: list[int]) -> dict[Pair, int]:
    """How often two points follow each other, over packets unique wherever they were seen."""
    keys = [_strong_keys(unique[point]) for point in along]
    key, place = np.concatenate(keys), np.repeat(np.arange(len(along)), [len(one) for one in keys])
    by = np.lexsort((place, key))
    key, place = key[by], place[by]
    is_next = key[1:] == key[:-1]
    steps = np.stack((place[:-1][is_next], place[1:][is_next]))
    found, n = np.unique(steps, axis=1, return_counts=True)
    return {
        (along[near], along[far]): count
        for near, far, count in zip(*found.tolist(), n.tolist(), strict=True)
    }


def _strong_keys(observations: Observations) -> Ints:
    """Keys of unicast and numbered packets; of all if there are none."""
    strong = observations.key[observations.is_directed | (observations.copy_tag != 0)]
    return strong if len(strong) else observations.key


def _widest_detour(taken: dict[Pair, int], ends: Pair, along: list[int]) -> int:
    """Trajectories that the best way around a pair carries, over points in between."""
    start, stop = along.index(ends[0]), along.index(ends[1])
    width = {along[start]: max(taken.values())}
    for i in range(start + 1, stop + 1):
        point = along[i]
        ways = [
            min(width[before], n)
            for (before, after), n in taken.items()
            if after == point and before in width and (before, after) != ends
        ]
        if ways:
            width[point] = max(ways)
    return width.get(ends[1], 0)
