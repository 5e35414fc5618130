"""Validate: claims and scenarios become verdicts with their evidence.

    claims, scenarios → verdicts

A claim is held if the 95 % interval of what was measured lies inside the claim's, refuted if it
lies outside, undecided otherwise; beside it stands the verdict among all claims (Holm). See
docs/method/validate.md.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pcaplat.metrics.cross_checks import cross_check_rows, cross_check_warnings
from pcaplat.metrics.runs import MeasuredRun, Scenario
from pcaplat.published.claims import Claim
from pcaplat.validating.evidence import evidence_for
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
    runs = [run for scenario in scenarios.values() for run in scenario.runs]
    return {
        "schema": SCHEMA,
        "verdicts": [
            _row(claim, verdict, runs, subject_of(claim, scenarios))
            for claim, verdict in zip(claims, verdicts, strict=True)
        ],
        "witnesses": cross_checks,
        "warnings": cross_check_warnings(cross_checks),
    }


def _row(
    claim: Claim, verdict: Verdict, runs: Sequence[MeasuredRun], subject: str
) -> dict[str, Any]:
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
        "assumes": unchecked(claim.population, runs),
        "subject": subject,
    }
