"""What an undecided claim needs: better stamps, or so much more data."""

from math import ceil, inf

from pcaplat.metrics.contrasts import RUNS, Contrast
from pcaplat.metrics.runs import LEAST_RUNS
from pcaplat.statistics.intervals import Estimate, t_quantile
from pcaplat.statistics.loss_ratio import LossEstimate
from pcaplat.validating.words import ClaimBounds

RULE_OF_THREE = 3
"""No loss in 3/x packets shows, at 95 %, that less than x is lost."""

POWER_Z = 1.282
"""Standard errors that an interval must keep from the edge, for data that decide nine times in
ten."""

MOST_TIMES = 50
"""To measure more than so many times the data is no advice."""


def needs(contrast: Contrast, estimate: Estimate | LossEstimate, claim: ClaimBounds) -> str:
    """Say why an interval decides nothing, and what would."""
    if isinstance(estimate, LossEstimate):
        return _more_packets(estimate, claim)
    half = (claim.hi - claim.lo) / 2
    if not half:
        measured = ClaimBounds(*estimate.interval(0.9), claim.unit)
        return (
            f"the claim is one value and the 90 % interval is {measured}: nothing that scatters "
            "lies inside one value; give the claim a tolerance"
        )
    if estimate.bias >= half:
        return (
            f"unresolvable with these captures: clocks and stamps leave ± "
            f"{claim.width(estimate.bias)}, and the claim is ± {claim.width(half)} wide; stamps of "
            "1 ns, points that share a clock (--same-clock), or the two-way contribution, which "
            "needs no clock, would decide"
        )
    room = _room(estimate, claim)
    measured = ClaimBounds(*estimate.interval(0.9), claim.unit)
    start = f"too little data: the 90 % interval, {measured}, sticks out of {claim}"
    reach = (t_quantile(0.95, estimate.df) + POWER_Z) * estimate.se
    times = (reach / room) ** 2 if room > 0 else inf
    if times > MOST_TIMES:
        return f"{start}; the value lies on its edge, where more data hardly help"
    return f"{start}; {_amount(contrast, times)}"


def _room(estimate: Estimate, claim: ClaimBounds) -> float:
    """How far the value is from the claim's nearest edge, less what no data can shrink."""
    edges = [abs(estimate.value - edge) for edge in (claim.lo, claim.hi) if abs(edge) < inf]
    return min(edges) - estimate.bias


def _amount(contrast: Contrast, times: float) -> str:
    if contrast.replication == RUNS:
        n_runs = max(contrast.n_runs + 1, ceil(contrast.n_runs * times))
        return f"about {n_runs} runs a scenario instead of {contrast.n_runs} would decide"
    factor = max(2, ceil(times))
    n = f"{ceil(contrast.n * factor):,} packets" if contrast.n else "packets"
    return f"runs {factor} times as long (about {n}), or {LEAST_RUNS} runs a scenario, would decide"


def _more_packets(estimate: LossEstimate, claim: ClaimBounds) -> str:
    measured = ClaimBounds(*estimate.interval(0.9), claim.unit)
    start = f"too little data: the 90 % interval, {measured}, sticks out of {claim}"
    if not estimate.n_lost and 0 < claim.hi < inf:
        n = ceil(RULE_OF_THREE / claim.hi)
        return f"{start}; {n:,} packets without a loss would show it ({estimate.n:,} were measured)"
    return f"{start}; more packets than these {estimate.n:,} would decide"
