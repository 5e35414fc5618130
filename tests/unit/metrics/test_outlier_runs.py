"""Doubts about runs: which have not settled, which are unlike the others, and which are neither."""

import numpy as np

from pcaplat.comparing.diagnostics import check_runs
from pcaplat.metrics.outlier_runs import odd_run
from pcaplat.metrics.runs import Scenario
from tests.support.runs import run_of


def test_a_steady_run_with_long_tails_is_no_warm_up() -> None:
    chance = np.random.default_rng(7)
    steady = [run_of(*chance.lognormal(9, 1, (2, 2000))) for _ in range(20)]
    starting = chance.lognormal(9, 0.2, (2, 2000))
    starting[:, :700] *= 3
    slow = run_of(*starting)
    found = check_runs([Scenario("steady", steady), Scenario("slow", [slow])])
    assert [(diagnostic.code, diagnostic.text.split(":")[0]) for diagnostic in found] == [
        ("warm-up", "slow")
    ]


def test_an_odd_run_is_named_as_seldom_as_promised() -> None:
    chance = np.random.default_rng(8)
    named = [odd_run(list(chance.normal(9, 0.1, 8))) is not None for _ in range(3000)]
    assert 10 <= sum(named) <= 50


def test_few_runs_name_none() -> None:
    assert odd_run([9.0, 9.1, 15.0, 9.2]) is None
    assert odd_run([9.0, 9.1, 15.0, 9.2, 9.1]) == 2
