"""A verdict needs what it is about: a scenario that is told, packets that the claim speaks of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pcaplat import validate as validate_in_python
from tests.conftest import ROOT
from tests.support.frames import TCP
from tests.support.request_runs import RequestRun, RequestStudy
from tests.support.verdicts import PATH, SURE, Validate, claim, sources, words, write_claims

if TYPE_CHECKING:
    from pathlib import Path

VXLAN = 'scope = { kind = "path", scenario = "vxlan" }'
THESE_CAPTURES = 'scope = "run"'
"""The scope of a claim about the captures that are given."""
HOLDS, FAILS = "interval = [10, 14]", "interval = [30, 40]"


@pytest.fixture
def validate(capsys: pytest.CaptureFixture[str]) -> Validate:
    return Validate(capsys)


@pytest.fixture
def idle(tmp_path: Path) -> list[Path]:
    """One run of a ping-pong between two hosts."""
    return sorted(RequestRun().save(tmp_path / "idle").iterdir())


def six_runs(folder: Path, like: RequestRun) -> Path:
    return RequestStudy(0.0, run_sd_ns=50.0, like=like).save(folder)["plain"]


# ---- the scenario


def test_an_idle_ping_pong_refutes_no_capacity_of_eight_pairs(
    validate: Validate, idle: list[Path]
) -> None:
    rows = validate("vds-ipfix", *idle, "--claim", "ipfix-system-packet-rate-uni")
    assert words(rows) in ([], ["undecided"])
    assert validate.status in {2, 3}
    assert "ipfix-8-pairs" in validate.out + validate.err


def test_captures_without_a_scenario_decide_no_claim_about_one(tmp_path: Path) -> None:
    runs = six_runs(tmp_path / "s", RequestRun())
    for bound in (HOLDS, FAILS):
        path = write_claims(tmp_path, claim(bound, VXLAN))
        (row,) = validate_in_python(path, [runs / f"run{at}" for at in range(6)])["verdicts"]
        assert row["verdict"] == "undecided"
        assert "vxlan" in row["reason"]


def test_a_scenario_may_be_told_on_the_command_line(validate: Validate, tmp_path: Path) -> None:
    runs = six_runs(tmp_path / "s", RequestRun())
    path = write_claims(tmp_path, claim(HOLDS, VXLAN))
    assert words(validate(path, runs, "--scenario", "vxlan")) == ["held"]
    path = write_claims(tmp_path, claim(FAILS, VXLAN))
    assert words(validate(path, runs, "--scenario", "vxlan")) == ["refuted"]


def test_another_scenario_decides_nothing(validate: Validate, tmp_path: Path) -> None:
    runs = six_runs(tmp_path / "s", RequestRun())
    path = write_claims(tmp_path, claim(FAILS, VXLAN))
    rows = validate(path, runs, "--scenario", "l2")
    assert words(rows) in ([], ["undecided"])
    assert validate.status in {2, 3}


# ---- the population


@pytest.mark.parametrize(
    ("population", "reason"),
    [
        ("frame_bytes = [1500]", "110"),
        ('filter = "tcp"', "tcp"),
        ('filter = "host 192.0.2.1"', "192.0.2.1"),
    ],
)
@pytest.mark.parametrize("bound", [HOLDS, FAILS])
def test_what_captures_contradict_is_undecided_and_says_so(
    validate: Validate, tmp_path: Path, population: str, reason: str, bound: str
) -> None:
    runs = six_runs(tmp_path / "s", RequestRun())
    path = write_claims(tmp_path, claim(f"{bound}\npopulation = {{ {population} }}"))
    (row,) = validate(path, runs)
    assert row["verdict"] == "undecided"
    assert reason in row["reason"]


@pytest.mark.parametrize("population", ['filter = "udp port 7"', "frame_bytes = [110]"])
@pytest.mark.parametrize(("bound", "word"), [(HOLDS, "held"), (FAILS, "refuted")])
def test_what_captures_bear_out_is_decided(
    validate: Validate, tmp_path: Path, population: str, bound: str, word: str
) -> None:
    runs = six_runs(tmp_path / "s", RequestRun())
    path = write_claims(tmp_path, claim(f"{bound}\npopulation = {{ {population} }}"))
    assert words(validate(path, runs)) == [word]


@pytest.mark.parametrize(
    "like",
    [
        RequestRun(n_bytes=1024),
        RequestRun(protocol=TCP, n_bytes=64, gap_ns=10**6),
    ],
    ids=["UDP, not TCP", "64 bytes, not 1024"],
)
def test_a_claim_of_tcp_rr_of_1024_bytes_is_refuted_by_nothing_else(
    validate: Validate, tmp_path: Path, like: RequestRun
) -> None:
    folders = RequestStudy(300_000.0, like=like).save(tmp_path / "s")
    given = sources({"l2": folders["plain"], "vxlan": folders["slow"]})
    (row,) = validate("nsx-vxlan-dlr-latency", *given, "--claim", "nsx-vxlan-rtt")
    assert row["verdict"] == "undecided"


@pytest.mark.parametrize("population", ["frame_bytes = [1500]", 'filter = "tcp"'])
def test_a_sample_is_checked_like_the_whole(
    validate: Validate, tmp_path: Path, population: str
) -> None:
    runs = six_runs(tmp_path / "s", RequestRun(n=900))
    path = write_claims(tmp_path, claim(f"{HOLDS}\npopulation = {{ {population} }}"))
    (row,) = validate(path, runs, "--sample", "1/2")
    assert row["verdict"] == "undecided"


def test_scenarios_under_each_others_names_refute_nothing(validate: Validate) -> None:
    """The uplinks show VXLAN in each frame of what is called l2, and in none of vxlan."""
    samples = ROOT / "samples" / "east-west"
    given = [f"l2={samples / 'vxlan'}", f"vxlan={samples / 'l2'}"]
    only = ["--claim", "nsx-vxlan-rtt", "--same-clock", "all"]
    rows = validate("nsx-vxlan-dlr-latency", *given, *only)
    assert words(rows) in ([], ["undecided"])
    assert validate.status in {2, 3}


UNLIKE = {
    "sizes": (RequestRun(n_bytes=1300), "bytes"),
    "protocols": (RequestRun(protocol=TCP), "tcp"),
    "rates": (RequestRun(gap_ns=2_000_000), "second"),
    "losses": (RequestRun(every_nth_lost=3), "lost"),
}
"""What slow sends, where plain sends 10,000 small UDP requests a second, and the word for it."""


@pytest.mark.parametrize("name", UNLIKE)
def test_what_else_differs_between_scenarios_is_told(
    validate: Validate, tmp_path: Path, name: str
) -> None:
    """4 µs are the treatment's only if all else is alike."""
    like, word = UNLIKE[name]
    folders = {"plain": tmp_path / "plain", "slow": tmp_path / "slow"}
    for at in range(12):
        scenario = ("plain", "slow", "slow", "plain")[at % 4]
        run = like if scenario == "slow" else RequestRun()
        run_ns = 4_000.0 if scenario == "slow" else 0.0
        start_ns = RequestRun.start_ns + at * 60 * 10**9
        run = replace(run, seed=at, run_ns=run_ns, start_ns=start_ns)
        run.save(folders[scenario] / f"run{at}")
    scope = 'scope = { kind = "difference", treatment = "slow", baseline = "plain" }'
    (row,) = validate(write_claims(tmp_path, claim("interval = [3, 5]", scope)), *sources(folders))
    assert word in row["reason"].lower()


