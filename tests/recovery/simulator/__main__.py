"""Makes docs/evaluation/matching_accuracy.md: `python -m tests.recovery.simulator`.

With numbers of packets, only tables of these sizes; with names of effects, their rows on stdout.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pcaplat
from pcaplat.errors import PcaplatError
from tests.recovery.simulator.effects import ALL, WRONG_CLOCKS, scenario
from tests.recovery.simulator.outcome import run
from tests.recovery.simulator.score import Score
from tests.recovery.simulator.truth import Truth

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAGE = Path(__file__).parents[3] / "docs" / "evaluation" / "matching_accuracy.md"
SIZES = (2_000, 20_000, 200_000)
COLUMNS = (
    *("effect", "steps", "precision", "wrong", "recall", "ambiguous"),
    *("mean", "p50", "p99", "beyond", "lost", "doubled", "reordered", "false matches"),
)
HEAD = """# Matching accuracy

Made by `make accuracy` from a simulator whose truth is known (`tests/recovery/simulator`); seed 1.
Five points of one path, all kinds of traffic both ways, one effect at a time, and at the end many
together. `steps` are wire segments from one point to the next that recorded them: a frame that was
cut or joined counts once for every segment in it.

| column | meaning |
| --- | --- |
| precision | share of the steps that were paired which were paired rightly; `wrong`: the others |
| recall | share of all steps that were found |
| ambiguous | share of the steps of each class that were called so, where there are any |
| mean, p50, p99 | largest error of any segment, direction and class, ns |
| beyond | what of the mean's error neither the clocks' interval nor 1 ns explains, ns |
| lost, doubled, reordered | reported less true, unsigned, over segments and classes; true sum |
| false matches | `false_match_frac`, where it is measured |
"""


def row(name: str, n_packets: int) -> str:
    """One line of a table."""
    with TemporaryDirectory(prefix="pcaplat-simulator-") as folder:
        try:
            return "| " + " | ".join((name, *_cells(scored(name, Path(folder), n_packets)))) + " |"
        except PcaplatError as problem:
            return f"| {name} | {type(problem).__name__} |" + " |" * (len(COLUMNS) - 2)


def scored(name: str, folder: Path, n_packets: int, seed: int = 1) -> Score:
    """Simulate, save, merge, and put the result beside the truth."""
    outcome = run(scenario(name, n_packets, seed))
    files = [str(file) for file in outcome.save(folder)]
    same_clock = [] if name in WRONG_CLOCKS else ["all"]
    return Score(Truth(outcome), pcaplat.merge(files, same_clock=same_clock))


def _cells(score: Score) -> Iterator[str]:
    counts = score.counts()
    yield f"{counts['all'].n:,}"
    yield f"{score.precision:.6f}"
    yield f"{score.n_wrong:,}"
    yield f"{counts['all'].recall:.5f}"
    unsure = {name: each.ambiguous for name, each in counts.items() if name != "all"}
    yield ", ".join(f"{name} {share:.2%}" for name, share in unsure.items() if share) or "–"
    for figure in ("mean_ns", "p50_ns", "p99_ns", "mean_beyond_ns"):
        yield f"{score.worst_ns(figure):,.0f}"
    for figure in ("lost", "duplicated", "reordered"):
        wrong = sum(abs(getattr(each, f"n_{figure}")) for each in score.figures)
        true = sum(getattr(each, f"n_truly_{figure}") for each in score.figures)
        yield f"{wrong:,} of {true:,}"
    measured = score.result.document["matching"]["false_match_frac"]
    yield "–" if measured is None else f"{measured:.1e}"


def page(sizes: Sequence[int]) -> Iterator[str]:
    """The whole page, a table for each size."""
    yield HEAD
    for n_packets in sizes:
        yield f"## {n_packets:,} packets at each point\n"
        yield f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}"
        with ProcessPoolExecutor(mp_context=get_context("fork")) as pool:
            yield from pool.map(row, ALL, [n_packets] * len(ALL))
        yield ""


def main(given: list[str]) -> None:
    """Write the page, or say what some effects do."""
    sizes = [int(word) for word in given if word.isdecimal()] or SIZES
    names = [word for word in given if not word.isdecimal()]
    if not names:
        PAGE.write_text("\n".join(page(sizes)), "utf-8")
    for name in names:
        for n_packets in sizes:
            print(row(name, n_packets), flush=True)  # noqa: T201 - a command


if __name__ == "__main__":
    main(sys.argv[1:])
