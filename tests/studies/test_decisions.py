"""Decisions on simulated studies: wrong ones are as rare as promised, right ones as frequent."""

import re
from collections import Counter
from pathlib import Path

import pytest

from pcaplat.published import parse_published
from pcaplat.validating import validate
from tests.recovery.simulator import Clock, Link, Point, Scenario, Traffic, run
from tests.studies.decision_studies import (
    EFFECTS_US,
    KINDS,
    N_STUDIES,
    PAGE,
    TABLE,
    Kind,
    counts,
    mistakes,
    table,
)

CELL = re.compile(r"(\d+) / (\d+) / (\d+)")


def printed() -> dict[tuple[str, str], Counter[str]]:
    """Read the page's table back."""
    found = {}
    rows = PAGE.read_text("utf-8").splitlines()
    for kind in KINDS:
        (row,) = [row for row in rows if row.startswith(f"| {kind.name} |")]
        for where, cell in zip(EFFECTS_US, CELL.findall(row), strict=True):
            words = zip(("held", "refuted", "undecided"), map(int, cell), strict=True)
            found[kind.name, where] = Counter(dict(words))
    return found


def test_what_the_page_prints_keeps_the_limits() -> None:
    found = printed()
    match = TABLE.search(PAGE.read_text("utf-8"))
    assert match
    assert match[0] == f"{match[1]}{table(found)}{match[2]}"
    for kind in KINDS:
        for where in EFFECTS_US:
            assert found[kind.name, where].total() == N_STUDIES
            assert not mistakes(kind, where, found[kind.name, where])


@pytest.mark.parametrize("kind", [KINDS[0], KINDS[4]], ids=lambda kind: kind.name)
def test_a_few_studies_are_decided_as_the_page_says(kind: Kind) -> None:
    for where, most_held, least_held in (("centre", 40, 30), ("edge", 6, 0), ("outside", 1, 0)):
        held = counts(kind, where, 40)["held"]
        assert least_held <= held <= most_held, where


@pytest.mark.slow
@pytest.mark.parametrize("where", EFFECTS_US)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_studies_are_decided_as_the_page_says(kind: Kind, where: str) -> None:
    found = counts(kind, where)
    assert not mistakes(kind, where, found)
    assert found == printed()[kind.name, where]


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
        for row in validate(tmp_path / "claims.toml", runs)["verdicts"]:
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
