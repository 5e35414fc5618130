"""A path that forks begins and ends where packets go from end to end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pcaplat.stages.survey.delays.relations import NOTHING_SHARED
from pcaplat.stages.survey.path_order.direction import are_apart, between_ends_that_share

if TYPE_CHECKING:
    from pcaplat.stages.survey.delays.relations import Relations

TENANTS = [(0, 2), (1, 2), (2, 3), (3, 4), (3, 5)]


def sharing(counts: dict[tuple[int, int], int]) -> Relations:
    return {ends: replace(NOTHING_SHARED, t_ns=np.zeros(n, np.int64)) for ends, n in counts.items()}


def test_the_ends_of_a_tenant_are_the_ends_of_the_path() -> None:
    relations = sharing({(0, 4): 9, (1, 5): 8})
    assert are_apart(range(6), relations)
    assert between_ends_that_share(range(6), TENANTS, relations) == [0, 1, 2, 3, 5, 4]
    relations = sharing({(0, 4): 8, (1, 5): 9})
    assert between_ends_that_share(range(6), TENANTS, relations) == [1, 0, 2, 3, 4, 5]


def test_ends_that_share_packets_stay() -> None:
    assert not are_apart([0, 1, 2], sharing({(0, 2): 1}))
    assert not are_apart([0, 1], sharing({}))
    assert not are_apart([0, 1, 2], sharing({(0, 1): 500, (0, 2): 6}))


def test_ends_that_have_each_others_broadcasts_are_apart() -> None:
    """A client, a balancer and two servers behind it."""
    relations = sharing(
        {(0, 1): 900, (0, 2): 450, (1, 2): 450, (0, 3): 440, (1, 3): 440, (2, 3): 2}
    )
    assert are_apart([2, 1, 0, 3], relations)
    edges = [(2, 1), (0, 1), (1, 3)]
    assert between_ends_that_share([2, 1, 0, 3], edges, relations) == [0, 2, 1, 3]


def test_where_no_ends_share_packets_the_order_stays() -> None:
    assert between_ends_that_share(range(6), TENANTS, sharing({})) == [*range(6)]
