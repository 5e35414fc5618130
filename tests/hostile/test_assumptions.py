"""Frauds that no capture shows: the verdict names the assumption that it rests on."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat.validating.given_runs import gaps
from tests.support.request_runs import RequestRun, RequestStudy
from tests.support.rewritten import records, restamp, rewrite
from tests.support.runs import run_of, scenario_of
from tests.support.verdicts import DIFFERENCE, PATH, Validate, claim, sources, write_claims

if TYPE_CHECKING:
    from pathlib import Path

RUN = 'scope = { kind = "run" }'


@pytest.fixture
def validate(capsys: pytest.CaptureFixture[str]) -> Validate:
    return Validate(capsys)


def drop_slow(run: Path, least_ns: int) -> None:
    """Take packets that took so long out of both captures."""
    near, far = ({data: t_ns for t_ns, data in records(run / f"{n}.pcap")} for n in ("near", "far"))
    slow = {data for data in near if data in far and abs(near[data] - far[data]) >= least_ns}
    for name in ("near", "far"):
        kept = [one for one in records(run / f"{name}.pcap") if one[1] not in slow]
        rewrite(run / f"{name}.pcap", kept)


def test_packets_that_both_captures_lack_are_assumed_to_be_like_the_others(
    validate: Validate, tmp_path: Path
) -> None:
    study = RequestStudy(0.0, like=RequestRun(noise_ns=5_000.0, n=600))
    folder = study.save(tmp_path)["plain"]
    path = write_claims(tmp_path, claim("at_most = 10", PATH))
    for run in folder.iterdir():
        drop_slow(run, 9_000)
    (row,) = validate(path, folder)
    assert row["verdict"] == "held"
    assert any("packets that no capture has" in text for text in row["assumes"])


def test_a_clock_that_is_off_by_less_than_the_latency_is_an_assumption(
    validate: Validate, tmp_path: Path
) -> None:
    folder = RequestStudy(0.0).save(tmp_path)["plain"]
    for run in folder.iterdir():
        restamp(run / "far.pcap", lambda _: -4_000)
    texts = [
        claim("at_most = 3", scope, name=name, metric="one-way-latency")
        for name, scope in (("runs", PATH), ("captures", RUN))
    ]
    of_runs, of_captures = validate(
        write_claims(tmp_path, *texts), folder / "run0", "--same-clock", "all"
    )
    assert of_runs["verdict"] == "undecided"
    assert of_runs["assumes"] == []
    assert of_captures["verdict"] == "held"
    assert of_captures["assumes"] == ["near and far share a clock, as declared"]
    (row,) = validate(write_claims(tmp_path, texts[0]), folder, "--same-clock", "all")
    assert row["verdict"] == "held"
    assert "near and far share a clock, as declared" in row["assumes"]


def test_what_protocols_fix_assumes_nothing(validate: Validate, tmp_path: Path) -> None:
    folder = RequestStudy(0.0).save(tmp_path)["plain"]
    text = claim('about = 0\ntolerance = 0\nunit = "B"', PATH, metric="encapsulation-overhead")
    (row,) = validate(write_claims(tmp_path, text), folder)
    assert (row["verdict"], row["assumes"]) == ("held", [])


def test_a_run_that_was_left_out_leaves_a_gap_that_is_named(
    validate: Validate, tmp_path: Path
) -> None:
    folders = RequestStudy().save(tmp_path)
    path = write_claims(tmp_path, claim("interval = [3, 5]", DIFFERENCE))
    (row,) = validate(path, *sources(folders))
    assert "gaps" not in row["reason"]
    shutil.rmtree(folders["slow"] / "run2")
    (row,) = validate(path, *sources(folders))
    assert "slow: the numbers of its runs have gaps (run2)" in row["reason"]
    assert "plain: the numbers" not in row["reason"]


NUMBERS = [
    ((1, 2, 4), (1, 2, 3), ["run3"]),
    ((1, 4, 5), (2, 3, 6), []),
    ((1, 4, 5), (2, 3, 7), ["run6"]),
    ((1, 3, 5), (1, 3, 5), []),
    ((1, 3, 7), (1, 3, 5), ["run5"]),
    ((1, 9), (1, 2), []),
    ((901, 1014, 1120), (1, 2, 3), []),
]
"""Numbers of the runs of two scenarios; a gap in steps of two; dates are no numbers of runs."""


@pytest.mark.parametrize(("plain", "slow", "missing"), NUMBERS)
def test_numbers_go_on_through_scenarios_that_share_none(
    plain: tuple[int, ...], slow: tuple[int, ...], missing: list[str]
) -> None:
    scenarios = [
        scenario_of(name, [replace(run_of(*np.ones((2, 9))), name=f"run{n}") for n in numbers])
        for name, numbers in (("plain", plain), ("slow", slow))
    ]
    found = [text for text in gaps(scenarios) if text]
    assert all(f"({', '.join(missing)})" in text for text in found)
    assert bool(found) == bool(missing)
