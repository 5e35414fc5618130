"""Means of two scenarios: their difference and their ratio, against draws, drift and rounds."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcaplat.statistics.intervals import Estimate
from pcaplat.statistics.mean_pairs import JointError, MeanPair, RelativeChange, independent
from pcaplat.statistics.rounds import Round, is_smooth, of_rounds, rounds_of

N_STUDIES = 600
LEAST_INSIDE = 552
"""Of 600 at 95 %: the lower 0.1 % bound (binomial)."""


def times(pattern: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """When treatment (T) and baseline (B) ran."""
    spans = [(who, (10 * at, 10 * at + 9)) for at, who in enumerate(pattern)]
    return [span for who, span in spans if who == "T"], [span for who, span in spans if who == "B"]


def rounds(pattern: str, values: np.ndarray) -> list[Round]:
    is_treatment = np.array([who == "T" for who in pattern])
    sides = values[is_treatment].tolist(), values[~is_treatment].tolist()
    return rounds_of(sides, times(pattern))


def change(pair: MeanPair) -> RelativeChange:
    found = pair.relative_change()
    assert found is not None
    return found


# ---- ratios


def test_a_relative_change_is_that_of_draws() -> None:
    found = change(independent(Estimate(40.0, 1.0, inf), Estimate(50.0, 2.0, inf)))
    chance = np.random.default_rng(5)
    draws = chance.normal(40, 1, 400_000) / chance.normal(50, 2, 400_000) - 1
    assert found.value == pytest.approx(-0.2)
    assert found.se == pytest.approx(draws.std(), rel=0.02)
    assert found.interval(0.95) == pytest.approx(np.quantile(draws, [0.025, 0.975]), abs=1e-3)


def test_of_what_may_be_0_there_is_no_share() -> None:
    assert independent(Estimate(5.0, 1.0, inf), Estimate(1.0, 1.0, inf)).relative_change() is None


@given(
    st.floats(-500, 500),
    st.floats(50, 500),
    st.tuples(st.floats(0.01, 5), st.floats(0.01, 5), st.floats(-0.99, 0.99)),
    st.floats(2, 50),
    st.floats(0, 3),
)
def test_an_interval_ends_where_the_p_value_says(
    treatment: float, baseline: float, scatter: tuple[float, float, float], df: float, bias: float
) -> None:
    a, b, likeness = scatter
    error = JointError(a**2, b**2, likeness * a * b, df)
    found = change(MeanPair(treatment, baseline, [error], (bias, bias)))
    lo, hi = found.interval(0.95)
    assert lo <= found.value <= hi
    assert found.p_not_above(lo) == pytest.approx(0.025, abs=1e-6)
    assert found.p_not_below(hi) == pytest.approx(0.025, abs=1e-6)


@given(st.floats(0.1, 10), st.integers(0, 1000))
def test_units_change_no_ratio(factor: float, seed: int) -> None:
    values = 60 + np.random.default_rng(seed).normal(size=12)
    one, other = (
        change(of_rounds(rounds("BTTB" * 3, x))).interval(0.9) for x in (values, factor * values)
    )
    assert one == pytest.approx(other, abs=1e-9)


# ---- rounds


@pytest.mark.parametrize(
    ("pattern", "n"),
    [("BTBTBT", 3), ("BTTBBT", 3), ("BBBTTT", 1), ("BBTTBBTT", 3), ("BTTTTTB", 2), ("BTTBTT", 2)],
)
def test_a_round_is_the_shortest_stretch_with_both(pattern: str, n: int) -> None:
    assert len(rounds(pattern, np.arange(len(pattern), dtype=float))) == n


def test_runs_at_the_same_time_tell_no_order() -> None:
    assert rounds_of(([1.0, 2.0], [3.0]), ([(0, 9), (20, 29)], [(5, 14)])) == []


def test_pairs_are_students() -> None:
    chance = np.random.default_rng(3)
    values = np.repeat(20 * chance.normal(size=8), 2) + chance.normal(size=16)
    found = rounds("BTTB" * 4, values)
    assert not is_smooth(found)
    differences = [one.values[0] - one.values[1] for one in found]
    pair = of_rounds(found).difference()
    assert pair.value == pytest.approx(np.mean(differences))
    assert pair.se == pytest.approx(np.std(differences, ddof=1) / np.sqrt(8))
    assert pair.df == pytest.approx(7)


@pytest.mark.parametrize("pattern", ["BTTBBT", "TBBTTB", "BTTB" * 2, "BTBTBT", "BTTBTB"])
def test_moving_runs_along_a_line_does_not_hide_their_scatter(pattern: str) -> None:
    """Variance is a sum of products of runs: over one run at a time it is that of independent runs.

    Of three rounds of ABBA a false claim was held in 2.65 % of studies.
    """
    n = len(pattern) // 2
    alone = [of_rounds(rounds(pattern, run)).errors[0].of(1.0)[0] for run in np.eye(2 * n)]
    assert sum(alone) >= 2 / n - 1e-12


@pytest.mark.one_in(4)
@pytest.mark.parametrize("pattern", ["BT" * 6, "BTTB" * 3, "BBTT" * 3], ids=["BT", "BTTB", "BBTT"])
@pytest.mark.parametrize("slope", [0.0, 0.5, 3.0])
def test_a_line_over_time_is_in_neither_difference_nor_ratio(pattern: str, slope: float) -> None:
    chance = np.random.default_rng(7)
    is_treatment = np.array([who == "T" for who in pattern])
    place = np.arange(len(pattern)) - (len(pattern) - 1) / 2
    inside = {"difference": 0, "ratio": 0}
    for _ in range(N_STUDIES):
        values = 60 + slope * place + 12 * is_treatment + chance.normal(size=len(pattern))
        pair = of_rounds(rounds(pattern, values))
        lo, hi = pair.difference().interval(0.95)
        inside["difference"] += lo <= 12 <= hi
        lo, hi = change(pair).interval(0.95)
        inside["ratio"] += lo <= 0.2 <= hi
    assert min(inside.values()) >= LEAST_INSIDE, inside


DIFFERING = [
    *((pattern, sd, 1.15) for pattern in ("BT" * 6, "BTTB" * 3) for sd in (0.0, 1.0)),
    ("BTTB" * 3, 6.0, 1.15),
    # in a fixed order such rounds may hide a line, which each side meets at another time
    ("BT" * 6, 6.0, 1.5),
]
"""How runs take turns, what rounds differ by, and how wide an interval may be beside Student's."""


