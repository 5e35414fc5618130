"""Whether three points agree on which frames are one packet (docs/method/match.md)."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pcaplat.diagnostics.catalogue import diagnose
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.matched import DecoyCounts
from pcaplat.model.path import Findings
from pcaplat.units import format_count, format_frac

ENOUGH = 3
LEAST_FRAC = 0.001
"""Twice what a single pair of equal packets may be false by (rust/src/matching/posterior.rs)."""


def check_triangles(
    findings: Findings, decoys: DecoyCounts, names: Sequence[str]
) -> Iterator[Diagnostic]:
    """Say at which points equal packets join other frames than they do without the point.

    Args:
        findings: What the survey found.
        decoys: What the core counted of them.
        names: Paths of the files.
    """
    for (up, middle, down), closed in decoys.closed.items():
        n, n_open, open_one = closed.n, closed.n_open, closed.open
        if open_one and n_open >= ENOUGH and n_open > LEAST_FRAC * n:
            frames = (open_one.up, open_one.down, open_one.through)
            left, right, through = (f"{Path(names[f]).name} frame {at}" for f, at in frames)
            text = (
                f"of {format_count(n)} equal packets that were matched again from "
                f"{findings.name(up)} to {findings.name(down)} without "
                f"{findings.name(middle)}, {format_count(n_open)} ({format_frac(n_open / n)}) join "
                f"other frames than through it: {left} and {right}, but {through} through it"
            )
            yield diagnose("inconsistent-matches", findings.name(middle), text)
