"""Planning: how many runs of how many packets decide a claim, before they are made.

The arithmetic is that of what an undecided verdict asks for (pcaplat.validating.needs).
"""

from collections.abc import Mapping, Sequence
from math import ceil, inf, isfinite, sqrt
from os import PathLike, fspath
from statistics import median
from typing import Any

from pcaplat.metrics.contrasts import Contrast, difference_of, metric_of
from pcaplat.metrics.means import Measurement
from pcaplat.metrics.registry import read
from pcaplat.metrics.runs import Scenario
from pcaplat.published.claims import Claim
from pcaplat.records import dataclass
from pcaplat.statistics.intervals import Estimate
from pcaplat.statistics.power import HIGH_POWER, USUAL_POWER, Target, runs_needed
from pcaplat.study.sources import RunReader, ScenarioSource
from pcaplat.tables.columns import Row
from pcaplat.validating import chosen_claims, scenarios_at
from pcaplat.validating.evidence import query_of
from pcaplat.validating.needs import LEVEL
from pcaplat.validating.rule import bounds_of
from pcaplat.validating.words import ClaimBounds

SCHEMA = "pcaplat.plan/1"
ASSUMED_SHARES = (0.25, 0.5, 1.0)
"""Without a pilot: what runs scatter by, in halves of the claim's width."""

OPEN_SHARE = 0.1
"""A claim that is open on one side counts as so wide, as a share of its bound."""

EDGE_SHARE = 0.25
"""At its edge a claim is decided by no number of runs: this share of its half-width off it."""

OWN_SHARE = 0.5
"""The packets of a run should tell its mean to this share of what runs scatter by."""

GIVEN = 'the claim is about the given captures alone (kind = "run"): no further run is needed'
EXACT = (
    "the claim is one value, and no number of runs shows one value of a figure that scatters; give "
    "the claim a tolerance"
)

IN_TURN = "interleaved, each scenario first in every other round: A B, B A, A B …"
ANY_ORDER = "any"


@dataclass(frozen=True)
class Scatter:
    """What runs scatter by, in base units, and where that is known from.

    A pilot shows a `value` too.
    """

    sd: float
    basis: str
    n_packets: int | None = None
    value: float | None = None


def plan(
    claims: str | PathLike[str],
    pilot: Mapping[str, ScenarioSource | Sequence[ScenarioSource]] | str | None = None,
    *,
    only: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Say how many runs of how many packets decide each claim.

    Args:
        claims: A file of claims, or one that ships by its name.
        pilot: A few runs of the scenarios, by name, or a study file: what runs scatter by.
        only: Ids of the claims; all by default.
        options: Arguments of `merge` for captures.

    Returns:
        The document `pcaplat.plan/1`: for each claim, each place of the true value in it, and what
        runs may scatter by, the runs a scenario that decide in 80 % and in 95 % of studies. A claim
        that no number of runs concerns has one row with the reason.

    Example:
        >>> rows = plan("nsx-dfw-latency")["claims"]
        >>> [(row["sd"], row["runs_80"], row["runs_95"]) for row in rows if row["at"] == "middle"]
        [(0.3, 3, 4), (0.6, 5, 7), (1.2, 13, 18)]
    """
    chosen = chosen_claims([fspath(claims)], only)
    reader = RunReader(options or {})
    scenarios = {} if pilot is None else scenarios_at(pilot, chosen, reader)
    return {
        "schema": SCHEMA,
        "claims": [row for claim in chosen for row in _rows(claim, scenarios)],
    }


def _rows(claim: Claim, scenarios: Mapping[str, Scenario]) -> list[Row]:
    bounds = bounds_of(claim)
    half, middle = _middle(bounds)
    if claim.scope.kind == "run" or not half:
        return [_row_without_runs(claim, GIVEN if claim.scope.kind == "run" else EXACT)]
    scatters = _of_pilot(claim, scenarios) or [
        Scatter(share * half, f"assumed: {share:g} of the claim's half-width")
        for share in ASSUMED_SHARES
    ]
    side = -1 if isfinite(bounds.hi) else 1
    near = (bounds.hi if isfinite(bounds.hi) else bounds.lo) + side * EDGE_SHARE * half
    places = [("middle", middle), ("edge", near)]
    return [
        _row(claim, bounds, one, place)
        for one in scatters
        for place in (places if one.value is None else [("pilot", one.value), *places])
    ]


def _row_without_runs(claim: Claim, reason: str) -> Row:
    names = ("at", "value", "sd", "basis", "runs_80", "runs_95", "packets", "order")
    row = {"id": claim.id, "unit": claim.unit, "claim": claim.sentence, "reason": reason}
    return row | dict.fromkeys(names)


def _middle(bounds: ClaimBounds) -> tuple[float, float]:
    """Half the claim's width, and its middle; of one that is open a share of its bound."""
    if isfinite(bounds.lo) and isfinite(bounds.hi):
        return (bounds.hi - bounds.lo) / 2, (bounds.hi + bounds.lo) / 2
    bound = bounds.hi if isfinite(bounds.hi) else bounds.lo
    half = OPEN_SHARE * abs(bound)
    return half, bound - half if bounds.lo == -inf else bound + half


def _row(claim: Claim, bounds: ClaimBounds, scatter: Scatter, place: tuple[str, float]) -> Row:
    name, value = place
    target = Target(value, bounds.lo, bounds.hi, scatter.sd)
    usual, high = (runs_needed(target, power, LEVEL) for power in (USUAL_POWER, HIGH_POWER))
    unit = claim.unit_in_base
    return {
        "id": claim.id,
        "at": name,
        "value": round(value / unit, 9),
        "unit": claim.unit,
        "sd": round(scatter.sd / unit, 9),
        "basis": scatter.basis,
        "runs_80": usual,
        "runs_95": high,
        "packets": scatter.n_packets,
        "order": IN_TURN if claim.scope.kind == "difference" else ANY_ORDER,
        "claim": claim.sentence,
        "reason": None,
    }


def _of_pilot(claim: Claim, scenarios: Mapping[str, Scenario]) -> list[Scatter]:
    """Take from a pilot what runs, or rounds of them, scatter by."""
    scope = claim.scope
    named = [scope.treatment, scope.baseline] if scope.kind == "difference" else [scope.scenario]
    names = [name or next(iter(scenarios), "") for name in named]
    chosen = [scenarios[name] for name in names if name in scenarios]
    if len(chosen) < len(names) or min(one.n_runs for one in chosen) < len(("one", "other")):
        return []
    query = query_of(claim)
    contrast: Contrast = (
        difference_of(chosen[1], chosen[0], query, is_relative=claim.relative, accepts_order=True)
        if len(chosen) > 1
        else metric_of(chosen[0], query)
    )
    estimate = contrast.estimate
    if estimate is None or not hasattr(estimate, "se") or not estimate.se:
        return []
    sd = estimate.se * sqrt(contrast.n_runs)
    n_packets = _packets(claim, chosen, sd)
    return [Scatter(sd, f"{contrast.n_runs} runs of the pilot", n_packets, estimate.value)]


def _packets(claim: Claim, chosen: Sequence[Scenario], sd: float) -> int | None:
    """Say how many packets tell the mean of a run well enough beside what runs scatter by."""
    found = [read(run, query_of(claim)) for one in chosen for run in one.runs]
    known = [
        one.n * (one.within.se / (OWN_SHARE * sd)) ** 2
        for one in found
        if isinstance(one, Measurement) and isinstance(one.within, Estimate)
    ]
    return ceil(median(known)) if known and not claim.relative else None
