"""Clocks that are declared equal and are not: packets that contradict it decide no claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.request_runs import RequestStudy
from tests.support.rewritten import restamp
from tests.support.verdicts import DIFFERENCE, PATH, Validate, claim, sources, words, write_claims

if TYPE_CHECKING:
    from pathlib import Path

LATENCY = "one-way-latency"
OFF_NS = 20_000
"""More than a packet takes: it arrives before it left."""


@pytest.fixture
def validate(capsys: pytest.CaptureFixture[str]) -> Validate:
    return Validate(capsys)


def set_back(scenario: Path, by_ns: int) -> None:
    """The far clock of every run is behind by so much."""
    for run in scenario.iterdir():
        restamp(run / "far.pcap", lambda _: -by_ns)


@pytest.mark.parametrize("statistic", ["mean", "p99", "max"])
def test_a_latency_below_0_holds_no_claim(
    validate: Validate, tmp_path: Path, statistic: str
) -> None:
    folder = RequestStudy(0.0, n_runs=3).save(tmp_path)["plain"]
    bound = f'at_most = 5\nstatistic = "{statistic}"'
    path = write_claims(tmp_path, claim(bound, PATH, metric=LATENCY))
    assert words(validate(path, folder, "--same-clock", "all")) == ["refuted"]
    set_back(folder, OFF_NS)
    (row,) = validate(path, folder, "--same-clock", "all")
    assert row["verdict"] == "undecided"
    assert "before they left" in row["reason"]


def test_the_other_direction_contradicts_a_clock_too(validate: Validate, tmp_path: Path) -> None:
    """What is forward looks plausible; in reverse, packets arrive before they left."""
    folder = RequestStudy(0.0, n_runs=3).save(tmp_path)["plain"]
    path = write_claims(tmp_path, claim("at_least = 20", PATH, metric=LATENCY))
    set_back(folder, -OFF_NS)
    assert words(validate(path, folder, "--same-clock", "all")) == ["undecided"]
    assert words(validate(path, folder)) == ["refuted"]


def test_a_round_trip_needs_no_such_clock(validate: Validate, tmp_path: Path) -> None:
    folder = RequestStudy(0.0, n_runs=3).save(tmp_path)["plain"]
    set_back(folder, OFF_NS)
    path = write_claims(tmp_path, claim("interval = [10, 14]"))
    assert words(validate(path, folder, "--same-clock", "all")) == ["held"]


def test_a_baseline_below_0_has_no_relative_change(validate: Validate, tmp_path: Path) -> None:
    """From -16 to -14 µs is no decrease by 15 %."""
    folders = RequestStudy(4_000.0, n_runs=3).save(tmp_path)
    for folder in folders.values():
        set_back(folder, OFF_NS)
    bound = 'at_most = 5\nrelative = true\nunit = "%"'
    path = write_claims(tmp_path, claim(bound, DIFFERENCE, metric=LATENCY))
    (row,) = validate(path, *sources(folders), "--same-clock", "all")
    assert row["verdict"] == "undecided"
    assert row["estimate"] is None
