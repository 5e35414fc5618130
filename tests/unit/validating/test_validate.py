"""Validate: the rule's cases, the figures, and what is said about each."""

from dataclasses import replace
from math import inf, isfinite, nan

import numpy as np
import pytest

from pcaplat.metrics.contrasts import RUNS, Contrast
from pcaplat.metrics.means import Measurement
from pcaplat.metrics.metric import MetricQuery, Unavailable
from pcaplat.metrics.registry import METRICS, read
from pcaplat.metrics.runs import Scenario
from pcaplat.published import load_published, parse_published, published_names
from pcaplat.published.claims import Claim
from pcaplat.statistics.intervals import Estimate
from pcaplat.statistics.loss_ratio import LossEstimate
from pcaplat.validating.evidence import Evidence
from pcaplat.validating.rule import Verdict, bounds_of, decide
from pcaplat.validating.verdicts import validate
from tests.support.runs import FAR, GAP_NS, NEAR, START_NS, run_of, scenario_of
from tests.unit.metrics.test_traffic_figures import rates

TWO_WAY = 'metric = "two-way-contribution"\nscope = { kind = "path" }\nunit = "us"\n'
REVERSE = 'scope = { kind = "path", direction = "reverse" }'
N = 3000


def claims(text: str, n: int = 1) -> list[Claim]:
    """So many claims of the same text."""
    head = '[[claims]]\nid = "c{}"\nsentence = "s"\nsource.document = "d"\n'
    whole = "\n".join(head.format(at) + text for at in range(n))
    return parse_published(whole.encode(), "here.toml").claims


def effect(value_us: float, se_us: float, df: float = 18, bias_us: float = 0.0) -> Contrast:
    estimate = Estimate(value_us * 1e3, se_us * 1e3, df, bias_us * 1e3)
    return Contrast(estimate, estimate.value, n_runs=10, replication=RUNS, n=1000)


def decided(*pairs: tuple[Claim, Contrast]) -> list[Verdict]:
    return decide([(claim, Evidence(contrast)) for claim, contrast in pairs])


def verdict(text: str, found: Contrast) -> Verdict:
    return decided((claims(TWO_WAY + text)[0], found))[0]


# ---- the rule


@pytest.mark.parametrize(
    ("bound", "value_us", "se_us", "word", "reason"),
    [
        ("interval = [8, 14]", 11, 0.5, "held", "interval, 9.95 to 12.05 µs, lies inside 8 to 14"),
        ("interval = [3, 10]", 13, 0.5, "refuted", "interval, 11.95 to 14.05 µs, lies above 3 to"),
        ("interval = [3, 10]", 13, 0.5, "refuted", "3 to 10 µs, by 1.95 µs or more"),
        ("interval = [13, 16]", 11, 0.5, "refuted", "lies below 13 to 16 µs, by 0.9495 µs or more"),
        ("interval = [8, 12]", 11, 0.8, "undecided", "too little data: the 95 % interval, 9.31"),
        ("interval = [8, 14]", 11, 4, "undecided", "runs a scenario decide in 80 % of studies"),
        ("interval = [8, 11]", 11, 0.5, "undecided", "inside the claim even 1,000 runs a scenario"),
        ("interval = [8, 11]\ntolerance = 2", 11, 0.5, "held", "lies inside 6 to 13 µs"),
        ("about = 11", 11.2, 0.3, "held", "lies inside 9.9 to 12.1 µs"),
        ("at_most = 12.2", 11, 0.5, "held", "lies inside at most 12.2 µs"),
        ("at_most = 5", 11, 0.5, "refuted", "lies above at most 5 µs"),
        ("at_least = 12", 11, 0.5, "undecided", "reaches beyond at least 12 µs"),
        ("at_least = 5", 11, 0.5, "held", "lies inside at least 5 µs"),
    ],
)  # fmt: skip
def test_an_interval_decides(
    bound: str, value_us: float, se_us: float, word: str, reason: str
) -> None:
    found = verdict(bound, effect(value_us, se_us))
    assert found.word == word
    assert reason in found.reason


