"""Whether packets are rewritten on the way: their bytes are equal, and not their flows or IP IDs.

What is found here is a suspicion, and roughly how far apart the points' stamps are. It decides
whether all packets are read once more to learn which flow becomes which
(rust/src/survey/translation/).
"""

from collections.abc import Sequence

import numpy as np

from pcaplat.model.arrays import Bools, Ints
from pcaplat.model.centre import NO_OFFSET, Centre
from pcaplat.model.points import Point, PointTree
from pcaplat.model.sampled import SampleColumns, Sampled
from pcaplat.records import dataclass
from pcaplat.stages.survey.delays.centres import follow
from pcaplat.stages.survey.delays.relations import (
    Relations,
    between,
    components,
    relate,
    spanning_steps,
)
from pcaplat.stages.survey.observations import Observations, Sample, among, unique_observations
from pcaplat.stages.survey.points_in_file.repeats import Repeats

ENOUGH_CROSSINGS = 2
"""Packets that change their flow between two points; fewer teach nothing."""

RENUMBERED_SHARE = 0.01
"""So much of what two points share is renumbered, at least, where a device does it. Of packets that
repeat, one point may have missed one, and the other the next."""

OF_FLOWS = -7_046_029_254_386_353_131
"""Odd: so that equal packets of several flows have different numbers."""

LEAST_WINDOW_NS = 5_000_000
MOST_WINDOW_NS = 1_000_000_000
TAILS = 3
"""How far two observations of a packet may be from their usual difference while flows are
learned."""

NO_FLOWS: SampleColumns = dict.fromkeys(("file", "interface"), np.zeros(0, np.int64))


@dataclass(frozen=True)
class Suspicion:
    """That packets are rewritten: the usual difference of each point's stamps, and a window."""

    centres: list[Centre]
    window_ns: int


def hidden_repeats(packets: SampleColumns) -> SampleColumns | None:
    """Look for packets that one file has on both sides of a translator, as a gateway's has.

    Args:
        packets: The sample, as an engine gives it.

    Returns:
        The same recognised without addresses, so that the file can be divided; only what is
        numbered is recognised so, for heartbeats of two hosts may be equal. None where no packet
        was seen under other addresses in its file.
    """
    is_numbered = (packets["copy_tag"] != 0) | (packets["tcp_bytes"] != 0)
    is_directed = packets["is_directed"] * is_numbered
    columns = {**packets, "key": packets["bare"], "is_directed": is_directed}
    repeats = Repeats.among(columns, np.arange(len(columns["key"])))
    leg = columns["leg"]
    if (leg[repeats.first] != leg[repeats.then]).sum() < ENOUGH_CROSSINGS:
        return None
    return columns


def suspect(
    sampled: Sampled,
    points: Sequence[Point],
    divisions: Sequence[PointTree | None] = (),
    part: Ints | None = None,
) -> Suspicion | None:
    """Look for packets of a sample that have another flow or IP identification at another point.

    Args:
        sampled: What an engine's `sample` gives.
        points: The capture points.
        divisions: How each file is divided, as far as `hidden_repeats` tell.
        part: The part of its file that saw each of `packets`.

    Returns:
        How to learn what is rewritten; None where nothing speaks for it.
    """
    suspects = []
    if len(points) < 2:  # noqa: PLR2004 - a flow becomes another between two points
        return None
    ways = [_seen(sampled.packets, "bare", points, divisions, part)]
    if not any(divisions):
        ways.append(_seen(sampled.alike, "content", points))
        ways.append(_seen_in_flows(sampled.alike, points))
    shares = (0.0, 0.0, RENUMBERED_SHARE)
    for seen, share in zip(ways, shares, strict=False):
        if not _may_cross(seen):
            continue
        unique = unique_observations(seen)
        relations, tails = relate(unique)
        counted = [_n_crossing(unique, *ends) for ends in relations]
        n = sum(n for n, n_all in counted if n >= max(ENOUGH_CROSSINGS, share * n_all))
        suspects.append((n, relations, tails))
    n, relations, tails = max(suspects, key=lambda one: one[0], default=(0, {}, []))
    if not n:
        return None
    tail_ns = max((tail.within_ns for tail in tails), default=0)
    window_ns = min(MOST_WINDOW_NS, LEAST_WINDOW_NS + TAILS * tail_ns)
    return Suspicion(_centres(relations, points), window_ns)


def _seen(
    columns: SampleColumns,
    value: str,
    points: Sequence[Point],
    divisions: Sequence[PointTree | None] = (),
    part: Ints | None = None,
) -> list[Observations]:
    """Observations recognised by one column, with the flow that each point itself saw."""
    columns = {**columns, "key": columns[value], "flow": columns["leg"]}
    sample = Sample.of(columns, NO_FLOWS, divisions, part)
    of_points = [sample.seen_at(point) for point in points]
    return [seen.at(seen.is_directed) for seen in of_points]


def _seen_in_flows(columns: SampleColumns, points: Sequence[Point]) -> list[Observations]:
    """Observations recognised by flow and content, with the IP identification as their flow."""
    content = columns["content"] ^ (columns["leg"] * OF_FLOWS) ^ columns["is_toward"]
    return _seen({**columns, "content": content, "leg": columns["bare"]}, "content", points)


def _may_cross(seen: Sequence[Observations]) -> bool:
    """Tell, at little cost, whether anything was seen in two flows."""
    key, flow = (np.concatenate([getattr(one, name) for one in seen]) for name in ("key", "flow"))
    by = np.argsort(key)
    return bool(np.any((np.diff(key[by]) == 0) & (np.diff(flow[by]) != 0)))


def _n_crossing(unique: Sequence[Observations], near: int, far: int) -> tuple[int, int]:
    """Packets that are in another flow, of all that two points share."""
    here, there = unique[near], unique[far]
    i = np.flatnonzero(among(here.key, there.key))
    is_other: Bools = here.flow[i] != there.flow[np.searchsorted(there.key, here.key[i])]
    return int(is_other.sum()), len(i)


def _centres(relations: Relations, points: Sequence[Point]) -> list[Centre]:
    """Each point's usual difference to its component's first, both directions in one."""
    centres = [NO_OFFSET] * len(points)
    for component in components(relations, len(points)):
        for known, new in spanning_steps(relations, component):
            both = between(relations, known, new)
            centres[new] = follow(centres[known], both.t_ns, both.d_ns)
    return centres
