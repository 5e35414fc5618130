"""Decisions on simulated studies: wrong ones are as rare as promised, right ones as frequent."""

import re
from collections import Counter
from pathlib import Path

import pytest

from pcaplat.published import parse_published
from pcaplat.validating import validate
from tests.recovery.simulator import Clock, Link, Point, Scenario, Traffic, run
from tests.studies.decision_studies import (
    DECIDED,
    DIFFERING,
    DISTURBED,
    N_STUDIES,
    NAMES,
    PAGE,
    TABLE,
    Coverage,
    Decisions,
    coverage,
    decisions,
    false_verdicts,
)

LEAST_HELD = 0.9 * N_STUDIES
LEAST_INSIDE, MOST_WIDTH = 0.93, 1.3
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
    for setting, (inside, relative, width) in zip(DIFFERING, printed("covered"), strict=True):
        assert min(inside, relative) >= 100 * LEAST_INSIDE, setting
        if max(inside, relative) > 97.5 and setting.n_runs >= 4 and setting.line < 30:
            assert width < MOST_WIDTH, setting


@pytest.mark.slow
@pytest.mark.parametrize("at", [0, 13, 24, 39])
def test_studies_are_decided_as_the_page_says(at: int) -> None:
    assert decisions(DECIDED[at]).text == _text(_by_setting()[at], (2, 2, 1))


@pytest.mark.slow
@pytest.mark.parametrize("at", [2, 7, 13, 34])
def test_intervals_hold_the_truth_as_the_page_says(at: int) -> None:
    found: Coverage = coverage(DIFFERING[at])
    assert found.text == _text(printed("covered")[at], (1, 1, 2))


def _text(cell: list[float], digits: tuple[int, int, int]) -> str:
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
