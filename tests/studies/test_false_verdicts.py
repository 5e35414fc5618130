"""False verdicts are as rare as promised, whatever runs differ by; plain truths are decided."""

from __future__ import annotations

import numpy as np
import pytest

from pcaplat.comparing.comparison import compare
from pcaplat.metrics.runs import LEAST_RUNS
from tests.studies.decision_studies import PAGE
from tests.studies.false_verdict_studies import CELLS, N_STUDIES, false_verdicts
from tests.studies.run_studies import (
    FALSE_SHARE,
    SHAPES,
    Design,
    claim_text,
    judged,
    most_false,
    oracle_se_us,
    study,
    verdicts,
)
from tests.studies.test_decisions import printed

EDGE_US = 0.001
AT_THE_EDGE = claim_text(-40, 0)
BEYOND_THE_EDGE = claim_text(-40, -EDGE_US)


SHAPE = pytest.mark.parametrize("shape", SHAPES)


@pytest.mark.parametrize("n_runs", [1, 2])
def test_fewer_than_three_runs_decide_nothing_across_runs(n_runs: int) -> None:
    design = Design(n_runs=n_runs, run_sd_us=3.0)
    for effect_us, text in ((-0.5, AT_THE_EDGE), (8.0, AT_THE_EDGE), (0.0, claim_text(-90, 90))):
        found = verdicts(design, effect_us, text, 40)
        assert set(found) == {"undecided"}, (effect_us, found)


def test_one_run_gives_the_estimate_within_it_and_says_what_is_missing() -> None:
    row = judged(claim_text(-90, 90), study(Design(n_runs=1), 0.0, 1))
    assert row["verdict"] == "undecided"
    assert row["estimate"] == pytest.approx(0, abs=5)
    assert "within this run" in row["reason"]
    assert "three runs" in row["reason"] or "3 runs" in row["reason"]


@pytest.mark.parametrize("n_runs", [3, 4, 6, 12])
@SHAPE
def test_a_plainly_false_claim_is_never_held(shape: str, n_runs: int) -> None:
    found = verdicts(Design(shape, n_runs), 20.0, AT_THE_EDGE, 20)
    assert not found["held"]


def test_what_the_page_prints_is_as_rare_as_promised() -> None:
    most = most_false(N_STUDIES, 2 * len(CELLS))
    cells = printed("judged")
    assert len(cells) == len(CELLS)
    for design, cell in zip(CELLS, cells, strict=True):
        assert max(cell) <= 100 * most / N_STUDIES, design
        if design.n_runs < LEAST_RUNS or design.order == "row":
            assert cell == [0.0, 0.0], design
    decided = np.array([cell for cell in cells if any(cell)])
    text = " ".join(PAGE.read_text("utf-8").split())
    assert f"In all other cells together, {decided.mean():.2f} % are false" in text
    assert f"chance alone gives up to {100 * most / N_STUDIES:.2f} %" in text


@pytest.mark.slow
@pytest.mark.parametrize("design", CELLS, ids=str)
def test_false_verdicts_are_as_rare_as_promised_in_every_cell(design: Design) -> None:
    found = false_verdicts(design)
    assert max(found) <= most_false(N_STUDIES, 2 * len(CELLS))
    shown = printed("judged")[CELLS.index(design)]
    assert list(found) == [round(share / 100 * N_STUDIES) for share in shown]


@pytest.mark.slow
def test_of_six_interleaved_runs_false_claims_are_held_in_one_of_forty() -> None:
    """At the edge, where it is most often; today in one of twenty."""
    n = 6000
    held = verdicts(Design(run_sd_us=2.0), 0.0, BEYOND_THE_EDGE, n)["held"]
    assert held <= most_false(n)


@pytest.mark.slow
@SHAPE
def test_true_claims_in_the_middle_are_held(shape: str) -> None:
    design = Design(shape)
    half_us = 6 * oracle_se_us(design)
    found = verdicts(design, 0.0, claim_text(-half_us, half_us), 400)
    assert found["held"] >= 0.9 * 400
    assert not found["refuted"]


def test_what_a_round_shares_costs_nothing() -> None:
    """A day's effect of 3 µs and noise of 1 µs: pairs know the difference seven times better."""
    design = Design(run_sd_us=1.0, round_sd_us=3.0)
    half_us = 6 * oracle_se_us(design)
    found = verdicts(design, 0.0, claim_text(-half_us, half_us), 100)
    assert found["held"] >= 90


@pytest.mark.slow
def test_what_a_round_shares_is_not_in_the_interval_of_a_comparison() -> None:
    design, widths, inside = Design(run_sd_us=1.0, round_sd_us=3.0), [], 0
    for seed in range(200):
        scenarios = study(design, 2.0, seed)
        (row,) = compare(scenarios["plain"], scenarios["slow"])["round_trips"]
        inside += row["lo_ns"] <= 2000 <= row["hi_ns"]
        widths.append(row["hi_ns"] - row["lo_ns"])
    # Student's t of five pairs less one: 2.57; the mean of its width is 0.952 of that
    oracle_ns = 2 * 2.571 * 1000 * oracle_se_us(design)
    assert np.mean(widths) <= 1.3 * oracle_ns
    assert inside >= 182


