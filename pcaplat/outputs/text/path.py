"""The path as a line: points, and medians there and back between them."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from rich.cells import cell_len

from pcaplat.text import printable
from pcaplat.units import format_in

ARROWS = {"forward": "→", "reverse": "←"}


def draw_path(document: dict[str, Any], unit: str, width: int) -> list[str]:
    """Draw points and segment medians: a line there and a line back, folded at `width`."""
    medians = {
        (row["near"], row["far"], row["direction"]): format_in(row["p50_ns"], unit)
        for row in reversed(document["segments"])
    }
    path, edges = document["path"], [(edge["near"], edge["far"]) for edge in document["edges"]]
    chains = [path] if edges == list(pairwise(path)) else edges
    return [line for chain in chains for line in _draw_chain(chain, medians, width)]


def _draw_chain(
    chain: Sequence[str], medians: dict[tuple[str, str, str], str], width: int
) -> list[str]:
    links = [[medians.get((near, far, way), "") for way in ARROWS] for near, far in pairwise(chain)]
    names = [printable(point) for point in chain]
    size = sum(map(cell_len, names)) + sum(max(map(len, link)) + 4 for link in links)
    gap = " " if size <= width else ""
    there, back, lines = names[0], " " * cell_len(names[0]), []
    for name, (forward, reverse) in zip(names[1:], links, strict=True):
        size = max(len(forward), len(reverse)) + 1
        link = f"{gap}{forward.rjust(size, '─')}→{gap}"
        if cell_len(there + link + name) > width:
            lines += [there, back]
            there = back = ""
        there += link + name
        answer = f"←{reverse.ljust(size, '─')}" if reverse else " " * (size + 1)
        back += gap + answer + gap + " " * cell_len(name)
    return [line.rstrip() for line in (*lines, there, back) if line.strip()]


def whole_rows(rows: Sequence[dict[str, Any]], path: Sequence[str]) -> list[int]:
    """Give the first row of the whole path, if it is a row of its own."""
    if len(path) <= 2:  # noqa: PLR2004 - two points are one segment
        return []
    ends = (path[0], path[-1])
    return [at for at, row in enumerate(rows) if (row["near"], row["far"]) == ends][:1]
