"""Studies of runs that differ, of known truth: how often is a verdict false, and a true one given?

Runs of four shapes of latencies are drawn once and shifted: by what the run has of its own, by what
it shares with its round, and by the effect.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from scipy.signal import lfilter  # type: ignore[import-untyped]
from scipy.stats import binom  # type: ignore[import-untyped]

from pcaplat.published import parse_published
from pcaplat.validating.verdicts import validate
from tests.support.runs import GAP_NS, START_NS, run_of, scenario_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import NDArray

    from pcaplat.metrics.runs import MeasuredRun

    Floats = NDArray[np.float64]
    Shape = Callable[[np.random.Generator, int], Floats]

BASE_US = 60.0
N_PACKETS = 768
N_OF_A_SHAPE = 64
"""Runs that are drawn of each shape; their means add up to nothing."""
FALSE_SHARE = 0.025


def alike_and_skewed(chance: np.random.Generator, n: int) -> Floats:
    """Neighbours resemble each other (AR(1), 0.7), and the tail is on the slow side."""
    steps = chance.normal(size=n) * sqrt(1 - 0.7**2)
    neighbours: Floats = np.asarray(lfilter([1], [1, -0.7], steps), np.float64)
    return np.asarray(3 * (np.exp(0.8 * neighbours) - np.exp(0.32)))


def bimodal(chance: np.random.Generator, n: int) -> Floats:
    """Two modes 18 µs apart, each kept for some 20 transactions."""
    mode = np.cumsum(chance.random(n) < 1 / 20) + chance.integers(2)
    return np.where(mode % 2 == 0, 9.0, -9.0) + 4.4 * chance.normal(size=n)


def heavy_tailed(chance: np.random.Generator, n: int) -> Floats:
    """Pareto's tail with an index of 2.5: the variance exists, and no more."""
    return 3 * (chance.pareto(2.5, size=n) - 1 / 1.5)


def drifting(chance: np.random.Generator, n: int) -> Floats:
    """All of a run gets slower, by 20 µs from start to end."""
    return 5 * (chance.exponential(size=n) - 1) + np.linspace(-10, 10, n)


SHAPES: dict[str, Shape] = {
    one.__name__: one for one in (alike_and_skewed, bimodal, heavy_tailed, drifting)
}


@dataclass(frozen=True)
class Design:
    """How a study is made; what differs in µs of the round trip."""

    shape: str = "alike_and_skewed"
    n_runs: int = 6
    order: str = "interleaved"
    run_sd_us: float = 0.7
    round_sd_us: float = 0.0
    step_us: float = 0.0
    """What the second half of the runs takes longer."""
    slope_us: float = 0.0
    """What the last run takes longer than the first, along a line."""
    ratio: float = 1.0
    """So many times as long takes slow, whatever plain takes."""

    def names(self) -> list[str]:
        """Which scenario each run is of, in the order of time."""
        if self.order == "row":
            return ["plain"] * self.n_runs + ["slow"] * self.n_runs
        if self.order == "fixed":
            return ["plain", "slow"] * self.n_runs
        pairs = [("plain", "slow"), ("slow", "plain")]
        return [name for place in range(self.n_runs) for name in pairs[place % 2]]

    def run_means_us(self, chance: np.random.Generator, effect_us: float) -> Floats:
        """What each run takes, in the order of time."""
        n = 2 * self.n_runs
        place = np.arange(n)
        means = BASE_US + self.run_sd_us * chance.normal(size=n)
        means += np.repeat(self.round_sd_us * chance.normal(size=self.n_runs), 2)
        means += self.step_us * (place >= n / 2) + self.slope_us * place / max(n - 1, 1)
        is_slow = np.array(self.names()) == "slow"
        return np.asarray(np.where(is_slow, self.ratio * means + effect_us, means))


@lru_cache
def runs_about_0(shape: str) -> list[MeasuredRun]:
    """Draw runs whose means are 0 on the average, half of it each way, plus BASE_US."""
    chance = np.random.default_rng([*shape.encode()])
    noise = np.array([SHAPES[shape](chance, N_PACKETS) for _ in range(N_OF_A_SHAPE)])
    halves = 500 * (BASE_US + noise - noise.mean())
    return [run_of(half, half[::-1].copy()) for half in halves]


def shifted(run: MeasuredRun, round_trip_us: float, place: int) -> MeasuredRun:
    """The run as it would be later, and slower by so much, half of it each way."""
    by_ns = round(500 * round_trip_us)
    start_ns = START_NS + 2 * place * GAP_NS * N_PACKETS
    blocks = {
        key: replace(
            some,
            start_ns=start_ns,
            sum_ns=some.sum_ns + by_ns * some.n,
            sum_of_squares=some.sum_of_squares + 2.0 * by_ns * some.sum_ns + by_ns**2 * some.n,
            middles_ns=some.middles_ns + by_ns,
        )
        for key, some in run.blocks.items()
    }
    document = dict(run.document)
    document["segments"] = [
        row | {"min_ns": row["min_ns"] + by_ns, "max_ns": row["max_ns"] + by_ns}
        for row in run.document["segments"]
    ]
    return replace(run, name=f"run{place}", document=document, blocks=blocks)


def study(design: Design, effect_us: float, seed: int) -> dict[str, Any]:
    """Scenarios of one study, by name."""
    chance = np.random.default_rng([seed, *repr(design).encode()])
    pool = runs_about_0(design.shape)
    both: dict[str, list[MeasuredRun]] = {"plain": [], "slow": []}
    for place, mean_us in enumerate(design.run_means_us(chance, effect_us)):
        run = pool[int(chance.integers(len(pool)))]
        both[design.names()[place]].append(shifted(run, mean_us - BASE_US, place))
    return {name: scenario_of(name, runs) for name, runs in both.items()}


def claim_text(lo_us: float, hi_us: float, more: str = "", name: str = "slower") -> str:
    """A claim of what slow takes longer than plain."""
    return f"""
    [[claims]]
    id = "{name}"
    sentence = "slow takes longer"
    source.document = "a simulation"
    metric = "two-way-contribution"
    scope = {{ kind = "difference", treatment = "slow", baseline = "plain" }}
    interval = [{lo_us}, {hi_us}]
    unit = "us"
    {more}
    """


def judged(text: str, scenarios: dict[str, Any]) -> dict[str, Any]:
    """The verdict's row of one claim."""
    claims = parse_published(text.encode(), "simulated").claims
    return dict(validate(claims, scenarios)["verdicts"][0])


def verdicts(design: Design, effect_us: float, text: str, n_studies: int) -> Counter[str]:
    """Count the verdicts of studies of a true effect."""
    rows = (judged(text, study(design, effect_us, seed)) for seed in range(n_studies))
    return Counter(row["verdict"] for row in rows)


def most_false(n_studies: int, n_cells: int = 1, share: float = FALSE_SHARE) -> int:
    """So many false verdicts are still chance, at 99 % over all cells (Bonferroni: no more than
    Holm's last)."""
    return int(binom.ppf(1 - 0.01 / n_cells, n_studies, share))


def oracle_se_us(design: Design) -> float:
    """Standard error of the effect for one who knows what runs and rounds scatter by."""
    packets = np.array([_mean_us(run) for run in runs_about_0(design.shape)]).std()
    return sqrt(2 * (design.run_sd_us**2 + packets**2) / design.n_runs)


def _mean_us(run: MeasuredRun) -> float:
    return sum(some.mean_ns for some in run.blocks.values()) / 1000
