"""Clocks of known relation: the truth must lie in the interval, and the interval be narrow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pcaplat.model.clocks import Step
from pcaplat.model.matched import MinDelays
from pcaplat.stages.align import align
from pcaplat.stages.align.bounds import OffsetBounds
from pcaplat.stages.align.interval import PairInterval
from pcaplat.stages.align.knots import N_KNOTS
from tests.support.alignments import START_NS, TwoClocks, findings_of, one_bound

SECOND_NS = 10**9
HOUR_NS = 3600 * SECOND_NS


def random_clocks(seed: int) -> TwoClocks:
    chance = np.random.default_rng(seed)
    return TwoClocks(
        offset_ns=int(chance.integers(-40 * SECOND_NS, 40 * SECOND_NS)),
        drift_ppm=float(chance.uniform(-50, 50)),
        wander_ns=float(chance.uniform(0, 500)),
        resolution_ns=int(chance.choice([1, 1000])),
        forward_ns=int(chance.integers(2_000, 30_000)),
        reverse_ns=int(chance.integers(2_000, 30_000)),
        tail_ns=float(chance.uniform(500, 20_000)),
        seed=seed,
    )


@pytest.mark.parametrize("seed", range(200))
def test_the_truth_is_inside_and_the_interval_as_narrow_as_can_be(seed: int) -> None:
    clocks = random_clocks(seed)
    relation = align(clocks.findings(), [0, 1], clocks.min_delays()).relation(0, 1)
    assert relation.kind == "bounded"
    assert len(relation.t_ns) == N_KNOTS
    beside = clocks.offset_ns - relation.base_ns
    truth = beside + clocks.ahead_ns(relation.t_ns)
    assert np.all(relation.lo_ns <= truth + 1)
    assert np.all(truth - 1 <= relation.hi_ns)
    # what more packets could not narrow: least time there and back, and two cut stamps each way
    cut_ns = clocks.resolution_ns if clocks.resolution_ns > 1 else 0
    identifiable = (clocks.forward_ns + clocks.reverse_ns) / 2 + cut_ns
    assert np.mean(relation.hi_ns - relation.lo_ns) / 2 <= 1.3 * identifiable
    assert relation.drift_ppm is not None
    assert relation.drift_half_width_ppm is not None
    assert abs(relation.drift_ppm - clocks.drift_ppm) <= relation.drift_half_width_ppm


def test_the_value_is_the_middle_of_what_is_left_open() -> None:
    clocks = TwoClocks(37 * SECOND_NS, forward_ns=8_000, reverse_ns=11_000, tail_ns=100)
    relation = align(clocks.findings(), [0, 1], clocks.min_delays()).relation(0, 1)
    # asymmetric paths put the middle off by half the asymmetry; the interval holds all the same
    off_ns = relation.offset_ns - clocks.offset_ns
    assert np.all(np.abs(off_ns - (8_000 - 11_000) / 2) < 60)


def test_equal_clocks_are_taken_for_equal_and_it_is_said() -> None:
    clocks = TwoClocks(0)
    found = align(clocks.findings(), [0, 1], clocks.min_delays())
    assert not np.any(found.relation(0, 1).value_ns)
    assert [diagnostic.code for diagnostic in found.warnings] == ["clocks-assumed-equal"]
    assert "p0–p1" in found.warnings[0].text


def test_the_other_way_round_is_the_negative() -> None:
    clocks = random_clocks(7)
    found = align(clocks.findings(), [0, 1], clocks.min_delays())
    there, back = found.relation(0, 1), found.relation(1, 0)
    assert np.allclose(there.value_ns, -back.value_ns)
    assert np.allclose(there.lo_ns, -back.hi_ns)
    assert there.base_ns == -back.base_ns


def test_clocks_decades_apart_lose_no_nanosecond() -> None:
    off_ns = -(START_NS - 5_000_000_000_001)
    same = TwoClocks(0, tail_ns=100, forward_ns=7, reverse_ns=7)
    far = TwoClocks(off_ns, tail_ns=100, forward_ns=7, reverse_ns=7)
    relation = align(far.findings(), [0, 1], far.min_delays()).relation(0, 1)
    near = align(same.findings(), [0, 1], same.min_delays()).relation(0, 1)
    least = relation.lo_ns + (relation.base_ns - off_ns)
    assert np.allclose(least, near.lo_ns, atol=1)
    assert np.all(np.abs(relation.offset_ns - off_ns) <= 15)


def test_points_of_one_clock_need_no_packets() -> None:
    relation = align(findings_of([0, 5_000]), [0, 0], []).relation(0, 1)
    assert (relation.kind, relation.half_width_ns) == ("same-clock", 0.0)


class TestOneWay:
    """Of one direction only drift is known (Moon, Skelly and Towsley 1999)."""

    @pytest.mark.parametrize("seed", range(20))
    @pytest.mark.parametrize("direction", [0, 1])
    def test_drift_is_found_and_nothing_else(self, seed: int, direction: int) -> None:
        clocks = TwoClocks(9 * SECOND_NS, drift_ppm=seed - 10.0, seed=seed)
        found = align(clocks.findings(), [0, 1], [clocks.min_delays()[direction]])
        for near, far, sign in ((0, 1, 1), (1, 0, -1)):
            relation = found.relation(near, far)
            assert relation.kind == "one-way"
            assert relation.half_width_ns is None
            assert relation.drift_ppm == pytest.approx(sign * clocks.drift_ppm, abs=0.1)
            assert np.all(np.isnan(relation.value_ns))

    @pytest.mark.parametrize(
        "raw_ns",
        [
            (100, 5_000, 100),  # one line only lies under all three
            (900, 500, 100, 100, 900),  # no clock goes so fast
            (100, 100, 100, 60_000, 120_000),  # nor can a drift be told to less than this
        ],
    )
    def test_few_packets_tell_no_drift(self, raw_ns: tuple[int, ...]) -> None:
        t_ns = START_NS + 10_000 * np.arange(len(raw_ns))
        min_delays = MinDelays(0, 1, t_ns, t_ns, np.array(raw_ns), np.ones(len(raw_ns), np.int64))
        relation = align(findings_of([0, 0]), [0, 1], [min_delays]).relation(0, 1)
        assert (relation.kind, relation.drift_ppm) == ("one-way", None)
        assert relation.drift_half_width_ppm is None

    def test_without_packets_nothing_is_known(self) -> None:
        relation = align(findings_of([0, 0]), [0, 1], []).relation(0, 1)
        assert (relation.kind, relation.drift_ppm) == ("none", None)


class TestValuesAgree:
    """Values of three clocks or more contradict no interval, not only those of neighbours."""

    BOUNDS_NS = (
        (0, 1, 950),
        (1, 0, 950),
        (1, 2, 950),
        (2, 1, 950),
        (2, 3, 1_950),
        (3, 2, -50),
        (0, 3, 3_850),
        (3, 0, 1_850),
    )
    """The fourth clock may be equal to the first, but not to the third."""

    LEAST = tuple(one_bound(*each) for each in BOUNDS_NS)

    @pytest.mark.parametrize("accuracy_ns", [{}, {0: 100, 3: 100}, {0: 20, 3: 10}, {1: 5, 3: 7}])
    def test_they_add_up_along_the_path(self, accuracy_ns: dict[int, int]) -> None:
        found = align(findings_of([0, 0, 0, 0]), [0, 1, 2, 3], self.LEAST, accuracy_ns)
        assert {w.code for w in found.warnings} <= {"clocks-assumed-equal"}
        whole = found.relation(0, 3)
        steps = sum(found.relation(at, at + 1).value_ns for at in range(3))
        assert np.allclose(whole.value_ns, steps)
        for up, down, most_ns in self.BOUNDS_NS:
            assert np.all(found.relation(up, down).value_ns <= most_ns + 1)

    @pytest.mark.parametrize("off_ns", [10, 100, 400])
    def test_declared_clocks_are_as_close_as_they_were_declared(self, off_ns: int) -> None:
        accuracy_ns = dict.fromkeys((0, 3), off_ns)
        found = align(findings_of([0, 0, 0, 0]), [0, 1, 2, 3], self.LEAST, accuracy_ns)
        assert found.relation(0, 3).half_width_ns == pytest.approx(2 * off_ns)
        assert not np.any(found.relation(0, 3).value_ns)


class TestAccuracy:
    FINDINGS = findings_of([0, 0])
    LEAST = (one_bound(0, 1, 20_000), one_bound(1, 0, 30_000))

    def relation(self, accuracy_ns: dict[int, int]) -> tuple[float, float, list[str]]:
        found = align(self.FINDINGS, [0, 1], self.LEAST, accuracy_ns)
        at = N_KNOTS // 2
        relation = found.relation(0, 1)
        codes = [w.code for w in found.warnings if w.code != "clocks-assumed-equal"]
        return round(relation.lo_ns[at]), round(relation.hi_ns[at]), codes

    def test_packets_alone(self) -> None:
        assert self.relation({}) == (-30_000, 20_000, [])

    def test_what_is_declared_narrows_the_interval(self) -> None:
        assert self.relation({0: 3_000, 1: 1_000}) == (-4_000, 4_000, [])

    def test_one_clock_alone_says_nothing_and_it_is_said(self) -> None:
        assert self.relation({1: 1_000}) == (-30_000, 20_000, ["clock-accuracy-alone"])

    def test_what_packets_contradict_is_not_used(self) -> None:
        min_delays = (one_bound(0, 1, -20_000), one_bound(1, 0, 30_000))
        found = align(self.FINDINGS, [0, 1], min_delays, {0: 3_000, 1: 1_000})
        (text,) = [w.text for w in found.warnings if w.code == "clock-accuracy-contradicted"]
        # the packet took 20 µs less than nothing, of which 4 µs were declared
        stamps = "1700000000.000000000 at p0 and 1699999999.999980000 at p1"
        assert f"for example by 16.00 µs, a packet with frame.time_epoch {stamps}" in text
        assert round(found.relation(0, 1).hi_ns[N_KNOTS // 2]) == -20_000

    def test_the_packet_that_contradicts_most_is_named(self) -> None:
        min_delays = one_bound(0, 1, -20_000)
        n = len(min_delays.raw_ns)
        frames = np.arange(1, n + 1)
        # all but the fourth contradict by less
        raw_ns = -20_000 + 500 * np.abs(frames - 4)
        several = replace(min_delays, raw_ns=raw_ns, up_frame=frames, down_frame=frames + 10)
        found = align(
            self.FINDINGS,
            [0, 1],
            (several, one_bound(1, 0, 30_000)),
            {0: 3_000, 1: 1_000},
            ["some/a.pcap"],
        )
        (text,) = [w.text for w in found.warnings if w.code == "clock-accuracy-contradicted"]
        assert "at p0 (a.pcap frame 4) and" in text
        assert "at p1 (a.pcap frame 14))" in text


class TestClosure:
    """Difference constraints: what holds for two steps holds for the whole."""

    NEIGHBOURS = (
        one_bound(0, 1, 5_000),
        one_bound(1, 0, 6_000),
        one_bound(1, 2, 7_000),
        one_bound(2, 1, 8_000),
    )

    def test_ends_are_bounded_by_the_sum_of_the_steps(self) -> None:
        relation = align(findings_of([0, 0, 0]), [0, 1, 2], self.NEIGHBOURS).relation(0, 2)
        at = N_KNOTS // 2
        assert (round(relation.lo_ns[at]), round(relation.hi_ns[at])) == (-14_000, 12_000)

    def test_a_way_around_narrows_a_step(self) -> None:
        around = (*self.NEIGHBOURS, one_bound(0, 2, 3_000), one_bound(2, 0, 9_000))
        found = align(findings_of([0, 0, 0]), [0, 1, 2], around)
        at = N_KNOTS // 2
        # 1 → 2 directly at most 7,000, but 0 → 2 at most 3,000 and 1 → 0 at most 6,000
        assert round(found.relation(1, 2).hi_ns[at]) == 7_000
        assert round(found.relation(2, 1).hi_ns[at]) == 8_000
        assert round(found.relation(0, 2).hi_ns[at]) == 3_000
        assert round(found.relation(0, 2).lo_ns[at]) == -9_000

    def test_clocks_that_contradict_themselves_are_named(self) -> None:
        around = (*self.NEIGHBOURS, one_bound(0, 2, -20_000), one_bound(2, 0, 30_000))
        found = align(findings_of([0, 0, 0]), [0, 1, 2], around)
        diagnostic = next(w for w in found.warnings if w.code == "clock-contradiction")
        assert "p0, p1, p2" in diagnostic.text

    def test_points_of_one_clock_share_their_bounds(self) -> None:
        relation = align(findings_of([0, 0, 0]), [0, 1, 1], self.NEIGHBOURS).relation(0, 2)
        assert round(relation.hi_ns[N_KNOTS // 2]) == 5_000


@pytest.mark.parametrize(
    ("apart_ns", "said"),
    [
        (37 * SECOND_NS, "37.000 s ahead of that of p0: TAI against UTC"),
        (-36 * SECOND_NS, "clock of p0 is 36.000 s ahead of that of p1: TAI against UTC"),
        (-2 * HOUR_NS + 40_000_000, "whole hours"),
        (69 * 24 * HOUR_NS, "set apart"),
        (5 * SECOND_NS, None),
        (HOUR_NS // 2, None),
        (0, None),
    ],
)
def test_odd_offsets_are_named(apart_ns: int, said: str | None) -> None:
    found = align(findings_of([0, apart_ns]), [0, 1], [])
    texts = [w.text for w in found.warnings if w.code == "clock-offset"]
    assert len(texts) == (said is not None)
    assert not said or said in texts[0]


def test_of_many_clocks_the_odd_one_is_named_once() -> None:
    tai = 37 * SECOND_NS
    found = align(findings_of([tai, 0, 900, tai, 1_000]), [0, 1, 2, 0, 3], [])
    (text,) = [w.text for w in found.warnings if w.code == "clock-offset"]
    assert text.startswith("the clock of p0, p3 is 37.000 s ahead")


class TestStepsWithoutBounds:
    """A step before all bounds of a pair, or behind them, parts nothing."""

    KNOTS = START_NS + np.array([500, 4_000, 8_000], np.int64)

    def bounds(self, most_ns: int) -> OffsetBounds:
        t_ns = START_NS + np.arange(1_000, 7_000, 100)
        each = np.full(len(t_ns), most_ns)
        return OffsetBounds(
            t_ns, each, each * 0 + 1, t_ns, t_ns, np.zeros((len(t_ns), 4), np.int64), each
        )

    @pytest.mark.parametrize(("at_ns", "set_ns"), [(0, 1_000_000), (7_500, 0)])
    def test_one_alone_is_taken_off_where_it_was_before(self, at_ns: int, set_ns: int) -> None:
        step = Step(START_NS + at_ns, START_NS + at_ns + 2, 1_000_000)
        lo, hi = PairInterval.of(self.bounds(8_000), self.bounds(11_000), self.KNOTS, [step]).at(
            self.KNOTS
        )
        assert hi == pytest.approx(8_000 - set_ns, abs=20)
        assert lo == pytest.approx(-11_000 - set_ns, abs=20)

    def test_two_are_both_taken_off(self) -> None:
        steps = [Step(START_NS + at, START_NS + at + 2, 1_000_000) for at in (0, 100)]
        _, hi = PairInterval.of(self.bounds(8_000), self.bounds(11_000), self.KNOTS, steps).at(
            self.KNOTS
        )
        assert hi == pytest.approx(8_000 - 2_000_000, abs=20)
