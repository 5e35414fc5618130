"""Simulated studies of runs that differ: how often is a verdict false, and a true one given?

Means of runs are drawn from latencies of four shapes, and go through the rounds, the intervals and
the rule that `validate` uses. `python -m tests.studies.decision_studies` writes the tables of
docs/evaluation/decision_studies.md. What reads means from captures is tested elsewhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, lgamma, sqrt
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binom, t  # type: ignore[import-untyped]

from pcaplat.metrics.contrasts import RUNS, Contrast
from pcaplat.published import parse_published
from pcaplat.statistics.rounds import LEAST_ROUNDS, MOST_HIDDEN, of_rounds, rounds_of
from pcaplat.validating.evidence import Evidence
from pcaplat.validating.rule import tested
from tests.conftest import ROOT
from tests.studies.run_studies import SHAPES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from pcaplat.published.claims import Claim
    from pcaplat.statistics.mean_pairs import MeanPair

    Floats = NDArray[np.float64]

N_STUDIES = 2000
N_PACKETS = 768
N_OF_A_SHAPE = 4096
"""Runs that are drawn of each shape."""

FALSE_SHARE = 0.025
"""What a verdict may be false in, a side."""

CHANCE_SHARE = 0.01
"""Over all cells of a table (Holm): so rarely does chance alone break a limit."""

BASE_US, EFFECT_US, RUN_SD_US = 60.0, 12.0, 0.7
ORDERS = {"ABBA": "BTTB", "AB": "BT"}
"""How runs take turns: B the baseline, T the treatment."""

NUMBERS = (3, 4, 6, 8, 12)


@dataclass(frozen=True)
class Setting:
    """What runs of a study have, in standard deviations of a run's mean.

    `shared` is what rounds differ by, `line` what the last run takes longer than the first.
    """

    shape: str
    n_runs: int
    order: str = "ABBA"
    shared: float = 0.0
    line: float = 0.0

    @property
    def pattern(self) -> str:
        """Which scenario each run is of, in the order of time."""
        return (ORDERS[self.order] * self.n_runs)[: 2 * self.n_runs]


@lru_cache
def means_of(shape: str) -> Floats:
    """Means of runs of a shape, which add up to 0, µs."""
    chance = np.random.default_rng([*shape.encode()])
    found = np.array([SHAPES[shape](chance, N_PACKETS).mean() for _ in range(N_OF_A_SHAPE)])
    return np.asarray(found - found.mean())


def run_sd_us(shape: str) -> float:
    """What a run's mean scatters by: its packets, and what it has of its own."""
    return sqrt(float(means_of(shape).var()) + RUN_SD_US**2)


def studies(setting: Setting, seed: int = 1, n: int = N_STUDIES) -> Floats:
    """Means of all runs of so many studies, in the order of time, µs; the effect is in them."""
    chance = np.random.default_rng([seed, *repr(setting).encode()])
    n_runs, sd = 2 * setting.n_runs, run_sd_us(setting.shape)
    values = BASE_US + chance.choice(means_of(setting.shape), size=(n, n_runs))
    values += RUN_SD_US * chance.normal(size=(n, n_runs))
    rounds = setting.shared * sd * chance.normal(size=(n, setting.n_runs))
    values += np.repeat(rounds, 2, axis=1)
    values += setting.line * sd * (np.arange(n_runs) / (n_runs - 1) - 0.5)
    return np.asarray(values + EFFECT_US * _is_treatment(setting))


def _is_treatment(setting: Setting) -> NDArray[np.bool_]:
    return np.array([who == "T" for who in setting.pattern])


def pairs(setting: Setting, means_us: Floats) -> Iterator[MeanPair]:
    """What each study tells of both scenarios, as comparing runs does."""
    is_treatment = _is_treatment(setting)
    spans = [(10 * at, 10 * at + 9) for at in range(2 * setting.n_runs)]
    times = (
        [span for span, is_one in zip(spans, is_treatment, strict=True) if is_one],
        [span for span, is_one in zip(spans, is_treatment, strict=True) if not is_one],
    )
    for row in means_us:
        sides = (1000 * row[is_treatment]).tolist(), (1000 * row[~is_treatment]).tolist()
        rounds = rounds_of(sides, times)
        assert len(rounds) >= LEAST_ROUNDS
        yield of_rounds(rounds)


def claim(lo: float, hi: float, unit: str = "us") -> Claim:
    """A claim of what the treatment adds, in µs or as a share of the baseline."""
    text = f"""
    [[claims]]
    id = "adds"
    sentence = "The treatment adds so much to the round trip"
    source.document = "a simulation"
    metric = "two-way-contribution"
    scope = {{ kind = "difference", treatment = "t", baseline = "b" }}
    interval = [{lo}, {hi}]
    unit = "{unit}"
    relative = {str(unit != "us").lower()}
    """
    return parse_published(text.encode(), "simulated").claims[0]


