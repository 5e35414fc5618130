"""What a point saw only a part of: one direction, a shorter time, or packets more than once."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pcaplat.diagnostics.catalogue import diagnose
from pcaplat.model.arrays import Bools, Ints, distinct
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.path import Findings
from pcaplat.model.points import Pair
from pcaplat.stages.survey.observations import COPIES_WITHIN_NS, Observations, among, places
from pcaplat.stages.survey.offload import whole_everywhere
from pcaplat.units import format_count, format_frac, format_ns

if TYPE_CHECKING:
    from pcaplat.model.band import Copies

ENOUGH_PACKETS = 10
"""Sampled packets that must be missing before it is said that something is."""

ONE_WAY_FRAC = 0.8
"""A point sees one direction where this share of the address pairs that go both ways elsewhere goes
one way."""

SHORT_FRAC = 0.01
"""A capture is short where it lacks more than this share of the time, at either end."""

CHANCE = 1e-6
"""A point that lacks some packets at any time lacks all of a span by no greater chance."""

HARDLY_EVER = 0.05
"""Points that have a smaller share of their packets in common are on no common way."""

PASSED_FRAC = 0.25
"""An end has a smaller share of its packets in common with two neighbours, as broadcasts."""

COPIED_FRAC = 0.01

ENOUGH_ABSENT = 5
"""An end that lacks as many of the sampled packets that it sent on does not capture all."""

ENOUGH_OF_PAUSE = 32
"""So many packets in a row a mirror does not drop by chance, one by one."""

ENOUGH_DOUBLES = 3
"""Fewer frames that come twice may be anything."""


def check_coverage(
    findings: Findings, seen: Sequence[Observations], unique: Sequence[Observations]
) -> list[Diagnostic]:
    """Say which points saw one direction only, a shorter time, or everything twice.

    Args:
        findings: What the survey found.
        seen: The sampled packets of each point.
        unique: Those of them that each point saw once, ascending by key.
    """
    found: list[Diagnostic] = []
    for component in findings.components:
        found += [*_one_way(findings, component, seen), *_short(findings, component, seen)]
        found += _ends(findings, component, seen, unique)
        found += _copied(findings, component, seen)
    return found


def _ways(one: Observations) -> tuple[Ints, Ints]:
    """Address pairs of which packets in both directions were seen, and those of one only."""
    toward, back = (
        distinct(one.pair[one.is_directed & (one.is_toward == way)]) for way in (True, False)
    )
    both = toward[among(toward, back)]
    return both, np.setxor1d(toward, back, assume_unique=True)


def _one_way(
    findings: Findings, component: Sequence[int], seen: Sequence[Observations]
) -> Iterator[Diagnostic]:
    ways = {point: _ways(seen[point]) for point in component}
    both_ways = distinct(np.concatenate([both for both, _ in ways.values()]))
    for point in component:
        both, one = ways[point]
        missing = one[among(one, both_ways)]
        n_packets = int(seen[point].are_of(missing).sum())
        n_both = int(among(both, both_ways).sum())
        if _pass_beside(findings, seen, point, missing):
            continue
        if n_packets >= ENOUGH_PACKETS and len(missing) >= ONE_WAY_FRAC * (len(missing) + n_both):
            text = (
                f"{format_count(len(missing))} of {format_count(len(missing) + n_both)} address "
                "pairs that go both ways at other points go one way only here "
                f"({format_count(n_packets)} sampled packets)"
            )
            yield diagnose("direction-missing", findings.name(point), text)


def _pass_beside(findings: Findings, seen: Sequence[Observations], point: int, pairs: Ints) -> bool:
    """Tell whether the packets that come back pass another point, between the same neighbours.

    Where its place is assumed too: that is no doubt about where packets come back.
    """
    here = seen[point].at(seen[point].are_of(pairs))
    missing = distinct(~_way(here))
    return any(
        len(missing) > 0
        and np.isin(missing, _way(seen[other])).mean() >= ONE_WAY_FRAC
        and len(_neighbours(findings, point) & _neighbours(findings, other)) > 1
        for other in {*findings.along} - {point}
    )


def _way(one: Observations) -> Ints:
    """Addresses and direction, as one number; that of the other direction is its complement."""
    return np.where(one.is_toward, one.pair, ~one.pair)


def _neighbours(findings: Findings, point: int) -> set[int]:
    return {end for ends in findings.edges if point in ends for end in ends} - {point}


def _short(
    findings: Findings, component: Sequence[int], seen: Sequence[Observations]
) -> Iterator[Diagnostic]:
    """Points that begin late or end early, by what another saw of the same pairs meanwhile.

    By the one that saw most: where a link fails, all points behind it end, and one goes on.
    """
    starts = {p: findings.aligned(p, findings.points[p].first_t_ns) for p in component}
    ends = {p: findings.aligned(p, findings.points[p].last_t_ns) for p in component}
    least_ns = SHORT_FRAC * (max(ends.values()) - min(starts.values()))
    least_ns = max(least_ns, 2 * max(_two_way_ns(findings, point) for point in component))
    for point in component:
        others = [other for other in component if other != point]
        missing = point, _apart(seen, point, others)
        before = {other: (starts[other], starts[point]) for other in others}
        after = {other: (ends[point], ends[other]) for other in others}
        for what, spans in (("begins {} after", before), ("ends {} before", after)):
            n_of = {
                other: _n_between(findings, other, seen, missing, span)[0]
                for other, span in spans.items()
                if span[1] - span[0] > least_ns
            }
            most = max(n_of, key=n_of.__getitem__, default=point)
            n = n_of.get(most, 0)
            if n < ENOUGH_PACKETS:
                continue
            own_ns = starts[point], ends[point]
            n_missed, n_passed = _n_between(findings, most, seen, missing, own_ns)
            if (n_missed / max(n_passed, 1)) ** n < CHANCE:
                text = (
                    f"{what.format(format_ns(spans[most][1] - spans[most][0]))} "
                    f"{findings.name(most)}, which captured at least {format_count(n)} packets of "
                    "its address pairs in that time"
                )
                yield diagnose("partial-capture", findings.name(point), text)


def _two_way_ns(findings: Findings, point: int) -> int:
    """How long packets take to a point and back: one direction is aligned that far off."""
    to, back = (centres[point] for centres in findings.centres)
    return to.apart_ns(back)


def _ends(
    findings: Findings,
    component: Sequence[int],
    seen: Sequence[Observations],
    unique: Sequence[Observations],
) -> Iterator[Diagnostic]:
    """Ends of the path that lack what they sent on, for a while or now and then.

    Between two points packets show it that were seen before and after. At an end they look lost.
    """
    for point in component:
        neighbours = sorted(_neighbours(findings, point))
        if _is_passed(seen, point, neighbours):
            continue
        came = [_came_from(findings, (point, other), seen, unique) for other in neighbours]
        absent = [one.at(~np.isin(one.key, seen[point].key)) for one in came]
        pairs = zip([point, *neighbours], [seen[point], *absent], strict=True)
        own_ns, *others_ns = (_aligned_ns(findings, at, one.t_ns) for at, one in pairs)
        at_ns = np.sort(np.concatenate([own_ns[:0], *others_ns]))
        pauses = list(_pauses(at_ns, np.sort(own_ns)))
        name, next_names = findings.name(point), " and ".join(map(findings.name, neighbours))
        # of TCP data, which may be joined, acknowledgments show it
        n, n_absent = (sum(int(whole_everywhere(one).sum()) for one in of) for of in (came, absent))
        if pauses:
            length_ns, n_then = max(pauses)
            text = (
                f"holds no frame for {format_ns(length_ns)}, in which {next_names} captured "
                f"{format_count(n_then)} sampled packets that came from it"
            )
            yield diagnose("capture-paused", name, text)
        n_besides = n_absent - sum(n_then for _, n_then in pauses)
        if n_besides >= ENOUGH_ABSENT:
            text = (
                f"lacks {format_frac(n_absent / n)} of the packets that came from it "
                f"({format_count(n_absent)} of {format_count(n)} sampled at {next_names})"
            )
            yield diagnose("end-not-captured", name, text)


def _is_passed(seen: Sequence[Observations], point: int, neighbours: Sequence[int]) -> bool:
    """Tell whether packets pass a point, from one of its neighbours to another."""
    keys = distinct(seen[point].key[seen[point].is_directed])
    n_beside = np.zeros(len(keys), np.int64)
    for other in neighbours:
        n_beside += np.isin(keys, seen[other].key)
    return bool((n_beside > 1).sum() > PASSED_FRAC * len(keys))


def _came_from(
    findings: Findings,
    ends: Pair,
    seen: Sequence[Observations],
    unique: Sequence[Observations],
) -> Observations:
    """Packets at a point that came from its neighbour, an end of the path, while that captured.

    Without what points beside either have, what may be cut on the way, and what may have been on
    its way when the end began.
    """
    point, other = ends
    there, place = seen[other], findings.along.index
    is_before = place(point) < place(other)
    is_meant = _are_going(findings, there, ends)
    own_ns, at_ns = (_aligned_ns(findings, one, seen[one].t_ns) for one in ends)
    begin_ns = own_ns.min(initial=at_ns.max(initial=0)) + _slowest_ns(findings, ends, unique)
    is_meant &= (at_ns > begin_ns) & (at_ns < own_ns.max(initial=0))
    is_meant &= there.is_directed & np.isin(_way(there), _way(seen[point]))
    is_meant &= ~np.isin(there.pair, [pair for pair, _ in findings.fragmented])
    beside = {
        one
        for one in _neighbours(findings, other) - {point}
        if (place(one) < place(other)) == is_before
    }
    for one in beside | (_neighbours(findings, point) - {other}):
        is_meant &= ~np.isin(there.key, seen[one].key)
    if not findings.torn.isdisjoint({(point, other), (other, point)}):
        is_meant &= whole_everywhere(there)
    return there.at(is_meant)


def _are_going(findings: Findings, packets: Observations, ends: Pair) -> Bools:
    """Tell which packets go from the first of two points to the second, by the path's order."""
    is_along = findings.along.index(ends[0]) < findings.along.index(ends[1])
    toward = findings.toward_is_forward
    is_forward = np.array([toward.get(pair) for pair in packets.pairs.tolist()], np.object_)
    return np.asarray(is_forward[packets.of_pair] == (packets.is_toward == is_along))


