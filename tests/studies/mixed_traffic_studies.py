"""How often the interval of the mean of mixed traffic holds the truth, which is known.

`python -m tests.studies.mixed_traffic_studies 2000` prints the table of
docs/evaluation/coverage.md; `python -m tests.studies.mixed_traffic_studies FOLDER...` how many
means of captures have an interval, and which have none.
Latencies are simulated; the truth is the mean of the kinds' means, by the shares that were sent.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.signal import lfilter  # type: ignore[import-untyped]
from scipy.special import ndtr  # type: ignore[import-untyped]
from scipy.stats import binom  # type: ignore[import-untyped]

from pcaplat.metrics.means import of_means
from pcaplat.model.blocks import CELLS_OF_BLOCK, KINDS_OF_FAMILY, N_BLOCKS, Blocks, Strata
from pcaplat.run.merge import merge
from tests.conftest import ROOT
from tests.support.runs import FAR, NEAR, run_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

MOST_CELLS = 256
MEANS_NS = (4_000.0, 7_000.0, 11_000.0, 32_000.0)
SPEEDS = (1.0, 1.0, 0.02, 0.2, 0.3)
"""How far apart packets are in each phase, and where all kinds take turns."""


def _exponential(u: Floats) -> Floats:
    return np.asarray(1 - 0.3 * np.log1p(-u)) / 1.3


def _heavy(u: Floats) -> Floats:
    return np.asarray(1 + 0.2 * (1 - u) ** (-1 / 3)) / 1.3


def _bimodal(u: Floats) -> Floats:
    return np.where(u < 0.7, 1.0, 1.6) / 1.18


RUNS = ((400, 1), (2_000, 1), (2_000, 10), (2_000, 40), (2_000, 100), (2_000, 300))
"""Packets, and the time over which they are alike."""

SHAPES: dict[str, Callable[[Floats], Floats]] = {
    "exponential": _exponential,
    "heavy tail": _heavy,
    "two modes": _bimodal,
}


@dataclass(frozen=True)
class Mix:
    """Kinds in phases or at once; `time` is their autocorrelation time, in packets of all kinds.

    With a shared load, half of the variance of every kind is common to what is sent near by.
    `slow_share` of it changes over SLOW_TIME instead, with all kinds.
    """

    shape: str
    n: int
    time: float
    in_phases: bool
    shares_load: bool
    n_kinds: int = len(MEANS_NS)
    slow_share: float = 0.0


CELLS = [
    Mix(shape, n, time, in_phases=in_phases, shares_load=shares_load)
    for shape, (n, time) in product(SHAPES, RUNS)
    for in_phases, shares_load in product((True, False), (False, True))
]
N_CELLS = len(CELLS)
SLOW_TIME, SLOW_SHARES, TIMES_BESIDE = 500, (0.01, 0.03, 0.1, 0.3), (1, 10, 40)
LEAST_INSIDE, MOST_INSIDE, MOST_WIDTH = 0.93, 0.97, 1.3
CHANCE_SHARE = 0.01
"""So rarely does chance alone break a limit, in any cell (Bonferroni)."""

PAGE = ROOT / "docs" / "evaluation" / "coverage.md"
TABLE = re.compile(r"<!-- mixed -->\n(.*?)<!-- end -->", re.DOTALL)
TOO_WIDE = " *"


def strata_of(t_ns: Ints, kinds: Ints, values: Floats, start_ns: int, length_ns: int) -> Strata:
    """Count as rust/src/base/blocks/strata.rs does."""
    shortest = (t_ns - start_ns) * CELLS_OF_BLOCK // length_ns
    columns: list[list[Ints | Floats]] = []
    for kind in np.unique(kinds):
        of, mine = shortest[kinds == kind], values[kinds == kind]
        n_doubled = 0
        while len(np.unique(of >> n_doubled)) > MOST_CELLS:
            n_doubled += 1
        at, cell, n = np.unique(of >> n_doubled, return_inverse=True, return_counts=True)
        sums, squares = np.bincount(cell, mine), np.asarray(np.bincount(cell, mine**2), np.float64)
        columns.append([np.full(len(at), kind), at << n_doubled, n, sums, squares])
    kind, at, n, sums, squares = (np.concatenate(some) for some in zip(*columns, strict=True))
    return Strata(kind.astype(np.int64), at.astype(np.int64), n, sums.astype(np.int64), squares)


def blocks_of(t_ns: Ints, kinds: Ints, values: Floats) -> Blocks:
    """What the core keeps of a run, but for histograms."""
    length_ns = int(-(-(t_ns[-1] - t_ns[0] + 1) // N_BLOCKS))
    block = (t_ns - t_ns[0]) // length_ns
    n = np.bincount(block, minlength=N_BLOCKS)
    sums = np.bincount(block, values, N_BLOCKS).astype(np.int64)
    squares = np.asarray(np.bincount(block, values**2, N_BLOCKS), np.float64)
    strata = strata_of(t_ns, kinds, values, int(t_ns[0]), length_ns)
    no_bins = np.zeros(0, np.int64)
    return Blocks(
        int(t_ns[0]), length_ns, n, sums, squares, no_bins, np.zeros(0), no_bins, strata=strata
    )


def _alike(n: int, time: float, chance: np.random.Generator) -> Floats:
    phi = (time - 1) / (time + 1)
    white = chance.normal(size=n) * np.sqrt(1 - phi**2)
    white[:1] = chance.normal(size=min(n, 1))
    return np.asarray(lfilter([1.0], [1.0, -phi], white))


def simulate(mix: Mix, seed: int) -> tuple[Blocks, float]:
    """A run, and the truth of its mean."""
    chance = np.random.default_rng([seed, mix.n])
    n_kinds = mix.n_kinds
    kinds = chance.integers(0, n_kinds + 1, mix.n)
    phases = np.sort(kinds) if mix.in_phases else np.full(mix.n, n_kinds)
    kinds = np.where(phases == n_kinds, chance.integers(0, n_kinds, mix.n), phases)
    speed = np.array([*SPEEDS[:n_kinds], SPEEDS[-1]])[phases]
    t_ns = np.cumsum(1 + chance.exponential(100_000, mix.n) * speed).astype(np.int64)
    load = _alike(mix.n, mix.time, chance)
    slow = _alike(mix.n, SLOW_TIME, chance) if mix.slow_share else np.zeros(mix.n)
    values = np.zeros(mix.n)
    for kind in range(n_kinds):
        mine = kinds == kind
        time = max(mix.time if mix.in_phases else mix.time / n_kinds, 1.0)
        z = _alike(int(mine.sum()), time, chance)
        if mix.shares_load:
            z = (z + load[mine]) / np.sqrt(2)
        z = np.sqrt(1 - mix.slow_share) * z + np.sqrt(mix.slow_share) * slow[mine]
        values[mine] = MEANS_NS[kind] * SHAPES[mix.shape](np.asarray(ndtr(z)))
    values = np.round(values)
    truth = float(np.mean(np.array(MEANS_NS)[kinds]))
    return blocks_of(t_ns, kinds * KINDS_OF_FAMILY, values), truth


@dataclass(frozen=True)
class Studied:
    """How many runs have an interval, how many of these hold the truth, and how wide they are.

    The oracle knows the standard error of the mean: what it scatters by over all runs. Its
    half-width is 1.96 of that.
    """

    n: int
    printed: int
    held: int
    half_width_ns: float
    oracle_ns: float

    @property
    def width(self) -> float:
        """Mean width, by that of the oracle's."""
        return self.half_width_ns / self.oracle_ns

    @property
    def covers_too_seldom(self) -> bool:
        """Fewer than 93 % hold the truth (binomial, 99 % over all cells)."""
        return bool(binom.cdf(self.held, self.printed, LEAST_INSIDE) < CHANCE_SHARE / N_CELLS)

    @property
    def is_too_wide(self) -> bool:
        """More than 97 % hold the truth, and the width is 1.3 times the oracle's or more."""
        p = binom.sf(self.held - 1, self.printed, MOST_INSIDE)
        return bool(p < CHANCE_SHARE / N_CELLS and self.width >= MOST_WIDTH)

    @property
    def text(self) -> str:
        """As the table has it."""
        shares = 100 * self.held / max(self.printed, 1), 100 * self.printed / self.n
        mark = TOO_WIDE if self.is_too_wide else ""
        return f"{shares[0]:.1f} / {self.width:.2f} ({shares[1]:.0f}){mark}"