@pytest.mark.parametrize(("pattern", "round_sd", "most"), DIFFERING)
def test_what_rounds_share_costs_next_to_nothing(
    pattern: str, round_sd: float, most: float
) -> None:
    widths, inside = differences(pattern, round_sd)
    # Student's t of six pairs: 2.571, and the mean of the scatter found is 0.952 of it
    assert np.mean(widths) <= most * 2 * 2.571 * 0.952 * np.sqrt(2 / 6)
    assert inside >= LEAST_INSIDE


def differences(pattern: str, round_sd: float, line: float = 0.0) -> tuple[list[float], int]:
    """Widths of intervals of a difference of 2, and how many hold it, in studies of 12 runs.

    `line` is what the last run takes longer than the first.
    """
    chance = np.random.default_rng(8)
    is_treatment = np.array([who == "T" for who in pattern])
    widths, inside = [], 0
    for _ in range(N_STUDIES):
        shared = np.repeat(round_sd * chance.normal(size=6), 2)
        values = 60 + shared + 2 * is_treatment + chance.normal(size=12)
        values += line * np.linspace(-0.5, 0.5, 12)
        lo, hi = of_rounds(rounds(pattern, values)).difference().interval(0.95)
        inside += lo <= 2 <= hi
        widths.append(hi - lo)
    return widths, inside


def test_in_a_fixed_order_rounds_that_differ_do_not_hide_a_line() -> None:
    """That is what the wider interval is for: Student's t of the pairs holds far fewer."""
    _, inside = differences("BT" * 6, 6.0, line=8.0)
    assert inside >= LEAST_INSIDE


def test_a_step_within_one_round_is_no_effect() -> None:
    chance, wrong = np.random.default_rng(9), 0
    for at in range(N_STUDIES):
        values = 60 + 0.3 * chance.normal(size=12) + 20.0 * (np.arange(12) > at % 11)
        lo, hi = of_rounds(rounds("BT" * 6, values)).difference().interval(0.95)
        wrong += not lo <= 0 <= hi
    assert wrong <= N_STUDIES - LEAST_INSIDE
