"""What scenarios say about a claim: which of them, which figure, and what it lacks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pcaplat.metrics.contrasts import (
    RUNS,
    UNREPLICATED,
    Contrast,
    difference_of,
    metric_of,
)
from pcaplat.metrics.counted_quantiles import CountedQuantile
from pcaplat.metrics.means import Measurement
from pcaplat.metrics.metric import SHARES, MetricQuery
from pcaplat.metrics.outlier_runs import odd_run_of
from pcaplat.metrics.registry import metric_named
from pcaplat.metrics.runs import LEAST_RUNS, UNNAMED, Scenario
from pcaplat.published.claims import Claim
from pcaplat.records import dataclass
from pcaplat.statistics.intervals import Estimate
from pcaplat.units import format_ns
from pcaplat.validating.capacity import unoffered
from pcaplat.validating.causality import meaningless
from pcaplat.validating.conditional import conditional_rate
from pcaplat.validating.given_runs import REPEAT, gaps, of_one_time
from pcaplat.validating.likeness import unlike
from pcaplat.validating.missing import are_samples, is_open_at, left_out, too_many_missing
from pcaplat.validating.needs import LEVEL, unresolvable
from pcaplat.validating.population import contradiction
from pcaplat.validating.words import ClaimBounds

EXTREMES = ("min", "max")
OF_THESE_CAPTURES = "the claim is about these captures only, not about others"


@dataclass(frozen=True)
class Evidence:
    """What was measured for a claim, and what lies below and above it whatever its scatter.

    `floor` and `ceiling` are the least and the greatest latency: no statistic lies beyond them,
    unless packets are so few that a quantile may lie above all of them (`is_open_above`).
    """

    contrast: Contrast
    floor: Estimate | None = None
    ceiling: Estimate | None = None
    is_open_above: bool = False


def evidence_for(
    claim: Claim,
    scenarios: Mapping[str, Scenario],
    *,
    bounds: ClaimBounds,
    accepts_order: bool = False,
) -> Evidence:
    """Measure what a claim is about, in base units (ns, or shares of 1).

    Args:
        claim: Which.
        scenarios: By name.
        bounds: What the claim allows, in base units.
        accepts_order: Whether runs that are not interleaved decide all the same.
    """
    names, untold = scenarios_of_claim(claim, scenarios)
    if not names:
        return Evidence(Contrast(why=untold))
    query, chosen = query_of(claim), [scenarios[name] for name in names]
    is_searched = claim.population.allowed_loss is not None
    found = (
        Evidence(conditional_rate(claim, query, chosen[0], bounds))
        if is_searched
        else _measured(claim, query, chosen, accepts_order=accepts_order)
    )
    contrast = found.contrast
    # trials at several rates differ by what was offered
    odd = [text for one in chosen if not is_searched and (text := odd_run_of(one, query))]
    facts = [*_facts(found, bounds), *_about(claim, chosen)]
    few = _undesigned(claim, chosen, contrast)
    own = [note for note in contrast.notes if note != UNREPLICATED or not (few or _is_run(claim))]
    contrast = replace(contrast, notes=(*own, *odd, *facts))
    why = (
        untold
        or _unjudged(claim)
        or (contrast.why if contrast.value is None else "")
        or _other_ends(query, chosen)
        or meaningless(query, chosen)
        or left_out(query, chosen)
        or contradiction(claim, chosen)
        or unoffered(claim, chosen, contrast, bounds)
        or _odd_packet(claim, contrast, bounds)
        or _unresolvable(contrast, bounds)
        or few
        or contrast.why
        or too_many_missing(claim, query, chosen, contrast, bounds)
    )
    return replace(found, contrast=replace(contrast, why=why))


def _unresolvable(contrast: Contrast, bounds: ClaimBounds) -> str:
    """Say that clocks keep a value from deciding, so that nobody makes more runs in vain."""
    bias = max((one.bias for one in contrast.measurements), default=0.0)
    if contrast.value is None or bounds.lo == bounds.hi:
        return ""
    return unresolvable(contrast.value, bias, bounds)


def _measured(
    claim: Claim, query: MetricQuery, chosen: Sequence[Scenario], *, accepts_order: bool
) -> Evidence:
    if claim.scope.kind == "difference":
        treatment, baseline = chosen
        is_relative = claim.relative
        contrast = difference_of(
            baseline, treatment, query, is_relative=is_relative, accepts_order=accepts_order
        )
        return Evidence(contrast)
    contrast = metric_of(chosen[0], query)
    if _is_run(claim) and not are_samples(chosen):
        contrast = _of_these(contrast, query)
    else:
        contrast = _one_after_the_other(contrast, chosen[0], accepts_order=accepts_order)
    if isinstance(contrast.estimate, CountedQuantile):
        return Evidence(contrast)
    if is_open_at(claim, query, chosen) or are_samples(chosen):
        return Evidence(contrast)
    floor, ceiling = (_extreme(chosen[0], query, name) for name in EXTREMES)
    return Evidence(contrast, floor, ceiling, _is_open(claim, contrast))


def _one_after_the_other(
    contrast: Contrast, scenario: Scenario, *, accepts_order: bool
) -> Contrast:
    """Let runs of one time decide nothing, unless that is accepted."""
    both = of_one_time(scenario)
    if contrast.replication != RUNS or not both:
        return contrast
    if accepts_order:
        return replace(contrast, notes=(*contrast.notes, f"{both}, which was accepted"))
    return replace(contrast, why=contrast.why or f"{both}: {REPEAT}")


def query_of(claim: Claim) -> MetricQuery:
    """Name the figure that a claim is about."""
    scope = claim.scope
    ends = (scope.near, scope.far) if scope.near and scope.far else None
    unit = None if claim.relative else claim.base_unit
    return MetricQuery(claim.metric, claim.statistic, ends, scope.direction, unit)


def scenarios_of_claim(claim: Claim, scenarios: Mapping[str, Scenario]) -> tuple[list[str], str]:
    """Find the scenarios that a claim is about, and say why they may not decide it."""
    scope = claim.scope
    if scope.kind == "difference":
        names = [scope.treatment or "", scope.baseline or ""]
    elif scope.scenario and list(scenarios) == [UNNAMED]:
        why = (
            f"the claim is about scenario {scope.scenario}, and these captures are not declared as "
            f"this scenario; if they are, add --scenario {scope.scenario}"
        )
        return [UNNAMED], why
    else:
        names = [scope.scenario or (next(iter(scenarios)) if len(scenarios) == 1 else "")]
    missing = [name for name in names if name not in scenarios]
    if not missing:
        return names, ""
    given = ", ".join(scenarios) or "none"
    if missing == [""]:
        return [], f"the claim names no scenario ({given}); add scenario = … to its scope"
    what = " and ".join(missing)
    return [], f"it needs runs of scenario {what}; given: {given} (name them {missing[0]}=FOLDER)"


def _extreme(scenario: Scenario, query: MetricQuery, name: str) -> Estimate | None:
    """Least or greatest latency, where runs or the packets themselves tell it."""
    if query.metric != "one-way-latency":
        return None
    found = metric_of(scenario, replace(query, statistic=name))
    if found.replication != RUNS:
        found = _of_these(found, replace(query, statistic=name))
    return found.estimate if isinstance(found.estimate, Estimate) else None


def _of_these(contrast: Contrast, query: MetricQuery) -> Contrast:
    """Take quantiles and extremes of the captured packets themselves: they are what was counted."""
    is_counted = query.statistic in {*SHARES, *EXTREMES}
    if not is_counted or len(contrast.measurements) != 1 or contrast.estimate is not None:
        return contrast
    (one,) = contrast.measurements
    counted = Estimate(one.value, 0.0, 1.0, one.bias, one.least)
    return replace(contrast, estimate=counted, value=one.value, why="", notes=())


def _is_open(claim: Claim, contrast: Contrast) -> bool:
    """Tell whether all packets may well lie below the quantile that is asked for."""
    share = SHARES.get(claim.statistic)
    if share is None or _is_run(claim):
        return False
    return bool(share**contrast.n > LEVEL)


def _facts(found: Evidence, bounds: ClaimBounds) -> list[str]:
    """Say that every packet lies on one side of what is claimed, if so."""
    floor, ceiling = found.floor, found.ceiling
    n = f"every one of {found.contrast.n:,} packets took"
    if floor is not None and floor.value - floor.bias > bounds.hi:
        return [f"{n} {format_ns(floor.value)} or more"]
    if ceiling is not None and ceiling.value + ceiling.bias < bounds.lo:
        return [f"{n} {format_ns(ceiling.value)} or less"]
    return []


def _about(claim: Claim, chosen: Sequence[Scenario]) -> Iterator[str]:
    """Say what a verdict is about beyond the claim's words."""
    if _is_run(claim):
        yield OF_THESE_CAPTURES
    else:
        yield from gaps(chosen)
    if claim.scope.kind == "difference":
        yield from unlike(chosen)


