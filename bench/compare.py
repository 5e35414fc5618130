"""What became cheaper and what dearer: `python bench/compare.py OLD.json NEW.json`.

Both are files that `run.py` kept; of each, this build's figures are taken. Ratios are those of the
medians; in brackets, the least and the greatest that the rounds allow. The files were measured one
after the other: the last column takes out how the machine changed, by libpcap's loop on the same
captures. To have two builds take turns instead: `run.py FOLDER`.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

from measure.contestants import LOOP
from measure.targets import THIS, runs_of

Document = dict[str, Any]
Row = dict[str, Any]


def main() -> None:
    """Print a row for every command that both have."""
    if len(sys.argv) != len(("program", "old", "new")):
        sys.exit("give two files that bench/run.py kept: OLD.json NEW.json")
    old, new = (json.loads(Path(name).read_text()) for name in sys.argv[1:])
    print(f"{old['builds'][THIS]} -> {new['builds'][THIS]}")
    before, after = runs_of(old).rows, runs_of(new).rows
    print(f"{'':32} {'CPU':>19} {'wall':>19} {'memory':>7} {'wall by the loop':>17}")
    for key, row in before.items():
        if key in after and row["build"]:
            loop = (key[0], key[1], LOOP)
            figures = line_of(row, after[key], before.get(loop), after.get(loop))
            print(f"{row['set'] + ' ' + row['what']:32} {figures}")
    show_instructions(old, new)


def line_of(old: Row, new: Row, old_loop: Row | None, new_loop: Row | None) -> str:
    """Put the ratios of one command into columns."""
    wall = statistics.median(new["wall_s"]) / statistics.median(old["wall_s"])
    by_loop = "–"
    if old_loop and new_loop:
        machine = statistics.median(new_loop["wall_s"]) / statistics.median(old_loop["wall_s"])
        by_loop = f"{wall / machine:.2f}"
    memory = max(new["peak_mb"]) / max(old["peak_mb"])
    cpu, spread = (spread_of(old[name], new[name]) for name in ("cpu_s", "wall_s"))
    return f"{cpu:>19} {spread:>19} {memory:7.2f} {by_loop:>17}"


def spread_of(old: list[float], new: list[float]) -> str:
    """Give the ratio of the medians, and how far apart the rounds put it."""
    ratio = statistics.median(new) / statistics.median(old)
    return f"{ratio:.2f} [{min(new) / max(old):.2f}, {max(new) / min(old):.2f}]"


def show_instructions(old: Document, new: Document) -> None:
    """Print the instructions a frame, room by room, where both were counted."""
    counts = [document.get("instructions", {}).get(THIS) for document in (old, new)]
    if not all(counts):
        return
    print("\ninstructions a frame")
    before, after = ({"native": count["native"]} | count["rooms"] for count in counts)
    for room in dict.fromkeys((*before, *after)):
        was, now = before.get(room, 0.0), after.get(room, 0.0)
        if max(was, now) >= 1:
            print(f"  {room:20} {was:8,.0f} -> {now:8,.0f}")


if __name__ == "__main__":
    main()
