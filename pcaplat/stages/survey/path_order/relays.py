"""Where flows end and others begin: relays and tunnel ends, whose two sides share no address pair.

Two-way distances orient the address pairs of each side by themselves, but say nothing about how the
two lie to each other. What does is where their points are: a path goes on outward.
"""

from collections.abc import Iterator, Mapping

from pcaplat.model.arrays import Ints
from pcaplat.model.points import Pair

Medians = tuple[Ints, Ints, Ints]
"""Groups, the median of each, and its size."""


def sense_of(table: Medians, toward: Mapping[int, bool]) -> int:
    """Sum of the oriented pairs' distances: its sign tells which point is nearer."""
    return sum((1 if toward[pair] else -1) * m * n for pair, m, n in _rows(table) if pair in toward)


def signs(table: Medians, sense: int) -> dict[int, bool]:
    """Orient address pairs by the sign of their distances, if the near point has that sense."""
    return {pair: m * sense > 0 for pair, m, _ in _rows(table) if m}


def next_relay(
    tables: Mapping[Pair, Medians], toward: Mapping[int, bool]
) -> tuple[Pair, int] | None:
    """Choose the two points whose address pairs are to be oriented next, and their sense.

    Args:
        tables: For each pair of points the round-trip separations by address pair, not oriented.
        toward: The address pairs that are oriented.

    Returns:
        None if all are that can be.
    """
    left = [ends for ends, table in tables.items() if _is_left(table, toward)]
    if not left:
        return None
    at = _places(tables, toward)
    ends = max(left, key=lambda ends: (sum(end in at for end in ends), int(tables[ends][2].sum())))
    return ends, _outward(ends, at)


def _outward(ends: Pair, at: Mapping[int, float]) -> int:
    """By their places where both have one; else the new point is beyond the nearer end."""
    near, far = ends
    if near in at and far in at:
        return 1 if at[far] >= at[near] else -1
    if near not in at and far not in at:
        return 1
    known = near if near in at else far
    is_late = 2 * at[known] >= min(at.values()) + max(at.values())
    return 1 if is_late == (known == near) else -1


def _places(tables: Mapping[Pair, Medians], toward: Mapping[int, bool]) -> dict[int, float]:
    """Distance of points from one of them, over what is oriented."""
    steps = {ends: _distance(table, toward) for ends, table in tables.items()}
    steps = {ends: away for ends, away in steps.items() if away}
    if not steps:
        return {}
    start = max(steps, key=lambda ends: abs(steps[ends]))[0]
    at = {start: 0.0}
    while found := dict(_reached(at, steps)):
        at |= found
    return at


def _reached(at: Mapping[int, float], steps: Mapping[Pair, float]) -> Iterator[tuple[int, float]]:
    for (near, far), away in steps.items():
        if near in at and far not in at:
            yield far, at[near] + away
        elif far in at and near not in at:
            yield near, at[far] - away


def _distance(table: Medians, toward: Mapping[int, bool]) -> float:
    n = sum(n for pair, _, n in _rows(table) if pair in toward)
    return sense_of(table, toward) / n if n else 0.0


def _is_left(table: Medians, toward: Mapping[int, bool]) -> bool:
    return any(m and pair not in toward for pair, m, _ in _rows(table))


def _rows(table: Medians) -> Iterator[tuple[int, int, int]]:
    return zip(*(column.tolist() for column in table), strict=True)