def _odd_packet(claim: Claim, contrast: Contrast, bounds: ClaimBounds) -> str:
    """Say that packets of some runs lie beyond what is claimed of all, and those of others not."""
    if claim.statistic not in EXTREMES or claim.scope.kind == "difference" or claim.relative:
        return ""
    edge, side = (bounds.hi, 1) if claim.statistic == "max" else (bounds.lo, -1)
    beyond = [value for value in contrast.values if side * (value - edge) > 0]
    if not beyond or len(beyond) == len(contrast.values):
        return ""
    worst = format_ns(side * max(side * value for value in beyond))
    return (
        f"in {len(beyond)} of {len(contrast.values)} runs a packet took {worst}, beyond what is "
        "claimed of every packet: that may be one odd packet, or what the claim denies; look at "
        "it with `pcaplat trace`, and make more runs"
    )


def _unjudged(claim: Claim) -> str:
    """Say what a claim is about that no run is measured for."""
    if claim.population.packets != "all":
        return f"{claim.population.packets} packets are not measured apart from the others"
    if claim.interpretation != "mean-across-conditions":
        return (
            f"a range that is a {claim.interpretation} is not judged; claim the statistic itself, "
            "with an interval for it"
        )
    return ""


def _is_run(claim: Claim) -> bool:
    """Tell a claim about the very captures that are given."""
    return claim.scope.kind == "run"