def study(mix: Mix, seeds: range) -> Studied:
    """Take the interval of every run."""
    held, widths, errors = 0, [], []
    run = run_of(np.ones(10), np.ones(10))
    for seed in seeds:
        blocks, truth = simulate(mix, seed)
        found = of_means(run, (NEAR, FAR), [blocks])
        errors.append(found.value - truth)
        if found.why or found.within is None:
            continue
        lo, hi = found.within.interval(0.95)
        held += lo <= truth <= hi
        widths.append((hi - lo) / 2)
    half_width_ns = float(np.mean(widths)) if widths else np.inf
    oracle_ns = 1.96 * float(np.sqrt(np.mean(np.square(errors))))
    return Studied(len(seeds), len(widths), held, half_width_ns, oracle_ns)


def printed_cells() -> dict[Mix, str]:
    """Cells of the page's table."""
    (table,) = TABLE.findall(PAGE.read_text("utf-8"))
    rows = [line.split("|")[3:-1] for line in table.splitlines() if line.startswith("| ")][2:]
    cells = [cell.strip() for row in rows for cell in row]
    return dict(zip(CELLS, cells, strict=True))


def main(n_seeds: int) -> None:
    """Print the table, and the cells that hold the truth too seldom."""
    columns = ("latencies", "n, similar over", "phases", "phases, one load", "at once", "one load")
    lines = [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
    found = {mix: study(mix, range(n_seeds)) for mix in CELLS}
    for shape, (n, time) in product(SHAPES, RUNS):
        row = [
            one.text
            for mix, one in found.items()
            if (mix.shape, mix.n, mix.time) == (shape, n, time)
        ]
        lines.append(f"| {shape} | {n:,}, {time} | {' | '.join(row)} |")
    lines += [f"too seldom: {mix}" for mix, one in found.items() if one.covers_too_seldom]
    sys.stdout.write("\n".join([*lines, "", *of_two_scales(n_seeds)]) + "\n")


def of_two_scales(n_seeds: int) -> Iterator[str]:
    """Give the table of latencies that change quickly, and a little of them slowly."""
    heads = [f"similar over {time}" for time in TIMES_BESIDE]
    yield f"| kinds | changes over {SLOW_TIME} packets | {' | '.join(heads)} |"
    yield f"|{' --- |' * (2 + len(heads))}"
    for n_kinds, share in product((len(MEANS_NS), 1), SLOW_SHARES):
        plain = Mix("exponential", 2_000, 1, in_phases=False, shares_load=False, n_kinds=n_kinds)
        mixes = [replace(plain, time=time, slow_share=share) for time in TIMES_BESIDE]
        cells = [study(mix, range(n_seeds)).text for mix in mixes]
        yield f"| {n_kinds} | {share:.0%} of the variance | {' | '.join(cells)} |"


def print_rows(folders: list[str]) -> None:
    """Print how many rows of segments have an interval of the mean, and those that have none."""
    for folder in folders:
        files = sorted(file for file in Path(folder).iterdir() if ".pcap" in file.name)
        with merge(files, same_clock=["all"]) as result:
            rows = [row for row in result.document["segments"] if row["mean_ns"] is not None]
        without = [row for row in rows if row["mean_lo_ns"] is None]
        sys.stdout.write(f"{folder}: {len(rows) - len(without)} of {len(rows)}\n")
        for row in without:
            place = f"{row['near']} {row['far']} {row['direction']} {row['class']}"
            sys.stdout.write(f"  {place}: n {row['n']}, effective {row['n_effective']}\n")


if __name__ == "__main__":
    if sys.argv[1].isdecimal():
        main(int(sys.argv[1]))
    else:
        print_rows(sys.argv[1:])
