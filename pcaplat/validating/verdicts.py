"""Validate: claims and scenarios become verdicts with their evidence.

    claims, scenarios → verdicts

A claim is held if the 90 % interval of what was measured lies inside the claim's, refuted if the
95 % interval lies outside, undecided otherwise; over several claims by Holm's procedure. See
docs/stages/validate.md.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pcaplat.metrics.cross_checks import cross_check_rows, cross_check_warnings
from pcaplat.metrics.registry import metric_named
from pcaplat.metrics.runs import Scenario
from pcaplat.published.claims import Claim
from pcaplat.validating.evidence import evidence_for
from pcaplat.validating.rule import Verdict, decide

SCHEMA = "pcaplat.verdicts/1"


def validate(claims: Sequence[Claim], scenarios: Mapping[str, Scenario]) -> dict[str, Any]:
    """Judge claims by what scenarios measured.

    Args:
        claims: Which to judge.
        scenarios: By name.

    Returns:
        The document `pcaplat.verdicts/1`.
    """
    evidence = [evidence_for(claim, scenarios) for claim in claims]
    verdicts = decide(list(zip(claims, evidence, strict=True)))
    cross_checks = cross_check_rows(list(scenarios.values()))
    return {
        "schema": SCHEMA,
        "verdicts": [_row(*one) for one in zip(claims, verdicts, strict=True)],
        "witnesses": cross_checks,
        "warnings": cross_check_warnings(cross_checks),
    }


def _row(claim: Claim, verdict: Verdict) -> dict[str, Any]:
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
        "tolerance": float(claim.margin),
        "confidence": verdict.confidence,
        "n_runs": verdict.n_runs,
        "replication": verdict.replication,
        "claim": claim.sentence,
        "source": str(claim.source),
        "assumes": _assumptions(claim),
    }


def _assumptions(claim: Claim) -> list[str]:
    """What the claim says of its packets and captures do not tell."""
    population = claim.population
    found = [population.traffic] if population.traffic else []
    if population.frame_bytes and not metric_named(claim.metric).is_of_frames:
        found.append(f"frames of {', '.join(map(str, population.frame_bytes))} bytes")
    if population.filter:
        found.append(f"packets that pass {population.filter}")
    return found
