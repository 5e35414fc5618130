"""Packets that nothing answered between two points, by those of others that were answered there.

Round-trip separations orient addresses that two points saw in both directions. The next two points
may see other addresses answered, and yet single packets of either group pass all of these points.
The differences of such a packet are like those of one direction or like those of the other, and so
tell how the two groups lie to each other.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from pcaplat.model.arrays import Bools, Ints
from pcaplat.model.points import Pair
from pcaplat.stages.survey.delays.relations import Shared
from pcaplat.stages.survey.path_order.relays import Medians, sense_of


def next_by_unanswered(
    directed: Mapping[Pair, Shared], tables: Mapping[Pair, Medians], toward: Mapping[int, bool]
) -> tuple[Pair, int] | None:
    """Choose the two points whose address pairs most unanswered packets orient, and their sense.

    Args:
        directed: For each pair of points, the unicast packets they share.
        tables: For each pair of points the round-trip separations by address pair, not oriented.
        toward: The address pairs that are oriented.

    Returns:
        None if unanswered packets tell nothing.
    """
    senses = {ends: sense_of(table, toward) for ends, table in tables.items()}
    left = [ends for ends, sense in senses.items() if not sense]
    if not left:
        return None
    going = {ends: _going(directed[ends], table) for ends, table in tables.items()}
    told = _told(going, senses, toward)
    found = {ends: _sense(tables[ends], going[ends], told, toward) for ends in left}
    ends = max(left, key=lambda ends: abs(found[ends]))
    return (ends, found[ends]) if found[ends] else None


def _going(both: Shared, table: Medians) -> dict[int, int]:
    """By how many more unanswered packets from the smaller address go from the first point on.

    Each is compared with the answered packets next to it in time, so that drift counts little.
    """
    pairs, separation_ns, _ = table
    is_clear = separation_ns != 0
    pairs, separation_ns = pairs[is_clear], separation_ns[is_clear]
    is_answered = both.are_of(pairs)
    if is_answered.all() or not is_answered.any():
        return {}
    answered, rest = both.at(is_answered), both.at(~is_answered)
    is_onward = answered.is_toward == (separation_ns > 0)[np.searchsorted(pairs, answered.pair)]
    away_ns = [_from_nearest(rest, answered, which) for which in (is_onward, ~is_onward)]
    goes = np.sign(away_ns[1] - away_ns[0]) * np.where(rest.is_toward, 1, -1)
    names, at = np.unique(rest.pair, return_inverse=True)
    sums = np.zeros(len(names), np.int64)
    np.add.at(sums, at, goes)
    return dict(zip(names.tolist(), sums.tolist(), strict=True))


def _from_nearest(some: Shared, others: Shared, which: Bools) -> Ints:
    """How far the differences of some packets are from those nearest in time among others, ns."""
    t_ns, d_ns = others.t_ns[which], others.d_ns[which]
    after = np.clip(np.searchsorted(t_ns, some.t_ns), 1, max(len(t_ns) - 1, 1))
    before = after - 1
    after = np.minimum(after, len(t_ns) - 1)
    is_before = some.t_ns - t_ns[before] <= t_ns[after] - some.t_ns
    return np.asarray(np.abs(some.d_ns - d_ns[np.where(is_before, before, after)]))


def _told(
    going: Mapping[Pair, Mapping[int, int]], senses: Mapping[Pair, int], toward: Mapping[int, bool]
) -> dict[int, int]:
    """By how many more packets address pairs that are not oriented go forward."""
    told: dict[int, int] = {}
    for ends, sense in senses.items():
        for pair, n in going[ends].items():
            if sense and pair not in toward:
                told[pair] = told.get(pair, 0) + (n if sense > 0 else -n)
    return told


def _sense(
    table: Medians, going: Mapping[int, int], told: Mapping[int, int], toward: Mapping[int, bool]
) -> int:
    """By how many more packets the first of two points is the nearer one."""
    return sum((*_of_answered(table, told), *_of_oriented(going, toward)))


def _of_answered(table: Medians, told: Mapping[int, int]) -> Iterator[int]:
    pairs, separation_ns, _ = table
    for pair, sign in zip(pairs.tolist(), np.sign(separation_ns).tolist(), strict=True):
        yield sign * told.get(pair, 0)


def _of_oriented(going: Mapping[int, int], toward: Mapping[int, bool]) -> Iterator[int]:
    for pair, n in going.items():
        if pair in toward:
            yield n if toward[pair] else -n
