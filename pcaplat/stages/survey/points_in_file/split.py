"""Which capture points one file holds: where the same packets were seen, with what difference.

A file is divided only along what the same packets were seen on both sides of. A file with one kind
of traffic in tunnels and another without is of one point; one that has the same packets in a tunnel
and without is of two. See docs/method/survey.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pcaplat.model.arrays import Ints, distinct
from pcaplat.model.points import Node, Pair, PointTree
from pcaplat.model.sampled import SampleColumns
from pcaplat.stages.survey.points_in_file.hops_in_file import find_hops, find_legs
from pcaplat.stages.survey.points_in_file.repeats import (
    Columns,
    Repeats,
    flow_openers,
    is_passing,
    linked,
    places,
    travel_order,
)
from pcaplat.text import plain_name

STATIC = ("port", "depth", "vlans", "outer_macs", "inner_macs", "tunnel")
"""Dimensions that are the same for every packet at a place, in the order in which they are
asked."""

TAGS = ("vlans", "tunnel")
"""Dimensions that may say instead whether a packet came in or went out, as some mirrors have it."""

PASSING = ("ttl", "outer_ttl", "direction")
"""Dimensions that differ by sender."""

NUMBERS = 1 << 32
"""Ports from here on are names."""


@dataclass(frozen=True)
class Destination:
    """Where some values of a dimension lead: rows of the sample, and what a person calls it."""

    values: list[Pair]
    label: str
    rows: Ints


@dataclass(frozen=True)
class Branch:
    """A dimension that tells places apart, and what is at each."""

    dimension: str
    at: list[tuple[Destination, "Branch | None"]]


def divide(
    columns: SampleColumns,
    flows: SampleColumns,
    names: Sequence[str],
    interfaces: Sequence[Sequence[int]],
) -> tuple[list[PointTree | None], Ints]:
    """Divide each file into the capture points that it holds.

    Args:
        columns: The sample, as an engine gives it.
        flows: And its flows.
        names: The point that each file was given for; files of one are divided alike.
        interfaces: The interfaces of each file.

    Returns:
        By file, how it is divided, None where its parts are its interfaces; and the part of its
        file that saw each packet of the sample.
    """
    owner = np.array([names.index(name) for name in names], np.int64)[columns["file"]]
    divisions: list[PointTree | None] = [None] * len(names)
    part = columns["interface"].copy()
    for first in distinct(owner).tolist():
        rows = np.flatnonzero(owner == first)
        trees = {
            interface: tree
            for interface in distinct(columns["interface"][rows]).tolist()
            if (tree := grow(columns, rows[columns["interface"][rows] == interface], ()))
        }
        if trees:
            files = [file for file, name in enumerate(names) if name == names[first]]
            known = sorted({interface for file in files for interface in interfaces[file]})
            writer = Writer(columns, rows, flow_openers(flows), known)
            division = writer.division(trees)
            for leaf_part, leaf in writer.leaves.items():
                part[leaf.rows] = leaf_part
            for file in files:
                divisions[file] = division
    return divisions, part


def grow(columns: Columns, rows: Ints, asked: tuple[str, ...]) -> Branch | None:
    """Find the first dimension that tells places apart, and go on at each."""
    repeats = Repeats.among(columns, rows)
    if not len(repeats):
        return None
    for dimension in (*STATIC, *PASSING):
        if dimension in asked:
            continue
        found = list(_places(columns, rows, repeats, dimension))
        if found:
            now = (*asked, dimension)
            return Branch(dimension, [(one, grow(columns, one.rows, now)) for one in found])
    return None


def _places(
    columns: Columns, rows: Ints, repeats: Repeats, dimension: str
) -> Iterator[Destination]:
    value, nodes = _value(columns, rows, dimension)
    if dimension not in ("port", "depth"):
        # everything else differs anyway between inside and outside of a tunnel
        repeats = repeats.alike_in(columns["depth"])
    if dimension in PASSING or (dimension in TAGS and is_passing(columns, repeats, value)):
        yield from _passed(columns, rows, repeats, dimension)
        return
    if dimension == "depth" and is_passing(columns, repeats, value):
        return
    found = places(columns, rows, repeats, value)
    if dimension == "port" and found:
        found = np.unique(value[rows]).tolist()
    for number, one in enumerate(found):
        ends = [(node, 0) for node, segment in nodes.items() if segment == one]
        yield Destination(ends, _label(dimension, one, number), rows[value[rows] == one])


def _passed(
    columns: Columns, rows: Ints, repeats: Repeats, dimension: str
) -> Iterator[Destination]:
    """Give the places that packets pass one after the other, by the marks that they have there."""
    marks = find_hops(columns, rows, repeats, dimension)
    if not marks and dimension == "ttl":
        marks = find_legs(columns, rows, repeats, dimension)
    if not marks:
        return
    ends = list(zip(columns[dimension][rows].tolist(), columns["source"][rows], strict=True))
    at = np.array([marks.get((mark, int(source)), -1) for mark, source in ends], np.int64)
    for place in sorted(set(marks.values())):
        values = [value for value, where in marks.items() if where == place]
        yield Destination(values, "", rows[at == place])


def _value(columns: Columns, rows: Ints, dimension: str) -> tuple[Ints, dict[int, int]]:
    """The dimension's value of every row, and the place of each value: addresses share segments."""
    if not dimension.endswith("_macs"):
        value = columns[dimension]
        return value, {one: one for one in np.unique(value[rows]).tolist()}
    side = dimension.removesuffix("_macs")
    ends = np.stack((columns[f"{side}_src_mac"], columns[f"{side}_dst_mac"]), axis=1)
    known = ends[rows]
    segment = linked(np.unique(known[np.all(known != 0, axis=1)], axis=0))
    value = np.full(len(ends), -1, np.int64)
    value[rows] = [segment.get(src, segment.get(dst, -1)) for src, dst in known.tolist()]
    return value, segment