def _slowest_ns(findings: Findings, ends: Pair, unique: Sequence[Observations]) -> int:
    """By how much more than usual any packet took from one point to another."""
    here, there = (unique[end] for end in ends)
    at, is_there = places(here.key, there.key)
    is_there &= _are_going(findings, here, ends)
    near_ns = _aligned_ns(findings, ends[0], here.t_ns[is_there])
    far_ns = _aligned_ns(findings, ends[1], there.t_ns[at[is_there]])
    return int((far_ns - near_ns).max(initial=0))


def _pauses(at_ns: Ints, own_ns: Ints) -> Iterator[tuple[int, int]]:
    """Give how long a point held nothing, and how many packets it lacks that another had then."""
    begin_ns, end_ns = own_ns[:-1], own_ns[1:]
    n = np.searchsorted(at_ns, end_ns) - np.searchsorted(at_ns, begin_ns, side="right")
    # of a mirror that samples, all gaps are long
    usual = max(len(at_ns) / max(len(n), 1), 1)
    for row in np.flatnonzero(n >= ENOUGH_OF_PAUSE * usual):
        yield int(end_ns[row] - begin_ns[row]), int(n[row])


def _aligned_ns(findings: Findings, point: int, t_ns: Ints) -> Ints:
    """When packets were seen at a point, by the path's clock."""
    aligned: Ints = t_ns - findings.centres[0][point].at(t_ns)
    return aligned


