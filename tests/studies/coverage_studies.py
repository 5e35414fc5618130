"""How often the intervals of a summary hold the truth, which is known: simulated latencies.

`python -m tests.studies.coverage_studies 1000` writes docs/evaluation/coverage.md.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.signal import lfilter  # type: ignore[import-untyped]
from scipy.special import ndtr  # type: ignore[import-untyped]

from pcaplat.metrics.runs import MeasuredRun
from pcaplat.stages.summarize import add_intervals
from tests.conftest import ROOT
from tests.support.runs import FAR, NEAR, run_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SIZES = (200, 2_000, 20_000)
SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
STATISTICS = ("mean", *SHARES, "round trip")
N_OF_TRUTH = 4_000_000


@dataclass(frozen=True)
class Shape:
    """Latencies g(u, v): u of a Gaussian AR(1), whose autocorrelation time is in packets; v white.

    `step_ns` is what stamps are cut to, `clock_ns` how far the clocks may be off.
    """

    name: str
    latency_ns: Callable[[Floats, Floats], Floats]
    time: float = 1.0
    step_ns: int = 1
    clock_ns: float = 0.0

    def sample(self, n: int, chance: np.random.Generator) -> Floats:
        """Give latencies as captures tell them."""
        phi = (self.time - 1) / (self.time + 1)
        white = chance.normal(size=n) * np.sqrt(1 - phi**2)
        white[0] = chance.normal()
        z = np.asarray(lfilter([1.0], [1.0, -phi], white))
        exact = self.latency_ns(np.asarray(ndtr(z)), chance.random(n))
        if self.step_ns == 1:
            return np.asarray(exact, dtype=np.float64)
        sent = chance.random(n) * 1e9
        late = np.floor((sent + exact) / self.step_ns) - np.floor(sent / self.step_ns)
        return np.asarray(late * self.step_ns, dtype=np.float64)

    def truth(self) -> dict[str, float]:
        """Mean and quantiles of the law itself."""
        chance = np.random.default_rng(99)
        values = self.latency_ns(chance.random(N_OF_TRUTH), chance.random(N_OF_TRUTH))
        found = {name: float(np.quantile(values, share)) for name, share in SHARES.items()}
        return found | {"mean": float(values.mean()), "round trip": 2 * float(values.mean())}


def _exponential(u: Floats, _: Floats) -> Floats:
    return np.asarray(5_000 - 3_000 * np.log1p(-u))


def _bimodal(u: Floats, v: Floats) -> Floats:
    return np.asarray(np.where(u < 0.7, 8_000, 20_000) - 800 * np.log1p(-v), dtype=np.float64)


def _heavy(u: Floats, _: Floats) -> Floats:
    return np.asarray(5_000 + 2_000 * (1 - u) ** (-1 / 3))


SHAPES = (
    Shape("independent", _exponential),
    Shape("correlated over 20 packets", _exponential, time=20),
    Shape("correlated over 200 packets", _exponential, time=200),
    Shape("two modes, correlated over 10", _bimodal, time=10),
    Shape("heavy tail (Pareto 3)", _heavy, time=5),
    Shape("timestamps of 1 µs", _exponential, time=10, step_ns=1_000),
    Shape("clocks within 2 µs", _exponential, time=10, clock_ns=2_000),
)


@dataclass
class Counts:
    """Of one shape and size, by statistic: intervals asked for, printed, holding the truth."""

    asked: Counter[str] = field(default_factory=Counter)
    printed: Counter[tuple[str, bool]] = field(default_factory=Counter)
    held: Counter[tuple[str, bool]] = field(default_factory=Counter)

    def add(self, name: str, row: dict[str, Any], figure: str, truth: float) -> None:
        """Count an interval; whether it is approximate is told apart."""
        self.asked[name] += 1
        lo, hi = row[f"{figure}_lo_ns"], row[f"{figure}_hi_ns"]
        if lo is None:
            return
        note = row["interval_note"] or ""
        named = [part.split(":")[0].split(", ") for part in note.split("; ")]
        is_approximate = bool(note) and (name == "round trip" or any(figure in n for n in named))
        self.printed[name, is_approximate] += 1
        self.held[name, is_approximate] += lo <= truth <= hi


def study(shape: Shape, n: int, seeds: range, truth: dict[str, float]) -> Counts:
    """Simulate runs, and count by what `merge` would print of them."""
    counts = Counts()
    for seed in seeds:
        chance = np.random.default_rng([seed, n])
        off_ns = shape.clock_ns * chance.uniform(-1, 1)
        sides = shape.sample(n, chance) + off_ns, shape.sample(n, chance) - off_ns
        run = run_of(*sides, resolution_ns=shape.step_ns, clock_half_width_ns=shape.clock_ns)
        document: dict[str, Any] = dict(run.document)
        document["segments"] = document["segments"][:1]
        document["round_trips"] = [{"near": NEAR, "far": FAR}]
        add_intervals(MeasuredRun("", document, run.blocks), is_wanted=True)
        for row in document["segments"]:
            for name in ("mean", *SHARES):
                counts.add(name, row, name, truth[name])
        counts.add("round trip", document["round_trips"][0], "mean", truth["round trip"])
    return counts


def _cell(counts: Counts, name: str) -> str:
    parts = []
    for is_approximate in (False, True):
        n = counts.printed[name, is_approximate]
        if n >= 0.02 * counts.asked[name]:
            share = 100 * counts.held[name, is_approximate] / n
            mark = "~" if is_approximate else ""
            parts.append(f"{mark}{share:.1f} ({100 * n / counts.asked[name]:.0f})")
    return ", ".join(parts) or "–"


def main(n_seeds: int) -> None:
    """Write the page."""
    page = ROOT / "docs" / "evaluation" / "coverage.md"
    intro = page.read_text("utf-8").split("<!-- generated -->")[0]
    lines = [f"{n_seeds:,} seeds each.\n", f"| latencies | n | {' | '.join(STATISTICS)} |"]
    lines.append(f"|{' --- |' * (2 + len(STATISTICS))}")
    for shape in SHAPES:
        truth = shape.truth()
        for n in SIZES:
            counts = study(shape, n, range(n_seeds), truth)
            cells = [_cell(counts, name) for name in STATISTICS]
            lines.append(f"| {shape.name} | {n:,} | {' | '.join(cells)} |")
            page.write_text(f"{intro}<!-- generated -->\n\n" + "\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]))
