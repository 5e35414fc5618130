"""Captures that drop the packets that a verdict would not like."""

from __future__ import annotations

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
    assert "20.75 % of the packets between near and far have no latency" in row["reason"]


def test_a_capture_that_drops_fast_packets_proves_no_effect(
    validate: Validate, tmp_path: Path
) -> None:
    folders = RequestStudy(0.0, like=LIKE).save(tmp_path)
    path = write_claims(tmp_path, claim("at_least = 1", DIFFERENCE))
    assert words(validate(path, *sources(folders))) == ["refuted"]
    for run in folders["slow"].iterdir():
        drop(run, 0, 2_000)
    assert words(validate(path, *sources(folders))) == ["undecided"]


def test_a_few_lost_packets_turn_no_verdict(validate: Validate, tmp_path: Path) -> None:
    folder = RequestStudy(0.0, like=RequestRun(every_nth_lost=50)).save(tmp_path)["plain"]
    path = write_claims(tmp_path, claim("interval = [11, 13]", PATH, metric="rtt"))
    assert words(validate(path, folder)) == ["held"]
