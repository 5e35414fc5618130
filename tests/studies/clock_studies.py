"""How often the interval of a clock holds the truth, and how wide it is: simulated captures.

`python -m tests.studies.clock_studies 200` writes docs/evaluation/clock_coverage.md.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from pcaplat.stages.align import align
from tests.conftest import ROOT
from tests.studies.clock_paths import AT_ONCE, TOLD_APART, ClockPath
from tests.studies.clock_scenarios import ALL, Scenario, scenario
from tests.support.alignments import START_NS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pcaplat.model.clocks import Clocks, Relation
    from tests.studies.clock_paths import Event

ROUNDING_NS = 2
SURE_NS = 2_000
N_TIMES = 20_011
"""So many times of a capture are asked about; no knot is at most of them."""
CLEAR_STEP_NS = 20_000
"""Steps above this are found in all scenarios; smaller ones where queues let them be seen."""
HEADINGS = (
    "inside, %",
    "worst seed, %",
    "width, median",
    "95 %",
    "most",
    "steps found",
    "false steps",
)


@dataclass
class Study:
    """Of one scenario: what was found, over its seeds."""

    inside: list[float] = field(default_factory=list)
    """Shares of knots at which the true clock lies in the interval."""
    ratios: list[float] = field(default_factory=list)
    """Mean half-widths over what is identifiable."""
    n_steps: int = 0
    n_found: int = 0
    n_missed_clear: int = 0
    n_false: int = 0
    """Steps where the clock was not set: a path, a slew or a queue was taken for one."""
    size_off: list[float] = field(default_factory=list)
    """By what share of it the sizes of steps are wrong, where by more than 2 µs."""

    def add(self, one: Scenario, relation: Relation) -> None:
        """Take in what was found of one capture."""
        self.inside.append(inside_frac(one, relation))
        self.ratios.append(width_ratio(one, relation))
        at, size = one.step or (-np.inf, 0.0)
        right = [
            step
            for step in relation.steps
            if step.before_ns - START_NS <= at <= step.after_ns - START_NS
        ][:1]
        self.n_steps += one.step is not None
        self.n_found += len(right)
        self.n_missed_clear += abs(size) > CLEAR_STEP_NS and not right
        self.n_false += len(relation.steps) - len(right)
        off_ns = [abs(step.size_ns - size) for step in right]
        self.size_off += [off / abs(size) for off in off_ns if off > SURE_NS]

    def cells(self) -> Iterator[str]:
        """Inside, ratios, steps; as in the table."""
        yield f"{100 * np.mean(self.inside):.2f}"
        yield f"{100 * min(self.inside):.1f}"
        yield from (f"{np.quantile(self.ratios, share):.2f}" for share in (0.5, 0.95, 1))
        yield f"{self.n_found} of {self.n_steps}" if self.n_steps else "–"
        yield str(self.n_false)


def relate(one: Scenario) -> Relation:
    """Relate the two clocks of a scenario."""
    return align(one.findings(), [0, 1], one.min_delays()).relation(0, 1)


def inside_frac(one: Scenario, relation: Relation) -> float:
    """Share of many times, not only of the knots, at which the true clock is in the interval."""
    knots = (relation.t_ns - START_NS).astype(np.float64)
    t = np.linspace(max(knots[0], 0), min(knots[-1], one.span_ns), N_TIMES)
    truth = one.offset_ns - relation.base_ns + one.clock(t)
    lo_ns, hi_ns = (np.interp(t, knots, end) for end in (relation.lo_ns, relation.hi_ns))
    return float(np.mean((lo_ns - ROUNDING_NS <= truth) & (truth <= hi_ns + ROUNDING_NS)))


def width_ratio(one: Scenario, relation: Relation) -> float:
    """Mean half-width over what is identifiable."""
    t = (relation.t_ns - START_NS).astype(np.float64)
    half = np.trapezoid((relation.hi_ns - relation.lo_ns) / 2, t)
    return float(half / np.trapezoid(one.identifiable_ns(t), t))


def study(effect: str, seeds: range) -> Study:
    """Simulate captures of one effect, and count."""
    found = Study()
    for seed in seeds:
        one = scenario(effect, seed)
        found.add(one, relate(one))
    return found


@dataclass
class OneWay:
    """Of packets in one direction only: drifts off by how much of their half-width, and kinds."""

    kinds: set[str] = field(default_factory=set)
    off: list[float] = field(default_factory=list)
    off_ppm: list[float] = field(default_factory=list)


def study_one_way(seeds: range) -> OneWay:
    """Simulate clocks that drift, of which one direction is seen."""
    found = OneWay()
    for seed in seeds:
        one = scenario("drift", seed)
        seen = one.min_delays()[seed % 2]
        relation = align(one.findings(), [0, 1], [seen]).relation(0, 1)
        found.kinds.add(relation.kind)
        if relation.drift_ppm is not None and relation.drift_half_width_ppm is not None:
            true_ppm = 1e6 * float(one.clock(np.array([one.span_ns]))[0]) / one.span_ns
            found.off_ppm.append(abs(relation.drift_ppm - true_ppm))
            found.off.append(found.off_ppm[-1] / relation.drift_half_width_ppm)
    return found


def happened(event: Event, seed: int) -> tuple[ClockPath, Clocks]:
    """Let something happen on a path of three or four clocks, and relate these."""
    path = ClockPath(seed, 3 + seed % 2)
    event(path)
    path.travel()
    return path, align(path.findings(), list(range(path.n_points)), path.min_delays())


def inside_of_pair(path: ClockPath, relation: Relation, near: int, far: int) -> float:
    """Share of the knots at which the true difference of two clocks lies in the interval."""
    t = (relation.t_ns - START_NS).astype(np.float64)
    truth = path.offsets_ns[far] - path.offsets_ns[near] - relation.base_ns
    truth = truth + path.clock(far, t) - path.clock(near, t)
    is_in = (relation.lo_ns - ROUNDING_NS <= truth) & (truth <= relation.hi_ns + ROUNDING_NS)
    return float(np.mean(is_in[(t >= 0) & (t <= path.span_ns)]))


def _path_row(event: Event, seeds: range) -> str:
    inside, n_false = [], 0
    for seed in seeds:
        path, clocks = happened(event, seed)
        n_false += 0 if path.settings else sum(map(len, clocks.steps.values()))
        for near, far in combinations(range(path.n_points), 2):
            inside.append(inside_of_pair(path, clocks.relation(near, far), near, far))
    name = event.__name__.replace("_", " ")
    return f"| {name} | {100 * np.mean(inside):.2f} | {100 * min(inside):.1f} | {n_false} |"


def main(n_seeds: int) -> None:
    """Write the page."""
    page, seeds = ROOT / "docs" / "evaluation" / "clock_coverage.md", range(n_seeds)
    intro = page.read_text("utf-8").split("<!-- generated -->")[0]
    one_way = study_one_way(seeds)
    share = 100 * np.mean(np.array(one_way.off) <= 1)
    said = (
        f"One direction only: quality {', '.join(one_way.kinds)}; the drift is within its "
        f"half-width in {share:.1f} %, and off by {max(one_way.off_ppm):.4f} ppm at most."
    )
    lines = [
        f"{n_seeds} seeds each.\n",
        f"| two clocks | {' | '.join(HEADINGS)} |",
        f"|{' --- |' * (1 + len(HEADINGS))}",
        *(f"| {name} | {' | '.join(study(name, seeds).cells())} |" for name in ALL),
        f"\n{said}",
        "\n| three and four clocks | inside, % | worst pair, % | false steps |",
        f"|{' --- |' * 4}",
        *(_path_row(event, seeds) for event in TOLD_APART + AT_ONCE),
    ]
    page.write_text(f"{intro}<!-- generated -->\n\n" + "\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]))