def _n_between(
    findings: Findings,
    other: int,
    seen: Sequence[Observations],
    missing: tuple[int, Ints],
    span_ns: tuple[int, int],
) -> tuple[int, int]:
    """Packets of its address pairs that another saw in a span of time: those it has not, and all.

    But for those that points saw which its packets never pass: these have only their addresses in
    common with its own, as in another tenant's network.
    """
    point, apart = missing
    aligned_ns = _aligned_ns(findings, other, seen[other].t_ns)
    is_in = (aligned_ns > span_ns[0]) & (aligned_ns < span_ns[1])
    is_in &= seen[other].are_of(seen[point].pairs)
    is_in &= ~np.isin(seen[other].key, apart)
    is_absent = is_in & ~np.isin(seen[other].key, seen[point].key)
    return int(is_absent.sum()), int(is_in.sum())


def _apart(seen: Sequence[Observations], point: int, others: Sequence[int]) -> Ints:
    """Packets of a point's address pairs at points that see none of its own."""
    keys: list[Ints] = [np.zeros(0, np.int64)]
    here = seen[point]
    for other in others:
        there = seen[other].at(seen[other].are_of(here.pairs))
        n_both = int(np.isin(here.key, there.key).sum())
        if n_both < HARDLY_EVER * min(len(here), len(there)):
            keys.append(there.key)
    return np.concatenate(keys)


