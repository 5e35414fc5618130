"""The plan for the matcher: what the survey found, as numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat.model.band import Band
from pcaplat.model.centre import Centre, Tail
from pcaplat.stages.match import measured_links, plan_matching, wide_window_ns
from tests.support.alignments import START_NS, findings_of

if TYPE_CHECKING:
    from pcaplat.model.path import Findings

POINT_OF = [[0], [1], [2]]
MS = 1_000_000


N_OF_TAIL = 1_000


def tail(within_ms: int, *far_ms: int) -> Tail:
    """Of so many packets some are far off."""
    return Tail(N_OF_TAIL, within_ms * MS, np.array(far_ms, np.int64) * MS)


def found(**given: object) -> Findings:
    return replace(findings_of([0, 0, 0]), **given)  # type: ignore[arg-type]


def test_the_whole_path_is_a_link_of_its_own() -> None:
    assert measured_links(found()) == ([(0, 1), (1, 2), (0, 2)], 2)


def test_two_points_are_one_segment() -> None:
    assert measured_links(findings_of([0, 0])) == ([(0, 1)], None)


def test_a_bypass_from_end_to_end_is_the_whole_path_already() -> None:
    forked = found(edges=[(0, 1), (0, 2), (1, 2)])
    assert measured_links(forked) == ([(0, 1), (0, 2), (1, 2)], None)


class TestWindow:
    def test_it_is_twenty_widths_of_the_widest_band_and_2_ms(self) -> None:
        bands = ({(0, 1): Band(-100, 300, [])}, {(1, 0): Band(-1_000, 4_000, [])})
        assert wide_window_ns(found(bands=bands)) == 2 * MS + 20 * 5_000

    def test_what_is_alone_is_one_packet_within_a_tenth_of_a_millisecond_more(self) -> None:
        bands = ({(0, 1): Band(-100, 300, [])}, {(1, 0): Band(-1_000, 4_000, [])})
        plan = plan_matching(found(bands=bands), [0, 1, 2], POINT_OF)
        assert plan.usual_ns == MS // 10 + 20 * 5_000

    def test_that_of_equal_packets_follows_the_tail_up_to_a_second(self) -> None:
        tails = [tail(ms) for ms in (5, 40, 4000)]
        assert wide_window_ns(found(tails=tails[:2])) == 80 * MS
        assert wide_window_ns(found(tails=tails)) == 1000 * MS

    def test_the_share_of_packets_that_are_later_is_measured(self) -> None:
        slow, slower = tail(0, 70), tail(40, 79, 81, 4000)
        plan = plan_matching(found(tails=(slow, slower)), [0, 1, 2], POINT_OF)
        assert (plan.wide_ns, plan.beyond_frac) == (80 * MS, 2 / N_OF_TAIL)
        plan = plan_matching(found(tails=(slow,)), [0, 1, 2], POINT_OF)
        assert (plan.wide_ns, plan.beyond_frac) == (2 * MS, 1 / N_OF_TAIL)
        assert plan_matching(found(), [0, 1, 2], POINT_OF).beyond_frac == 0

    def test_without_jitter_it_is_the_least(self) -> None:
        plan = plan_matching(found(), [0, 1, 2], POINT_OF)
        assert (plan.usual_ns, plan.wide_ns) == (MS // 10, 2 * MS)


class TestPlan:
    def test_points_have_places_components_and_clocks(self) -> None:
        findings = found(components=[[2, 0]], alone=[1], edges=[(2, 0)])
        plan = plan_matching(findings, [0, 1, 0], POINT_OF)
        assert plan.position == [1, 2, 0]
        assert plan.component == [0, 1, 0]
        assert plan.domain == [0, 1, 0]
        assert plan.point_of == POINT_OF

    def test_the_common_time_is_that_of_each_component(self) -> None:
        late = findings_of([0, 0, 0])
        points = [
            replace(p, first_t_ns=START_NS + i, last_t_ns=START_NS + 100 - i)
            for i, p in enumerate(late.points)
        ]
        plan = plan_matching(replace(late, points=points), [0, 1, 2], POINT_OF)
        assert plan.cover == [(START_NS + 2, START_NS + 98)]
        # packets may be seen at two points from when the second of them began
        assert plan.bins == (START_NS + 1, 1)
        alone = replace(late, points=points, components=[[0, 1]], alone=[2], edges=[(0, 1)])
        cover = plan_matching(alone, [0, 1, 2], POINT_OF).cover
        assert cover == [(START_NS + 1, START_NS + 99), (0, -1)]  # nothing is lost where nothing is

    def test_bands_are_by_upstream_and_downstream_point(self) -> None:
        seen = Band(-10, 20, [1.0], 0.1, 0.2)
        plan = plan_matching(found(bands=({(0, 2): seen}, {})), [0, 1, 2], POINT_OF)
        forward, reverse = plan.bands
        assert forward[0 * 3 + 2] == seen
        # where nothing was seen, what the widest allows
        assert {(band.lo_ns, band.hi_ns) for i, band in enumerate(forward) if i != 2} == {(-20, 20)}
        assert {(band.lo_ns, band.hi_ns) for band in reverse} == {(-10_000, 10_000)}

    def test_hashes_cross_unsigned(self) -> None:
        findings = found(toward_is_forward={-1: True, 5: False}, fragmented=[(-2, 1480)])
        plan = plan_matching(findings, [0, 1, 2], POINT_OF)
        assert plan.toward_is_forward == {2**64 - 1: True, 5: False}
        assert plan.fragmented == {2**64 - 2: 1480}

    def test_frames_wait_for_the_window_disorder_and_the_other_direction(self) -> None:
        there, back = (Centre(np.array([0]), np.array([off]), 0.0) for off in (0, -30 * MS))
        points = [replace(p, disorder_ns=7 * MS) for p in found().points]
        findings = found(points=points, centres=([there] * 3, [back] * 3))
        horizon_ns = plan_matching(findings, [0, 1, 2], POINT_OF).horizon_ns
        assert horizon_ns == 2 * MS + 2 * 30 * MS + 7 * MS + 2 * MS

    @pytest.mark.parametrize(
        ("asked", "expected"),
        [((None, None), (-(2**63) + 1, 2**63 - 1)), ((5, None), (5, 2**63 - 1)), ((5, 9), (5, 9))],
    )
    def test_the_time_asked_for_is_open_where_nothing_is_said(
        self, asked: tuple[int | None, int | None], expected: tuple[int, int]
    ) -> None:
        assert plan_matching(found(), [0, 1, 2], POINT_OF, range_ns=asked).range == expected

    def test_torn_segments_tear_the_whole_path(self) -> None:
        plan = plan_matching(found(torn=frozenset({(1, 2)})), [0, 1, 2], POINT_OF)
        assert plan.torn == [False, True, True]
