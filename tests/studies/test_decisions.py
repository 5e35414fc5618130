"""Decisions on simulated studies: wrong ones are as rare as promised, right ones as frequent."""

import re
from collections import Counter
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq  # type: ignore[import-untyped]
from scipy.stats import binom, t  # type: ignore[import-untyped]

from pcaplat.published import parse_published
from pcaplat.validating import validate
from tests.recovery.simulator import Clock, Link, Point, Scenario, Traffic, run
from tests.studies.decision_studies import (
    DECIDED,
    DIFFERING,
    DISTURBED,
    N_STUDIES,
    NAMES,
    NUMBERS,
    PAGE,
    TABLE,
    Coverage,
    Decisions,
    Setting,
    coverage,
    decisions,
    false_verdicts,
    hidden_us,
    run_sd_us,
    students_us,
)

LEAST_HELD = 0.9 * N_STUDIES
LEAST_INSIDE, MOST_INSIDE, MOST_WIDTH = 0.93, 0.97, 1.3
NUMBER = re.compile(r"[\d.]+")


def printed(name: str) -> list[list[float]]:
    """Read a table of the page back: the numbers of its cells, row by row."""
    tables = {match[2]: match[0] for match in TABLE.finditer(PAGE.read_text("utf-8"))}
    rows = [line.split("|")[2:-1] for line in tables[name].splitlines() if line.startswith("| ")]
    return [[float(n) for n in NUMBER.findall(cell)] for row in rows[2:] for cell in row]


def test_what_the_page_prints_keeps_the_limits() -> None:
    cells = dict(zip(DECIDED, _by_setting(), strict=True))
    cells |= dict(zip(DISTURBED, printed("disturbed"), strict=True))
    found = {
        setting: Decisions(*(round(share / 100 * N_STUDIES) for share in cell))
        for setting, cell in cells.items()
    }
    assert false_verdicts(found) == []
    assert all(one.held_rightly >= LEAST_HELD for s, one in found.items() if s.n_runs >= 6)
    assert all(name in PAGE.read_text("utf-8") for name in NAMES.values())


def _by_setting() -> list[list[float]]:
    """Cells of the first table in the order of `DECIDED`: runs before orders."""
    rows = printed("decided")
    n = len({setting.n_runs for setting in DECIDED})
    by_row = [rows[at : at + n] for at in range(0, len(rows), n)]
    pairs = zip(by_row[::2], by_row[1::2], strict=True)
    return [cell for two in pairs for column in zip(*two, strict=True) for cell in column]


def test_intervals_that_the_page_prints_hold_the_truth() -> None:
    for setting, cell in zip(DIFFERING, printed("covered"), strict=True):
        inside, relative, _, best_width = cell
        assert min(inside, relative) >= 100 * LEAST_INSIDE, setting
        if max(inside, relative) > 100 * MOST_INSIDE:
            assert best_width < MOST_WIDTH, setting


def test_the_page_counts_the_cells_that_are_too_wide() -> None:
    """By either measure: what an interval costs beside Student's, and beside the best one."""
    often = [cell for cell in printed("covered") if max(cell[:2]) > 100 * MOST_INSIDE]
    students, best = (sum(cell[at] >= MOST_WIDTH for cell in often) for at in (2, 3))
    text = " ".join(PAGE.read_text("utf-8").split())
    assert f"None of the {len(DIFFERING)} cells is below 93 %, and {len(often)} are above" in text
    assert f"{students} of these are at least 1.3 times as wide as Student's interval" in text
    assert f"Beside the best interval, {best} of these are" in text


def imbens_manski_us(setting: Setting) -> float:
    """Half-width of an interval that holds 95 % of effects, whatever of one is hidden."""
    df, hidden = setting.n_runs - 1, hidden_us(setting)
    error = students_us(setting) / float(t.ppf(0.975, df))

    def held(c: float) -> float:
        return float(t.cdf(c + 2 * hidden / error, df) - t.cdf(-c, df))

    c: float = brentq(lambda c: held(c) - 0.95, 0, 100)
    return hidden + error * c


def test_the_page_counts_the_cells_that_are_too_wide_for_coverage_alone() -> None:
    wide = [
        setting
        for setting, cell in zip(DIFFERING, printed("covered"), strict=True)
        if max(cell[:2]) > 100 * MOST_INSIDE
        and cell[2] * students_us(setting) >= MOST_WIDTH * imbens_manski_us(setting)
    ]
    assert {(one.order, one.n_runs, one.shared) for one in wide} == {("AB", 3, 3.0)}
    text = " ".join(PAGE.read_text("utf-8").split())
    assert f"Beside that one, {len(wide)} cells are at least 1.3 times as wide" in text


