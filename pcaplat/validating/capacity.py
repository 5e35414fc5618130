"""Capacity: a rate is what was offered unless packets were lost.

A claim of what could pass is not refuted by what nobody sent: loss at a higher offered rate is what
refutes it (RFC 1242 §3.17, RFC 2544 §26.1).
"""

from collections.abc import Sequence
from math import inf

from pcaplat.metrics.contrasts import Contrast
from pcaplat.metrics.registry import metric_named
from pcaplat.metrics.runs import MeasuredRun, Scenario
from pcaplat.published.claims import Claim
from pcaplat.validating.words import ClaimBounds

TCP_SHARE = 0.9
"""With so many frames of TCP, senders adapt to what passes."""

WAITING_SHARE = 0.5
"""With so many frames in requests and responses, it is a client's waiting that limits them."""

ONE_AT_A_TIME = (
    "no more was offered than passed: each client waits for its answer, so the number of clients "
    "limits the rate; state that number in the claim's population (flows = …)"
)
NEVER_ASKED = (
    "no more was offered than passed: what is claimed ({bounds}) was never asked of it; offer that "
    "rate or more: loss at a higher offered rate would refute it"
)

NO_CEILING = (
    "no packet was lost, so that the rate is what was offered, and no upper bound of what could "
    "pass; offer more, until packets are lost"
)

COLUMNS = {
    "packet-rate": "packet_rate_pps",
    "throughput-l1": "l1_bps",
    "throughput-l2": "l2_bps",
    "throughput-l3": "l3_bps",
    "goodput": "goodput_bps",
}
"""Column of the traffic table of each rate."""


def unoffered(
    claim: Claim, scenarios: Sequence[Scenario], contrast: Contrast, bounds: ClaimBounds
) -> str:
    """Say that a rate is what was offered, and no limit was met; empty if one was.

    Args:
        claim: Of a rate, or of anything else.
        scenarios: Those that it is about; of a difference the treatment first.
        contrast: What was measured.
        bounds: What the claim allows, in base units.
    """
    is_searched = claim.population.allowed_loss is not None
    if not metric_named(claim.metric).is_rate or claim.scope.kind == "run" or is_searched:
        return ""
    if claim.scope.kind == "difference":
        return _unequal(scenarios) if _is_closed(claim) else _unforced(claim, scenarios)
    return _not_met(claim, scenarios, contrast, bounds)


def _not_met(
    claim: Claim, scenarios: Sequence[Scenario], contrast: Contrast, bounds: ClaimBounds
) -> str:
    """Say that less than is claimed passed, and no more was offered."""
    if contrast.value is None:
        return ""
    runs = [run for scenario in scenarios for run in scenario.runs]
    if contrast.value >= bounds.lo or bounds.lo == -inf:
        is_told = bounds.hi == inf or contrast.value > bounds.hi or _is_closed(claim)
        is_full = all(_is_loaded(run, claim) or _adapts(run) for run in runs)
        return "" if is_told or is_full else NO_CEILING
    if _is_closed(claim):
        return "" if claim.population.flows else ONE_AT_A_TIME
    if all(_is_loaded(run, claim) and _is_beyond(run, claim, bounds.lo) for run in runs):
        return ""
    return NEVER_ASKED.format(bounds=bounds)


def _is_closed(claim: Claim) -> bool:
    """Tell whether each request waits for an answer, so that none is offered while it waits."""
    return claim.metric == "transaction-rate"


def _unforced(claim: Claim, scenarios: Sequence[Scenario]) -> str:
    """Name scenarios of which nothing shows what could pass."""
    names = [
        one.name
        for one in scenarios
        if not all(_is_loaded(run, claim) or _adapts(run) for run in one.runs)
    ]
    if not names:
        return ""
    return (
        f"nothing was lost in {' and '.join(names)}, so that its rate is what was offered, not "
        "what could pass; offer more, until packets are lost in both scenarios"
    )


def _unequal(scenarios: Sequence[Scenario]) -> str:
    most = [sorted({_most_connections(run) for run in one.runs}) for one in scenarios]
    if most[0] == most[1]:
        return ""
    loads = ["/".join(map(str, each)) for each in most]
    return f"the offered load is not the same: {loads[0]} connections at a time against {loads[1]}"


def _is_loaded(run: MeasuredRun, claim: Claim) -> bool:
    """Tell whether more was offered than passed."""
    ends = (claim.scope.near or run.ends[0], claim.scope.far or run.ends[1])
    row = run.segments.get((*ends, claim.scope.direction or "forward"))
    return row is not None and bool(row["n_lost"])


def _adapts(run: MeasuredRun) -> bool:
    contents = run.contents
    is_tcp = contents is not None and contents.share_of(run.ends[0], "tcp") >= TCP_SHARE
    return is_tcp and not _waits(run)


def _waits(run: MeasuredRun) -> bool:
    """Tell whether most frames are requests and responses: a client that waits offers no more."""
    if run.rates is None:
        return False
    point = run.ends[0]
    exchanged = [row for row in run.rates.transactions if row["point"] == point]
    n = sum(2 * row["n_transactions"] for row in exchanged if row["kind"] in {"rr", "crr"})
    n_frames = sum(row["n_frames"] for row in run.rates.traffic if row["point"] == point)
    return bool(n > WAITING_SHARE * n_frames)


def _is_beyond(run: MeasuredRun, claim: Claim, least: float) -> bool:
    offered = sent_at(run, claim, COLUMNS[claim.metric])
    return offered is not None and offered >= least


def sent_at(run: MeasuredRun, claim: Claim, column: str) -> float | None:
    """Give the rate at which packets went in, by its column of the traffic table."""
    way = claim.scope.direction or "forward"
    near, far = claim.scope.near or run.ends[0], claim.scope.far or run.ends[1]
    row = None if run.rates is None else run.rates.row((near if way == "forward" else far, way))
    value = None if row is None else row.get(column)
    return None if value is None else float(value)


def _most_connections(run: MeasuredRun) -> int:
    rows = run.rates.traffic if run.rates is not None else ()
    return max((row["n_connections_max"] for row in rows), default=0)
