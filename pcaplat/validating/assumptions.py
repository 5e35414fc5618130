"""Assumptions of a verdict that no capture can show: each one that applies is named beside it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pcaplat.metrics.contrasts import RUNS
from pcaplat.metrics.metric import MetricQuery
from pcaplat.metrics.registry import metric_named
from pcaplat.metrics.runs import MeasuredRun, Scenario
from pcaplat.published.claims import Claim
from pcaplat.units import format_ns
from pcaplat.validating.causality import OF_CLOCKS
from pcaplat.validating.conditional import LEAST_TRIAL_S, NS_PER_S
from pcaplat.validating.missing import LATENCIES
from pcaplat.validating.rule import Verdict

ALL_RUNS = "each run was captured anew, all runs are given, and their number was fixed beforehand"
ALL_PACKETS = "packets that no capture has were like the others"
SENT_ONCE = "no bytes were sent again: pcaplat counts retransmissions in goodput"
OF_PACKETS = (*LATENCIES, "loss-ratio")


def assumptions(
    claim: Claim, verdict: Verdict, query: MetricQuery, scenarios: Sequence[Scenario]
) -> Iterator[str]:
    """Name what a decided claim rests on; nothing is assumed where nothing is decided.

    Args:
        claim: What was judged.
        verdict: As it came out.
        query: Which figure it is about.
        scenarios: Those that it is about.
    """
    if verdict.word == "undecided":
        return
    if query.metric in OF_CLOCKS:
        runs = [run for scenario in scenarios for run in scenario.runs]
        yield from dict.fromkeys(text for run in runs if (text := _clocks(run, query)))
    if query.metric == "goodput":
        yield SENT_ONCE
    if claim.scope.kind == "run":
        return
    if query.metric == "loss-ratio" and not query.direction:
        yield from dict.fromkeys(text for one in scenarios for text in _one_way(one, query))
    if verdict.replication == RUNS and not metric_named(claim.metric).is_fixed:
        yield ALL_RUNS
    if query.metric in OF_PACKETS or claim.population.allowed_loss is not None:
        yield ALL_PACKETS
    yield from _short_trials(claim, scenarios)


def _short_trials(claim: Claim, scenarios: Sequence[Scenario]) -> Iterator[str]:
    """Name trials that end before buffers need be full."""
    if claim.population.allowed_loss is None:
        return
    lasted_ns = min(run.end_ns - run.start_ns for one in scenarios for run in one.runs)
    if lasted_ns < LEAST_TRIAL_S * NS_PER_S:
        shortest = format_ns(lasted_ns)
        yield f"trials of 60 s (RFC 2544 §24) lose as much as these, of {shortest} or more"


def _one_way(scenario: Scenario, query: MetricQuery) -> Iterator[str]:
    """Name the direction of which no packet was captured: nothing shows what it lost."""
    for run in scenario.runs:
        near, far = query.ends or run.ends
        seen = {
            key[2] for key, row in run.segments.items() if {near, far} == {*key[:2]} and _n(row)
        }
        if len(seen) == 1:
            first, last = (far, near) if seen == {"forward"} else (near, far)
            yield f"no packet goes from {first} to {last}: none was captured"


def _n(row: Mapping[str, Any]) -> int:
    return int(row["n"] + row["n_lost"])


def _clocks(run: MeasuredRun, query: MetricQuery) -> str:
    """Name the declaration that relates the clocks of both ends; "" where packets alone do."""
    ends = query.ends or run.ends
    rows = [row for row in run.document.get("declared_clocks", ()) if row["point"] in ends]
    if len({row["point"] for row in rows}) < len(ends):
        return ""
    if len({row["group"] for row in rows}) == 1:
        return f"{ends[0]} and {ends[1]} share a clock, as declared"
    return f"the clocks of {ends[0]} and {ends[1]} are as accurate as declared"
