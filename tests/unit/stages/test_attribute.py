"""From raw differences and clocks to latencies."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pcaplat.model.blocks import BlockTimes, CountedBlocks, Strata
from pcaplat.model.latencies.segments import Distribution
from pcaplat.model.matched import EndCounts, LateCounts, LinkCounts, UndecidedCounts
from pcaplat.stages.align import align
from pcaplat.stages.attribute import attribute, clock_between
from tests.support.alignments import START_NS, TwoClocks, findings_of

if TYPE_CHECKING:
    from pathlib import Path

HISTOGRAM = Distribution(2, 30, 500.0, 10, 20, [10.0, 20.0], [1, 1])
EMPTY = Distribution(0, 0, 0.0, 0, 0, [], [])
INTS, FLOATS = np.zeros(0, np.int64), np.zeros(0)
NO_BLOCKS = CountedBlocks(INTS, INTS, FLOATS, INTS, FLOATS, INTS, Strata.none())
TIMES = BlockTimes(START_NS, START_NS + 1_000_000_000)
NO_ENDS = EndCounts(0, EMPTY, 0, 0, 0, [])
NOTHING = LinkCounts(
    n=0,
    histogram=EMPTY,
    blocks=NO_BLOCKS,
    variation=EMPTY,
    n_duplicated=0,
    n_reordered=0,
    n_lost=0,
    lost_spread=1.0,
    n_lost_divided=0,
    lost_blocks=[],
    matched_bytes=0,
    lost_bytes=0,
    ends=[NO_ENDS, NO_ENDS],
    late=LateCounts(0, 0, 0),
    undecided=UndecidedCounts(0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    took_sum_ns=0,
    loss_threshold_ns=0,
    spills=[],
)


def counts(**given: Any) -> LinkCounts:  # noqa: ANN401 - fields of it
    return replace(NOTHING, histogram=HISTOGRAM, **given)


def spilled(path: Path, pairs: list[tuple[int, int]]) -> list[str]:
    """Raw time of the upstream observation, raw difference and kind, as the core writes them."""
    path.write_bytes(b"".join(struct.pack("<qqq", *pair, 0) for pair in pairs))
    return [str(path)]


def test_points_of_one_clock_need_no_alignment() -> None:
    findings = findings_of([0, 0])
    clocks = align(findings, [0, 0], [])
    both = [counts(n=2, n_lost=3, n_duplicated=4, n_reordered=5), NOTHING]
    (found,) = attribute(findings, clocks, [(0, 1)], [both], TIMES)
    assert (found.n, found.n_lost, found.n_duplicated, found.n_reordered) == (2, 3, 4, 5)
    assert not found.is_reverse
    assert found.is_absolute
    assert found.distribution
    assert found.distribution.mean_ns == 15


def test_what_was_cut_is_segments_of_its_own() -> None:
    findings = findings_of([0, 0])
    clocks = align(findings, [0, 0], [])
    first = replace(NO_ENDS, n=2, n_lost=1, histogram=HISTOGRAM)
    cut = counts(n=2, ends=[first, replace(NO_ENDS, n_lost=4)], matched_bytes=90)
    found = attribute(findings, clocks, [(0, 1)], [[cut, counts(lost_bytes=7)]], TIMES)
    assert [(one.kind, one.n, one.n_lost, one.is_reverse) for one in found] == [
        ("packet", 2, 0, False),
        ("first-byte", 2, 1, False),
        ("last-byte", 0, 4, False),
    ]
    assert {(one.matched_bytes, one.lost_bytes) for one in found} == {(90, 0)}
    assert found[1].distribution
    assert found[1].distribution.max_ns == 20
    assert found[2].distribution is None


def test_only_what_was_seen_is_a_segment() -> None:
    findings = findings_of([0, 0, 0])
    clocks = align(findings, [0, 0, 0], [])
    measured = [[NOTHING, counts(n=2)], [NOTHING, NOTHING], [counts(n_lost=7), NOTHING]]
    found = attribute(findings, clocks, [(0, 1), (1, 2), (0, 2)], measured, TIMES)
    assert [(one.near, one.far, one.is_reverse) for one in found] == [(0, 1, True), (0, 2, False)]
    assert found[1].distribution is None


def test_a_direction_in_which_all_is_undecided_is_a_segment_without_latencies() -> None:
    findings = findings_of([0, 0])
    undecided = replace(NOTHING.undecided, n=3, n_maybe_lost=1)
    measured = [replace(NOTHING, undecided=undecided), NOTHING]
    (found,) = attribute(findings, align(findings, [0, 0], []), [(0, 1)], [measured], TIMES)
    assert (found.n, found.n_lost, found.undecided.n, found.distribution) == (0, 0, 3, None)


def test_a_pair_in_doubt_is_in_the_bound_that_it_makes_wider() -> None:
    """Two packets took 30 ns together: with one of 0 ns 30 of three, with one of 75 ns 105."""
    findings = findings_of([0, 0])
    undecided = UndecidedCounts(2, 0, 0, 0, 1, 75, 1, 0, 75, 0)
    both = [counts(n=2, undecided=undecided), NOTHING]
    (found,) = attribute(findings, align(findings, [0, 0], []), [(0, 1)], [both], TIMES)
    less_ns, more_ns = found.undecided.mean_ns
    assert (15 - less_ns, 15 + more_ns) == (10, 35)


@pytest.mark.parametrize("is_reverse", [False, True])
def test_the_clocks_share_is_taken_out(tmp_path: Path, *, is_reverse: bool) -> None:
    clocks = TwoClocks(37_000_000_000, 30.0, forward_ns=400, reverse_ns=400, tail_ns=20)
    findings = clocks.findings()
    found = align(findings, [0, 1], clocks.min_delays())
    true_ns = START_NS + np.arange(100, dtype=np.int64) * 90_000_000
    ahead = clocks.offset_ns + np.rint(clocks.ahead_ns(true_ns)).astype(np.int64)
    took_ns = 5_000
    # the upstream stamp is the first clock's forward, the second one's in reverse
    pairs = (true_ns + ahead, took_ns - ahead) if is_reverse else (true_ns, took_ns + ahead)
    spills = spilled(
        tmp_path / "raw", list(zip(*(column.tolist() for column in pairs), strict=True))
    )
    own = counts(n=100, spills=spills)
    both = [NOTHING, own] if is_reverse else [own, NOTHING]
    (segment,) = attribute(findings, found, [(0, 1)], [both], TIMES)
    assert segment.distribution
    # the middle of an interval of ± 400 ns and what drift loosens
    assert segment.distribution.n == 100
    assert abs(segment.distribution.min_ns - took_ns) < 450
    assert abs(segment.distribution.max_ns - took_ns) < 450


def test_without_an_offset_only_variation_is_left(tmp_path: Path) -> None:
    clocks = TwoClocks(37_000_000_000, 30.0, tail_ns=500)
    findings = clocks.findings()
    found = align(findings, [0, 1], clocks.min_delays()[:1])
    t_ns = START_NS + np.arange(100, dtype=np.int64) * 90_000_000
    took_ns = np.where(np.arange(100) % 2, 8_000, 9_000)
    raw_ns = took_ns + clocks.offset_ns + np.rint(clocks.ahead_ns(t_ns)).astype(np.int64)
    spills = spilled(tmp_path / "raw", list(zip(t_ns.tolist(), raw_ns.tolist(), strict=True)))
    own = counts(n=100, spills=spills)
    (segment,) = attribute(findings, found, [(0, 1)], [[own, NOTHING]], TIMES)
    assert not segment.is_absolute
    assert segment.distribution
    assert segment.distribution.max_ns - segment.distribution.min_ns == pytest.approx(1_000, abs=60)


def test_a_clock_is_given_over_the_near_points_own_time() -> None:
    late = 5_000_000_000
    findings = findings_of([late, late + 700])
    found = align(findings, [0, 0], [])
    centre = clock_between(findings, found.relation(0, 1), 0, 1)
    assert set(centre.offset_ns.tolist()) == {0}
    start_ns, end_ns = findings.cover([0, 1])
    assert (centre.t_ns[0], centre.t_ns[-1]) == (start_ns + late, end_ns + late)
