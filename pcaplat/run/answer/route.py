"""Which segments the packets of the whole path pass, where a path forks."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from pcaplat.run.answer.view import LatencyLine, LatencyView
from pcaplat.tables.columns import Row

Ends = tuple[str, str]
NEARLY_ALL = 0.9
"""So many of the path's packets pass each segment of their route; some are not captured there."""


def edges_of(document: Row) -> list[Ends]:
    """Give the segments of a summary."""
    return [(edge["near"], edge["far"]) for edge in document["edges"]]


def is_line(document: Row) -> bool:
    """Whether the path does not fork."""
    path = document["path"]
    return edges_of(document) == list(pairwise(path))


def other_ends(document: Row) -> list[str]:
    """Give the ends of a path that are neither its first point nor its last."""
    edges = edges_of(document)
    nears, fars = ({ends[side] for ends in edges} for side in (0, 1))
    ends = [point for point in document["path"] if (point in nears) != (point in fars)]
    return [point for point in ends if point not in (document["path"][0], document["path"][-1])]


def route_of_whole(document: Row, latencies: LatencyView) -> tuple[list[Ends], bool]:
    """Give the segments between the ends of a path, and whether all its packets pass one route.

    Returns:
        Where no route has all of them, the segments of all routes; those of the document where
        no packet is known to go from one end to the other.
    """
    edges = edges_of(document)
    whole = {line.way: line for line in latencies.ways(latencies.ends) if line.n}
    if is_line(document) or not whole:
        return edges, True
    full = [ends for ends in edges if _carries(latencies.ways(ends), whole)]
    if route := [*_between(latencies.ends, full)]:
        return route, True
    return [*_between(latencies.ends, edges)] or edges, False


def _carries(ways: Sequence[LatencyLine], whole: Mapping[str, LatencyLine]) -> bool:
    n = {line.way: line.n for line in ways}
    return all(n.get(way, 0) >= NEARLY_ALL * line.n for way, line in whole.items())


def _between(ends: Ends, edges: Collection[Ends]) -> Iterator[Ends]:
    """Keep the segments that lead from one point, and to the other."""
    first, last = ends
    behind = _reached(first, edges)
    before = _reached(last, [(far, near) for near, far in edges])
    yield from ((near, far) for near, far in edges if near in behind and far in before)


def _reached(start: str, edges: Collection[Ends]) -> set[str]:
    reached, new = {start}, {start}
    while new:
        new = {far for near, far in edges if near in new} - reached
        reached |= new
    return reached
