"""Paths on which flows end and others begin: relays and tunnel ends, whose sides share no flow."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat.stages.survey import Observations, survey
from tests.support.samples import Walk, Watcher, point_of, sample_of

if TYPE_CHECKING:
    from pcaplat.model.path import Findings

MS = 1_000_000


def legs_of(legs: list[Walk], order: list[str]) -> Findings:
    """Survey the points of several walks that share no packet; one name is one point."""
    seen: dict[str, list[Observations]] = {name: [] for name in order}
    for number, leg in enumerate(legs):
        sample, points = leg.sample()
        for point in points:
            one = sample.seen_at(point)
            pair = one.pair + 5_000_009 * number
            seen[point.name].append(replace(one, pair=pair, flow=pair + 7))
    columns = Observations.__dataclass_fields__
    whole = [
        Observations(
            **{name: np.concatenate([getattr(one, name) for one in seen[at]]) for name in columns}
        )
        for at in order
    ]
    points = [
        point_of(name, file, one.t_ns)
        for file, (name, one) in enumerate(zip(order, whole, strict=True))
    ]
    return survey(sample_of(list(enumerate(whole))), points)


def leg(names: str, seed: int, *, each_ns: int, forward_share: float = 0.6) -> Walk:
    offsets = {name: at * 7_777 * MS for at, name in enumerate("abcdefgh")}
    watchers = tuple(Watcher(name, offsets[name]) for name in names)
    back_ns = each_ns + each_ns // 3
    return Walk(watchers, each_ns, back_ns, seed=seed, forward_share=forward_share, gap_ns=2 * MS)


def path(found: Findings) -> str:
    return "".join(found.name(point) for point in found.along)


@pytest.mark.parametrize("order", ["".join(some) for some in permutations("abc")])
@pytest.mark.parametrize("ratio", [20, 1, -20])
def test_a_path_goes_on_beyond_a_relay(order: str, ratio: int) -> None:
    first_ns, then_ns = (MS, MS // ratio) if ratio > 0 else (MS // -ratio, MS)
    legs = [leg("ab", 1, each_ns=first_ns), leg("bc", 2, each_ns=then_ns)]
    assert path(legs_of(legs, list(order))) in {"abc", "cba"}


@pytest.mark.parametrize("seed", range(8))
def test_a_path_of_three_legs_is_one_line(seed: int) -> None:
    order = list("abcdefg")
    random.Random(seed).shuffle(order)  # noqa: S311 - the same shuffle every time
    legs = [
        leg("abc", 1 + seed, each_ns=MS),
        leg("cde", 2 + seed, each_ns=MS // 10),
        leg("efg", 3 + seed, each_ns=3 * MS, forward_share=0.4),
    ]
    assert path(legs_of(legs, order)) in {"abcdefg", "gfedcba"}


@pytest.mark.parametrize("order", ["".join(some) for some in permutations("abc")])
def test_what_one_capture_under_two_names_saw_alone_opens_nothing(order: str) -> None:
    """Ten flows for a's and b's copy, to no other point; their direction is anybody's guess."""
    legs = [leg("ac", 1, each_ns=MS, forward_share=0.95)]
    legs += [
        Walk((Watcher("a"), Watcher("b")), seed=9 + i, forward_ns=0, reverse_ns=0, tail_ns=0)
        for i in range(10)
    ]
    found = legs_of(legs, list(order))
    assert path(found) == "abc"
    assert [one.rests_on for one in found.order_evidence] == ["names", "round-trip separation"]


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_points_that_stamp_alike_stand_by_name_and_are_said_to(order: list[int]) -> None:
    watchers = (Watcher("client"), Watcher("server"))
    walk = Walk(watchers, forward_ns=0, reverse_ns=0, tail_ns=0, order=tuple(order))
    found = survey(*walk.sample())
    assert [found.name(point) for point in found.along] == ["client", "server"]
    (diagnostic,) = (one for one in found.warnings if one.code == "order-assumed")
    assert "nothing but their names" in diagnostic.text
    assert [one.rests_on for one in found.order_evidence] == ["names"]