def _label(dimension: str, value: int, at: int) -> str:
    """What a person calls the place; nothing where only its number along the path tells it."""
    if dimension == "port" and value >= 0:
        return _port_name(value)
    if dimension == "depth":
        return "inner" if at == 0 else "outer" if at == 1 else f"outer{at}"
    if dimension == "tunnel" and value >= 0:
        return f"tunnel{value}"
    return ""


def _port_name(value: int) -> str:
    if value < NUMBERS:
        return f"if{value}"
    return plain_name(value.to_bytes(8, "big").rstrip(b"\0").decode("ascii", "replace"))


@dataclass
class Leaf:
    """A point in the making: labels so far, whether it is numbered along the path, its rows."""

    interface: int
    labels: tuple[str, ...]
    is_numbered: bool
    rows: Ints


class Writer:
    """Writes trees as nodes, and numbers and names what is at their ends."""

    def __init__(
        self,
        columns: Columns,
        rows: Ints,
        forward: Mapping[int, bool],
        interfaces: Sequence[int],
    ) -> None:
        self.columns, self.rows, self.forward = columns, rows, forward
        self.interfaces = interfaces
        self.nodes: list[Node] = []
        self.leaves: dict[int, Leaf] = {}
        self.n_parts = 1 + max(interfaces)

    def division(self, trees: Mapping[int, Branch]) -> PointTree:
        """Write the trees of a file's interfaces, and give its parts."""
        self.nodes.append(Node("interface", {}, 0))
        steps: dict[Pair, int] = {}
        for interface in self.interfaces:
            tree = trees.get(interface)
            leaf = Leaf(interface, (), is_numbered=False, rows=np.zeros(0, np.int64))
            step = interface if tree is None else -self._ask(tree, leaf, interface)
            steps[interface, 0] = step
        self.nodes[0] = Node("interface", steps, self.n_parts)
        parts = {part: (leaf.interface, label) for part, leaf, label in self._labelled()}
        return PointTree(self.nodes, parts | self._rest(trees), self.n_parts + 1)

    def _ask(self, tree: Branch, above: Leaf, rest: int) -> int:
        """Write a branch as a question; give its number."""
        at = len(self.nodes)
        self.nodes.append(Node(tree.dimension, {}, rest))
        steps: dict[Pair, int] = {}
        for place, further in tree.at:
            labels = (*above.labels, *filter(None, [place.label]))
            is_numbered = above.is_numbered or not place.label
            leaf = Leaf(above.interface, labels, is_numbered=is_numbered, rows=place.rows)
            step = self._end(leaf) if further is None else -self._ask(further, leaf, rest)
            steps |= dict.fromkeys(place.values, step)
        self.nodes[at] = Node(tree.dimension, steps, rest)
        return at

    def _end(self, leaf: Leaf) -> int:
        part = self.n_parts
        self.n_parts += 1
        self.leaves[part] = leaf
        return part

    def _labelled(self) -> Iterator[tuple[int, Leaf, str]]:
        """Parts with their labels; those without are numbered along the path."""
        alike: dict[tuple[int, tuple[str, ...]], list[int]] = {}
        for part, leaf in self.leaves.items():
            if leaf.is_numbered:
                alike.setdefault((leaf.interface, leaf.labels), []).append(part)
            else:
                yield part, leaf, "-".join(leaf.labels)
        for parts in alike.values():
            of_row = np.full(len(self.columns["key"]), -1, np.int64)
            for part in parts:
                of_row[self.leaves[part].rows] = part
            for hop, part in enumerate(travel_order(self.columns, of_row, self.forward), 1):
                leaf = self.leaves[part]
                yield part, leaf, "-".join((*leaf.labels, f"hop{hop}"))

    def _rest(self, trees: Mapping[int, Branch]) -> dict[int, tuple[int, str]]:
        """Interfaces of which there are frames that no question places."""
        placed = np.zeros(len(self.columns["key"]), np.bool_)
        for leaf in self.leaves.values():
            placed[leaf.rows] = True
        left = set(np.unique(self.columns["interface"][self.rows[~placed[self.rows]]]).tolist())
        return {interface: (interface, "") for interface in left & trees.keys()}
