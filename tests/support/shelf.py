"""Where the captures are that this project uses but does not own; without them, tests skip."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "samples"
CAPTURES = Path(os.environ.get("PCAPLAT_CAPTURES") or ROOT.parent / "shared" / "captures")


@dataclass(frozen=True)
class Overlap:
    """Two files of a set that share packets, as the index of the captures says."""

    left: str
    right: str
    needs_translation: bool
    n: int


@dataclass
class PublicSet:
    """Files that saw the same traffic at several points."""

    name: str
    files: dict[str, Path] = field(default_factory=dict)
    overlaps: list[Overlap] = field(default_factory=list)


def lab_set(name: str) -> Path:
    """The folder of a capture set made in the lab."""
    return CAPTURES / "lab" / name


def public_sets() -> dict[str, PublicSet]:
    """Every set of the index; empty where the captures are absent."""
    index = CAPTURES / "INDEX.md"
    return _parsed(index.read_text()) if index.exists() else {}


def _parsed(text: str) -> dict[str, PublicSet]:
    sets: dict[str, PublicSet] = {}
    for line in text.splitlines():
        heading = re.match(r"### (\S+)  \[", line)
        if heading:
            current = sets.setdefault(heading[1], PublicSet(heading[1]))
        overlap = re.match(r"- `(.+?)` ~ `(.+?)`( \(nat\))?: (\d+) of", line)
        if overlap:
            current.overlaps.append(
                Overlap(overlap[1], overlap[2], bool(overlap[3]), int(overlap[4]))
            )
        row = re.match(r"\| (\S+) \| \S+ \| (\S+) \|", line)
        if row and row[2] in sets:
            path = CAPTURES / "public" / row[1]
            sets[row[2]].files[path.name] = path
    return sets
