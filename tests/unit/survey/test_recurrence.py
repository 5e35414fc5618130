"""Of which address pairs, and in which direction, most packets come again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat.model.centre import NO_OFFSET, Centre
from pcaplat.stages.survey.delays.latencies import orient_recurring
from pcaplat.stages.survey.delays.relations import LEAST_SURE, Shared, relate
from pcaplat.stages.survey.observations import COPIES_WITHIN_NS, unique_observations
from pcaplat.stages.survey.recurrence import find_recurring, ways_of, ways_seen_once
from tests.support.samples import observations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pcaplat.stages.survey.observations import Observations

MS_NS = 1_000_000
PAIR, OTHER = 7, -9


def sent(
    pair: int, n: int, again: Sequence[int], again_ns: int, *, is_toward: bool = True
) -> Observations:
    """So many packets of a pair, 10 ms apart; some of them come again."""
    keys = [*range(n), *again]
    t_ns = [10 * MS_NS * key for key in range(n)] + [10 * MS_NS * key + again_ns for key in again]
    one = observations([hash((pair, is_toward, key)) for key in keys], t_ns)
    return replace(
        one, pair=np.full(len(keys), pair), is_toward=np.full(len(keys), is_toward, np.bool_)
    )


def together(*parts: Observations) -> Observations:
    names = parts[0].__dataclass_fields__
    columns = {name: np.concatenate([getattr(one, name) for one in parts]) for name in names}
    return replace(parts[0], **columns)


def way(pair: int, *, is_toward: bool) -> int:
    return int(ways_of(np.array([pair]), np.array([is_toward]))[0])


@pytest.mark.parametrize("n_again", range(11))
def test_most_packets_come_again_where_more_than_half_do(n_again: int) -> None:
    found = find_recurring([sent(PAIR, 10, range(n_again), 3 * MS_NS)])
    assert found == ({way(PAIR, is_toward=True): 3 * MS_NS} if n_again > 5 else {})


def test_each_pair_and_direction_is_by_itself() -> None:
    seen = together(
        sent(PAIR, 10, range(10), 5 * MS_NS),
        sent(PAIR, 10, [], 0, is_toward=False),
        sent(OTHER, 10, [1, 2], 3 * MS_NS),
        sent(OTHER, 10, range(9), 4 * MS_NS, is_toward=False),
    )
    found = find_recurring([seen])
    assert found == {
        way(PAIR, is_toward=True): 5 * MS_NS,
        way(OTHER, is_toward=False): 4 * MS_NS,
    }
    toward = way(PAIR, is_toward=True)
    assert ways_seen_once(found, [sent(PAIR, 1, [], 0)]) == {toward: 5 * MS_NS}
    assert ways_seen_once({}, [seen]) == {}


def test_the_least_time_of_any_point_counts_and_one_point_is_enough() -> None:
    points = [
        sent(PAIR, 10, range(10), 5 * MS_NS),
        sent(PAIR, 10, range(10), 4 * MS_NS),
        sent(PAIR, 10, [3], 3 * MS_NS),
    ]
    assert list(find_recurring(points).values()) == [4 * MS_NS]


@pytest.mark.parametrize(("n_soon", "again_ms"), [(4, 100), (5, 5)])
def test_what_comes_again_sooner_counts_if_it_is_more_than_one_in_a_hundred(
    n_soon: int, again_ms: int
) -> None:
    late = sent(PAIR, 400, range(n_soon, 400), 100 * MS_NS)
    soon = sent(PAIR, 400, range(n_soon), 5 * MS_NS)
    found = find_recurring([together(late, soon.at(np.arange(400, 400 + n_soon)))])
    assert list(found.values()) == [again_ms * MS_NS]


def test_equal_packets_of_both_directions_are_of_the_first() -> None:
    there, back = sent(PAIR, 10, [], 0), sent(PAIR, 10, [], 0, is_toward=False)
    both = together(there, replace(back, key=there.key, t_ns=there.t_ns + 5 * MS_NS))
    assert find_recurring([both]) == {way(PAIR, is_toward=True): 5 * MS_NS}


def test_copies_are_no_packets_that_come_again() -> None:
    assert find_recurring([sent(PAIR, 10, range(10), COPIES_WITHIN_NS)]) == {}
    assert find_recurring([sent(PAIR, 0, [], 0), sent(PAIR, 10, [], 0)]) == {}


AGAIN_NS = 5 * MS_NS


def shared(n_once: int, n_false: int, n_others: int, drift_ppm: float = 0.0) -> Shared:
    """What two points share, where 80 packets of a pair come again and some others do not.

    Of these the first point saw some late, as if the first of two had been missed there.
    """
    near = together(sent(PAIR, 80 + n_once, range(80), AGAIN_NS), sent(OTHER, n_others, [], 0))
    is_false = (near.pair == PAIR) & (near.t_ns // (10 * MS_NS) >= 80 + n_once - n_false)
    far = together(sent(PAIR, 80 + n_once, [], 0), sent(OTHER, n_others, [], 0))
    far = replace(far, t_ns=far.t_ns + 20_000 + (far.t_ns * drift_ppm * 1e-6).astype(np.int64))
    seen = [replace(near, t_ns=near.t_ns + AGAIN_NS * is_false), far]
    once = unique_observations(seen)
    relations, _ = relate(once, ways_seen_once(find_recurring(seen), once))
    return relations[0, 1]


@pytest.mark.parametrize("n_others", [LEAST_SURE, LEAST_SURE - 1])
def test_where_some_lie_apart_the_others_tell_latencies(n_others: int) -> None:
    """Unless these are too few."""
    both = shared(10, 5, n_others)
    assert len(both) == 10 + n_others
    left = {OTHER} if n_others == LEAST_SURE else {PAIR, OTHER}
    assert set(both.sure.pair.tolist()) == set(both.agreeing.pair.tolist()) == left


@pytest.mark.parametrize("drift_ppm", [0.0, 100.0])
def test_packets_that_come_again_tell_latencies_where_they_agree(drift_ppm: float) -> None:
    both = shared(10, 0, LEAST_SURE, drift_ppm)
    assert len(both.sure) == len(both) == 10 + LEAST_SURE


@pytest.mark.parametrize(("n_others", "is_left"), [(LEAST_SURE + 1, False), (LEAST_SURE, True)])
def test_packets_agree_no_worse_than_those_that_come_once(n_others: int, *, is_left: bool) -> None:
    """If enough of these follow each other: by less than half the time after which they recur."""
    pair = np.array([OTHER] * n_others + [PAIR] * 40)
    own_ns = np.arange(40) % 2 * AGAIN_NS // 3
    d_ns = 20_000 + np.concatenate([np.arange(n_others) % 3, own_ns])
    some, at_ns = np.ones(len(pair), np.bool_), np.arange(len(pair)) * MS_NS
    again_ns = np.where(pair == PAIR, AGAIN_NS, 0)
    both = Shared(at_ns, d_ns, pair, pair, some, some, some, again_ns, 0 * pair)
    assert (PAIR in both.agreeing.pair) == is_left


@pytest.mark.parametrize(
    ("near", "far", "found"),
    [
        ((3, 0), (0, 0), {PAIR: True}),
        ((1, 2), (0, 0), {PAIR: True}),
        ((4, 4), (1, 1), {PAIR: True}),
        ((0, 0), (2, 1), {PAIR: False}),
        ((0, 2), (2, 0), {}),
        ((0, 1), (0, 0), {}),
        ((4, 3), (2, 0), {}),
    ],
)
def test_a_pair_goes_where_three_of_its_packets_lie_and_four_times_as_many(
    near: tuple[int, int], far: tuple[int, int], found: dict[int, bool]
) -> None:
    """So many of either direction lie as if the smaller address were near, or far."""
    forward_ns, reverse_ns = 20_000, -30_000
    others = [(OTHER, True, forward_ns + i) for i in range(40)]
    others += [(OTHER, False, reverse_ns - i) for i in range(40)]
    own = [(True, forward_ns, near[0]), (False, reverse_ns, near[1])]
    own += [(True, reverse_ns, far[0]), (False, forward_ns, far[1])]
    rows = others + [(PAIR, to, d_ns) for to, d_ns, n in own for _ in range(n)]
    rows += [(PAIR, to, MS_NS) for to in (True, False) for _ in range(9)]
    pair, toward, d_ns = (np.array(column) for column in zip(*rows, strict=True))
    some = np.ones(len(rows), np.bool_)
    again_ns = np.where(pair == PAIR, AGAIN_NS, 0)
    at_ns = np.arange(len(rows)) * MS_NS
    both = Shared(at_ns, d_ns, pair, pair, toward, some, some, again_ns, 0 * pair)
    centres = (
        [NO_OFFSET, Centre(np.array([0]), np.array([forward_ns]), 0.0)],
        [NO_OFFSET, Centre(np.array([0]), np.array([reverse_ns]), 0.0)],
    )
    assert orient_recurring({(0, 1): both}, {OTHER: True}, centres) == found


def test_of_two_packets_nobody_knows_whether_they_agree() -> None:
    both = shared(2, 0, LEAST_SURE)
    assert (len(both.sure), len(both.agreeing)) == (LEAST_SURE, LEAST_SURE + 2)