def words(pair: MeanPair, claims: Sequence[Claim], n_runs: int) -> list[str]:
    """Verdicts of claims, each alone."""
    found = {False: pair.difference(), True: pair.relative_change()}
    contrasts = {
        is_relative: Contrast(one, one.value, n_runs=n_runs, replication=RUNS)
        for is_relative, one in found.items()
        if one is not None
    }
    # without a contrast, for the baseline may be 0, nothing is decided
    tests = (
        tested(one, Evidence(contrasts[one.relative])) if one.relative in contrasts else None
        for one in claims
    )
    return ["undecided" if test is None else test.word for test in tests]


@dataclass(frozen=True)
class Decisions:
    """Of studies at a claim's edge: false claims held, true ones refuted; of its middle: held.

    Of the edge also claims of the relative change.
    """

    held_falsely: int
    refuted_falsely: int
    held_rightly: int
    relative_held_falsely: int
    relative_refuted_falsely: int

    @property
    def text(self) -> str:
        """As the table has it."""
        edge = (self.held_falsely, self.refuted_falsely)
        relative_edge = (self.relative_held_falsely, self.relative_refuted_falsely)
        middle = f"{100 * self.held_rightly / N_STUDIES:.1f}"
        return " / ".join([*map(_percent, edge), middle, *map(_percent, relative_edge)])


def _percent(n: int) -> str:
    return f"{100 * n / N_STUDIES:.2f}"


def standard_error_us(setting: Setting) -> float:
    """Of the effect, for one who knows what runs scatter by."""
    return sqrt(2 / setting.n_runs) * run_sd_us(setting.shape)


def decisions(setting: Setting) -> Decisions:
    """Judge three claims in every study: false and true by a nanosecond, and the middle of one."""
    half_us = 6 * standard_error_us(setting)
    far_us, least_us = 40.0, 0.001
    claims = [
        claim(EFFECT_US - far_us, EFFECT_US - least_us),
        claim(EFFECT_US - far_us, EFFECT_US),
        claim(round(EFFECT_US - half_us, 6), round(EFFECT_US + half_us, 6)),
        claim(-0.9, EFFECT_US / BASE_US - 1e-6, "frac"),
        claim(-0.9, EFFECT_US / BASE_US, "frac"),
    ]
    rows = [words(p, claims, setting.n_runs) for p in pairs(setting, studies(setting))]
    counted = zip(zip(*rows, strict=True), ("held", "refuted", "held") * 2, strict=False)
    held, refuted, middle, *relative = (list(column).count(word) for column, word in counted)
    return Decisions(held, refuted, middle, relative[0], relative[1])


@dataclass(frozen=True)
class Coverage:
    """How often intervals hold the truth, and how wide they are.

    `width` is by that of Student's interval of as many pairs without a change over time,
    `best_width` by that of the best interval of the same information.
    """

    inside: int
    inside_relative: int
    width: float
    best_width: float

    @property
    def text(self) -> str:
        """As the table has it."""
        both = (100 * n / N_STUDIES for n in (self.inside, self.inside_relative))
        widths = (self.width, self.best_width)
        return " / ".join([*(f"{s:.1f}" for s in both), *(f"{width:.2f}" for width in widths)])


def students_us(setting: Setting) -> float:
    """Mean half-width of Student's interval of as many independent pairs: nobody who does not know
    the scatter has a shorter one (Lehmann and Romano 2005, §5.2)."""
    df = setting.n_runs - 1
    scatter = sqrt(2 / df) * exp(lgamma((df + 1) / 2) - lgamma(df / 2))
    return float(t.ppf(1 - FALSE_SHARE, df)) * scatter * standard_error_us(setting)


def hidden_us(setting: Setting) -> float:
    """By how much an effect may differ, to either side of the middle, and runs show the same.

    A line over the rounds that goes on within them, and equal steps between them, give the same
    values and different effects. Rounds that differ by themselves hide any line.
    """
    treatment = np.flatnonzero(_is_treatment(setting))
    baseline = np.flatnonzero(~_is_treatment(setting))
    later = abs(float(treatment.mean() - baseline.mean()))
    rise = MOST_HIDDEN if setting.shared else setting.line / 2
    return later * rise * run_sd_us(setting.shape) / (2 * setting.n_runs - 1)


