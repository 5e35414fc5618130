"""What an undecided claim needs: better stamps, so many runs, or so many packets."""

from math import ceil, inf, sqrt

from pcaplat.metrics.contrasts import RUNS, AnyEstimate, Contrast
from pcaplat.metrics.counted_quantiles import CountedQuantile
from pcaplat.metrics.quantiles import LEAST_BEYOND
from pcaplat.metrics.runs import LEAST_RUNS
from pcaplat.statistics.conditional_rate import RateBounds
from pcaplat.statistics.intervals import Estimate
from pcaplat.statistics.loss_ratio import LossEstimate
from pcaplat.statistics.mean_pairs import RelativeChange
from pcaplat.statistics.power import HIGH_POWER, MOST_RUNS, USUAL_POWER, Target, runs_needed
from pcaplat.validating.words import ClaimBounds

LEVEL = 0.025
"""Of each side: how often a verdict may be wrong."""

CONFIDENCE = 1 - 2 * LEVEL

NO_LOSS = 3.69
"""No loss among 3.69/x packets shows, at `LEVEL`, that less than x is lost (−ln 0.025)."""


def needs(
    contrast: Contrast,
    estimate: AnyEstimate,
    claim: ClaimBounds,
) -> str:
    """Say why an interval decides nothing, and what would."""
    if isinstance(estimate, RateBounds):
        return _other_loads(estimate, claim)
    if isinstance(estimate, CountedQuantile):
        return _longer_runs(contrast, estimate, claim)
    if isinstance(estimate, LossEstimate):
        return _more_packets(estimate, claim)
    measured = ClaimBounds(*estimate.interval(CONFIDENCE), claim.unit)
    if claim.lo == claim.hi:
        return (
            f"the claim is one value and the 95 % interval is {measured}: nothing that scatters "
            "lies inside one value; give the claim a tolerance"
        )
    if why := unresolvable(estimate.value, estimate.bias, claim):
        return why
    start = f"too little data: the 95 % interval, {measured}, reaches beyond {claim}"
    return f"{start}; {_runs(contrast, estimate, claim)}"


def _other_loads(estimate: RateBounds, claim: ClaimBounds) -> str:
    measured = ClaimBounds(*estimate.interval(CONFIDENCE), claim.unit)
    text = f"the largest rate at which so little is lost is {measured}, and the claim is {claim}"
    parts = [text, *estimate.doubts]
    if estimate.further is not None:
        parts.append(f"offer {claim.width(estimate.further)} next, in {LEAST_RUNS} trials or more")
    return "; ".join(parts)


def unresolvable(value: float, bias: float, claim: ClaimBounds) -> str:
    """Say that runs without any scatter would not decide either; empty if they would.

    Args:
        value: What was measured.
        bias: How far clocks and timestamps may shift it, which more data do not reduce.
        claim: What is allowed.
    """
    low, high = value - bias, value + bias
    is_held = claim.lo <= low and high <= claim.hi
    if not bias or is_held or high < claim.lo or low > claim.hi:
        return ""
    return (
        f"unresolvable with these captures: clocks and timestamps may shift the value, "
        f"{claim.width(value)}, by ± {claim.width(bias)} across a bound of {claim}, and more runs "
        "do not change that; use --same-clock if the points share a clock, timestamps of 1 ns, or "
        "claim two-way-contribution, which needs no common clock"
    )


def _runs(contrast: Contrast, estimate: Estimate | RelativeChange, claim: ClaimBounds) -> str:
    """Say how many runs decide if the value stays where it is, and scatters as it does."""
    if contrast.replication != RUNS:
        return "three runs a scenario or more would decide sooner than a longer one"
    target = target_of(estimate, contrast.n_runs, claim)
    numbers = [runs_needed(target, power, LEVEL) for power in (USUAL_POWER, HIGH_POWER)]
    edge = claim.width(min(abs(estimate.value - end) for end in (claim.lo, claim.hi)))
    place = "inside" if target.is_inside else "outside"
    if numbers[0] is None:
        return (
            f"with a value {edge} {place} the claim even {MOST_RUNS:,} runs a scenario are too few"
        )
    usual, high = (f"{max(n, contrast.n_runs + 1):,}" if n else "more" for n in numbers)
    return (
        f"if the value stays where it is, {edge} {place} the claim, {usual} runs a scenario decide "
        f"in 80 % of studies, {high} in 95 % ({contrast.n_runs} were made)"
    )


def target_of(
    estimate: Estimate | RelativeChange, n_runs: int, claim: ClaimBounds, value: float | None = None
) -> Target:
    """Give what runs have to decide: the value, and the claim less what no data can shrink."""
    lo, hi = claim.lo + estimate.bias, claim.hi - estimate.bias
    at = estimate.value if value is None else value
    if not claim.lo <= at <= claim.hi:
        lo, hi = claim.lo - estimate.bias, claim.hi + estimate.bias
    return Target(at, lo, hi, estimate.se * sqrt(n_runs))


def _longer_runs(contrast: Contrast, estimate: CountedQuantile, claim: ClaimBounds) -> str:
    measured = ClaimBounds(*estimate.interval(CONFIDENCE), claim.unit)
    n = ceil(LEAST_BEYOND / min(estimate.share, 1 - estimate.share))
    return (
        f"too little data: the 95 % interval, {measured}, reaches beyond {claim}; with {n:,} "
        f"packets or more in each run the interval is narrower ({contrast.n:,} were measured)"
    )


def _more_packets(estimate: LossEstimate, claim: ClaimBounds) -> str:
    measured = ClaimBounds(*estimate.interval(CONFIDENCE), claim.unit)
    start = f"too little data: the 95 % interval, {measured}, reaches beyond {claim}"
    if not estimate.n_lost and 0 < claim.hi < inf:
        n = ceil(NO_LOSS / claim.hi)
        return f"{start}; {n:,} packets without a loss would show it ({estimate.n:,} were measured)"
    return f"{start}; more packets than these {estimate.n:,} would decide"
