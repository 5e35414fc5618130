"""Steps: points that all packets pass in one order, whichever way their flow goes.

Places on a line are passed by requests in one order and by responses in the other. Probes of a
kernel and components of a virtual switch are not on a line: what is sent is sent, received and
switched, whoever sent it. One file has one clock, so stamps tell the two apart, unless the file was
put together from captures of several hosts: there a response is at the first point before its
request was at the last, which no step allows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pcaplat.diagnostics.catalogue import diagnose
from pcaplat.model.arrays import distinct
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.points import Point
from pcaplat.stages.survey.delays.relations import Relations, Shared
from pcaplat.stages.survey.observations import Observations, among
from pcaplat.units import format_count

if TYPE_CHECKING:
    from pcaplat.model.arrays import Bools

NEARLY_ALL = 0.99
"""At a step that packets go through, this share of those between two points go the same way."""

CAUSED_FRAC = 0.9
"""This share of the changes of direction have a cause; traffic that is under way in both directions
leaves some without."""

ENOUGH = 2
"""Packets in either direction that say something."""


def are_steps(relations: Relations, points: Sequence[Point]) -> bool:
    """Tell whether all packets pass all points in one order.

    Args:
        relations: For each pair of points, what they share.
        points: The capture points; clocks of several files tell nothing.
    """
    files = {file for ends in relations for point in ends for file, _ in points[point].sources}
    directed = [both.at(both.is_directed) for both in relations.values()]
    both_ways = [both for both in directed if _goes_both_ways(both)]
    return len(files) == 1 and bool(both_ways) and all(map(_is_step, both_ways))


def all_forward(relations: Relations) -> Relations:
    """Count every packet as one that goes forward."""
    return {
        ends: replace(both, is_toward=np.ones(len(both), np.bool_))
        for ends, both in relations.items()
    }


def observations_forward(seen: Sequence[Observations]) -> list[Observations]:
    """Count every observation as one of a packet that goes forward."""
    return [replace(one, is_toward=np.ones(len(one), np.bool_)) for one in seen]


def check_steps(relations: Relations, points: Sequence[Point]) -> Iterator[Diagnostic]:
    """Say that there is one order for both directions.

    Args:
        relations: For each pair of points, what they share.
        points: The capture points.
    """
    named = sorted({point for ends in relations for point in ends})
    n = max(len(both) for both in relations.values())
    text = (
        f"packets of both directions pass {', '.join(points[point].name for point in named)} in "
        f"the same order (up to {format_count(n)} packets at two of them)"
    )
    yield diagnose("same-order-both-ways", None, text)


def _goes_both_ways(both: Shared) -> bool:
    ways = (both.pair[both.is_toward], both.pair[~both.is_toward])
    return min(map(len, ways)) >= ENOUGH and bool(among(ways[0], distinct(ways[1])).any())


def _is_step(both: Shared) -> bool:
    if np.median(both.d_ns) < 0:
        both = replace(both, t_ns=both.t_ns + both.d_ns, d_ns=-both.d_ns)
    is_same_way = bool(np.mean(both.d_ns > 0) >= NEARLY_ALL)
    return is_same_way and all(_is_caused(both, way) for way in (True, False))


def _is_caused(both: Shared, way: bool) -> bool:  # noqa: FBT001 - the direction of what responds
    """Tell whether packets of a direction begin when the one before them is through."""
    by = np.lexsort((both.d_ns, both.t_ns, both.pair))
    t_ns, through_ns = both.t_ns[by], (both.t_ns + both.d_ns)[by]
    pair, toward = both.pair[by], both.is_toward[by]
    is_turn: Bools = (pair[1:] == pair[:-1]) & (toward[1:] == way) & (toward[:-1] != way)
    is_after = t_ns[1:][is_turn] >= through_ns[:-1][is_turn]
    return not len(is_after) or bool(np.mean(is_after) >= CAUSED_FRAC)