def coverage(setting: Setting) -> Coverage:
    """Take the intervals of the difference and of the relative change of every study."""
    inside = inside_relative = 0
    widths = []
    for pair in pairs(setting, studies(setting, seed=2)):
        lo, hi = pair.difference().interval(0.95)
        inside += lo <= 1000 * EFFECT_US <= hi
        widths.append((hi - lo) / 2000)
        change, truth = pair.relative_change(), EFFECT_US / BASE_US
        # no interval is given where the baseline may be 0
        inside_relative += (
            change is None
            or min(change.p_not_below(truth), change.p_not_above(truth)) > FALSE_SHARE
        )
    width_us, oracle_us = float(np.mean(widths)), students_us(setting)
    best_us = oracle_us + hidden_us(setting)
    return Coverage(inside, inside_relative, width_us / oracle_us, width_us / best_us)


DECIDED = tuple(
    Setting(shape, n_runs, order) for shape in SHAPES for n_runs in NUMBERS for order in ORDERS
)
DIFFERING = tuple(
    Setting(shape, n_runs, order, shared, line)
    for shape in SHAPES
    for order in ORDERS
    for shared, line in ((0.0, 0.0), (3.0, 0.0), (0.0, 6.0), (0.0, 30.0), (3.0, 6.0))
    for n_runs in NUMBERS
)
DISTURBED = tuple(
    Setting(shape, n_runs, order, shared, line)
    for shape in SHAPES
    for order in ORDERS
    for shared, line in ((3.0, 0.0), (0.0, 6.0), (3.0, 6.0))
    for n_runs in NUMBERS
)
"""In which verdicts are counted where rounds differ and change along a line."""


def false_verdicts(found: dict[Setting, Decisions]) -> list[str]:
    """Name cells in which verdicts are false too often, by a binomial test and Holm."""
    tests = [
        (float(binom.sf(n - 1, N_STUDIES, FALSE_SHARE)), f"{setting}: {what}")
        for setting, one in found.items()
        for what, n in (
            ("a false claim is held", one.held_falsely),
            ("a true claim is refuted", one.refuted_falsely),
            ("a false relative claim is held", one.relative_held_falsely),
            ("a true relative claim is refuted", one.relative_refuted_falsely),
        )
    ]
    tests.sort()
    wrong = []
    for n_done, (p, text) in enumerate(tests):
        if p > CHANCE_SHARE / (len(tests) - n_done):
            break
        wrong.append(text)
    return wrong


PAGE = ROOT / "docs" / "evaluation" / "decision_studies.md"
TABLE = re.compile(r"(<!-- (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
NAMES = {
    "alike_and_skewed": "neighbours correlated, skewed",
    "bimodal": "bimodal",
    "heavy_tailed": "heavy tail",
    "drifting": "drifting within each run",
}


def decided_table(found: dict[Setting, Decisions]) -> str:
    """A row for each shape and order, a column for each number of runs."""
    lines = [f"| runs a scenario | {' | '.join(map(str, NUMBERS))} |", f"|{' --- |' * 6}"]
    for shape in SHAPES:
        for order in ORDERS:
            cells = [found[Setting(shape, n, order)].text for n in NUMBERS]
            lines.append(f"| {NAMES[shape]}, {order} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def covered_table(found: dict[Setting, Coverage]) -> str:
    """A row for each way in which runs differ, a column for each number of runs."""
    return _by_difference(DIFFERING, found)


def disturbed_table(found: dict[Setting, Decisions]) -> str:
    """The same of verdicts."""
    return _by_difference(DISTURBED, found)


def _by_difference(
    settings: Sequence[Setting], found: Mapping[Setting, Coverage | Decisions]
) -> str:
    lines = [f"| runs a scenario | {' | '.join(map(str, NUMBERS))} |", f"|{' --- |' * 6}"]
    for setting in settings[:: len(NUMBERS)]:
        cells = [found[replace(setting, n_runs=n)].text for n in NUMBERS]
        name = f"{NAMES[setting.shape]}, {_differences(setting)}, {setting.order}"
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _differences(setting: Setting) -> str:
    parts = [
        f"rounds differ by {setting.shared:g}" if setting.shared else "",
        f"a line of {setting.line:g}" if setting.line else "",
    ]
    return " and ".join(filter(None, parts)) or "runs alone"


def written(text: str, tables: dict[str, str]) -> str:
    """The page with these tables; others stay as they are."""

    def table(match: re.Match[str]) -> str:
        return match[1] + tables[match[2]] + match[3] if match[2] in tables else match[0]

    return TABLE.sub(table, text)


def main() -> None:
    """Run all studies, write the tables, and say what limits are not kept."""
    found = {setting: decisions(setting) for setting in (*DECIDED, *DISTURBED)}
    covered = {setting: coverage(setting) for setting in DIFFERING}
    tables = {
        "decided": decided_table(found),
        "disturbed": disturbed_table(found),
        "covered": covered_table(covered),
    }
    PAGE.write_text(written(PAGE.read_text("utf-8"), tables))
    for wrong in false_verdicts(found):
        print(wrong)  # noqa: T201 - a script


if __name__ == "__main__":
    main()
