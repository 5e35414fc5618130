"""Simulated studies, 300 of each kind: how often are claims held and refuted, true or not?

Per-transaction latencies go through the real comparison and decision. `python -m
tests.studies.decision_studies` writes the table of docs/decision_studies.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.signal import lfilter  # type: ignore[import-untyped]

from pcaplat.published import parse_published
from pcaplat.validating.verdicts import validate
from tests.conftest import ROOT
from tests.support.runs import GAP_NS, START_NS, run_of, scenario_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pcaplat.metrics.runs import MeasuredRun
    from pcaplat.published.claims import Claim

    Floats = NDArray[np.float64]

N_STUDIES = 300
MOST_WRONG = 23
"""Of 300, at a true rate of 5 %: the upper 95 % binomial bound."""

LEAST_RIGHT = 260
LO_US, HI_US = 13.3, 15.7
CENTRE_US, HALF_US = (LO_US + HI_US) / 2, (HI_US - LO_US) / 2
SD_US = 10.0
N_EFFECTIVE = 1503
"""Independent transactions a scenario that 90 % power takes (the difference of two of sd 10 µs)."""

EFFECTS_US = {
    "centre": CENTRE_US,
    "inside": HI_US - 0.3,
    "edge": HI_US,
    "just outside": HI_US + 0.3,
    "outside": HI_US + HALF_US,
    "far outside": HI_US + 4 * HALF_US,
}
"""True effects. The claim is true up to its edge, and false beyond it."""

IS_TRUE = ("centre", "inside", "edge")
IS_FALSE = ("just outside", "outside", "far outside")

BASE_US = 60.0
Noise = Callable[[np.random.Generator, int], "Floats"]
"""Two-way contributions of so many transactions about 0, µs."""


@dataclass(frozen=True)
class Kind:
    """How a study is made: noise, how long its runs are, and how runs differ."""

    name: str
    noise: Noise
    n_transactions: int
    n_runs: int = 1
    run_sd_us: float = 0.0
    drift_us: float = 0.0
    order: str = "interleaved"
    stamp_ns: int = 1
    has_power: bool = False


def claim() -> Claim:
    """Give the claim that is judged: 13.3 to 15.7 µs."""
    text = f"""
    [[claims]]
    id = "dfw"
    sentence = "The firewall adds 13.3 to 15.7 µs to the round trip"
    source.document = "a simulation"
    metric = "two-way-contribution"
    scope = {{ kind = "difference", treatment = "dfw", baseline = "l2" }}
    interval = [{LO_US}, {HI_US}]
    unit = "us"
    """
    return parse_published(text.encode(), "simulated").claims[0]


def independent(chance: np.random.Generator, n: int) -> Floats:
    """Give skewed noise without memory."""
    return SD_US * (chance.exponential(size=n) - 1)


def alike(chance: np.random.Generator, n: int) -> Floats:
    """Neighbours resemble each other: AR(1), 0.9, so that 19 are worth one."""
    steps = chance.normal(size=n) * np.sqrt(1 - 0.9**2)
    steps[0] /= np.sqrt(1 - 0.9**2)
    return SD_US * np.asarray(lfilter([1], [1, -0.9], steps))


def bimodal(chance: np.random.Generator, n: int) -> Floats:
    """Two modes 18 µs apart, each kept for some 20 transactions (IACT about 16), and jitter."""
    switches = chance.random(n) < 1 / 20
    mode = np.cumsum(switches) + chance.integers(2)
    return np.where(mode % 2 == 0, 9.0, -9.0) + 4.4 * chance.normal(size=n)


def drifting(chance: np.random.Generator, n: int) -> Floats:
    """All of a run gets slower, by 20 µs from start to end."""
    return independent(chance, n) + np.linspace(-10, 10, n)


KINDS = (
    Kind("independent", independent, N_EFFECTIVE, has_power=True),
    Kind("autocorrelated", alike, 19 * N_EFFECTIVE, has_power=True),
    Kind("bimodal", bimodal, 16 * N_EFFECTIVE, has_power=True),
    Kind("drifting within the runs", drifting, 4 * N_EFFECTIVE),
    Kind("stamps of 1 µs", independent, N_EFFECTIVE, stamp_ns=1000, has_power=True),
    Kind("10 + 10 runs that differ", independent, 2000, 10, 0.7, has_power=True),
    Kind("5 + 5 runs that differ", independent, 2000, 5, 0.7),
    Kind("10 + 10 runs, autocorrelated, bimodal, 1 µs", bimodal, 4000, 10, 0.5, stamp_ns=1000),
    Kind("10 + 10 runs that drift, interleaved", independent, 2000, 10, 0.5, drift_us=4.0),
    Kind("10 + 10 runs that drift, one after the other", independent, 2000, 10, 0.5, 4.0, "blocks"),
)


def latencies(kind: Kind, chance: np.random.Generator, mean_us: float) -> tuple[Floats, Floats]:
    """Make a run's latencies of both directions, ns, as stamps of the kind's resolution say."""
    two_way_us = mean_us + kind.noise(chance, kind.n_transactions)
    share = chance.uniform(0.3, 0.7, kind.n_transactions)
    one_way = [1000 * two_way_us * share, 1000 * two_way_us * (1 - share)]
    return tuple(_stamped(values, chance, kind.stamp_ns) for values in one_way)  # type: ignore[return-value]


def _stamped(values_ns: Floats, chance: np.random.Generator, stamp_ns: int) -> Floats:
    """Cut both stamps to the resolution; packets come at any phase of it."""
    sent_ns = chance.uniform(0, 1e6, len(values_ns))
    cut = [np.floor(stamps / stamp_ns) * stamp_ns for stamps in (sent_ns, sent_ns + values_ns)]
    return np.asarray(cut[1] - cut[0])


def study(kind: Kind, effect_us: float, seed: int) -> str:
    """Run one study; give its verdict."""
    chance = np.random.default_rng([seed, kind.n_transactions, kind.n_runs])
    both: dict[str, list[MeasuredRun]] = {"l2": [], "dfw": []}
    for place, name in enumerate(_order(kind)):
        # a line over the order of the runs, of the same height whatever their number
        drift_us = kind.drift_us * place / (2 * kind.n_runs)
        mean_us = BASE_US + drift_us + kind.run_sd_us * chance.normal()
        mean_us += effect_us if name == "dfw" else 0.0
        forward_ns, reverse_ns = latencies(kind, chance, mean_us)
        start_ns = START_NS + 2 * place * GAP_NS * kind.n_transactions
        both[name].append(
            run_of(forward_ns, reverse_ns, start_ns=start_ns, resolution_ns=kind.stamp_ns)
        )
    scenarios = {name: scenario_of(name, runs) for name, runs in both.items()}
    return str(validate([claim()], scenarios)["verdicts"][0]["verdict"])


def _order(kind: Kind) -> list[str]:
    if kind.order == "blocks":
        return ["l2"] * kind.n_runs + ["dfw"] * kind.n_runs
    pairs = [("l2", "dfw"), ("dfw", "l2")]
    return [name for place in range(kind.n_runs) for name in pairs[place % 2]]


def counts(kind: Kind, where: str, n_studies: int = N_STUDIES) -> Counter[str]:
    """Count the verdicts of a kind of study at a true effect."""
    return Counter(study(kind, EFFECTS_US[where], seed) for seed in range(n_studies))


def mistakes(kind: Kind, where: str, found: Counter[str]) -> list[str]:
    """Say which limits are not kept."""
    place = f"{kind.name}, {where}: {dict(found)}"
    wrong = []
    if where in IS_FALSE and found["held"] > MOST_WRONG:
        wrong.append(f"{place}: a false claim is held")
    if where in IS_TRUE and found["refuted"] > MOST_WRONG:
        wrong.append(f"{place}: a true claim is refuted")
    if where == "centre" and kind.has_power and found["held"] < LEAST_RIGHT:
        wrong.append(f"{place}: a true claim is not held")
    return wrong


PAGE = ROOT / "docs" / "decision_studies.md"
TABLE = re.compile(r"(<!-- table -->\n).*?(<!-- end -->)", re.DOTALL)


def table(found: dict[tuple[str, str], Counter[str]]) -> str:
    """Write held / refuted / undecided of every kind and effect."""
    lines = [f"| kind of study | {' | '.join(_headings())} |"]
    lines.append(f"|{' --- |' * (len(EFFECTS_US) + 1)}")
    for kind in KINDS:
        cells = [_cell(found[kind.name, where]) for where in EFFECTS_US]
        lines.append(f"| {kind.name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _headings() -> list[str]:
    return [f"{where}, {effect:g} µs" for where, effect in EFFECTS_US.items()]


def _cell(found: Counter[str]) -> str:
    return " / ".join(str(found[word]) for word in ("held", "refuted", "undecided"))


def main() -> None:
    """Run all studies, write the table, and say what limits are not kept."""
    found = {(k.name, where): counts(k, where) for k in KINDS for where in EFFECTS_US}
    text = PAGE.read_text("utf-8")
    PAGE.write_text(TABLE.sub(lambda match: match[1] + table(found) + match[2], text))
    for kind in KINDS:
        for where in EFFECTS_US:
            for wrong in mistakes(kind, where, found[kind.name, where]):
                print(wrong)  # noqa: T201 - a script


if __name__ == "__main__":
    main()