def test_what_no_data_shrink_makes_it_unresolvable() -> None:
    found = verdict("interval = [13, 16]", effect(14.5, 0.01, bias_us=2))
    assert found.word == "undecided"
    assert found.reason.startswith(
        "unresolvable with these captures: clocks and timestamps may shift the value, 14.5 µs, by "
        "± 2 µs"
    )
    # far enough outside it is refuted all the same
    assert verdict("interval = [13, 16]", effect(30, 0.01, bias_us=2)).word == "refuted"


@pytest.mark.parametrize("bound", ["at_most = 300", "at_least = 100", "at_most = 205"])
def test_where_clocks_keep_a_value_from_deciding_no_number_of_runs_is_advised(bound: str) -> None:
    # a bound that is open on one side has no width that clocks could be compared with
    found = verdict(bound, effect(204, 0.5, bias_us=203))
    assert found.word == "undecided"
    assert "more runs do not change that" in found.reason
    assert "--same-clock" in found.reason
    assert "decide in" not in found.reason


def test_one_value_without_tolerance_holds_of_what_does_not_scatter() -> None:
    found = [
        verdict("about = 50\ntolerance = 0", effect(value, se)) for value, se in ((50, 0), (50, 1))
    ]
    assert [one.word for one in found] == ["held", "undecided"]
    assert "nothing that scatters lies inside one value" in found[1].reason
    assert verdict("about = 50\ntolerance = 0", effect(51, 0)).word == "refuted"


def test_the_interval_shown_is_the_one_that_decided() -> None:
    held = verdict("interval = [8, 14]", effect(11, 0.5))
    refuted = verdict("interval = [3, 10]", effect(13, 0.5))
    assert (held.confidence, refuted.confidence) == (0.95, 0.95)
    assert held.lo == pytest.approx(11 - 2.101 * 0.5, abs=1e-3)
    assert refuted.lo == pytest.approx(13 - 2.101 * 0.5, abs=1e-3)


def test_several_claims_are_judged_alone_and_together() -> None:
    # p just below 2.5 %: decided alone, and not among four
    one = effect(11, 0.5)
    text = TWO_WAY + "interval = [9.9, 14]"
    assert decided((claims(text)[0], one))[0].in_family == "held"
    among = decided(*((claim, one) for claim in claims(text, 4)))
    assert {(found.word, found.in_family, found.n_family) for found in among} == {
        ("held", "undecided", 4)
    }
    assert "among the 4 claims judged together (Holm) it would be undecided" in among[0].reason
    # those without evidence do not count
    lone = decided((claims(text, 2)[0], one), (claims(text, 2)[1], Contrast(why="no runs")))
    assert [found.in_family for found in lone] == ["held", "undecided"]


def test_scant_evidence_decides_nothing_but_is_shown() -> None:
    known = effect(11, 0.01)
    found = verdict(
        "interval = [8, 14]", Contrast(known.estimate, known.value, why="too much alike")
    )
    assert (found.word, found.reason) == ("undecided", "too much alike")
    assert found.estimate == pytest.approx(11)
    assert found.lo is not None


def test_loss_needs_packets() -> None:
    text = 'metric = "loss-ratio"\nscope = { kind = "path" }\nunit = "%"\nat_most = 0.01\n'
    (claim,) = claims(text)
    few, many = (Contrast(LossEstimate(0, n), 0.0, n_runs=1, n=n) for n in (20_000, 40_000))
    assert decided((claim, many))[0].word == "held"
    found = decided((claim, few))[0]
    assert found.word == "undecided"
    assert "36,900 packets without a loss would show it (20,000 were measured)" in found.reason
    lossy = Contrast(LossEstimate(300, 40_000), 300 / 40_000, n_runs=1)
    assert decided((claim, lossy))[0].word == "refuted"


def test_bounds_are_in_base_units() -> None:
    (claim,) = claims(TWO_WAY + "at_most = 5\ntolerance = 0.5")
    assert (bounds_of(claim).lo, bounds_of(claim).hi) == (-inf, 5500)


# ---- figures


