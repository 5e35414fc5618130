"""Copies at one point are told from packets that are equal to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pcaplat.model.band import Copies
from pcaplat.stages.survey.copies import find_copies
from pcaplat.stages.survey.observations import Observations
from pcaplat.stages.survey.path_order.routes import Routes

if TYPE_CHECKING:
    from collections.abc import Mapping

GAP_NS, APART_NS, N_KEYS = 4_000, 1_000_000, 200
PAIR, ELSEWHERE, N_POINTS = 7, 8, 3


def observations(rows: list[tuple[int, int, bool]]) -> Observations:
    """Make what one point saw: key, time, whether it goes forward."""
    key, t_ns, forward = (np.array(column) for column in zip(*rows, strict=True))
    zero = np.zeros(len(rows), np.int64)
    return Observations(
        key=key.astype(np.int64),
        flow=zero,
        pair=np.where(key < N_KEYS, PAIR, ELSEWHERE),
        is_toward=forward.astype(np.bool_),
        is_directed=np.ones(len(rows), np.bool_),
        copy_tag=zero,
        t_ns=t_ns.astype(np.int64),
        ttl=zero,
        tcp_bytes=zero,
        source=zero,
    )


def found(n_at: Mapping[int, tuple[int, ...]], *, both_ways: bool = True) -> list[Copies]:
    """Of 100 packets each way, some are seen several times: per key how often at each point.

    Keys of more than these go between two other addresses.
    """
    points = []
    for point in range(N_POINTS):
        rows = [
            (key, key * APART_NS + again * GAP_NS, key % 2 == 0)
            for key in [*range(N_KEYS), *(key for key in n_at if key >= N_KEYS)]
            for again in range(n_at.get(key, (1,) * N_POINTS)[point])
            if both_ways or key % 2 == 0
        ]
        points.append(observations(rows))
    return find_copies(points, [[0, 1, 2]], Routes({PAIR: True, ELSEWHERE: True}, [[0, 1, 2]]))


def test_a_mirror_is_measured_where_other_points_saw_packets_once() -> None:
    twice = dict.fromkeys(range(0, 200, 4), (1, 2, 1))
    assert [round(one.copied_frac, 2) for one in found(twice)] == [0, 0.25, 0]
    assert found(twice)[1].lo_ns <= GAP_NS <= found(twice)[1].hi_ns


def test_two_equal_packets_of_which_one_was_lost_are_no_copies() -> None:
    lost_at_once = dict.fromkeys(range(0, 200, 10), (2, 1, 1))
    lost_later = dict.fromkeys(range(2, 200, 10), (2, 2, 1))
    back = dict.fromkeys(range(1, 200, 10), (1, 1, 2))
    assert found(lost_at_once | lost_later | back) == [Copies()] * N_POINTS


EQUAL = dict.fromkeys(range(0, 200, 10), (2, 2, 2))
LOST = dict.fromkeys((12, 32, 72, 92), (1, 1, 0))


def test_where_equal_packets_are_sent_one_of_two_may_be_lost() -> None:
    one_lost = dict.fromkeys((2, 4), (2, 1, 1))
    assert found(EQUAL | one_lost | LOST, both_ways=False) == [Copies()] * N_POINTS
    # of eighty packets none is missing: one of a hundred may be
    assert found(EQUAL | one_lost, both_ways=False) == [Copies()] * N_POINTS
    # where nothing is equal, they can only be copies
    sent, *others = found(LOST | one_lost, both_ways=False)
    assert 0 < sent.copied_frac < 0.05
    assert others == [Copies()] * 2


def test_copies_that_equal_packets_do_not_explain_are_told_beside_them() -> None:
    copied = dict.fromkeys(range(6, 120, 8), (2, 1, 1))
    # what goes where none of the points is is not missing there
    to_others = dict.fromkeys(range(200, 2000, 2), (1, 0, 0))
    for rest in (EQUAL | LOST, EQUAL | to_others):
        sent, *others = found(rest | copied, both_ways=False)
        assert sent.copied_frac > 0.1
        assert others == [Copies()] * 2


def test_what_was_doubled_on_the_way_is_copied_from_there_on() -> None:
    doubled = dict.fromkeys(range(0, 200, 10), (1, 2, 2))
    doubled |= dict.fromkeys(range(2, 200, 10), (1, 1, 2))
    shares = [one.copied_frac for one in found(doubled)]
    assert shares[0] == 0
    assert shares[1] > 0
    assert shares[2] > 0


def test_ends_that_see_everything_twice_do() -> None:
    everything = dict.fromkeys(range(200), (2, 1, 2))
    assert [one.copied_frac for one in found(everything)] == [1, 0, 1]


def test_one_way_is_enough_to_know_a_mirror() -> None:
    twice = dict.fromkeys(range(0, 200, 4), (2, 1, 1))
    assert [one.copied_frac for one in found(twice, both_ways=False)] == [0.5, 0, 0]
