"""The path: its points, medians there and back between them, and what their order rests on."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

from rich.cells import cell_len

from pcaplat.outputs.report import Drawing, Paragraph, Section
from pcaplat.outputs.reports.merge.figures import ARROWS
from pcaplat.tables.columns import Row
from pcaplat.text import printable
from pcaplat.units import format_count, format_frac, format_in, unit_for

FEW = 3


def path_sections(document: Row) -> Iterator[Section]:
    """Draw the path, and say what its order rests on."""
    how = "found from the captures" if document["path_inferred"] else "as given"
    medians_ns = [row["p50_ns"] for row in document["segments"] if row["p50_ns"] is not None]
    unit, n_points = unit_for(medians_ns), len(document["path"])
    medians = f"medians in {unit}, there and back" if medians_ns else "no latency can be told"
    yield Paragraph(f"Path of {n_points} points, order {how}; {medians}", only="screen")
    yield Drawing(partial(draw_path, document, unit), only="screen")
    yield Paragraph(f"Path ({how}): {' → '.join(document['path'])}", only="paper")
    if order := line_of_order(document):
        yield Paragraph(order)


def draw_path(document: Row, unit: str, width: int) -> list[str]:
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


def line_of_order(document: Row) -> str | None:
    """Say what an order that was found rests on, and how sure the least sure part of it is.

    Returns:
        None where the order was given.
    """
    rows = document.get("path_evidence", ())
    if not document["path_inferred"] or not rows:
        return None
    by: dict[str, list[Row]] = {}
    for row in rows:
        by.setdefault(row["rests_on"], []).append(row)
    parts = [_parts(rests_on, some, is_all=len(by) == 1) for rests_on, some in by.items()]
    return f"Order by {'; '.join(parts)}"


def _parts(rests_on: str, rows: list[Row], *, is_all: bool) -> str:
    counted = [row for row in rows if row["n"]]
    if counted:
        least = min(counted, key=lambda row: (row["n_agreeing"] / row["n"], row["n"]))
        n = f"{format_count(least['n'])} change{'' if least['n'] == 1 else 's'} of direction"
        if least["n_agreeing"] == least["n"]:
            return f"{rests_on}: {n} or more of each segment, and all agree"
        agree = format_frac(least["n_agreeing"] / least["n"])
        return f"{rests_on}; least sure of {_edge(least)}: {agree} of {n} agree"
    if is_all:
        return rests_on
    more = f" and {len(rows) - FEW} more" if len(rows) > FEW else ""
    return f"{rests_on}: {', '.join(map(_edge, rows[:FEW]))}{more}"


def _edge(row: Row) -> str:
    return f"{row['near']} → {row['far']}"