def _undesigned(claim: Claim, chosen: Sequence[Scenario], contrast: Contrast) -> str:
    """Say that the runs are too few for a verdict."""
    if _is_run(claim) or _is_constant(claim, contrast.measurements):
        return ""
    if contrast.replication == RUNS:
        return ""
    if min(one.n_runs for one in chosen) >= LEAST_RUNS:
        return ""
    given = "this run" if max(one.n_runs for one in chosen) == 1 else "these runs"
    if len(chosen) == 1:
        (one,) = chosen
        of = "" if one.name == UNNAMED else f" of {one.name}"
        return (
            f"the estimate is within {given} alone, and a verdict takes {LEAST_RUNS} runs or more: "
            f"make {LEAST_RUNS - one.n_runs} more{of}; or claim it of these captures alone, with "
            'kind = "run" in its scope'
        )
    lack = " and ".join(
        f"{LEAST_RUNS - one.n_runs} of {one.name}" for one in chosen if one.n_runs < LEAST_RUNS
    )
    return (
        f"the estimate is within {given} alone, and a verdict takes {LEAST_RUNS} runs of each "
        f"scenario or more, interleaved: make {lack} more"
    )


def _is_constant(claim: Claim, measurements: Sequence[Measurement]) -> bool:
    """Tell what protocols fix, and so cannot differ from run to run: every packet shows it."""
    return (
        metric_named(claim.metric).is_fixed
        and bool(measurements)
        and all(
            isinstance(one.within, Estimate) and one.within.se == 0 and not one.why
            for one in measurements
        )
    )


def _other_ends(query: MetricQuery, chosen: Sequence[Scenario]) -> str:
    """Say that whole paths are not the same."""
    runs = [run for scenario in chosen for run in scenario.runs]
    if query.ends or all(run.ends == runs[0].ends for run in runs):
        return ""
    paths = dict.fromkeys(f"{run.ends[0]} to {run.ends[1]}" for run in runs)
    shown = "; ".join(paths)
    return f"the paths have different ends ({shown}); give the same points the same names"
