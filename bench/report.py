"""Prints what `run.py` measured: `python bench/report.py FILE.json`."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measure.contestants import CAT, DECOMPRESS, LOOP, MERGE, MERGECAP, TSHARK, WRITE
from measure.ratios import Row, ratio_of
from measure.targets import lines_of
from sets.recipes import RECIPES

Document = dict[str, Any]
BESIDE = (LOOP, MERGECAP, CAT, DECOMPRESS, TSHARK)


def main() -> None:
    """Print a file."""
    show(json.loads(Path(sys.argv[1]).read_text()))


def show(document: Document) -> None:
    """Print all of a document."""
    machine, builds = document["machine"], document["builds"]
    named = ", ".join(f"{name} {commit}" for name, commit in builds.items())
    print(f"\nbuilds: {named}; {document['selection']} selection, {document['n_rounds']} rounds")
    print(
        f"{machine['cores']} cores, {machine['system']}, load before {machine['load_before']:.1f}; "
        "medians, in brackets least and greatest; files in the page cache; CPU and peak memory are "
        "those of the process tree; memory –: ended before it could be looked at"
    )
    show_runs(document)
    show_found(document)
    show_once(document)
    show_targets(document)


def show_runs(document: Document) -> None:
    """Print a row a command, set by set."""
    for title in dict.fromkeys(row["set"] for row in document["runs"]):
        rows = [row for row in document["runs"] if row["set"] == title]
        about = RECIPES.get(title.rpartition("-")[0])
        n_frames, n_bytes = rows[0]["n_frames"], rows[0]["n_bytes"]
        print(
            f"\n{title}: {n_frames / 1e6:.3g} million frames, {n_bytes / 1e6:.0f} MB"
            + (f"; {about.about}" if about else "")
        )
        print(f"  {'':34} {'wall s':>22} {'CPU s':>7} {'Mframes/s':>10} {'GB/s':>7} {'MB':>6}")
        for row in rows:
            print(f"  {named(row):34} {line_of(row)}")
        for ours in (row for row in rows if row["build"] and row["what"] == MERGE):
            for other in (row for row in rows if row["what"] in BESIDE):
                times = ratio_of(ours, other)
                print(f"  {named(ours)} takes {times} times as long as {other['what']}")
        show_builds(rows)


def show_builds(rows: Sequence[Row]) -> None:
    """Print how the builds do beside the first, where there are several."""
    for what in (MERGE, WRITE):
        ours, *others = [row for row in rows if row["what"] == what] or [{}]
        for other in others:
            wall, cpu = ratio_of(ours, other), ratio_of(ours, other, "cpu_s")
            print(f"  {named(ours)} takes {cpu} times the CPU, {wall} the wall of {named(other)}")


def named(row: Row) -> str:
    """Name a command."""
    if row["build"]:
        return f"pcaplat {row['what']}, {row['build']}"
    return row["what"] + (f", {row['share']:.2g} of it" if row["share"] < 1 else "")


def line_of(row: Row) -> str:
    """Put what a command costs into columns; rates are of the frames that it reads."""
    wall_s, cpu_s = statistics.median(row["wall_s"]), statistics.median(row["cpu_s"])
    wall = f"{wall_s:.3f} [{min(row['wall_s']):.3f}, {max(row['wall_s']):.3f}]"
    rate = row["share"] / wall_s
    frames, n_bytes = row["n_frames"] * rate / 1e6, row["n_bytes"] * rate / 1e9
    memory = f"{max(row['peak_mb']):.0f}" if all(row["peak_mb"]) else "–"
    return f"{wall:>22} {cpu_s:7.2f} {frames:10.2f} {n_bytes:7.2f} {memory:>6}"


def show_found(document: Document) -> None:
    """Print whether the merges found what is in the sets, and which tier decided."""
    print(f"\n{'found':20} {'packets crossed':>24} {'lost':>17} {'matched':>9}  by tier")
    for title, found in document["found"].items():
        sums = {
            name: sum(row[name] for row in found["segments"])
            for name in ("n", "found_n", "n_lost", "found_n_lost")
        }
        crossed = f"{sums['found_n']:,} of {sums['n']:,}" if found["segments"] else "–"
        lost = f"{sums['found_n_lost']:,} of {sums['n_lost']:,}" if found["segments"] else "–"
        tiers = "–" if found["tiers"] is None else json.dumps(found["tiers"])
        print(f"{title:20} {crossed:>24} {lost:>17} {found['matched_share']:9.4f}  {tiers}")


def show_once(document: Document) -> None:
    """Print the stages and the instructions, which were measured apart."""
    stages = dict(document.get("stages", {}))
    title = stages.pop("set", "")
    for name, took_s in stages.items():
        told = ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in took_s.items())
        print(f"\nstages of {title}, {name}: {told}")
    counts = dict(document.get("instructions", {}))
    title = counts.pop("set", "")
    for name, count in counts.items():
        if count:
            rooms = ", ".join(f"{room} {n:,.0f}" for room, n in count["rooms"].items() if n >= 1)
            print(
                f"\ninstructions a frame of {title}, {name}: native {count['native']:,.0f}, with "
                f"what it calls {count['native and what it calls']:,.0f}\n  by room: {rooms}"
            )


def show_targets(document: Document) -> None:
    """Print what the project promises itself beside what this build does."""
    print(f"\n{'what it must cost':58} {'measured':>20} {'at most':>9} {'aim':>8}")
    for line in lines_of(document):
        print(
            f"{line.about:58} {line.measured:>20} {line.at_most:>9g} {line.aim:>8g}  {line.verdict}"
        )


if __name__ == "__main__":
    main()