@pytest.mark.parametrize("n_runs", NUMBERS)
def test_the_oracle_is_students_interval_where_nothing_is_hidden(n_runs: int) -> None:
    """Its mean width, seen in simulation of independent pairs."""
    setting = Setting("bimodal", n_runs)
    pairs = np.random.default_rng(1).normal(size=(20_000, n_runs)) * run_sd_us("bimodal") * sqrt(2)
    errors = pairs.std(axis=1, ddof=1) / sqrt(n_runs)
    assert students_us(setting) == pytest.approx(t.ppf(0.975, n_runs - 1) * errors.mean(), rel=0.02)
    assert hidden_us(setting) == 0


@pytest.mark.parametrize("n_runs", NUMBERS)
def test_runs_do_not_show_what_a_fixed_order_hides(n_runs: int) -> None:
    """A line within rounds, and steps between them, give the same values with another effect."""
    setting = Setting("bimodal", n_runs, "AB", line=30.0)
    place, per_run = np.arange(2 * n_runs), 30 * run_sd_us("bimodal") / (2 * n_runs - 1)
    is_treatment = place % 2
    along_a_line = per_run * place
    in_steps = per_run * (place - is_treatment)
    apart = 2 * hidden_us(setting)
    assert in_steps + apart * is_treatment == pytest.approx(along_a_line)


@pytest.mark.parametrize("shape", ["heavy_tailed", "bimodal"])
def test_a_relative_change_of_three_rounds_is_covered(shape: str) -> None:
    """A line that chance made must not make the interval shorter."""
    least = binom.ppf(0.001, N_STUDIES, 0.95)
    assert coverage(Setting(shape, 3)).inside_relative >= least


@pytest.mark.slow
@pytest.mark.parametrize("at", [0, 13, 24, 39])
def test_studies_are_decided_as_the_page_says(at: int) -> None:
    assert decisions(DECIDED[at]).text == _text(_by_setting()[at], (2, 2, 1, 2, 2))


@pytest.mark.slow
@pytest.mark.parametrize("at", [2, 7, 13, 34])
def test_intervals_hold_the_truth_as_the_page_says(at: int) -> None:
    found: Coverage = coverage(DIFFERING[at])
    assert found.text == _text(printed("covered")[at], (1, 1, 2, 2))


def _text(cell: list[float], digits: tuple[int, ...]) -> str:
    return " / ".join(f"{n:.{k}f}" for n, k in zip(cell, digits, strict=True))


@pytest.mark.slow
def test_studies_of_captures_are_decided_rightly(tmp_path: Path) -> None:
    """Five and five runs, each merged from captures of clocks that are seconds apart."""
    head = '[[claims]]\nsentence = "s"\nsource.document = "d"\nmetric = "rtt"\nunit = "us"\n'
    scope = 'scope = { kind = "difference", treatment = "slow", baseline = "plain" }\n'
    bounds = {"true": "interval = [3.7, 4.3]", "false": "interval = [4.3, 5]"}
    text = "\n".join(f'{head}{scope}id = "{name}"\n{bound}' for name, bound in bounds.items())
    (tmp_path / "claims.toml").write_text(text)
    parse_published(text.encode(), "claims.toml")
    words: dict[str, Counter[str]] = {name: Counter() for name in bounds}
    for study in range(20):
        folder = tmp_path / str(study)
        for at in range(10):
            name = ("plain", "slow")[at % 2]
            _record(folder / name / str(at), 3000 + 4000 * (at % 2), seed=100 * study + at)
        runs = {name: folder / name for name in ("plain", "slow")}
        # the simulator has all runs begin at one time
        rows = validate(tmp_path / "claims.toml", runs, accepts_order=True)["verdicts"]
        for row in rows:
            words[row["id"]][row["verdict"]] += 1
    assert words["true"]["refuted"] <= 3
    assert words["false"]["held"] <= 3
    assert words["true"]["held"] >= 15
    assert words["false"]["refuted"] >= 15


def _record(folder: Path, forward_ns: int, *, seed: int) -> None:
    folder.mkdir(parents=True)
    points = (Point("a"), Point("b", Clock(seed * 10**9, 20)))
    traffic = Traffic(n_packets=600, shares=(("udp", 0.6), ("icmp", 0.4)))
    run(Scenario(points, (Link(forward_ns=forward_ns),), traffic, seed=seed)).save(folder)
