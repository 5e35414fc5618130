"""What scenarios say about a claim: which of them, which figure, and the effect."""

from collections.abc import Mapping
from dataclasses import replace

from pcaplat.metrics.contrasts import Contrast, difference_of, metric_of
from pcaplat.metrics.metric import MetricQuery
from pcaplat.metrics.outlier_runs import odd_run_of
from pcaplat.metrics.registry import metric_named
from pcaplat.metrics.runs import UNNAMED, Scenario
from pcaplat.metrics.traffic import other_frames
from pcaplat.published.claims import Claim


def evidence_for(claim: Claim, scenarios: Mapping[str, Scenario]) -> Contrast:
    """Measure what a claim is about, in base units (ns, or shares of 1)."""
    query = query_of(claim)
    if unjudged := _unjudged(claim):
        return Contrast(why=unjudged)
    if claim.scope.kind != "difference":
        # captures that are given by themselves are of the scenario that is meant
        is_unnamed = list(scenarios) == [UNNAMED]
        name = (None if is_unnamed else claim.scope.scenario) or _only(scenarios)
        if name is None:
            given = ", ".join(scenarios)
            why = f"it does not say in which scenario ({given}); add scenario = … to its scope"
            return Contrast(why=why)
        return (
            _absent([name], scenarios)
            or _of_those(claim, scenarios, [name])
            or _with_odd_runs(metric_of(scenarios[name], query), query, scenarios[name])
        )
    names = [claim.scope.treatment or "", claim.scope.baseline or ""]
    absent = _absent(names, scenarios) or _of_those(claim, scenarios, names)
    if absent:
        return absent
    treatment, baseline = (scenarios[name] for name in names)
    contrast = difference_of(baseline, treatment, query, is_relative=claim.relative)
    contrast = _with_odd_runs(contrast, query, baseline, treatment)
    mismatch = _other_ends(query, baseline, treatment)
    return replace(contrast, estimate=None, why=mismatch) if mismatch else contrast


def _with_odd_runs(contrast: Contrast, query: MetricQuery, *scenarios: Scenario) -> Contrast:
    """Add which runs are unlike the others of their scenario."""
    odd = (odd_run_of(scenario, query) for scenario in scenarios)
    return replace(contrast, notes=(*contrast.notes, *(text for text in odd if text)))


def _of_those(claim: Claim, scenarios: Mapping[str, Scenario], names: list[str]) -> Contrast | None:
    """Refuse frames of other sizes than a claim on traffic is about."""
    sizes = claim.population.frame_bytes
    if not sizes or not metric_named(claim.metric).is_of_frames:
        return None
    runs = [run for name in names for run in scenarios[name].runs]
    others = (other_frames(run, query_of(claim), sizes) for run in runs)
    return next((Contrast(why=why) for why in others if why), None)


def query_of(claim: Claim) -> MetricQuery:
    """Name the figure that a claim is about."""
    scope = claim.scope
    ends = (scope.near, scope.far) if scope.near and scope.far else None
    unit = None if claim.relative else claim.base_unit
    return MetricQuery(claim.metric, claim.statistic, ends, scope.direction, unit)


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


def _only(scenarios: Mapping[str, Scenario]) -> str | None:
    return next(iter(scenarios)) if len(scenarios) == 1 else None


def _absent(names: list[str], scenarios: Mapping[str, Scenario]) -> Contrast | None:
    missing = [name for name in names if name not in scenarios]
    if not missing:
        return None
    given = ", ".join(scenarios) or "none"
    what = " and ".join(missing)
    why = f"it needs runs of scenario {what}; given: {given} (name them like {missing[0]}=FOLDER)"
    return Contrast(why=why)


def _other_ends(query: MetricQuery, baseline: Scenario, treatment: Scenario) -> str:
    """Say that two whole paths are not the same."""
    runs = [*baseline.runs, *treatment.runs]
    if query.ends or all(run.ends == runs[0].ends for run in runs):
        return ""
    paths = dict.fromkeys(f"{run.ends[0]} to {run.ends[1]}" for run in runs)
    return f"the paths have other ends ({'; '.join(paths)}); give the same points the same names"
