"""Verdicts cannot be gamed: by claims beside a claim, tolerances out of sight, names misspelt."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pcaplat.cli import run as run_command
from pcaplat.published import parse_published
from pcaplat.validating.verdicts import validate as judge
from tests.studies.run_studies import Design, claim_text, study
from tests.support.request_runs import RequestRun, RequestStudy
from tests.support.verdicts import DIFFERENCE, SURE, Validate, claim, sources, words, write_claims

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from pcaplat.published.claims import Claim


@pytest.fixture
def validate(capsys: pytest.CaptureFixture[str]) -> Validate:
    return Validate(capsys)


def padded(text: str, n: int, lo_us: float, hi_us: float) -> list[Claim]:
    """A claim, and so many more of the same difference."""
    more = [
        claim_text(lo_us, hi_us).replace('id = "slower"', f'id = "more-{at}"') for at in range(n)
    ]
    return list(parse_published("\n".join([text, *more]).encode(), "padded").claims)


def sure_words(row: dict[str, Any]) -> set[str]:
    """Verdicts of any kind that a row tells."""
    return {value for value in row.values() if isinstance(value, str) and value in SURE}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("bounds", "word"), [((-2.1, 2.1), "held"), ((1.2, 40.0), "refuted")], ids=["held", "refuted"]
)
@pytest.mark.parametrize("padding", [(-0.01, 0.01), (-1.2, 1.2)], ids=["hopeless", "near"])
def test_a_verdict_alone_stands_beside_whatever_else_is_claimed(
    bounds: tuple[float, float], word: str, padding: tuple[float, float]
) -> None:
    """Forty more claims that nothing decides take no refutation away, and no confirmation."""
    text = claim_text(*bounds)
    for seed in range(30):
        scenarios = study(Design(run_sd_us=0.9), 0.0, seed)
        (alone,) = judge(padded(text, 0, 0, 1), scenarios)["verdicts"]
        among = judge(padded(text, 40, *padding), scenarios)["verdicts"][0]
        if alone["verdict"] == word:
            assert word in sure_words(among), among["reason"]


def test_the_family_is_named() -> None:
    scenarios = study(Design(), 0.0, 1)
    rows = judge(padded(claim_text(-9, 9), 3, -8, 8), scenarios)["verdicts"]
    assert all(any("family" in key for key in row) for row in rows)


def test_claims_that_surely_hold_make_no_other_easier() -> None:
    text = claim_text(-1.6, 1.6)
    for seed in range(20):
        scenarios = study(Design(run_sd_us=0.9), 0.0, seed)
        few, many = (judge(padded(text, n, -1000, 1000), scenarios)["verdicts"][0] for n in (0, 20))
        assert few["verdict"] == many["verdict"]


@pytest.mark.parametrize("format_", ["table", "markdown"])
def test_the_range_that_is_shown_has_its_tolerance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], format_: str
) -> None:
    """31 to 32 µs with a tolerance of 28.5: it is no secret that 4 µs hold of it."""
    folders = RequestStudy().save(tmp_path)
    path = write_claims(tmp_path, claim("interval = [31, 32]\ntolerance = 28.5", DIFFERENCE))
    assert run_command(["validate", str(path), *sources(folders), "--format", format_]) == 0
    lines = capsys.readouterr().out.splitlines()
    (row,) = (line for line in lines if line.strip(" |").startswith("one ") and "held" in line)
    assert "28.5" in row or ("2.5" in row and "60.5" in row)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("metric", ["rtt", "two-way-contribution", "transaction-time"])
@pytest.mark.parametrize("statistic", ["p50", "p90", "p95", "p99"])
def test_quantiles_of_round_trips_and_transactions_are_metrics(
    validate: Validate, tmp_path: Path, metric: str, statistic: str
) -> None:
    """12 µs on the path and 62 till the answer, with 0.4 µs of noise either way."""
    runs = RequestStudy(0.0, like=RequestStudy().like).save(tmp_path)["plain"]
    middle_us = 62 if metric == "transaction-time" else 12
    for bound, word in (
        (f"interval = [{middle_us - 3}, {middle_us + 5}]", "held"),
        (f"at_least = {middle_us + 10}", "refuted"),
    ):
        text = f'statistic = "{statistic}"\n{bound}'
        path = write_claims(tmp_path, claim(text, metric=metric))
        assert words(validate(path, runs)) == [word], validate.err


def test_p95_is_a_statistic_of_one_way_latencies(validate: Validate, tmp_path: Path) -> None:
    runs = RequestStudy(0.0).save(tmp_path)["plain"]
    # the true one is 6.8 µs. Of some 270 packets a run 13 lie beyond, too few for a run to have it
    # itself, so they are counted over all runs. Six runs do not rule out a seventh with far more
    # packets beyond: by that the bound ends about 8 µs, and a limit of 8 would stand on its edge
    for bound, allowed in (("[6, 10]", {"held"}), ("[6, 8]", {"held", "undecided"})):
        text = f'statistic = "p95"\ninterval = {bound}'
        path = write_claims(tmp_path, claim(text, metric="one-way-latency"))
        (word,) = words(validate(path, runs, "--same-clock", "all"))
        assert word in allowed


@pytest.mark.parametrize(("given", "meant"), [("plian", "plain"), ("Plain", "plain")])
def test_a_scenario_that_no_claim_knows_is_a_mistake(
    validate: Validate, tmp_path: Path, given: str, meant: str
) -> None:
    folders = RequestStudy(n_runs=1).save(tmp_path)
    path = write_claims(tmp_path, claim("interval = [3, 5]", DIFFERENCE))
    assert validate(path, f"{given}={folders['plain']}", f"slow={folders['slow']}") == []
    assert validate.status == 2
    assert f"did you mean {meant}?" in validate.err


def test_a_scenario_that_a_study_lacks_is_a_mistake(validate: Validate, tmp_path: Path) -> None:
    RequestStudy(n_runs=1).save(tmp_path)
    write_claims(tmp_path, claim("interval = [3, 5]", DIFFERENCE.replace("slow", "slwo")))
    study_file = tmp_path / "study.toml"
    scenarios = "".join(f'[scenarios.{name}]\nruns = ["{name}/*"]\n' for name in ("plain", "slow"))
    study_file.write_text(f'claims = ["claims.toml"]\n{scenarios}')
    assert validate(study_file) == []
    assert validate.status == 2
    assert "did you mean slow?" in validate.err


CHOICES = [
    ("--filter", "udp port 7"),
    ("--from", "+0.005s"),
    ("--to", "+0.02s"),
    ("--warm-up", "3ms"),
    ("--clock-accuracy", "far=17ns"),
    ("--lost-after", "77ms"),
    ("--sample", "1/2"),
]


@pytest.mark.parametrize(("option", "value"), CHOICES, ids=[name for name, _ in CHOICES])
def test_what_was_chosen_stands_beside_the_verdict(
    validate: Validate, tmp_path: Path, option: str, value: str
) -> None:
    """A filter that nobody sees is a tolerance that nobody sees."""
    runs = RequestStudy(0.0, like=RequestRun(n=600)).save(tmp_path)["plain"]
    path = write_claims(tmp_path, claim("interval = [11, 13]"))
    assert validate(path, runs, option, value), validate.err
    shown = validate.out.replace(str(tmp_path), "")
    assert value in shown or f'"{option.strip("-").replace("-", "_")}"' in shown


def test_what_a_study_file_chooses_stands_beside_the_verdict(
    validate: Validate, tmp_path: Path
) -> None:
    RequestStudy(0.0, n_runs=3).save(tmp_path)
    write_claims(tmp_path, claim("at_most = 13", 'scope = { kind = "path", scenario = "plain" }'))
    study_file = tmp_path / "study.toml"
    study_file.write_text(
        'claims = ["claims.toml"]\nfilter = "udp port 7"\nwarm_up = "3ms"\n'
        '[scenarios.plain]\nruns = ["plain/*"]\n'
    )
    assert validate(study_file), validate.err
    assert json.loads(validate.out)["options"] == {
        "filter": "udp port 7",
        "warm_up": "3000000ns",
    }


def test_what_a_result_was_filtered_by_stands_beside_the_verdict(
    validate: Validate, tmp_path: Path
) -> None:
    """Where scenarios were measured in different ways, both are named."""
    folders = RequestStudy(0.0, n_runs=3).save(tmp_path)
    for run in sorted(folders["slow"].iterdir()):
        files = sorted(map(str, run.iterdir()))
        target = tmp_path / "merged" / run.name
        options = ["--filter", "udp port 7", "-o", str(target), "--quiet"]
        assert run_command(["merge", *files, *options]) == 0
    validate.capsys.readouterr()
    path = write_claims(tmp_path, claim("at_most = 3", DIFFERENCE))
    assert validate(path, f"plain={folders['plain']}", f"slow={tmp_path / 'merged'}")
    shown = json.loads(validate.out)["options"]
    assert shown == {"filter": "not given (plain); udp port 7 (slow)"}
