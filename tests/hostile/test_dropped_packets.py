"""Captures that drop the packets that a verdict would not like."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.support.request_runs import RequestRun, RequestStudy
from tests.support.rewritten import records, rewrite
from tests.support.verdicts import DIFFERENCE, PATH, Validate, claim, sources, words, write_claims

if TYPE_CHECKING:
    from pathlib import Path

LIKE = RequestRun(noise_ns=5_000.0, n=600)
"""A round trip of 12 µs, of which 10 µs scatter."""


@pytest.fixture
def validate(capsys: pytest.CaptureFixture[str]) -> Validate:
    return Validate(capsys)


def drop(run: Path, least_ns: int, most_ns: int) -> None:
    """Take those packets out of the far capture that took from so long to so long."""
    near = {data: t_ns for t_ns, data in records(run / "near.pcap")}
    far = records(run / "far.pcap")
    kept = [one for one in far if not least_ns <= abs(one[0] - near[one[1]]) < most_ns]
    rewrite(run / "far.pcap", kept)


def test_a_capture_that_drops_slow_packets_proves_no_fast_path(
    validate: Validate, tmp_path: Path
) -> None:
    folder = RequestStudy(0.0, like=LIKE).save(tmp_path)["plain"]
    path = write_claims(tmp_path, claim("at_most = 10", PATH, metric="rtt"))
    assert words(validate(path, folder)) == ["refuted"]
    for run in folder.iterdir():
        drop(run, 9_000, 1_000_000)
    (row,) = validate(path, folder)
    assert row["verdict"] == "undecided"
    assert "20.78 % of the packets between near and far have no latency" in row["reason"]


def test_a_capture_that_drops_fast_packets_proves_no_effect(
    validate: Validate, tmp_path: Path
) -> None:
    folders = RequestStudy(0.0, like=LIKE).save(tmp_path)
    path = write_claims(tmp_path, claim("at_least = 1", DIFFERENCE))
    assert words(validate(path, *sources(folders))) == ["refuted"]
    for run in folders["slow"].iterdir():
        drop(run, 0, 2_000)
    assert words(validate(path, *sources(folders))) == ["undecided"]


LATENCY = "one-way-latency"
TAILS = [
    ("at_most = 9", "p90", LATENCY),
    ("at_most = 12", "p99", LATENCY),
    ("at_most = 10", "max", LATENCY),
    ("at_most = 9", "p90", "delay-variation"),
    ("at_most = 4", "mean", "delay-variation"),
    ("at_most = 18", "p99", "rtt"),
    ("at_most = 70", "p99", "transaction-time"),
]


@pytest.mark.parametrize(("bound", "statistic", "metric"), TAILS)
def test_a_capture_that_drops_slow_packets_proves_no_short_tail(
    validate: Validate, tmp_path: Path, bound: str, statistic: str, metric: str
) -> None:
    study = RequestStudy(0.0, like=replace(LIKE, n=1_000), n_runs=6)
    folder = study.save(tmp_path)["plain"]
    text = claim(f'{bound}\nstatistic = "{statistic}"', PATH, metric=metric)
    path = write_claims(tmp_path, text)
    assert words(validate(path, folder, "--same-clock", "all")) == ["refuted"]
    for run in folder.iterdir():
        drop(run, 9_000, 1_000_000)
    (row,) = validate(path, folder, "--same-clock", "all")
    assert row["verdict"] == "undecided"
    assert "of the packets between near and far have no latency" in row["reason"]


def test_few_missing_packets_are_many_of_those_beyond_a_high_quantile(
    validate: Validate, tmp_path: Path
) -> None:
    """One packet in 150 is dropped: of the slowest percent it is two thirds."""
    study = RequestStudy(0.0, like=replace(LIKE, n=4_000), n_runs=3)
    folder = study.save(tmp_path)["plain"]
    texts = [
        claim(f'at_most = {most}\nstatistic = "{name}"', PATH, metric=LATENCY, name=name)
        for most, name in ((23, "p99"), (5, "p50"))
    ]
    path = write_claims(tmp_path, *texts)
    for run in folder.iterdir():
        drop(run, 26_000, 1_000_000)
    assert words(validate(path, folder, "--same-clock", "all")) == ["undecided", "held"]


def test_a_client_that_misses_slow_responses_has_no_transaction_times(
    validate: Validate, tmp_path: Path
) -> None:
    folder = RequestStudy(0.0, like=replace(LIKE, n=2_000), n_runs=3).save(tmp_path)["plain"]
    for run in folder.iterdir():
        far = {data: t_ns for t_ns, data in records(run / "far.pcap")}
        near = records(run / "near.pcap")
        rewrite(run / "near.pcap", [one for one in near if abs(one[0] - far[one[1]]) < 9_000])
    bounds = ('at_most = 70\nstatistic = "p99"', "at_least = 70")
    texts = [
        claim(bound, PATH, metric="transaction-time", name=name)
        for bound, name in zip(bounds, ("p99", "mean"), strict=True)
    ]
    rows = validate(write_claims(tmp_path, *texts), folder)
    assert words(rows) == ["undecided", "undecided"]


def test_a_relative_change_is_not_shrunk_by_dropped_packets(
    validate: Validate, tmp_path: Path
) -> None:
    folders = RequestStudy(3_000.0, like=LIKE).save(tmp_path)
    bound = 'at_most = 10\nrelative = true\nunit = "%"'
    path = write_claims(tmp_path, claim(bound, DIFFERENCE))
    assert words(validate(path, *sources(folders))) == ["refuted"]
    for run in folders["slow"].iterdir():
        drop(run, 9_000, 1_000_000)
    assert words(validate(path, *sources(folders))) == ["undecided"]


def test_a_few_lost_packets_turn_no_verdict(validate: Validate, tmp_path: Path) -> None:
    folder = RequestStudy(0.0, like=RequestRun(every_nth_lost=50)).save(tmp_path)["plain"]
    path = write_claims(tmp_path, claim("interval = [11, 13]", PATH, metric="rtt"))
    assert words(validate(path, folder)) == ["held"]
