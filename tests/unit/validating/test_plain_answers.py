"""What counts alone decide is decided: quantiles and extremes, whatever the distribution."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import binom  # type: ignore[import-untyped]

from tests.support.request_runs import RequestRun, RequestStudy
from tests.support.verdicts import Validate, claim, words, write_claims

if TYPE_CHECKING:
    from pathlib import Path

RUN, PATH = 'scope = "run"', 'scope = { kind = "path" }'
ONE_WAY = "one-way-latency"
SLOW = RequestRun(
    forward_ns=260_000.0, reverse_ns=40_000.0, noise_ns=30_000.0, gap_ns=2_000_000, n=600
)
"""No packet of it takes less than 230 µs."""

STATISTICS = pytest.mark.parametrize(
    "statistic", ["min", "p50", "p90", "p95", "p99", "max", "mean"]
)


@pytest.fixture
def validate(capsys: pytest.CaptureFixture[str]) -> Validate:
    return Validate(capsys)


def judged(validate: Validate, folder: Path, bound: str, scope: str, *where: Path) -> list[str]:
    path = write_claims(folder, claim(bound, scope, metric=ONE_WAY))
    return words(validate(path, *where, "--same-clock", "all"))


@STATISTICS
def test_these_very_captures_refute_what_every_packet_contradicts(
    validate: Validate, tmp_path: Path, statistic: str
) -> None:
    files = sorted(SLOW.save(tmp_path / "one").iterdir())
    bound = f'statistic = "{statistic}"\nat_most = 20'
    assert judged(validate, tmp_path, bound, RUN, *files) == ["refuted"]


@pytest.mark.parametrize("statistic", ["min", "p50", "p99"])
def test_one_run_prints_the_fact_and_decides_nothing(
    validate: Validate, tmp_path: Path, statistic: str
) -> None:
    files = sorted(SLOW.save(tmp_path / "one").iterdir())
    bound = f'statistic = "{statistic}"\nat_most = 20'
    path = write_claims(tmp_path, claim(bound, PATH, metric=ONE_WAY))
    (row,) = validate(path, *files, "--same-clock", "all", "--warm-up", "0s")
    assert row["verdict"] == "undecided"
    # the least, in µs, or a bound
    assert "230." in row["reason"] or (row["lo"] is not None and row["lo"] > 20)


@pytest.mark.parametrize("statistic", ["p50", "p99", "p999"])
@pytest.mark.parametrize("n_runs", [3, 4])
def test_three_runs_refute_what_every_packet_contradicts(
    validate: Validate, tmp_path: Path, statistic: str, n_runs: int
) -> None:
    folders = RequestStudy(0.0, n_runs=n_runs, like=SLOW).save(tmp_path)
    bound = f'statistic = "{statistic}"\nat_most = 20'
    assert judged(validate, tmp_path, bound, PATH, folders["plain"]) == ["refuted"]


@pytest.mark.parametrize(
    ("statistic", "bound", "word"),
    [("p99", "at_most = 400", "undecided"), ("p50", "at_most = 400", "held")],
)
def test_too_few_packets_beyond_a_quantile_bound_it_on_one_side_only(
    validate: Validate, tmp_path: Path, statistic: str, bound: str, word: str
) -> None:
    """Of 100 packets all may lie below the p99: 0.99 ** 100 is more than a third."""
    few = RequestRun(
        forward_ns=260_000.0, reverse_ns=40_000.0, noise_ns=10_000.0, gap_ns=2_000_000, n=100
    )
    folders = RequestStudy(0.0, n_runs=3, like=few).save(tmp_path)
    text = f'statistic = "{statistic}"\n{bound}'
    assert judged(validate, tmp_path, text, PATH, folders["plain"]) == [word]


def test_bounds_of_one_run_are_those_of_the_binomial(validate: Validate, tmp_path: Path) -> None:
    """The interval of a median needs no shape: order statistics (David and Nagaraja 2003, 7.1)."""
    run = replace(SLOW, n=1000, seed=5)
    files = sorted(run.save(tmp_path / "one").iterdir())
    bound = 'statistic = "p50"\ninterval = [0, 10000]'
    path = write_claims(tmp_path, claim(bound, RUN, metric=ONE_WAY))
    (row,) = validate(path, *files, "--same-clock", "all", "--warm-up", "0s")
    sent = np.sort(run.latencies_ns()[:, 0].astype(int)) / 1000
    ranks = binom.ppf([0.0005, 0.9995], 1000, 0.5).astype(int)
    wide, narrow = sent[ranks], sent[binom.ppf([0.2, 0.8], 1000, 0.5).astype(int)]
    assert wide[0] <= row["lo"] <= narrow[0]
    assert narrow[1] <= row["hi"] <= wide[1]
    assert row["verdict"] == "held"