# ---- capacity


RATE = "packet-rate"


def capacity(bound_kpps: float) -> str:
    return claim(f'at_least = {bound_kpps}\nunit = "kpps"', PATH, metric=RATE)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("bound", ["at_least = 20", "about = 20", "interval = [20, 30]"])
@pytest.mark.parametrize("metric", [RATE, "throughput-l2", "transaction-rate"])
def test_capacity_is_not_refuted_by_what_was_not_offered(
    validate: Validate, tmp_path: Path, metric: str, bound: str
) -> None:
    """Ten thousand a second were offered, and none was lost."""
    runs = six_runs(tmp_path / "s", RequestRun())
    unit = {RATE: "kpps", "throughput-l2": "Mb/s", "transaction-rate": "ktps"}[metric]
    path = write_claims(tmp_path, claim(f'{bound}\nunit = "{unit}"', PATH, metric=metric))
    (row,) = validate(path, runs)
    assert row["verdict"] == "undecided"
    assert "offered" in row["reason"]


def test_what_was_not_offered_shows_no_upper_bound_of_a_capacity(
    validate: Validate, tmp_path: Path
) -> None:
    """Ten thousand a second were offered, and all came out: who knows what could?"""
    runs = six_runs(tmp_path / "s", RequestRun())
    path = write_claims(tmp_path, claim('at_most = 20\nunit = "kpps"', PATH, metric=RATE))
    assert words(validate(path, runs)) == ["undecided"]


def test_a_client_that_waits_shows_no_loss_of_capacity(validate: Validate, tmp_path: Path) -> None:
    """Requests of one connection over TCP, ten thousand a second in both scenarios."""
    folders = RequestStudy(1_000.0, like=RequestRun(protocol=TCP)).save(tmp_path / "s")
    scope = 'scope = { kind = "difference", treatment = "slow", baseline = "plain" }'
    bound = 'interval = [-30, -20]\nrelative = true\nunit = "%"'
    path = write_claims(tmp_path, claim(bound, scope, metric=RATE))
    assert words(validate(path, *sources(folders))) == ["undecided"]


