"""What single packets and few of them decide: extremes, far quantiles, losses that come in runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat.published import parse_published
from pcaplat.validating.verdicts import validate
from tests.studies.run_studies import most_false
from tests.support.runs import START_NS, run_of, scenario_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import NDArray

    from pcaplat.metrics.runs import MeasuredRun

    Floats = NDArray[np.float64]

GAP_NS = 10**12


def verdict(runs: list[MeasuredRun], bound: str, metric: str, unit: str) -> str:
    """Judge a claim of the whole path."""
    text = f"""
    [[claims]]
    id = "one"
    sentence = "so it is"
    source.document = "a simulation"
    metric = "{metric}"
    scope = {{ kind = "path" }}
    unit = "{unit}"
    {bound}
    """
    claims = parse_published(text.encode(), "simulated").claims
    return str(validate(claims, {"s": scenario_of("s", runs)})["verdicts"][0]["verdict"])


def runs_of(n_runs: int, make: Callable[[], Floats]) -> list[MeasuredRun]:
    values = [make() for _ in range(n_runs)]
    return [run_of(one, one, start_ns=START_NS + at * GAP_NS) for at, one in enumerate(values)]


@pytest.mark.parametrize(
    ("odd_us", "bound"), [(21.0, 'max"\nat_most = 20'), (4.0, 'min"\nat_least = 5')]
)
def test_one_packet_beyond_it_is_enough_against_an_extreme(odd_us: float, bound: str) -> None:
    chance = np.random.default_rng(1)
    values = [chance.uniform(10_000, 15_000, 600) for _ in range(12)]
    values[4][300] = 1000 * odd_us
    runs = [run_of(one, one, start_ns=START_NS + at * GAP_NS) for at, one in enumerate(values)]
    assert verdict(runs, f'statistic = "{bound}', "one-way-latency", "us") != "held"


def exponential_us(share: float) -> float:
    """A quantile of 5 µs and an exponential tail of 10."""
    return float(5 - 10 * np.log(1 - share))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("statistic", "share", "n_runs", "n"),
    [("p999", 0.999, 24, 160), ("p999", 0.999, 60, 65), ("p99", 0.99, 30, 20)],
)
def test_many_short_runs_do_not_lower_a_quantile(
    statistic: str, share: float, n_runs: int, n: int
) -> None:
    """The 0.999 of 160 packets is their greatest, and lies below it more often than above."""
    chance, n_studies = np.random.default_rng(n), 40
    bound = f'statistic = "{statistic}"\nat_most = {0.96 * exponential_us(share)}'
    found: Counter[str] = Counter()
    for _ in range(n_studies):
        runs = runs_of(n_runs, lambda: 5_000 + chance.exponential(10_000, n))
        found[verdict(runs, bound, "one-way-latency", "us")] += 1
    assert found["held"] <= most_false(n_studies)


def lossy(n_runs: int, shape: float, chance: np.random.Generator) -> list[MeasuredRun]:
    """Runs of 20,000 packets that lose 1 % on the average, each its own share of a gamma's."""
    runs = []
    for run in runs_of(n_runs, lambda: chance.uniform(10_000, 11_000, 200)):
        n_lost = int(chance.binomial(20_000, min(0.01 * chance.gamma(shape) / shape, 1.0)))
        rows: list[Any] = [
            row | {"n": 20_000 - n_lost, "n_lost": n_lost} for row in run.document["segments"]
        ]
        runs.append(replace(run, document=dict(run.document) | {"segments": rows}))
    return runs


@pytest.mark.one_in(2)
@pytest.mark.parametrize("shape", [0.3, 1.0, 3.0])
def test_runs_that_seldom_lose_much_hold_no_false_claim_of_loss(shape: float) -> None:
    n_studies = 150
    for n_runs in (3, 6, 12):
        chance = np.random.default_rng(n_runs)
        words = [
            verdict(lossy(n_runs, shape, chance), "at_most = 0.999", "loss-ratio", "%")
            for _ in range(n_studies)
        ]
        assert words.count("held") <= most_false(n_studies, 9)


def test_runs_that_all_lose_as_much_are_decided() -> None:
    """What runs may scatter by costs nothing where they do not."""
    chance, words = np.random.default_rng(2), []
    for _ in range(30):
        runs = lossy(6, 1e9, chance)
        words.append(verdict(runs, "at_most = 1.2", "loss-ratio", "%"))
        words.append(verdict(runs, "at_least = 0.8", "loss-ratio", "%"))
    assert words.count("held") >= 58


def test_short_runs_tell_a_quantile_by_counts() -> None:
    """Of 3,840 packets four lie beyond the true one, and a tenth of one beyond 1.6 times of it."""
    chance, words = np.random.default_rng(3), []
    for _ in range(20):
        runs = runs_of(24, lambda: 5_000 + chance.exponential(10_000, 160))
        for factor in (1.6, 0.3):
            bound = f'statistic = "p999"\nat_most = {factor * exponential_us(0.999)}'
            words.append(verdict(runs, bound, "one-way-latency", "us"))
    assert words[::2].count("held") >= 15
    assert words[1::2].count("refuted") >= 18
