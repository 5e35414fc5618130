"""The subject of a verdict: which figure was measured, and between which points."""

from collections.abc import Mapping

from pcaplat.metrics.metric import BOTH, FORWARD
from pcaplat.metrics.registry import metric_named
from pcaplat.metrics.runs import Scenario
from pcaplat.published.claims import Claim

ARROWS = {FORWARD: "→", "reverse": "←", BOTH: "⇄"}


def subject_of(claim: Claim, scenarios: Mapping[str, Scenario]) -> str:
    """Name the figure that a claim is judged by, its points, and its scenarios."""
    scope = claim.scope
    figure = f"{claim.statistic} of {claim.metric}"
    if scope.kind == "difference":
        sides = f"{scope.treatment} − {scope.baseline}"
        figure += f", ({sides}) / {scope.baseline}" if claim.relative else f", {sides}"
    if claim.population.allowed_loss is not None:
        allowed = claim.population.allowed_loss
        figure = f"largest {claim.metric} at which at most {allowed.at_most} {allowed.unit} is lost"
    way = scope.direction or metric_named(claim.metric).ways
    if way not in ARROWS:
        return figure
    if scope.near:
        return f"{figure}, {scope.near} {ARROWS[way]} {scope.far}"
    named = [scenarios.get(name) for name in (scope.treatment, scope.scenario, *scenarios) if name]
    run = next((one.runs[0] for one in named if one is not None), None)
    return f"{figure}, the whole path {f' {ARROWS[way]} '.join(run.ends)}" if run else figure
