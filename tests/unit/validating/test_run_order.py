"""Runs in a row are decided only where the user takes their order upon himself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.request_runs import RequestStudy
from tests.support.verdicts import DIFFERENCE, Validate, claim, sources, words, write_claims

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def validate(capsys: pytest.CaptureFixture[str]) -> Validate:
    return Validate(capsys)


@pytest.mark.parametrize("bound", ["interval = [3, 5]", "interval = [-1, 1]", "at_most = 100"])
def test_runs_in_a_row_are_undecided(validate: Validate, tmp_path: Path, bound: str) -> None:
    folders = RequestStudy(order="row", step_ns=6000.0).save(tmp_path)
    (row,) = validate(write_claims(tmp_path, claim(bound, DIFFERENCE)), *sources(folders))
    assert row["verdict"] == "undecided"
    assert "interleave" in row["reason"]
    assert "--accept-order" in row["reason"]
    assert row["estimate"] == pytest.approx(10, abs=1)


@pytest.mark.parametrize(
    ("bound", "word"), [("interval = [0, 8]", "held"), ("interval = [-9, -3]", "refuted")]
)
def test_an_order_that_is_accepted_is_repeated_in_the_verdict(
    validate: Validate, tmp_path: Path, bound: str, word: str
) -> None:
    folders = RequestStudy(order="row").save(tmp_path)
    path = write_claims(tmp_path, claim(bound, DIFFERENCE))
    (row,) = validate(path, *sources(folders), "--accept-order")
    assert row["verdict"] == word
    assert "accept" in row["reason"]


def test_interleaved_runs_need_no_option(validate: Validate, tmp_path: Path) -> None:
    folders = RequestStudy().save(tmp_path)
    path = write_claims(tmp_path, claim("interval = [3, 5]", DIFFERENCE))
    assert words(validate(path, *sources(folders))) == ["held"]


@pytest.mark.parametrize("effect_ns", [0.0, 8_000.0])
def test_what_a_round_shares_does_not_hide_the_effect(
    validate: Validate, tmp_path: Path, effect_ns: float
) -> None:
    """Rounds differ by 6 µs, runs of a round by 0.1 µs: the difference is known to 0.2 µs."""
    study = RequestStudy(effect_ns, run_sd_ns=100.0, round_sd_ns=6000.0)
    effect_us = effect_ns / 1000
    bound = f"interval = [{effect_us - 1}, {effect_us + 1}]"
    path = write_claims(tmp_path, claim(bound, DIFFERENCE))
    assert words(validate(path, *sources(study.save(tmp_path)))) == ["held"]