def _copied(
    findings: Findings, component: Sequence[int], seen: Sequence[Observations]
) -> Iterator[Diagnostic]:
    for point in component:
        copies: Copies = findings.copies[point]
        if copies.copied_frac < COPIED_FRAC:
            continue
        text = (
            f"{format_frac(copies.copied_frac)} of the packets were seen twice here, "
            f"within {format_ns(copies.hi_ns)}"
        )
        between = [other for other in component if _is_between(findings, seen, point, other)]
        if between:
            names = ", ".join(findings.name(other) for other in between)
            text += f", and at {names} in between"
            yield diagnose("hairpin", findings.name(point), text)
        else:
            yield diagnose("mirror-duplicates", findings.name(point), text)


def check_doubles(seen: Observations, name: str) -> list[Diagnostic]:
    """Say that a point which nothing can be compared with saw frames twice, equal to the byte.

    Args:
        seen: The sampled packets of the point.
        name: Its name.
    """
    numbered = seen.at(seen.copy_tag != 0)
    by = np.lexsort((numbered.t_ns, numbered.copy_tag, numbered.key))
    key, tag, t_ns = numbered.key[by], numbered.copy_tag[by], numbered.t_ns[by]
    gap_ns = np.diff(t_ns)
    is_again = (key[1:] == key[:-1]) & (tag[1:] == tag[:-1]) & (gap_ns <= COPIES_WITHIN_NS)
    n_again, n_first = int(is_again.sum()), len(by) - int(is_again.sum())
    if n_again < max(ENOUGH_DOUBLES, COPIED_FRAC * n_first):
        return []
    most_ns = float(gap_ns[is_again].max())
    text = (
        f"{format_count(n_again)} of {format_count(len(by))} sampled frames with an IP "
        "identification are equal to the byte to one before, "
        f"{f'within {format_ns(most_ns)}' if most_ns else 'with the same timestamp'}"
    )
    return [diagnose("mirror-duplicates", name, text)]


def _is_between(findings: Findings, seen: Sequence[Observations], point: int, other: int) -> bool:
    """Tell whether a point of the same file sees most packets in between, of those seen twice."""
    files = [{file for file, _ in findings.points[one].sources} for one in (point, other)]
    here, there = seen[point], seen[other]
    key, t_ns = here.key[here.by_key], here.t_ns[here.by_key]
    again = np.flatnonzero(key[1:] == key[:-1])
    if files[0] != files[1] or not len(again):
        return False
    order = there.by_key
    at: dict[int, int] = {}
    for one, when in zip(there.key[order].tolist(), there.t_ns[order].tolist(), strict=True):
        at.setdefault(one, when)
    rows = zip(key[again].tolist(), t_ns[again].tolist(), t_ns[again + 1].tolist(), strict=True)
    known = [first < at[one] < then for one, first, then in rows if one in at]
    return bool(known) and sum(known) > len(known) / 2
