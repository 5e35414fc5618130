"""The survey on samples of known truth: order, direction, clocks, warnings."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pcaplat.errors import EvidenceError, InputError
from pcaplat.stages.survey import survey
from tests.support.samples import START_NS, Walk, Watcher, observations, point_of, sample_of

if TYPE_CHECKING:
    from pcaplat.model.path import Findings

SECOND_NS = 10**9
OFFSETS_NS = {
    "none": 0,
    "TAI": 37 * SECOND_NS,
    "hours": 2 * 3600 * SECOND_NS,
    "69 days": 69 * 86_400 * SECOND_NS,
    "since boot": -(START_NS - 1000 * SECOND_NS),
}


def names(found: Findings) -> list[str]:
    return [found.name(point) for point in found.along]


def codes(found: Findings) -> list[str]:
    return [warning.code for warning in found.warnings]


def line(n: int) -> tuple[Watcher, ...]:
    return tuple(Watcher(f"p{i}") for i in range(n))


@pytest.mark.parametrize("n", range(2, 9))
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_points_are_ordered_whatever_the_order_of_the_files(n: int, seed: int) -> None:
    order = list(range(n))
    random.Random(seed).shuffle(order)  # noqa: S311 - the same shuffle every time
    # a forward share of 0.7: most flows are opened at the first point
    walk = Walk(line(n), seed=seed, order=tuple(order), forward_share=0.7)
    found = survey(*walk.sample())
    assert names(found) in ([f"p{i}" for i in range(n)], [f"p{i}" for i in reversed(range(n))])
    assert codes(found) == []
    assert found.is_inferred
    assert len(found.edges) == n - 1
    assert found.edges == list(pairwise(found.along))


@pytest.mark.parametrize("offset", OFFSETS_NS)
@pytest.mark.parametrize("drift_ppm", [0.0, 50.0, -50.0])
def test_order_needs_no_common_clock(offset: str, drift_ppm: float) -> None:
    middle = Watcher("mid", OFFSETS_NS[offset], drift_ppm)
    walk = Walk((Watcher("a"), middle, Watcher("z", -5 * SECOND_NS)), order=(1, 2, 0))
    sample, points = walk.sample()
    found = survey(sample, points)
    assert names(found) in (["a", "mid", "z"], ["z", "mid", "a"])
    for point in found.along:
        raw_ns = points[point].first_t_ns
        watcher = {w.name: w for w in walk.watchers}
        ahead = (
            watcher[points[point].name].offset_ns - watcher[found.name(found.along[0])].offset_ns
        )
        # the usual difference is the offset, the delay of one to two hops, and 30 ms of drift
        assert abs(raw_ns - found.aligned(point, raw_ns) - ahead) < 30_000 + 20


def test_the_file_order_and_names_change_nothing_but_numbers() -> None:
    walk = Walk(line(4), seed=5)
    straight = survey(*walk.sample())
    turned = survey(*Walk(line(4), seed=5, order=(3, 1, 0, 2)).sample())
    assert names(straight) == names(turned)
    assert straight.toward_is_forward == turned.toward_is_forward


def test_clocks_that_tell_the_time_before_it_happened_do_not_turn_the_path() -> None:
    # by time alone the order would be z, m, a
    walk = Walk((Watcher("a", 9_000_000), Watcher("m"), Watcher("z", -9_000_000)))
    assert names(survey(*walk.sample())) in (["a", "m", "z"], ["z", "m", "a"])


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_one_direction_is_ordered_by_stamps_and_said_to_be(share: float) -> None:
    found = survey(*Walk(line(3), forward_share=share, order=(1, 0, 2)).sample())
    # forward leaves the end that sends
    assert names(found) == (["p0", "p1", "p2"] if share else ["p2", "p1", "p0"])
    assert codes(found) == ["order-assumed"]
    assert "raw timestamps or TTL" in found.warnings[0].text


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_one_direction_under_one_clock_is_ordered_by_time(share: float) -> None:
    # 20 ms a hop is too long for clocks that only seem to agree, and TTL says the opposite
    walk = Walk(
        (Watcher("a", ttl=62), Watcher("m", ttl=63), Watcher("z", ttl=64)),
        forward_ns=20_000_000,
        reverse_ns=20_000_000,
        forward_share=share,
        order=(1, 2, 0),
    )
    found = survey(*walk.sample(), domains=[0, 0, 0])
    assert names(found) == (["a", "m", "z"] if share else ["z", "m", "a"])
    assert codes(found) == []
    partly = survey(*walk.sample(), domains=[0, 0, 1])
    assert codes(partly) == ["order-assumed"]
    assert "the place of a in" in partly.warnings[0].text


def test_one_capture_under_two_names_is_noticed() -> None:
    walk = Walk((Watcher("a"), Watcher("copy")), forward_ns=0, reverse_ns=0, tail_ns=0)
    assert "same-capture" in codes(survey(*walk.sample()))
    assert "same-capture" not in codes(survey(*Walk(line(2)).sample()))


def test_one_direction_between_clocks_apart_is_ordered_by_ttl() -> None:
    watchers = (
        Watcher("a", 20 * SECOND_NS, ttl=64),
        Watcher("m", ttl=63),
        Watcher("z", 40 * SECOND_NS, ttl=62),
    )
    found = survey(*Walk(watchers, forward_share=1.0, order=(1, 2, 0)).sample())
    assert names(found) == ["a", "m", "z"]
    assert codes(found) == ["order-assumed"]


def test_one_direction_between_clocks_apart_and_no_router_is_left_open() -> None:
    watchers = (Watcher("a", 20 * SECOND_NS), Watcher("z"))
    found = survey(*Walk(watchers, forward_share=1.0).sample())
    assert codes(found) == ["order-assumed"]
    assert "nothing but their names" in found.warnings[0].text


def test_points_of_each_direction_are_two_components() -> None:
    watchers = (
        Watcher("tx-a", sees="forward"),
        Watcher("tx-b", sees="forward"),
        Watcher("rx-a", sees="reverse"),
        Watcher("rx-b", sees="reverse"),
    )
    found = survey(*Walk(watchers).sample())
    groups = [[found.name(point) for point in component] for component in found.components]
    assert sorted(groups) == [["rx-a", "rx-b"], ["tx-a", "tx-b"]]
    assert set(codes(found)) == {"order-assumed", "paths-apart"}


def test_a_point_of_other_traffic_is_left_out() -> None:
    sample, points = Walk(line(2)).sample()
    other = observations([1, 2, 3], [START_NS, START_NS + 9, START_NS + 99])
    parts = [(file, sample.seen_at(point)) for file, point in enumerate(points)]
    points.append(point_of("elsewhere", 2, other.t_ns))
    found = survey(sample_of([*parts, (2, other)]), points)
    assert [found.name(i) for i in found.alone] == ["elsewhere"]
    assert ("unrelated-point", "elsewhere") in [(w.code, w.point) for w in found.warnings]


def test_nothing_in_common_is_no_evidence() -> None:
    parts = [(0, observations([1], [START_NS])), (1, observations([2], [START_NS]))]
    points = [
        point_of(name, file, seen.t_ns) for name, (file, seen) in zip("ab", parts, strict=True)
    ]
    with pytest.raises(EvidenceError, match=r"packets compared: a 1, b 1"):
        survey(sample_of(parts), points)


@pytest.mark.parametrize(
    ("facts", "keys", "why"),
    [
        ({"n_frames": 9}, [], "widen --filter, --filter-outer or --sample"),
        ({"n_frames": 9, "n_undecoded": 9, "snap_bytes": 64}, [], "snap length of 64 bytes"),
        (
            {"n_frames": 9, "n_undecoded": 9, "snap_bytes": 64, "is_decoded": False},
            [],
            "the link type there is not decoded",
        ),
        ({"n_frames": 9, "n_undecoded": 9}, [], "no frame there could be decoded"),
        ({"n_frames": 9}, [5, 5, 5], "every packet there repeats itself"),
    ],
)
def test_a_known_reason_is_told_where_nothing_is_shared(
    facts: dict[str, Any], keys: list[int], why: str
) -> None:
    sample, points = Walk(line(2)).sample()
    odd = observations(keys, [START_NS + 10_000_000 * i for i in range(len(keys))])
    parts = [(file, sample.seen_at(point)) for file, point in enumerate(points)]
    point = replace(point_of("odd", 2, np.array([START_NS])), **facts)
    found = survey(sample_of([*parts, (2, odd)]), [*points, point])
    [warning] = [one for one in found.warnings if one.code == "unrelated-point"]
    assert why in warning.text
    assert "same traffic" not in warning.text
    pair = [replace(point, name="other", sources=((3, 0),)), point]
    with pytest.raises(EvidenceError, match=f"other, odd: .*{why}" if not keys else why):
        survey(sample_of([(0, parts[0][1]), (2, odd)]), pair)


def test_nothing_at_all_is_no_evidence() -> None:
    nothing = observations([], [])
    points = [point_of(name, 9, np.array([START_NS])) for name in "ab"]
    sample = sample_of([(0, observations([1], [START_NS]))])
    with pytest.raises(EvidenceError):
        survey(sample, points)
    assert len(sample.seen_at(points[0])) == len(nothing)


class TestPath:
    WALK = Walk(line(4), order=(2, 0, 3, 1))

    def test_the_given_order_wins(self) -> None:
        for path in (["p0", "p1", "p2", "p3"], ["p3", "p2", "p1", "p0"]):
            found = survey(*self.WALK.sample(), path)
            assert names(found) == path
            assert codes(found) == []
            assert not found.is_inferred

    def test_directions_follow_the_given_order(self) -> None:
        there = survey(*self.WALK.sample(), ["p0", "p1", "p2", "p3"]).toward_is_forward
        back = survey(*self.WALK.sample(), ["p3", "p2", "p1", "p0"]).toward_is_forward
        # pairs whose number is even have their smaller address at the first end
        assert there == {pair: pair % 2 == 0 for pair in there}
        assert back == {pair: not is_forward for pair, is_forward in there.items()}

    def test_a_given_order_that_packets_contradict_wins_with_a_warning(self) -> None:
        found = survey(*self.WALK.sample(), ["p0", "p2", "p1", "p3"])
        assert names(found) == ["p0", "p2", "p1", "p3"]
        assert codes(found) == ["path-contradicted"]
        assert "--path puts p2 before p1" in found.warnings[0].text
        # 3 µs there, 5 µs back, and two tails of 400 ns, whose sum has its median at 671 ns
        distance = re.search(r"round-trip separation ([\d.]+) µs", found.warnings[0].text)
        assert distance
        assert float(distance[1]) == pytest.approx(8.67, abs=0.1)

    def test_points_left_out_keep_their_place(self) -> None:
        found = survey(*self.WALK.sample(), ["p3", "p0"])
        assert names(found) == ["p3", "p2", "p1", "p0"]
        assert found.is_inferred

    def test_the_given_order_of_one_direction_needs_no_assumption(self) -> None:
        walk = Walk(line(3), forward_share=1.0)
        found = survey(*walk.sample(), ["p2", "p1", "p0"])
        assert names(found) == ["p2", "p1", "p0"]
        assert codes(found) == []
        # stamps within 10 ms: packets pass p0 first, so they go against the path
        assert set(found.toward_is_forward.values()) == {True, False}
        assert all(
            is_forward == (pair % 2 == 1) for pair, is_forward in found.toward_is_forward.items()
        )

    @pytest.mark.parametrize("path", [["p0", "nowhere"], ["p0", "p1", "p0"]])
    def test_names_that_are_unknown_or_given_twice_are_refused(self, path: list[str]) -> None:
        with pytest.raises(InputError, match="--path"):
            survey(*self.WALK.sample(), path)


@pytest.mark.parametrize("seed", range(1, 11))
def test_coarse_stamps_do_not_decide_an_order(seed: int) -> None:
    """Points some microseconds apart, timestamps of milliseconds: an order is an assumption."""
    watchers = tuple(replace(one, resolution_ns=1_000_000, ttl=64) for one in line(3))
    found = survey(*Walk(watchers, 4_000, 5_000, seed=seed, n_packets=400).sample())
    is_right = names(found) in (["p0", "p1", "p2"], ["p2", "p1", "p0"])
    assert is_right or "order-assumed" in codes(found)