@pytest.mark.parametrize("step_us", [6.0, -6.0])
def test_a_day_between_runs_in_a_row_decides_nothing(step_us: float) -> None:
    design = Design(n_runs=8, order="row", step_us=step_us)
    for text in (claim_text(-2, 2), claim_text(step_us - 2, step_us + 2)):
        assert set(verdicts(design, 0.0, text, 20)) == {"undecided"}


@pytest.mark.parametrize("n_runs", [3, 6, 12])
def test_runs_in_a_row_decide_nothing_however_plain(n_runs: int) -> None:
    row = judged(claim_text(-2, 2), study(Design(n_runs=n_runs, order="row"), 200.0, 1))
    assert row["verdict"] == "undecided"
    assert "interleave" in row["reason"]


@pytest.mark.parametrize("n_runs", [4, 6])
def test_a_day_between_rounds_of_one_order_gives_no_false_verdict(n_runs: int) -> None:
    """Plain before slow in each round, and 6 µs more from the second day on: no line fits that."""
    n = 300
    design = Design("heavy_tailed", n_runs, "fixed", run_sd_us=0.4, step_us=6.0)
    held = verdicts(design, 0.0, BEYOND_THE_EDGE, n)["held"]
    held += verdicts(design, 0.0, claim_text(EDGE_US, 40), n)["held"]
    assert held <= most_false(n, share=2 * FALSE_SHARE)


SHARE = 'relative = true\nunit = "%"'
DRIFTING = [
    Design(run_sd_us=0.3, slope_us=20.0, ratio=0.75),
    Design(n_runs=12, run_sd_us=0.3, slope_us=40.0, ratio=0.9),
]
DRIFT = pytest.mark.parametrize("design", DRIFTING, ids=["6 runs", "12 runs"])


def relative_rows(design: Design, n: int) -> list[dict[str, float]]:
    """Change as a share of what plain takes, in %."""
    text = claim_text(-1000, 1000).replace('unit = "us"', SHARE)
    return [judged(text, study(design, 0.0, seed)) for seed in range(n)]


@DRIFT
def test_a_relative_change_under_drift_is_covered(design: Design) -> None:
    rows = relative_rows(design, 200)
    truth = 100 * (design.ratio - 1)
    inside = sum(row["lo"] <= truth <= row["hi"] for row in rows)
    # intervals of 90 %, of which 174 are the lower 1 % bound
    assert inside >= 168


@DRIFT
def test_a_relative_change_lies_in_its_interval_which_has_a_width(design: Design) -> None:
    for row in relative_rows(design, 40):
        assert row["lo"] < row["estimate"] < row["hi"]
        assert row["hi"] - row["lo"] > 0.1 * 100 * oracle_se_us(design) / 60


@pytest.mark.one_in(3)
@pytest.mark.parametrize("ratio", [0.5, 0.75, 1.0, 1.5])
def test_a_relative_change_without_drift_is_covered(ratio: float) -> None:
    rows = relative_rows(Design(run_sd_us=2.0, ratio=ratio), 200)
    inside = sum(row["lo"] <= 100 * (ratio - 1) <= row["hi"] for row in rows)
    assert inside >= 168


@pytest.mark.parametrize("ratio", [0.75, 1.5])
def test_a_relative_change_under_drift_is_no_wider_than_it_must_be(ratio: float) -> None:
    design = Design(run_sd_us=0.3, slope_us=20.0, ratio=ratio)
    widths = [row["hi"] - row["lo"] for row in relative_rows(design, 60)]
    # both terms scatter: of the ratio r, by the error of one run's mean times √(1 + r²)
    error = 100 * oracle_se_us(design) / np.sqrt(2) * np.sqrt(1 + ratio**2) / 70
    assert 0.7 * 2 * 1.645 * error <= np.mean(widths) <= 1.6 * 2 * 2.015 * error


@pytest.mark.parametrize("effect_us", [-12.0, 12.0, 30.0])
def test_drift_is_out_of_the_ratio_where_the_effect_adds(effect_us: float) -> None:
    """One who takes the line out of both knows the ratio at the mean time as well as without."""
    design, n = Design(run_sd_us=0.3, slope_us=20.0), 60
    text = claim_text(-1000, 1000).replace('unit = "us"', SHARE)
    rows = [judged(text, study(design, effect_us, seed)) for seed in range(n)]
    ratio = 1 + effect_us / 70
    inside = sum(row["lo"] <= 100 * (ratio - 1) <= row["hi"] for row in rows)
    assert inside >= 48
    error = 100 * oracle_se_us(design) / np.sqrt(2) * np.sqrt(1 + ratio**2) / 70
    # Student's t of four degrees of freedom, 97.5 %
    assert np.mean([row["hi"] - row["lo"] for row in rows]) <= 1.5 * 2 * 2.776 * error
