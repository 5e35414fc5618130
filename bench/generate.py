"""Captures for the benchmark, always the same: `python bench/generate.py SET [PACKETS [FOLDER]]`.

A set of `sets/recipes.py` is a path of points with traffic of so many packets: every packet
distinct, delays of some µs with a tail, clocks that are apart and drift. `truth.json` says how many
frames each point has and how many packets cross each segment. What is there is not made again.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from sets.files import Captures
from sets.recipes import RECIPES, Recipe
from sets.traffic import Sender, Truth, travel

DATA = Path(__file__).parent / "data"
SEED = 20250917
BATCH = 250_000
"""Packets at once: memory is bounded by them."""


def main() -> None:
    """Write a set, unless it is there."""
    name, *more = sys.argv[1:]
    recipe = RECIPES[name]
    n_packets = int(more[0]) if more else recipe.n_packets
    folder = Path(more[1]) if more[1:] else DATA / f"{name}-{n_packets}"
    if (folder / "truth.json").exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="making-", dir=folder.parent))
    try:
        write(scratch, recipe, n_packets)
        scratch.rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def write(folder: Path, recipe: Recipe, n_packets: int) -> None:
    """Send the packets along the path and record them at each point."""
    random = np.random.default_rng(SEED)
    sender, captures, truth = (
        Sender(recipe, random),
        Captures(folder, recipe, random),
        Truth(recipe),
    )
    batch = -(-n_packets // recipe.n_files) if recipe.n_files > 1 else BATCH
    for sent in range(0, n_packets, batch):
        traffic = sender.send(min(batch, n_packets - sent))
        passings = travel(random, traffic, recipe)
        captures.add(traffic, passings)
        truth.add(traffic, passings)
    captures.close()
    (folder / "truth.json").write_text(json.dumps(truth.document(), indent=1) + "\n")


if __name__ == "__main__":
    main()
