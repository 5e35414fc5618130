"""From segments to the summary: counts, quantiles, round trips, warnings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from pcaplat.metrics.runs import MeasuredRun
from pcaplat.model.clocks import Relation, RelationKind
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.latencies.segments import Distribution, Segment
from pcaplat.stages.align import align
from pcaplat.stages.summarize import (
    add_intervals,
    check_slow_changes,
    error_budget,
    sum_check,
    summarize,
    warning_rows,
)
from pcaplat.stages.summarize.diagnostics import check_points, check_segments
from pcaplat.stages.summarize.rows import clock_rows, round_trip_rows, segment_rows
from pcaplat.tables import CLOCKS, ROUND_TRIPS, SEGMENTS
from tests.support.alignments import START_NS, TwoClocks, findings_of
from tests.support.runs import FAR, NEAR, run_of

if TYPE_CHECKING:
    from pcaplat.model.arrays import Floats
    from pcaplat.model.blocks import Blocks, Key
    from pcaplat.model.path import Findings

NONE = np.zeros(0, np.int64)
EMPTY: Floats = np.zeros(0)
SAME = Relation(RelationKind.SAME_CLOCK, 0, NONE, EMPTY, EMPTY, EMPTY, 0.0, 0.0, EMPTY)
ONE_WAY = Relation(RelationKind.ONE_WAY, 0, NONE, EMPTY, EMPTY, EMPTY, 0.1, 0.2, EMPTY)


def distribution(values: list[int]) -> Distribution:
    """Every value a bin of its own, as below 2048 ns."""
    middles, counts = np.unique(values, return_counts=True)
    return Distribution(
        n=len(values),
        sum_ns=sum(values),
        sum_of_squares=float(sum(v * v for v in values)),
        min_ns=min(values),
        max_ns=max(values),
        middles_ns=middles.tolist(),
        counts=counts.tolist(),
    )


def segment(
    values: list[int],
    *,
    is_reverse: bool = False,
    ends: tuple[int, int] = (0, 1),
    n_lost: int = 0,
    relation: Relation = SAME,
) -> Segment:
    return Segment(
        near=ends[0],
        far=ends[1],
        is_reverse=is_reverse,
        n=len(values),
        n_lost=n_lost,
        n_duplicated=3,
        n_reordered=2,
        relation=relation,
        distribution=distribution(values) if values else None,
    )


FINDINGS = findings_of([0, 0])


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("share", [0.0, 0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0])
def test_quantiles_are_the_inverse_of_the_distribution(seed: int, share: float) -> None:
    chance = np.random.default_rng(seed)
    values = sorted(chance.integers(-50, 2000, int(chance.integers(1, 400))).tolist())
    # the least value that at least this share of all values does not exceed
    expected = next(v for v in values if sum(w <= v for w in values) >= share * len(values) - 1e-9)
    assert distribution(values).quantile_ns(share) == expected


def test_quantiles_stay_between_minimum_and_maximum() -> None:
    coarse = Distribution(2, 20_010, 0.0, 10_004, 10_006, [10_008.0], [2])
    assert coarse.quantile_ns(0.5) == 10_006


def test_moments_are_those_of_the_values() -> None:
    values = [3, 5, 10, 1000]
    found = distribution(values)
    assert found.mean_ns == np.mean(values)
    assert found.variance == pytest.approx(np.var(values))
    assert found.n_below(5) == 1
    assert found.n_below(5.5) == 2


def test_a_row_counts_and_measures() -> None:
    values = [100] * 90 + [200] * 10
    (row,) = segment_rows(FINDINGS, [segment(values, n_lost=25)])
    add_intervals(MeasuredRun("", {"segments": [row], "round_trips": []}, {}), is_wanted=False)
    SEGMENTS.check(pl.DataFrame([row], schema_overrides=SEGMENTS.schema()))
    assert (row["near"], row["far"], row["direction"], row["class"]) == (
        "p0",
        "p1",
        "forward",
        "packet",
    )
    assert (row["n"], row["n_lost"], row["lost_frac"]) == (100, 25, 0.2)
    assert (row["n_duplicated"], row["n_reordered"]) == (3, 2)
    assert (row["min_ns"], row["mean_ns"], row["max_ns"]) == (100, 110, 200)
    assert [row[f"p{q}_ns"] for q in (50, 90, 99, 999)] == [100, 100, 200, 200]
    assert row["clock_half_width_ns"] == 0


def test_a_segment_that_lost_all_has_no_latency() -> None:
    (row,) = segment_rows(FINDINGS, [segment([], n_lost=7)])
    assert row["lost_frac"] == 1
    assert row["p50_ns"] is None
    assert row["pdv_p99_ns"] is None


def test_without_a_clock_there_is_variation_only() -> None:
    values = [5000 + i for i in range(100)]
    (row,) = segment_rows(FINDINGS, [segment(values, relation=ONE_WAY)])
    assert all(row[name] is None for name in ("min_ns", "mean_ns", "p50_ns", "max_ns"))
    assert row["clock_half_width_ns"] is None
    assert row["pdv_p99_ns"] == 98  # RFC 5481: the 99th of the differences to the least


class TestRoundTrips:
    def test_the_share_is_the_sum_of_the_means(self) -> None:
        there, back = [100, 300], [50, 70, 90]
        sides = [segment(there), segment(back, is_reverse=True)]
        (row,) = round_trip_rows(FINDINGS, sides)
        add_intervals(MeasuredRun("", {"segments": [], "round_trips": [row]}, {}), is_wanted=False)
        ROUND_TRIPS.check(pl.DataFrame([row], schema_overrides=ROUND_TRIPS.schema()))
        assert (row["n"], row["mean_ns"]) == (2, 270)
        error = np.sqrt(np.var(there) / 2 + np.var(back) / 3)
        assert row["mean_half_width_ns"] == pytest.approx(1.96 * error)

    def test_a_wrong_clock_cancels(self) -> None:
        there, back = [1000, 1200, 1700], [500, 640, 900]
        for off_ns in (0, 1, 10**9, -37 * 10**9 - 1, 10**15):
            sides = [
                segment([v + off_ns for v in there]),
                segment([v - off_ns for v in back], is_reverse=True),
            ]
            (row,) = round_trip_rows(FINDINGS, sides)
            assert row["mean_ns"] == pytest.approx(1300 + 680, abs=1)

    def test_one_direction_is_no_round_trip(self) -> None:
        assert round_trip_rows(FINDINGS, [segment([1])]) == []
        assert round_trip_rows(FINDINGS, [segment([1], is_reverse=True)]) == []
        assert round_trip_rows(FINDINGS, [segment([1]), segment([], is_reverse=True)]) == []


class TestClocks:
    def test_rows_hold_in_the_middle_of_the_reference_time(self) -> None:
        clocks = TwoClocks(37 * 10**9, drift_ppm=20, tail_ns=100, forward_ns=900, reverse_ns=900)
        findings = clocks.findings()
        found = align(findings, [0, 1], clocks.min_delays())
        for reference, sign in ((0, 1), (1, -1)):
            rows = clock_rows(findings, found, reference)
            own, other = rows[reference], rows[1 - reference]
            assert (own["offset_ns"], own["half_width_ns"], own["quality"]) == (0, 0, "same-clock")
            true_ns = START_NS + (findings.cover([0, 1])[1] - START_NS) // 2
            ahead_ns = clocks.offset_ns + float(clocks.ahead_ns(np.array([true_ns]))[0])
            assert other["offset_ns"] == pytest.approx(sign * ahead_ns, abs=300)
            assert other["drift_ppm"] == pytest.approx(sign * 20, abs=0.2)
            assert other["reference"] == f"p{reference}"
            at_ns = true_ns if reference == 0 else true_ns + ahead_ns
            assert abs(other["at_ns"] - at_ns) < 10_000

    def test_an_unknown_clock_has_no_offset(self) -> None:
        found = align(FINDINGS, [0, 1], [])
        other = clock_rows(FINDINGS, found, 0)[1]
        assert (other["offset_ns"], other["at_ns"], other["quality"]) == (None, None, "none")
        CLOCKS.check(pl.DataFrame([other], schema_overrides=CLOCKS.schema()))

    def test_a_point_left_out_has_a_row_too(self) -> None:
        points = [*FINDINGS.points, replace(FINDINGS.points[0], name="alone")]
        findings = replace(FINDINGS, points=points, alone=[2])
        rows = clock_rows(findings, align(findings, [0, 1, 2], []), 0)
        assert [row["point"] for row in rows] == ["p0", "p1", "alone"]
        unknown = {name: rows[2][name] for name in rows[2] if name.endswith(("_ns", "_ppm"))}
        assert (set(unknown.values()), rows[2]["quality"]) == ({None}, "none")


class TestDoubts:
    def codes(self, findings: Findings, *segments: Segment) -> list[str]:
        return [diagnostic.code for diagnostic in check_segments(findings, segments)]

    def test_latencies_above_the_stamps_raise_no_doubt(self) -> None:
        assert self.codes(FINDINGS, segment([50, 60]), segment([70], is_reverse=True)) == []

    def test_arriving_before_leaving_is_doubtful_under_one_clock_only(self) -> None:
        early = [-5000] * 3 + [100] * 97
        (diagnostic,) = check_segments(FINDINGS, [segment(early, is_reverse=True)])
        assert diagnostic.code == "negative-latency"
        assert "p1 → p0 3 (3 %, by up to 5.00 µs)" in diagnostic.text
        assert "--same-clock" in diagnostic.text
        assert self.codes(FINDINGS, segment(early, relation=ONE_WAY)) == []

    def test_what_cut_stamps_explain_is_not_early(self) -> None:
        coarse = findings_of([0, 0], resolution_ns=1000)
        assert "negative-latency" not in self.codes(coarse, segment([-999, 20_000]))
        assert "negative-latency" in self.codes(coarse, segment([-1001, 20_000]))

    def test_stamps_coarser_than_a_tenth_of_the_median_are_doubtful(self) -> None:
        coarse = findings_of([0, 0], resolution_ns=1000)
        assert self.codes(coarse, segment([10_000])) == []
        (diagnostic,) = check_segments(coarse, [segment([9_000]), segment([3_000], ends=(1, 0))])
        assert diagnostic.code == "low-resolution"
        assert (
            "timestamps at p0, p1 have a low resolution, 1.00 µs, for a median latency of 3.00 µs"
            in diagnostic.text
        )


def test_each_warning_is_given_once() -> None:
    one, other = (Diagnostic("late-packets", point, "x") for point in (None, "p"))
    assert [row["point"] for row in warning_rows([one, other, one])] == [None, "p"]


def test_the_document_sums_up_everything() -> None:
    clocks = align(FINDINGS, [0, 0], [])
    sides = [segment([100]), segment([200], is_reverse=True)]
    status = {"matched": 4, "duplicate": 1, "excluded": 9}
    document = summarize(FINDINGS, clocks, sides, status, 0)
    assert document["path"] == ["p0", "p1"]
    assert document["edges"] == [{"near": "p0", "far": "p1"}]
    assert document["round_trips"][0]["mean_ns"] == 300
    assert document["matching"] == {
        "n_frames": 5,
        "n_matched": 4,
        "n_duplicate": 1,
        "false_match_frac": None,
        "false_match_upper_frac": None,
    }
    assert document["schema"] == "pcaplat.summary/1"


class TestSlowChanges:
    def found(self, seed: int, slow_ns: float) -> list[Diagnostic]:
        chance = np.random.default_rng(seed)
        swing_ns = slow_ns * np.sin(np.linspace(0.5, 4, 4_000))
        sides = [9_000 + swing_ns + chance.exponential(1_000, 4_000) for _ in range(2)]
        run = run_of(*sides)
        document: dict[str, Any] = dict(run.document)
        document["round_trips"] = []
        measured = MeasuredRun("", document, run.blocks)
        add_intervals(measured, is_wanted=True)
        return check_slow_changes(measured)

    def test_a_swing_of_a_seventh_of_the_scatter_is_warned_of(self) -> None:
        found = [self.found(seed, 140) for seed in range(10)]
        assert sum(map(len, found)) >= 7
        texts = [one.text for warnings in found for one in warnings]
        assert all("as large as faster ones" in text for text in texts)
        assert any(f"{NEAR} → {FAR}" in text for text in texts)
        assert any(f"{NEAR} ← {FAR}" in text for text in texts)

    def test_without_it_there_is_no_warning(self) -> None:
        assert not any(self.found(seed, 0) for seed in range(60))


class TestBudget:
    def run(self, **given: float) -> tuple[dict[str, Any], dict[Key, Blocks]]:
        chance = np.random.default_rng(3)
        sides = (5000 + chance.exponential(1000, 4000), 7000 + chance.exponential(1000, 4000))
        run = run_of(
            *sides,
            clock_half_width_ns=given.get("clock_half_width_ns", 0.0),
            resolution_ns=given.get("resolution_ns", 1.0),
        )
        document: dict[str, Any] = dict(run.document)
        for row in document["segments"]:
            values = sides[row["direction"] == "reverse"]
            row["mean_ns"] = float(values.mean())
        mean_ns = sum(float(side.mean()) for side in sides)
        document["round_trips"] = [{"near": NEAR, "far": FAR, "mean_ns": mean_ns}]
        document["matching"] = {"n_ambiguous": 8, "n_frames": 16_000}
        return document, dict(run.blocks)

    def test_terms_add_up_to_the_interval(self) -> None:
        document, blocks = self.run(clock_half_width_ns=400.0)
        add_intervals(MeasuredRun("", document, blocks), is_wanted=True)
        *one_way, both = error_budget(MeasuredRun("", document, blocks))
        for row, budget in zip(document["segments"], one_way, strict=True):
            half_ns = (row["mean_hi_ns"] - row["mean_lo_ns"]) / 2
            terms = ("statistical_ns", "clock_ns", "resolution_ns")
            assert sum(budget[name] for name in terms) == pytest.approx(half_ns)
            assert budget["largest"] == "clock"
            assert budget["stamp_convention_ns"] is None
        assert (both["direction"], both["clock_ns"]) == (None, 0)
        # there and back at the same times: hardly anything of the 400 ns
        assert 0 <= both["drift_ns"] < 20
        half_ns = document["round_trips"][0]["mean_half_width_ns"]
        assert both["statistical_ns"] + both["drift_ns"] == pytest.approx(half_ns)
        assert both["ambiguity_ns"] == 0

    def test_identical_packets_widen_the_interval(self) -> None:
        document, blocks = self.run()
        add_intervals(MeasuredRun("", document, blocks), is_wanted=True)
        sure_ns = document["segments"][0]["mean_hi_ns"]
        row = document["segments"][0]
        row |= {"mean_least_ns": row["mean_ns"] - 10, "mean_most_ns": row["mean_ns"] + 700}
        add_intervals(MeasuredRun("", document, blocks), is_wanted=True)
        *one_way, both = error_budget(MeasuredRun("", document, blocks))
        assert document["segments"][0]["mean_hi_ns"] == pytest.approx(sure_ns + 700)
        assert (one_way[0]["ambiguity_ns"], one_way[1]["ambiguity_ns"]) == (700, 0)
        assert (both["ambiguity_ns"], one_way[0]["largest"]) == (700, "ambiguity")

    def test_coarse_stamps_and_few_packets_are_named(self) -> None:
        document, blocks = self.run(resolution_ns=1e6)
        assert {row["largest"] for row in error_budget(MeasuredRun("", document, blocks))} == {
            "resolution"
        }
        few = {key: side.part(0, 3) for key, side in blocks.items()}
        assert {row["largest"] for row in error_budget(MeasuredRun("", document, few))} == {
            "statistical"
        }

    def test_shares_of_a_chain_are_added_up(self) -> None:
        shares = {("a", "b"): 3.0, ("b", "c"): 4.5, ("a", "c"): 8.0}
        document: dict[str, Any] = {
            "path": ["a", "b", "c"],
            "edges": [{"near": "a", "far": "b"}, {"near": "b", "far": "c"}],
            "round_trips": [{"near": n, "far": f, "mean_ns": ns} for (n, f), ns in shares.items()],
        }
        found = sum_check(document)
        assert found
        assert (found["sum_ns"], found["whole_ns"], found["difference_ns"]) == (7.5, 8.0, -0.5)
        assert not found["agrees"]
        document["edges"].append({"near": "a", "far": "c"})
        assert sum_check(document) is None


@pytest.mark.parametrize(
    ("n_paused", "n_matched", "n_told"),
    [(9, 1_000, 0), (10, 9_000, 1), (99, 100_000, 0), (120, 100_000, 1)],
)
def test_pauses_are_told_from_a_thousandth_of_the_packets_on(
    n_paused: int, n_matched: int, n_told: int
) -> None:
    row = {"point": "b", "n_matched": n_matched, "n_missed": n_paused, "n_maybe_missed": 0}
    found = check_points([row | {"n_paused": n_paused}])
    assert [one.code for one in found] == ["capture-paused"] * n_told