def scenario(forward_ns: float, reverse_ns: float = 2000.0, **more: float) -> Scenario:
    """Four runs, in time for those of another scenario to have taken turns with them."""
    chance = np.random.default_rng(3 + (forward_ns > 10_000))
    turn_ns = 2 * GAP_NS * N
    first_ns = START_NS + (turn_ns // 2 if forward_ns > 10_000 else 0)
    runs = [
        run_of(
            forward_ns + chance.normal(0, 300, N),
            np.full(N, reverse_ns),
            start_ns=first_ns + at * turn_ns,
            **more,  # type: ignore[arg-type]
        )
        for at in range(4)
    ]
    return Scenario("s", runs)


def judged(text: str, **scenarios: Scenario) -> dict[str, object]:
    row = validate(claims(text), scenarios)["verdicts"][0]
    assert isinstance(row, dict)
    return row


@pytest.mark.parametrize(
    ("text", "expected_us"),
    [
        ('metric = "two-way-contribution"\nscope = { kind = "path" }', 12),
        ('metric = "rtt"\nscope = { kind = "path" }', 12),
        (f'metric = "rtt"\nscope = {{ kind = "segment", near = "{NEAR}", far = "{FAR}" }}', 12),
        (f'metric = "rtt"\nscope = {{ kind = "segment", near = "{FAR}", far = "{NEAR}" }}', 12),
        ('metric = "one-way-latency"\nscope = { kind = "path" }', 10),
        ('metric = "one-way-latency"\nstatistic = "p50"\nscope = { kind = "path" }', 10),
        ('metric = "one-way-latency"\nscope = { kind = "path", direction = "reverse" }', 2),
        (f'metric = "delay-variation"\nstatistic = "p90"\n{REVERSE}', 0),
        ('metric = "delay-variation"\nstatistic = "p50"\nscope = { kind = "path" }', 1.0),
    ],
)  # fmt: skip
def test_each_metric_is_measured(text: str, expected_us: float) -> None:
    bound = f'\nunit = "us"\ninterval = [{expected_us - 0.3}, {expected_us + 0.3}]\n'
    row = judged(text + bound, s=scenario(10_000))
    assert row["verdict"] == "held", row
    assert row["estimate"] == pytest.approx(expected_us, abs=0.15)


def test_differences_and_relative_changes() -> None:
    both = {"a": scenario(10_000), "b": scenario(16_000)}
    scope = 'scope = { kind = "difference", treatment = "b", baseline = "a" }\n'
    row = judged(f'metric = "rtt"\n{scope}unit = "us"\ninterval = [5.8, 6.2]', **both)
    assert row["verdict"] == "held"
    assert row["replication"] == RUNS
    share = f'metric = "rtt"\n{scope}relative = true\nunit = "%"\ninterval = [49, 51]'
    row = judged(share, **both)
    assert (row["verdict"], row["estimate"]) == ("held", pytest.approx(50, abs=0.5))


def test_what_cannot_be_measured_is_undecided_and_says_why() -> None:
    one = scenario(10_000)
    bound = 'unit = "us"\ninterval = [1, 2]\n'
    for text, reason in (
        ('metric = "rtt"\nstatistic = "p99"\nscope = { kind = "path" }\n', "with its response"),
        (
            'metric = "rtt"\nscope = { kind = "segment", near = "vnic", far = "x" }\n',
            "there is no point x in run",
        ),
        (
            'metric = "rtt"\nscope = { kind = "difference", treatment = "b", baseline = "s" }\n',
            "it needs runs of scenario b; given: s",
        ),
        (
            'metric = "rtt"\nscope = { kind = "path", scenario = "b" }\n',
            "it needs runs of scenario b",
        ),
    ):
        row = judged(text + bound, s=one)
        assert row["verdict"] == "undecided"
        assert reason in str(row["reason"])
    row = judged('metric = "rtt"\nscope = { kind = "path" }\n' + bound, s=one, t=one)
    assert "the claim names no scenario (s, t)" in str(row["reason"])


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        (
            'population = { packets = "first-of-flow" }',
            "first-of-flow packets are not measured apart",
        ),
        ('interpretation = "percentile-range"', "a percentile-range is not judged"),
    ],
)
def test_what_a_claim_is_about_is_not_overlooked(key: str, reason: str) -> None:
    row = judged(f"{TWO_WAY}interval = [11, 13]\n{key}", s=scenario(10_000))
    assert row["verdict"] == "undecided"
    assert reason in str(row["reason"])


