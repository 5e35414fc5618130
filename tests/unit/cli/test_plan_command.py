"""Planning: how many runs a verdict needs, and the same number where a verdict asks for more."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import t as student  # type: ignore[import-untyped]

from pcaplat.cli import run as run_command
from tests.studies.run_studies import Design, claim_text, judged, oracle_se_us, study
from tests.support.request_runs import RequestRun, RequestStudy
from tests.support.verdicts import DIFFERENCE, claim, sources, write_claims

if TYPE_CHECKING:
    from pathlib import Path

RUNS = re.compile(r"(\d+) (?:\w+ )?(?:runs|rounds|pairs)")


def decided_share(n_runs: int, half_us: float, sd_us: float) -> float:
    """How often pairs of runs hold a claim that is true in its middle: drawn, not computed.

    A side of a verdict is wrong in 2.5 %.
    """
    chance = np.random.default_rng(n_runs)
    drawn = sd_us * chance.normal(size=(20_000, n_runs))
    means, errors = drawn.mean(axis=1), drawn.std(axis=1, ddof=1) / np.sqrt(n_runs)
    reach = float(student.ppf(0.975, n_runs - 1)) * errors
    return float(np.mean(np.abs(means) + reach < half_us))


def needed(half_us: float, sd_us: float, power: float) -> int:
    return next(n for n in range(3, 61) if decided_share(n, half_us, sd_us) >= power)


# ---- what would decide


@pytest.mark.parametrize("half_us", [1.0, 1.4])
def test_a_verdict_asks_for_as_many_runs_as_decide(half_us: float) -> None:
    """Five rounds of a shared effect of 3 µs and noise of 0.7 µs: a few more are enough."""
    design, asked = Design(n_runs=5, round_sd_us=3.0), []
    for seed in range(200):
        scenarios = study(design, 0.0, seed)
        wide = judged(claim_text(-90, 90), scenarios)
        middle = round(wide["estimate"], 4)
        row = judged(claim_text(middle - half_us, middle + half_us), scenarios)
        if row["verdict"] == "undecided":
            found = RUNS.search(row["reason"])
            asked.append(int(found[1]) if found else 1000)
    most = needed(half_us, np.sqrt(design.n_runs) * oracle_se_us(design), 0.95)
    # what five runs scatter by is itself uncertain by a third
    assert np.median(asked) <= 2.5 * most


def test_a_value_in_the_middle_is_not_on_the_edge() -> None:
    design = Design(n_runs=5, run_sd_us=20.0)
    scenarios = study(design, 0.0, 3)
    middle = round(judged(claim_text(-900, 900), scenarios)["estimate"], 4)
    row = judged(claim_text(middle - 2, middle + 2), scenarios)
    assert row["verdict"] == "undecided"
    assert "edge" not in row["reason"]


# ---- the command


def plan(capsys: pytest.CaptureFixture[str], claims: object, *pilot: str) -> str:
    """What it prints; results of the pilot follow one option, or each its own."""
    each = [word for result in pilot for word in ("--pilot", result)]
    one = ["--pilot", *pilot] if pilot else []
    is_done = any(run_command(["plan", str(claims), *more]) == 0 for more in (each, one))
    assert is_done
    return capsys.readouterr().out


def test_a_plan_says_runs_packets_order_and_power(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_claims(tmp_path, claim("interval = [3, 5]", DIFFERENCE))
    said = plan(capsys, path)
    for word in ("one", "runs", "packets", "interleave", "80", "95", "middle", "edge"):
        assert word in said.lower(), word


def test_a_plan_from_a_pilot_is_what_simulation_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Runs scatter by 1 µs, differences of pairs by 1.4; the claim is 1 µs to either side."""
    study_of = RequestStudy(run_sd_ns=1000.0, n_runs=12, like=RequestRun(n=120))
    folders = study_of.save(tmp_path)
    path = write_claims(tmp_path, claim("interval = [3, 5]", DIFFERENCE))
    said = plan(capsys, path, *sources(folders))
    numbers = {int(one) for one in re.findall(r"\b\d+\b", said)}
    for power in (0.8, 0.95):
        right = needed(1.0, np.sqrt(2), power)
        # the spread of twelve runs is known to a fifth
        assert any(0.5 * right <= number <= 2.2 * right for number in numbers - {12, 80, 95})


def test_a_plan_of_the_published_claims_needs_no_captures(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "nsx-dfw-rtt" in plan(capsys, "nsx-dfw-latency")


def test_a_plan_for_more_spread_has_more_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_claims(tmp_path, claim("interval = [3, 5]", DIFFERENCE))
    most = []
    for sd_ns in (300.0, 1500.0):
        like = RequestRun(n=120)
        folders = RequestStudy(run_sd_ns=sd_ns, n_runs=6, like=like).save(tmp_path / str(sd_ns))
        said = plan(capsys, path, *sources(folders))
        numbers = [int(one) for one in re.findall(r"\b\d{1,3}\b", said)]
        most.append(sorted(numbers))
    assert most[0] != most[1]


def test_a_plan_from_a_pilot_asks_for_as_many_runs_as_its_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = RequestStudy(run_sd_ns=1000.0, n_runs=4, like=RequestRun(n=120)).save(tmp_path)
    path = write_claims(tmp_path, claim("interval = [3, 5]", DIFFERENCE))
    said = plan(capsys, path, *sources(folders))
    of_pilot = next(line for line in said.splitlines() if "pilot, " in line)
    assert run_command(["validate", str(path), *sources(folders)]) == 3
    asked = RUNS.findall(" ".join(capsys.readouterr().out.split()))
    assert asked
    assert set(asked) & {*re.findall(r"\b\d+\b", of_pilot.partition("pilot ")[2])}


def test_a_claim_about_the_given_captures_needs_no_further_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_claims(tmp_path, claim("interval = [3, 5]", 'scope = "run"'))
    said = plan(capsys, path)
    assert "no further run is needed" in said
    assert "middle" not in said
