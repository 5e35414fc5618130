"""The path: its points, the latencies between them, and what their order rests on."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise

from pcaplat.outputs.report import Drawing, Entries, Entry, Paragraph, Section
from pcaplat.run.answer.sentences import answer_lines
from pcaplat.run.answer.view import BOTH_WAYS, LatencyLine, LatencyView
from pcaplat.tables.columns import Row
from pcaplat.text import n_cells, printable
from pcaplat.units import format_count, format_frac

FEW = 3
UNKNOWN_LATENCY = "?"
Labels = Mapping[tuple[str, str], Sequence[str]]
"""Of a link: what stands there and back, or of both ways together."""


def path_sections(document: Row, latencies: LatencyView) -> Iterator[Section]:
    """Draw the path, and say what its order rests on."""
    yield Paragraph(_caption(document, latencies), only="screen")
    yield Drawing(partial(draw_path, document, latencies), only="screen")
    yield Paragraph(f"Path ({_origin(document)}): {' → '.join(document['path'])}", only="paper")
    if order := line_of_order(document):
        yield Paragraph(order, only="paper")
        yield Paragraph(order, only="verbose")


def answer_sections(document: Row, latencies: LatencyView) -> Iterator[Section]:
    """Say in a few lines what the figures of the table come to."""
    lines = list(answer_lines(document, latencies))
    yield Entries([Entry("", lines)] if lines else [], only="screen")


def _origin(document: Row) -> str:
    """Say whether the order was given, found, or both."""
    if not document["path_inferred"]:
        return "as given"
    given = _given(document)
    if not given:
        return "found from the captures"
    return f"{' → '.join(given)} as given, the others found from the captures"


def _given(document: Row) -> list[str]:
    """Points that the user put into order."""
    return [point for point in document.get("declared_path", ()) if point in document["path"]]


def _caption(document: Row, latencies: LatencyView) -> str:
    edges = [(edge["near"], edge["far"]) for edge in document["edges"]]
    labels = labels_of(edges, latencies)
    kinds = {len(texts) for texts in labels.values() if {*texts} - {"", UNKNOWN_LATENCY}}
    what = {
        frozenset({2}): "median one-way latency of each direction",
        frozenset(
            {1}
        ): "median of both directions together (no common clock: one way is uncertain)",
        frozenset(): "no latency is known",
    }.get(
        frozenset(kinds),
        "median latency: → ← one way, ⇄ both directions together where one way is uncertain",
    )
    n_points = f"Path of {len(document['path'])} points"
    n_left = len({row["point"] for row in document["captures"]} - {*document["path"]})
    if n_left:  # whoever gave three captures must not take the path for all of them
        n_points += f" ({n_left} excluded)"
    if document["path_inferred"] and _given(document):
        n_points += f" (order of {' → '.join(_given(document))} as given, of the others as found)"
    unit = f", {latencies.scale.unit}" if kinds else ""
    return f"{n_points}; {what}{unit}"


def labels_of(edges: Sequence[tuple[str, str]], latencies: LatencyView) -> Labels:
    """Give what stands at each link: one way, or both together where one way is not known."""
    return {ends: _labels(ends, latencies) for ends in edges}


def _labels(ends: tuple[str, str], latencies: LatencyView) -> Sequence[str]:
    ways = {line.way: line for line in latencies.shown([ends])}
    if BOTH_WAYS in ways:
        return [_label(ways[BOTH_WAYS], latencies)]
    return [_label(ways[way], latencies) if way in ways else "" for way in ("forward", "reverse")]


def _label(line: LatencyLine, latencies: LatencyView) -> str:
    if line.figures["mean"] is None:
        return UNKNOWN_LATENCY
    mean = "mean " if line.middle == "mean" else ""
    return mean + line.text(line.middle, latencies.scale)


def draw_path(document: Row, latencies: LatencyView, width: int) -> list[str]:
    """Draw points and what lies between them: a line there and one back, or a tree."""
    edges = [(edge["near"], edge["far"]) for edge in document["edges"]]
    labels = labels_of(edges, latencies)
    if edges == list(pairwise(document["path"])):
        return _draw_chain(document["path"], labels, width)
    compact = [*_draw_tree(document["path"], edges, labels, is_compact=True)]
    if max(map(n_cells, compact), default=0) <= width:
        return compact
    return [*_draw_tree(document["path"], edges, labels, is_compact=False)]


def _draw_chain(chain: Sequence[str], labels: Labels, width: int) -> list[str]:
    names = [printable(point) for point in chain]
    links = [labels[ends] for ends in pairwise(chain)]
    size = sum(map(n_cells, names)) + sum(max(map(n_cells, link)) + 4 for link in links)
    gap = " " if size <= width else ""
    there, back, lines = names[0], " " * n_cells(names[0]), []
    for name, link in zip(names[1:], links, strict=True):
        forward, answer = _arrows(link)
        if n_cells(there + gap + forward + gap + name) > width:
            lines += [there, back]
            there = back = ""
        there += gap + forward + gap + name
        back += gap + answer + gap + " " * n_cells(name)
    return [line.rstrip() for line in (*lines, there, back) if line.strip()]


def _arrows(link: Sequence[str]) -> tuple[str, str]:
    """Draw a link there and back, or as one."""
    if len(link) == 1:
        line = f"⇄─{link[0]}─⇄" if link[0] else "─"
        return line, " " * n_cells(line)
    forward, reverse = link
    size = max(n_cells(forward), n_cells(reverse)) + 1
    there = f"{'─' * (size - n_cells(forward))}{forward}→"
    back = f"←{reverse}{'─' * (size - n_cells(reverse))}" if reverse else " " * (size + 1)
    return there, back


def _draw_tree(
    path: Sequence[str], edges: Sequence[tuple[str, str]], labels: Labels, *, is_compact: bool
) -> Iterator[str]:
    """Draw every link once, below the point that it begins at, or behind it where it is compact."""
    beyond: dict[str, list[str]] = {}
    for near, far in edges:
        beyond.setdefault(near, []).append(far)
    behind = {far for _, far in edges}
    drawn: set[str] = set()
    for root in path:
        if root in beyond and root not in behind:
            yield from _draw_branch(
                root, "", "", Branches(beyond, labels, drawn, is_compact=is_compact)
            )


class Branches:
    """What is drawn of a tree: who comes behind whom, and who was drawn already."""

    def __init__(
        self,
        beyond: Mapping[str, list[str]],
        labels: Labels,
        drawn: set[str],
        *,
        is_compact: bool,
    ) -> None:
        self.beyond, self.labels, self._drawn = beyond, labels, drawn
        self.is_compact = is_compact

    def children(self, point: str) -> list[str]:
        """Give the points behind this one the first time, and none later."""
        if point in self._drawn:
            return []
        self._drawn.add(point)
        return self.beyond.get(point, [])

    def goes_on(self, children: Sequence[str]) -> bool:
        """Whether what comes next stands on the same line."""
        return self.is_compact and len(children) == 1 and not self.was_drawn(children[0])

    def was_drawn(self, point: str) -> bool:
        """Whether there are points behind it that are drawn elsewhere."""
        return point in self._drawn and point in self.beyond


def _draw_branch(point: str, first: str, rest: str, branches: Branches) -> Iterator[str]:
    """Draw a point behind `first`, and what is behind it behind `rest`."""
    line, children = first + printable(point), [point]
    if branches.was_drawn(point):
        yield f"{line} (as above)"
        return
    while branches.goes_on(children := branches.children(point)):
        [child] = children
        line += f" {_link(branches.labels[point, child])} {printable(child)}"
        point = child
    yield line
    # branches hang below the name of the point that they leave, not below where its line begins
    if branches.is_compact:
        rest += " " * max(n_cells(line) - n_cells(rest) - n_cells(printable(point)) - len("  "), 0)
    for index, child in enumerate(children):
        is_last = index == len(children) - 1
        link = _link(branches.labels[point, child])
        corner, bar = ("└", " ") if is_last else ("├", "│")
        yield from _draw_branch(child, f"{rest}  {corner}{link} ", f"{rest}  {bar}", branches)


def _link(link: Sequence[str]) -> str:
    if len(link) == 1:
        return f"⇄─{link[0]}─⇄"
    forward, reverse = (f"─{link[0]}→" if link[0] else "", f"←{link[1]}─" if link[1] else "")
    return f"{forward} {reverse}".strip() or "─"


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
        n = f"{format_count(least['n'])} direction change{'' if least['n'] == 1 else 's'}"
        if least["n_agreeing"] == least["n"]:
            return f"{rests_on}: {n} or more of each segment, and all agree"
        agree = format_frac(least["n_agreeing"] / least["n"])
        return f"{rests_on}; least sure of {_edge_name(least)}: {agree} of {n} agree"
    if is_all:
        return rests_on
    more = f" and {len(rows) - FEW} more" if len(rows) > FEW else ""
    return f"{rests_on}: {', '.join(map(_edge_name, rows[:FEW]))}{more}"


def _edge_name(row: Row) -> str:
    """Name a link."""
    return f"{row['near']} → {row['far']}"