def test_unrelated_clocks_leave_the_variation() -> None:
    one = scenario(10_000, clock_half_width_ns=None)  # type: ignore[arg-type]
    assert isinstance(read(one.runs[0], MetricQuery("one-way-latency")), Unavailable)
    found = read(one.runs[0], MetricQuery("delay-variation", "p50"))
    assert isinstance(found, Measurement)
    assert found.value == pytest.approx(1000, abs=150)


def test_stamps_that_packets_keep_step_with_widen() -> None:
    chance = np.random.default_rng(1)
    steady, loose = np.full(N, 10_000.0), 10_000 + 2000 * np.round(chance.normal(size=N))
    biases = [
        read(run_of(values, values, resolution_ns=1000), MetricQuery("rtt"))
        for values in (steady, loose)
    ]
    assert [one.bias for one in biases if isinstance(one, Measurement)] == [2000, 0]


def test_metrics_of_processors_need_samples() -> None:
    text = 'metric = "cpu-per-gbps"\nscope = { kind = "path" }\nunit = "core"\nat_most = 1'
    given = replace(run_of(np.full(N, 1e4), np.full(N, 1e4)), rates=rates())
    (row,) = validate(claims(text), {"s": scenario_of("s", [given])})["verdicts"]
    assert row["verdict"] == "undecided"
    assert "no CPU samples; name them in the study file" in row["reason"]


@pytest.mark.parametrize("name", published_names())
def test_what_ships_can_be_judged_where_its_metric_is_measured(name: str) -> None:
    served = [claim for claim in load_published(name).claims if claim.metric in METRICS]
    scopes = [claim.scope for claim in served]
    names = {"vxlan"} | {one for s in scopes for one in (s.treatment, s.baseline) if one}
    scenarios = {one: scenario(10_000) for one in names}
    for claim in served:
        claim.scope.scenario = "vxlan" if claim.scope.kind == "path" else None
    rows = validate(served, scenarios)["verdicts"] if served else []
    assert [row["id"] for row in rows] == [claim.id for claim in served]
    for claim, row in zip(served, rows, strict=True):
        is_counted = METRICS[claim.metric] not in {"traffic", "cost"}
        assert (row["estimate"] is not None) == is_counted
        ends = (claim.scope.near, claim.scope.far)
        lacks = "there is no point" if "overlay" in ends else "was not counted"
        assert is_counted or lacks in row["reason"]


@pytest.mark.parametrize("bound", ["interval = [1, 5]", "at_most = 5", "at_least = 1", "about = 3"])
@pytest.mark.parametrize(
    "estimate",
    [
        None,
        Estimate(3, inf, 7),
        Estimate(3, nan, 7),
        Estimate(nan, 1, 7),
        Estimate(inf, 1, 7),
        Estimate(3, 0.1, 7, inf),
        Estimate(3, 0.1, 7, nan),
    ],
)
def test_nothing_is_decided_without_an_interval(bound: str, estimate: Estimate | None) -> None:
    head = 'id = "a"\nsentence = "s"\nsource.document = "d"\nmetric = "rtt"\nunit = "ns"\n'
    text = f'[[claims]]\n{head}scope = {{ kind = "path" }}\n{bound}\n'
    claim = parse_published(text.encode(), "c").claims[0]
    value = None if estimate is None else estimate.value
    (verdict,) = decided((claim, Contrast(estimate=estimate, value=value, n=9, n_runs=1)))
    assert verdict.word == "undecided"
    assert (verdict.lo, verdict.hi) == (None, None)
    assert "no interval" in verdict.reason
    assert verdict.estimate is None or isfinite(verdict.estimate)
