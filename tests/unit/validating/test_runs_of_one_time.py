"""Runs that were captured at the same time are one repetition, by however many tools."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.support.request_runs import RequestRun
from tests.support.rewritten import records, rewrite
from tests.support.verdicts import PATH, Validate, claim, write_claims

if TYPE_CHECKING:
    from pathlib import Path

RUN = 'scope = { kind = "run" }'


@pytest.fixture
def validate(capsys: pytest.CaptureFixture[str]) -> Validate:
    return Validate(capsys)


def save(folder: Path, later_ns: int) -> Path:
    """Four captures of one run, each by another tool; the later ones are moved in time."""
    whole = RequestRun(n=600).save(folder / "whole")
    for number in range(4):
        run = shutil.copytree(whole, folder / "runs" / f"run{number}")
        chance = np.random.default_rng(number)
        for file in sorted(run.iterdir()):
            moved = (
                (t_ns + number * later_ns + int(chance.integers(2_000)), data)
                for t_ns, data in records(file)
            )
            rewrite(file, sorted(moved))
    return folder / "runs"


def test_captures_of_one_time_are_no_repetitions(validate: Validate, tmp_path: Path) -> None:
    path = write_claims(tmp_path, claim("interval = [11, 13]", PATH))
    runs = save(tmp_path, 0)
    (row,) = validate(path, runs)
    assert row["verdict"] == "undecided"
    assert "run0 and run1 of runs are of the same time" in row["reason"]
    (row,) = validate(path, runs, "--accept-order")
    assert row["verdict"] == "held"
    assert "are of the same time, which was accepted" in row["reason"]


def test_captures_of_one_time_may_be_claimed_of_themselves(
    validate: Validate, tmp_path: Path
) -> None:
    (row,) = validate(write_claims(tmp_path, claim("interval = [11, 13]", RUN)), save(tmp_path, 0))
    assert row["verdict"] == "held"


def test_runs_that_begin_before_the_last_one_has_wholly_ended_are_runs(
    validate: Validate, tmp_path: Path
) -> None:
    """A tenth of a run in common: a capture that was stopped late."""
    for number in range(3):
        start_ns = RequestRun.start_ns + number * 54_000_000
        RequestRun(n=600, seed=number, start_ns=start_ns, ports=(40_000 + number, 7)).save(
            tmp_path / "runs" / f"run{number}"
        )
    path = write_claims(tmp_path, claim("interval = [10, 14]", PATH))
    (row,) = validate(path, tmp_path / "runs")
    assert row["verdict"] == "held"
