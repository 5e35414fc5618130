"""What a merge may cost, and what this build's does: one line each, as far as it was measured."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from measure.contestants import CAT, DECOMPRESS, LOOP, MERGE, MERGECAP, WRITE
from measure.plans import SAMPLE, VARIANTS
from measure.ratios import ratio_of, ratio_of_slopes

Document = dict[str, Any]
Row = dict[str, Any]
THIS = "this"
LARGEST = {LOOP: 10_000_000, MERGECAP: 1_000_000}
"""Sizes at which a merge is measured by these."""


@dataclass(frozen=True)
class Line:
    """One promise."""

    about: str
    measured: str
    value: float
    at_most: float
    aim: float

    @property
    def verdict(self) -> str:
        """Say whether it is kept."""
        return "aim" if self.value <= self.aim else "kept" if self.value <= self.at_most else "NO"


@dataclass(frozen=True)
class Runs:
    """The commands that were measured, by set, size and name."""

    rows: dict[tuple[str, int, str], Row]

    def sizes(self, name: str) -> list[int]:
        """Give the sizes at which this build merged a set, the smallest first."""
        return sorted({size for set_, size, what in self.rows if set_ == name and what == MERGE})

    def of(self, name: str, size: int, what: str = MERGE) -> Row | None:
        """Give a command, if it was measured."""
        return self.rows.get((name, size, what))

    def pair(self, name: str, what: str = MERGE) -> tuple[Row, Row] | None:
        """Give a command at the least and the greatest size, if there are two."""
        sizes = self.sizes(name)
        rows = [self.of(name, size, what) for size in (*sizes[:1], *sizes[-1:])]
        small, large = rows or (None, None)
        return (small, large) if small and large and small is not large else None


def runs_of(document: Document) -> Runs:
    """Take this build's commands, and those that are no pcaplat."""
    rows = {}
    for row in document["runs"]:
        name, _, size = row["set"].rpartition("-")
        if row["build"] in {THIS, ""}:
            key = (name, int(size)) if name else (row["set"], 0)
            rows[*key, row["what"]] = row
    return Runs(rows)


def lines_of(document: Document) -> Iterator[Line]:
    """Give every promise that can be judged by what was measured."""
    runs = runs_of(document)
    count = document.get("instructions", {}).get(THIS)
    if count:
        value = count["native"]
        yield Line("instructions a frame, plain, both passes", f"{value:,.0f}", value, 1200, 500)
    yield from of_plain(runs)
    yield from of_writing(runs)
    yield from of_others(runs)
    sample = runs.of(SAMPLE, 0)
    if sample:
        value = statistics.median(sample["wall_s"])
        yield Line("smallest sample, cold process to table, s", f"{value:.2f}", value, 0.35, 0.2)


def of_plain(runs: Runs) -> Iterator[Line]:
    """Judge the plain set by itself."""
    sizes = runs.sizes("plain")
    for what, at_most in ((LOOP, 1.5), (MERGECAP, 1.0)):
        for size in [size for size in sizes if size <= LARGEST[what]][-1:]:
            about = f"merge, 3 × {size:,}, times {what}"
            yield from beside(
                about, runs.of("plain", size), runs.of("plain", size, what), at_most, 0.6
            )
    both = runs.pair("plain")
    if both:
        more = [statistics.median(row["cpu_s"]) for row in both]
        value = (more[1] - more[0]) / (both[1]["n_frames"] - both[0]["n_frames"]) * 1e6
        yield Line("CPU s a million frames, beyond start-up", f"{value:.3f}", value, 0.15, 0.07)
        small, large = (max(row["peak_mb"]) for row in both)
        yield Line("memory of the larger plain set, MB", f"{large:.0f}", large, 400, 200)
        value = large / small
        yield Line("the same, times that of the smaller", f"{value:.2f}", value, 1.15, 1.15)


def of_writing(runs: Runs) -> Iterator[Line]:
    """Judge `merge -o`, with traffic and without pcapng."""
    for size in runs.sizes("plain"):
        ours = runs.of("plain", size, WRITE)
        yield from beside(
            f"merge -o, 3 × {size:,}, times merge", ours, runs.of("plain", size), 3, 2
        )
        if ours:
            value = max(ours["peak_mb"])
            at_most = 400 if size <= LARGEST[MERGECAP] else 600
            yield Line(f"memory of merge -o, 3 × {size:,}, MB", f"{value:.0f}", value, at_most, 400)


def of_others(runs: Runs) -> Iterator[Line]:
    """Judge the other sets by the plain one, or by what else reads them."""
    for name in VARIANTS:
        for size in runs.sizes(name):
            about = f"{name}, 3 × {size:,}, times plain"
            yield from beside(about, runs.of(name, size), runs.of("plain", size), 2, 1.5)
    for name in ("zst", "gz"):
        for size in runs.sizes(name):
            other = runs.of(name, size, DECOMPRESS)
            yield from beside(
                f".{name}, times the decompressor", runs.of(name, size), other, 1.2, 1.2
            )
    for size in runs.sizes("rotated"):
        about = "8 × 100 files, times 8 files"
        yield from beside(about, runs.of("rotated", size), runs.of("eight", size), 1.2, 1.2)
    ours, other = runs.pair("mtu"), runs.pair("mtu", CAT)
    if ours and other:
        ratio = ratio_of_slopes(ours, other)
        yield Line("frames of 1,514 bytes, slope times cat's", str(ratio), ratio.median, 2, 1)


def beside(
    about: str, ours: Row | None, other: Row | None, at_most: float, aim: float
) -> Iterator[Line]:
    """Judge one command by another."""
    if ours and other:
        ratio = ratio_of(ours, other)
        yield Line(about, str(ratio), ratio.median, at_most, aim)
