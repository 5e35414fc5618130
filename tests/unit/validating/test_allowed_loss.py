"""Rates at which only so much may be lost: loads bound them, as MLRsearch defines it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.verdicts import PATH, Validate, claim, write_claims
from tests.unit.benchmarking.trials_by_hand import Planned, write_trials

if TYPE_CHECKING:
    from pathlib import Path

RATE = "packet-rate"
ONE_PERCENT = 'population = { allowed_loss = { at_most = 1, unit = "%" } }'
Load = tuple[int, int]
"""Frames a second, and how many of 1,000 are lost."""

PLAIN: tuple[Load, ...] = ((1000, 0), (2000, 0), (4000, 300))
INVERTED: tuple[Load, ...] = ((1000, 0), (2000, 200), (4000, 0))
CLOSE: tuple[Load, ...] = ((2000, 0), (2150, 40))


@pytest.fixture
def validate(capsys: pytest.CaptureFixture[str]) -> Validate:
    return Validate(capsys)


def judged(
    validate: Validate, folder: Path, loads: tuple[Load, ...], bound: str, *, n_trials: int = 3
) -> dict[str, Any]:
    """The verdict on a rate at which 1 % may be lost."""
    for number in range(n_trials):
        for rate_pps, n_lost in loads:
            run = folder / "runs" / f"{rate_pps}-{number}"
            run.mkdir(parents=True)
            write_trials(run, [Planned(64, rate_pps, n_lost=n_lost)], seed=rate_pps + number)
    text = claim(f'{bound}\nunit = "kpps"\n{ONE_PERCENT}', PATH, metric=RATE)
    (row,) = validate(write_claims(folder, text), folder / "runs")
    return row


@pytest.mark.parametrize(
    ("loads", "bound", "word"),
    [
        (PLAIN, "at_least = 1.5", "held"),
        (PLAIN, "at_least = 5", "refuted"),
        (PLAIN, "at_most = 1", "refuted"),
        (PLAIN, "about = 2", "undecided"),
        (CLOSE, "about = 2", "held"),
        (INVERTED, "at_least = 3", "refuted"),
        (INVERTED, "at_least = 1.5", "undecided"),
        (((1000, 0), (2000, 0)), "at_most = 3", "undecided"),
    ],
)
def test_loads_that_pass_and_that_fail_decide(
    validate: Validate, tmp_path: Path, loads: tuple[Load, ...], bound: str, word: str
) -> None:
    assert judged(validate, tmp_path, loads, bound)["verdict"] == word


def test_a_rate_that_came_out_with_too_much_lost_is_none(
    validate: Validate, tmp_path: Path
) -> None:
    """2,800 frames a second come out of 4,000: no claim of 2,800 at 1 % loss holds by that."""
    row = judged(validate, tmp_path, PLAIN, "about = 2.8")
    assert row["verdict"] == "undecided"
    assert row["estimate"] == pytest.approx(2, rel=0.01)
    assert (row["lo"], row["hi"]) == pytest.approx((2, 4), rel=0.01)
    assert "offer 2.989 kpps next, in 3 trials or more" in row["reason"]
    assert "at most 1 % is lost" in row["subject"]


def test_two_trials_of_a_load_decide_nothing(validate: Validate, tmp_path: Path) -> None:
    row = judged(validate, tmp_path, PLAIN, "at_least = 1.5", n_trials=2)
    assert row["verdict"] == "undecided"
    assert "decide nothing: too few; make 3 or more at each rate" in row["reason"]


def test_trials_of_too_few_packets_show_no_small_loss(validate: Validate, tmp_path: Path) -> None:
    for number in range(3):
        run = tmp_path / "runs" / f"run{number}"
        run.mkdir(parents=True)
        write_trials(run, [Planned(64, 2000)], seed=number)
    population = 'population = { allowed_loss = { at_most = 0.01, unit = "%" } }'
    text = claim(f'at_least = 1.5\nunit = "kpps"\n{population}', PATH, metric=RATE)
    (row,) = validate(write_claims(tmp_path, text), tmp_path / "runs")
    assert row["verdict"] == "undecided"
    assert "0 % to 0.12 % may be lost, of 3,000 packets" in row["reason"]


NO_LOSS = 'population = { allowed_loss = { at_most = 0, unit = "%" } }'


def judged_without_loss(
    validate: Validate, folder: Path, lost: tuple[int, ...], plan: Planned, scope: str = PATH
) -> dict[str, Any]:
    """The verdict on a rate at which nothing may be lost, of trials that lost so many."""
    for number, n_lost in enumerate(lost):
        run = folder / "runs" / f"run{number}"
        run.mkdir(parents=True)
        write_trials(run, [replace(plan, n_lost=n_lost)], seed=number)
    text = claim(f'at_least = 1\nunit = "pps"\n{NO_LOSS}', scope, metric=RATE)
    (row,) = validate(write_claims(folder, text), folder / "runs")
    return row


A_MINUTE, A_MOMENT = Planned(64, 2, n=122), Planned(64, 2000, n=120)


@pytest.mark.parametrize(
    ("lost", "plan", "word"),
    [
        ((0,) * 6, A_MINUTE, "held"),
        ((0,) * 3, A_MINUTE, "undecided"),
        ((0,) * 5 + (1,), A_MINUTE, "undecided"),
        ((0,) * 6, A_MOMENT, "undecided"),
    ],
)
def test_trials_show_that_nothing_is_lost(
    validate: Validate, tmp_path: Path, lost: tuple[int, ...], plan: Planned, word: str
) -> None:
    """A device whose trials lose frames every other time passed three of them in one of two."""
    row = judged_without_loss(validate, tmp_path, lost, plan)
    assert row["verdict"] == word
    if word == "undecided":
        assert "is shown by 6 of 6, each of 60 s (RFC 2544 §24)" in row["reason"]


def test_of_these_very_trials_no_loss_is_a_fact(validate: Validate, tmp_path: Path) -> None:
    row = judged_without_loss(validate, tmp_path, (0,), A_MOMENT, 'scope = { kind = "run" }')
    assert row["verdict"] == "held"


def test_trials_shorter_than_those_of_rfc_2544_are_an_assumption(
    validate: Validate, tmp_path: Path
) -> None:
    row = judged(validate, tmp_path, PLAIN, "at_least = 1.5")
    (named,) = [text for text in row["assumes"] if "RFC 2544" in text]
    assert named.startswith("trials of 60 s (RFC 2544 §24) lose as much as these, of ")


@pytest.mark.parametrize(
    ("metric", "unit", "bad"),
    [("rtt", "us", "is of a rate"), (RATE, "kpps", "is no share")],
)
def test_a_loss_that_cannot_be_allowed_is_a_mistake(
    validate: Validate, tmp_path: Path, metric: str, unit: str, bad: str
) -> None:
    share = "%" if metric == "rtt" else "us"
    population = f'population = {{ allowed_loss = {{ at_most = 1, unit = "{share}" }} }}'
    text = claim(f'at_least = 1.5\nunit = "{unit}"\n{population}', PATH, metric=metric)
    assert validate(write_claims(tmp_path, text), tmp_path) == []
    assert bad in validate.err
