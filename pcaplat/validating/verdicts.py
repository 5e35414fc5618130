"""Validate: claims and scenarios become verdicts with their evidence.

    claims, scenarios → verdicts

A claim is held if the 95 % interval of what was measured lies inside the claim's, refuted if it
lies outside, undecided otherwise; beside it stands the verdict among all claims (Holm). See
docs/method/validate.md.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pcaplat.metrics.cross_checks import cross_check_rows, cross_check_warnings
from pcaplat.metrics.dimensions import BASE, UNITS
from pcaplat.metrics.registry import metric_named
from pcaplat.metrics.run_values import values_of_runs
from pcaplat.metrics.runs import Scenario
from pcaplat.published.claims import Claim
from pcaplat.tables.columns import Row
from pcaplat.validating.assumptions import assumptions
from pcaplat.validating.evidence import evidence_for, query_of, scenarios_of_claim
from pcaplat.validating.population import unchecked
from pcaplat.validating.rule import Verdict, bounds_of, decide
from pcaplat.validating.subject import subject_of

SCHEMA = "pcaplat.verdicts/1"


def validate(
    claims: Sequence[Claim], scenarios: Mapping[str, Scenario], *, accepts_order: bool = False
) -> dict[str, Any]:
    """Judge claims by what scenarios measured.

    Args:
        claims: Which to judge.
        scenarios: By name.
        accepts_order: Whether runs that are not interleaved decide all the same.

    Returns:
        The document `pcaplat.verdicts/1`.
    """
    evidence = [
        evidence_for(claim, scenarios, bounds=bounds_of(claim), accepts_order=accepts_order)
        for claim in claims
    ]
    verdicts = decide(list(zip(claims, evidence, strict=True)))
    cross_checks = cross_check_rows(list(scenarios.values()))
    return {
        "schema": SCHEMA,
        "verdicts": [
            _row(claim, verdict, _assumes(claim, verdict, scenarios), subject_of(claim, scenarios))
            for claim, verdict in zip(claims, verdicts, strict=True)
        ],
        "witnesses": cross_checks,
        "warnings": cross_check_warnings(cross_checks),
        "runs": [row for claim in claims for row in _values_of_runs(claim, scenarios)],
    }


def _values_of_runs(claim: Claim, scenarios: Mapping[str, Scenario]) -> list[Row]:
    """Give what each run by itself shows of a claim, in the claim's unit.

    A relative change is no figure of one run: there it is the figure whose change is claimed.
    """
    names, _ = scenarios_of_claim(claim, scenarios)
    unit = BASE[metric_named(claim.metric).dimensions[0]] if claim.relative else claim.unit
    factor = float(UNITS[unit][1])
    rows = values_of_runs([scenarios[name] for name in names], query_of(claim))
    return [{"claim": claim.id, "unit": unit} | _in_unit(row, factor) for row in rows]


def _in_unit(row: Row, factor: float) -> Row:
    ends = {name: row[name] for name in ("value", "lo", "hi")}
    return row | {name: None if end is None else end / factor for name, end in ends.items()}


def _assumes(claim: Claim, verdict: Verdict, scenarios: Mapping[str, Scenario]) -> list[str]:
    """Say what captures do not show, of the claim's packets and of how they were captured."""
    runs = [run for scenario in scenarios.values() for run in scenario.runs]
    names, _ = scenarios_of_claim(claim, scenarios)
    chosen = [scenarios[name] for name in names]
    unshown = assumptions(claim, verdict, query_of(claim), chosen)
    return [*unchecked(claim.population, runs), *unshown]


def _row(claim: Claim, verdict: Verdict, assumes: list[str], subject: str) -> dict[str, Any]:
    lo, hi = (None if end is None else float(end) for end in (claim.lo, claim.hi))
    return {
        "id": claim.id,
        "verdict": verdict.word,
        "reason": verdict.reason,
        "estimate": verdict.estimate,
        "lo": verdict.lo,
        "hi": verdict.hi,
        "unit": claim.unit,
        "claim_lo": lo,
        "claim_hi": hi,
        "allowed_lo": None if lo is None else lo - float(claim.margin),
        "allowed_hi": None if hi is None else hi + float(claim.margin),
        "tolerance": float(claim.margin),
        "confidence": verdict.confidence,
        "n_runs": verdict.n_runs,
        "replication": verdict.replication,
        "verdict_in_family": verdict.in_family,
        "n_family": verdict.n_family,
        "claim": claim.sentence,
        "source": str(claim.source),
        "assumes": assumes,
        "subject": subject,
    }
