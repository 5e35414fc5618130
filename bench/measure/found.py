"""Whether a merge found what is in a set: a fast wrong answer is no answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from measure.contestants import Field

WRONG_SHARE = 1e-4
"""Of the packets of a segment of the plain set, so many may be missed."""

Row = dict[str, Any]


def look(field: Field, programs: Path) -> Row:
    """Merge once; give what the document says of its segments, its matching and its tiers."""
    command = field.pcaplat(programs, "--format", "json")
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"pcaplat merge ended with {done.returncode}: there is nothing to time")
    document = json.loads(done.stdout)
    matching = document["matching"]
    truth = json.loads((field.files[0][1].parent / "truth.json").read_text())
    return {
        "n_frames": matching["n_frames"],
        "matched_share": (matching["n_matched"] + matching["n_coalesced"]) / matching["n_frames"],
        "tiers": document.get("tiers", matching.get("tiers")),
        "segments": [beside(row, document["segments"]) for row in truth["segments"]],
    }


def beside(true: Row, segments: list[Row]) -> Row:
    """Put what was found of a segment beside what is known of it."""
    ends = ("near", "far", "direction")
    of_it = [row for row in segments if all(row[end] == true[end] for end in ends)]
    found = {f"found_{name}": sum(row[name] for row in of_it) for name in ("n", "n_lost")}
    return {name: true[name] for name in (*ends, "n", "n_lost")} | found


def check(title: str, found: Row) -> None:
    """End where a merge misses packets of a set: its time would mean nothing."""
    for row in found["segments"]:
        if abs(row["found_n"] - row["n"]) > row["n"] * WRONG_SHARE:
            where = f"{row['near']} to {row['far']}, {row['direction']}"
            sys.exit(f"{title}: {where}: {row['found_n']} of {row['n']} packets were matched")
