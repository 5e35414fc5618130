"""The yardstick: what `pcaplat merge` costs beside what else reads the same files, all in one run.

`python bench/run.py [FOLDER ...] [--selection quick|standard|full] [--only GLOB] [--rounds N]
[--to FILE.json]`: every command of a selection runs in turn, round after round, so that what else
the machine does meets all alike. With FOLDERs, checkouts that were built, their builds take turns
with this one. What was measured is kept as JSON below bench/results/, and printed. Nothing fails on
a slow machine; a merge that misses what is known to be in the plain set is no measurement.
"""

from __future__ import annotations

import argparse
import dataclasses
import fnmatch
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measure.contestants import Contestant, Field, missing
from measure.found import check, look
from measure.instructions import instructions_of
from measure.plans import PLANS, SAMPLE, Entry, Plan
from measure.process_tree import cost_of
from measure.stages import stages_of
from report import show
from sets.recipes import RECIPES

HERE = Path(__file__).parent
THIS = "this"
N_STAGED = 3
Document = dict[str, Any]


def main() -> None:
    """Generate, measure, keep, print."""
    given = arguments()
    plan = PLANS[given.selection]
    wanted = [entry for entry in plan.entries if fnmatch.fnmatch(entry.name, given.only)]
    plan = dataclasses.replace(plan, entries=wanted, n_rounds=given.rounds or plan.n_rounds)
    if not fnmatch.fnmatch("plain", given.only):
        plan = dataclasses.replace(plan, staged=None, counted=None)
    builds = {THIS: Path(sys.executable).parent}
    builds |= {folder.resolve().name: folder.resolve() / ".venv" / "bin" for folder in given.folder}
    for name in missing():
        print(f"{name} is not installed: left out")
    with tempfile.TemporaryDirectory(prefix="pcaplat-bench-") as scratch:
        document = about(given.selection, plan, builds) | measured(plan, builds, Path(scratch))
    place = given.to or HERE / "results" / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(document, indent=1) + "\n")
    show(document)
    print(f"\nkept in {place}")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="*", type=Path, help="checkouts that were built, in turns")
    parser.add_argument("--selection", choices=PLANS, default="standard")
    parser.add_argument("--only", default="*", help="sets whose names are like that")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--to", type=Path, help="where to keep what was measured")
    return parser.parse_args()


def about(selection: str, plan: Plan, builds: dict[str, Path]) -> Document:
    """Say what is measured, and where."""
    return {
        "schema": "pcaplat.bench/1",
        "selection": selection,
        "n_rounds": plan.n_rounds,
        "builds": {name: commit_of(programs.parent.parent) for name, programs in builds.items()},
        "machine": {
            "cores": os.cpu_count(),
            "kind": platform.machine(),
            "system": platform.platform(),
            "load_before": os.getloadavg()[0],
        },
        "left_out": missing(),
    }


def commit_of(checkout: Path) -> str:
    """Name the commit of a checkout; with + where something is changed."""
    git = ["git", "-C", str(checkout), "describe", "--always", "--dirty=+"]
    done = subprocess.run(git, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "?"


def measured(plan: Plan, builds: dict[str, Path], scratch: Path) -> Document:
    """Measure all of a plan."""
    fields = {entry: field_of(entry, scratch) for entry in plan.entries}
    programs = builds[THIS]
    found = {entry.title: look(field, programs) for entry, field in fields.items()}
    for entry in fields:
        if entry.name == "plain":
            check(entry.title, found[entry.title])
    runs = [
        (entry, one)
        for entry, field in fields.items()
        for one in field.contestants(entry.wanted, builds)
    ]
    costs = [[cost_of(one.command) for _, one in progress(runs, at)] for at in range(plan.n_rounds)]
    document: Document = {
        "runs": [
            row(entry, one, fields[entry], found[entry.title]["n_frames"])
            | columns([of_round[at] for of_round in costs])
            for at, (entry, one) in enumerate(runs)
        ],
        "found": found,
    }
    return document | looked_at_once(plan, builds, scratch)


def looked_at_once(plan: Plan, builds: dict[str, Path], scratch: Path) -> Document:
    """Measure the stages and count the instructions."""
    document: Document = {}
    if plan.staged:
        field = field_of(plan.staged, scratch)
        captures = [f"{point}={path}" for point, path in field.files]
        document["stages"] = {"set": plan.staged.title} | {
            name: stages_of(bin_, captures, N_STAGED) for name, bin_ in builds.items()
        }
    if plan.counted:
        field = field_of(plan.counted, scratch)
        document["instructions"] = {"set": plan.counted.title} | {
            name: instructions_of(field.pcaplat(bin_), field.n_frames)
            for name, bin_ in builds.items()
        }
    return document


def progress(runs: list[tuple[Entry, Contestant]], at: int) -> list[tuple[Entry, Contestant]]:
    """Say which round begins."""
    print(f"round {at + 1}: {len(runs)} commands", file=sys.stderr, flush=True)
    return runs


def row(entry: Entry, one: Contestant, field: Field, n_frames: int) -> Document:
    """Describe a command."""
    n_bytes = sum(path.stat().st_size for _, path in field.files)
    return {
        "set": entry.title,
        "what": one.what,
        "build": one.build,
        "share": one.share,
        "n_frames": n_frames,
        "n_bytes": n_bytes,
    }


def columns(costs: list[Any]) -> Document:
    """Put what its runs cost side by side."""
    return {
        name: [getattr(cost, name) for cost in costs] for name in ("wall_s", "cpu_s", "peak_mb")
    }


def field_of(entry: Entry, scratch: Path) -> Field:
    """Generate a set, unless it is there, and give its files."""
    if entry.name == SAMPLE:
        folder = HERE.parent / "samples" / "vxlan"
        files = [(path.stem, path) for path in sorted(folder.glob("*.pcap"))]
        return Field(files, scratch)
    size = str(entry.n_packets)
    subprocess.run([sys.executable, HERE / "generate.py", entry.name, size], check=True)
    folder = HERE / "data" / entry.title
    suffix = f".pcap{RECIPES[entry.name].suffix}"
    files = [
        (path.name.removesuffix(suffix).partition("-")[0], path)
        for path in sorted(folder.glob(f"*{suffix}"))
    ]
    n_frames = sum(json.loads((folder / "truth.json").read_text())["n_frames"].values())
    return Field(files, scratch, n_frames)


if __name__ == "__main__":
    main()