def test_loss_at_a_higher_offered_rate_refutes_capacity(validate: Validate, tmp_path: Path) -> None:
    """Ten thousand a second were offered, and every other one was lost."""
    runs = six_runs(tmp_path / "s", RequestRun(every_nth_lost=2))
    assert words(validate(write_claims(tmp_path, capacity(8)), runs)) == ["refuted"]


def test_capacity_that_was_offered_and_came_out_is_held(validate: Validate, tmp_path: Path) -> None:
    runs = six_runs(tmp_path / "s", RequestRun())
    assert words(validate(write_claims(tmp_path, capacity(8)), runs)) == ["held"]


def test_no_claim_of_the_edge_is_refuted_by_an_idle_ping_pong(
    validate: Validate, idle: list[Path]
) -> None:
    rows = validate("nsx-bare-metal-edge", *idle, "--scenario", "single-256")
    assert len(rows) > 10
    assert SURE.isdisjoint(words(rows))


# ---- one run


@pytest.mark.parametrize("bound", [HOLDS, FAILS])
def test_one_run_decides_nothing_across_runs(
    validate: Validate, tmp_path: Path, idle: list[Path], bound: str
) -> None:
    (row,) = validate(write_claims(tmp_path, claim(bound)), *idle, "--same-clock", "all")
    assert row["verdict"] == "undecided"
    assert row["estimate"] == pytest.approx(12, abs=1)
    assert "within this run" in row["reason"]
    # the scope keeps its points: another scope would be another claim
    assert 'kind = "run" in its scope' in row["reason"]


@pytest.mark.parametrize("statistic", ["mean", "p50"])
def test_a_mistyped_point_is_named_whatever_the_statistic(
    validate: Validate, tmp_path: Path, idle: list[Path], statistic: str
) -> None:
    scope = f'scope = {{ kind = "segment", near = "near", far = "fra" }}\nstatistic = "{statistic}"'
    (row,) = validate(write_claims(tmp_path, claim(HOLDS, scope)), *idle)
    assert row["reason"].startswith("there is no point fra in ")
    assert "did you mean far?" in row["reason"]


def test_a_verdict_names_the_figure_and_the_points_that_it_judged(
    validate: Validate, tmp_path: Path, idle: list[Path]
) -> None:
    named = 'scope = { kind = "run", near = "near", far = "far" }\nstatistic = "median"'
    (row,) = validate(write_claims(tmp_path, claim(HOLDS, named)), *idle)
    assert row["subject"] == "p50 of rtt, near ⇄ far"
    (row,) = validate(write_claims(tmp_path, claim(HOLDS, THESE_CAPTURES)), *idle)
    assert row["subject"] == "mean of rtt, the whole path near ⇄ far"


def test_one_way_figures_without_a_declared_clock_ask_for_the_clock_and_no_more_runs(
    validate: Validate, tmp_path: Path, idle: list[Path]
) -> None:
    text = claim("at_most = 7", metric="one-way-latency")
    (row,) = validate(write_claims(tmp_path, text), *idle)
    assert row["verdict"] == "undecided"
    assert row["reason"].startswith("unresolvable with these captures: clocks")


@pytest.mark.parametrize(("bound", "word"), [(HOLDS, "held"), (FAILS, "refuted")])
def test_a_claim_about_these_captures_is_decided_by_them(
    validate: Validate, tmp_path: Path, idle: list[Path], bound: str, word: str
) -> None:
    path = write_claims(tmp_path, claim(bound, THESE_CAPTURES))
    (row,) = validate(path, *idle, "--same-clock", "all")
    assert row["verdict"] == word


def test_a_verdict_about_these_captures_says_so(
    validate: Validate, tmp_path: Path, idle: list[Path]
) -> None:
    path = write_claims(tmp_path, claim(HOLDS, THESE_CAPTURES))
    (row,) = validate(path, *idle, "--same-clock", "all")
    assert "these" in row["reason"]


@pytest.mark.parametrize("effect_us", [0, 4, 300])
def test_one_run_a_scenario_decides_no_difference(
    validate: Validate, tmp_path: Path, effect_us: int
) -> None:
    study = RequestStudy(1000.0 * effect_us, n_runs=1, like=replace(RequestRun(), n=600))
    given = sources(study.save(tmp_path / "s"))
    scope = 'scope = { kind = "difference", treatment = "slow", baseline = "plain" }'
    (row,) = validate(write_claims(tmp_path, claim("interval = [3, 5]", scope)), *given)
    assert row["verdict"] == "undecided"
    assert row["n_runs"] == 1
