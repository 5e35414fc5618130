"""Which way packets travel: address pairs are oriented alike, without any clock.

Two-way distance (RFC 2681 §2.7.1, self-synchronisation): of two packets in opposite directions
that pass two points one soon after the other, the differences of the raw stamps differ by the time
both take between the points. The clocks' offset cancels; drift between packets of two addresses
that are seconds apart must have been taken out (`Shared.without_drift`).
"""

from collections.abc import Mapping, Sequence

import numpy as np

from pcaplat.model.arrays import Bools, Ints, median
from pcaplat.model.points import Pair
from pcaplat.stages.survey.delays.relations import Shared
from pcaplat.stages.survey.observations import Observations, among
from pcaplat.stages.survey.path_order.groups import Way, two_groups
from pcaplat.stages.survey.path_order.relays import Medians, next_relay, sense_of, signs
from pcaplat.stages.survey.path_order.unanswered import next_by_unanswered

ENOUGH_CHANGES = 3
"""Changes of direction below which an order is a guess."""

SYNCHRONISED_NS = 10_000_000
"""Raw differences below this are taken for latencies where nothing better is known."""


def medians_by(values: Ints, group: Ints) -> Medians:
    """Groups, the median of each (the upper one of an even number), and its size.

    Where timestamps are too coarse for a median but 0, it is the mean.
    """
    by = np.lexsort((values, group))
    values, group = values[by], group[by]
    names, starts, n = np.unique(group, return_index=True, return_counts=True)
    medians = values[starts + n // 2]
    means = np.add.reduceat(values, starts) // n if len(n) else medians
    return names, np.where(medians == 0, means, medians), n


def forward_mask(both: Shared | Observations, toward: Mapping[int, bool]) -> Bools:
    """Tell which rows go forward; their address pairs must be oriented."""
    lookup = sorted(pair for pair, is_forward in toward.items() if is_forward)
    return np.asarray(both.is_toward == both.are_of(np.array(lookup, np.int64)))


def orient(
    directed: Mapping[Pair, Shared], known: Mapping[int, bool], domains: Sequence[int]
) -> dict[int, bool]:
    """Orient address pairs alike: whether packets from the smaller address go forward.

    First by the points that are farthest apart, then by any whose sense the oriented pairs tell,
    then by packets that nothing answered, then beyond the points where the oriented pairs end;
    pairs that were seen in one direction only by how long their packets take.

    Args:
        directed: For each pair of points, the unicast packets they share.
        known: Address pairs that are oriented already.
        domains: Clock domain of each point.
    """
    senses = {ends: both.changes for ends, both in directed.items()}
    tables = {ends: medians_by(*sense) for ends, sense in senses.items() if len(sense[0])}
    toward = dict(known)
    if tables and not any(pair in toward for table in tables.values() for pair in table[0]):
        farthest = max(tables, key=lambda ends: _reach(tables[ends]))
        toward |= signs(tables[farthest], 1)
    toward = _spread(tables, toward)
    while relay := next_relay(tables, toward):
        ends, sense = next_by_unanswered(directed, tables, toward) or relay
        toward = _spread(tables, signs(tables[ends], sense) | toward)
    return _orient_rest(directed, toward, domains)


def _reach(table: Medians) -> tuple[bool, int]:
    """How far apart two points are, if enough changes of direction say so."""
    _, median_ns, n = table
    return int(n.sum()) >= ENOUGH_CHANGES, int(np.average(np.abs(median_ns), weights=n))


def _spread(tables: Mapping[Pair, Medians], toward: dict[int, bool]) -> dict[int, bool]:
    """Orient what was seen by two points together with what is oriented."""
    n_before = -1
    while len(toward) > n_before:
        n_before = len(toward)
        for table in tables.values():
            if sense := sense_of(table, toward):
                toward = signs(table, sense) | toward
    return toward


def _orient_rest(
    directed: Mapping[Pair, Shared], toward: dict[int, bool], domains: Sequence[int]
) -> dict[int, bool]:
    """Orient what shows no change: where oriented pairs were seen first, then where most was."""
    left = dict(directed)
    while left:
        pairs = np.array(sorted(toward), np.int64)
        ready = [ends for ends, both in left.items() if among(both.pairs, pairs).any()]
        for near, far in ready or [max(left, key=lambda ends: len(left[ends]))]:
            is_one_clock = domains[near] == domains[far]
            toward |= _orient_one_way(left.pop((near, far)), toward, is_one_clock=is_one_clock)
    return toward


def _orient_one_way(
    packets: Shared, toward: Mapping[int, bool], *, is_one_clock: bool
) -> dict[int, bool]:
    """Orient the address pairs that are left, by the latencies of the oriented ones."""
    is_known = packets.are_of(np.array(sorted(toward), np.int64))
    if np.all(is_known):
        return {}
    usual_ns = usual_differences(packets.at(is_known), toward)
    if None in usual_ns and (parted := two_groups(packets)):
        return _orient_parted(parted, toward)
    pairs, median_ns, _ = medians_by(packets.d_ns[~is_known], packets.pair[~is_known])
    if usual_ns == (None, None):
        usual_ns = float(median_ns[0]), None
    _, first = np.unique(packets.pair[~is_known], return_index=True)
    is_toward = packets.is_toward[~is_known][first].tolist()
    return {
        pair: _fits_forward(d_ns, usual_ns, is_one_clock=is_one_clock) == to
        for pair, d_ns, to in zip(pairs.tolist(), median_ns.tolist(), is_toward, strict=True)
    }


def _orient_parted(parted: Mapping[Way, bool], toward: Mapping[int, bool]) -> dict[int, bool]:
    """Orient by two groups of differences: the greater ones go from the first point to the second.

    Which of the two points is nearer the path's first, oriented pairs tell; else the first is.
    """
    says = {(pair, to == is_greater) for (pair, to), is_greater in parted.items()}
    agreeing = sum(1 if toward[pair] == to else -1 for pair, to in says if pair in toward)
    return {pair: to == (agreeing >= 0) for pair, to in says if pair not in toward}


def usual_differences(
    both: Shared, toward: Mapping[int, bool]
) -> tuple[float | None, float | None]:
    """Median raw difference forward and reverse, ns; None where no packet went."""
    is_forward = forward_mask(both, toward)
    sides = (both.d_ns[is_forward], both.d_ns[~is_forward])
    forward, reverse = (median(side) if len(side) else None for side in sides)
    return forward, reverse


def _fits_forward(
    d_ns: int, usual_ns: tuple[float | None, float | None], *, is_one_clock: bool
) -> bool:
    """Tell whether a difference is rather one of the forward direction."""
    forward, reverse = usual_ns
    if forward is not None and reverse is not None:
        return abs(d_ns - forward) <= abs(d_ns - reverse)
    known, is_forward = (forward, True) if forward is not None else (reverse or 0.0, False)
    is_synchronised = is_one_clock or max(abs(d_ns), abs(known)) < SYNCHRONISED_NS
    is_opposite = is_synchronised and d_ns * known < 0
    return is_forward != is_opposite
