"""Nodes of the path that write their times into packets: each is a capture point of its own.

The core finds the nodes (rust/src/survey/hop_times.rs) and gives pairs of times, the file's and the
node's. In which unit a node counts, no packet says: it is the one by which its time runs as the
file's does.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import cast

from pcaplat.model.sampled import FileFacts, NodeKey, NodeTimes
from pcaplat.records import dataclass

NS_PER_S = 1_000_000_000
UNITS = ("ns", "us", "ntp")
LARGEST = {"ns": NS_PER_S, "us": 1_000_000, "ntp": 1 << 32}
"""Fractions of a second are less."""
WRAPS = {
    "counter64": lambda _: 0,
    "counter32": lambda unit: (1 << 32) * (1_000 if unit == "us" else 1),
    "seconds": lambda _: 0,
    "fraction": lambda _: NS_PER_S,
}
MOST_STRAY = 0.05
"""A node's time runs as the file's: over the capture they stray by no more than this part of it."""
TIMES_BETTER = 4
"""And by every other unit they stray so many times as far."""


@dataclass(frozen=True)
class Hop:
    """A node, which of its times, and how they are read.

    Attributes:
        key: Its number, whether it gave it, the format it writes, and `in` or `out`.
        layout: How its times are laid out.
        unit: What their numbers are: `ns`, `us`, or parts of 2^-32 s (`ntp`).
        t_ns: The file's time of one of them.
        raw: Its bits.
    """

    key: NodeKey
    layout: str
    unit: str
    t_ns: int
    raw: int

    @property
    def clock(self) -> str:
        """Name the node's clock, which is that of both of its times.

        Example:
            >>> Hop((7, True, "int", "in"), "counter64", "ns", 0, 0).clock
            'int7'
        """
        number, is_named, kind, _ = self.key
        return f"{kind}{number}" if is_named else f"{kind}-hop{number}"

    @property
    def label(self) -> str:
        """Name the point within its file.

        Example:
            >>> Hop((7, True, "int", "in"), "counter64", "ns", 0, 0).label
            'int7-in'
            >>> Hop((2, False, "ioam", "in"), "fraction", "us", 0, 0).label
            'ioam-hop2'
        """
        _, _, kind, side = self.key
        return self.clock if kind == "ioam" else f"{self.clock}-{side}"

    @property
    def values(self) -> tuple[int, bool, str, str, str, str, int, int]:
        """What the core reads a file by."""
        return (*self.key, self.layout, self.unit, self.t_ns, self.raw)


def find_hops(facts: Sequence[FileFacts]) -> list[tuple[int, Hop]]:
    """Give the nodes whose times can be read, each with the file that has most of its times."""
    best: dict[NodeKey, tuple[int, int, Hop]] = {}
    for file, _, node in nodes_of(facts):
        unit = unit_of(node)
        if unit is not None:
            (t_ns, raw), known = node.pairs[0], best.get(node.key)
            if known is None or node.n > known[0]:
                best[node.key] = (node.n, file, Hop(node.key, node.layout, unit, t_ns, raw))
    found = [(file, hop) for _, file, hop in best.values()]
    return sorted(found, key=lambda one: (one[0], one[1].label))


def nodes_of(facts: Sequence[FileFacts]) -> Iterator[tuple[int, int, NodeTimes]]:
    """Give the file, how many times of further nodes it has, and each node."""
    for file, of_file in enumerate(facts):
        for one in of_file.interfaces:
            # what a merge wrote has these times already, as interfaces of their own
            for node in () if one.is_aligned else one.hop_times:
                yield file, one.n_nodes_beyond, node


def unit_of(node: NodeTimes) -> str | None:
    """Find the unit by which a node's time runs as the file's; None: none does, or several.

    Example:
        >>> pairs = [(0, 500), (1_000_000, 1_000_500), (9_000_000, 9_000_510)]
        >>> unit_of(NodeTimes((7, True, "int", "in"), "counter64", 3, 0, pairs))
        'ns'
    """
    pairs = node.pairs
    span_ns = max(t_ns for t_ns, _ in pairs) - min(t_ns for t_ns, _ in pairs)
    units = [unit for unit in UNITS if _may_be(node, unit)]
    strays = sorted((_stray_ns(node, unit), unit) for unit in units)
    if not strays or span_ns == 0 or strays[0][0] > MOST_STRAY * span_ns:
        return None
    if len(strays) > 1 and strays[1][0] < TIMES_BETTER * max(strays[0][0], 1):
        return None
    return strays[0][1]


def _may_be(node: NodeTimes, unit: str) -> bool:
    if node.layout in {"seconds", "fraction"}:
        return node.largest_fraction < LARGEST[unit]
    return unit != "ntp"


def _stray_ns(node: NodeTimes, unit: str) -> int:
    """How far the node's time strays from the file's, both counted from the first pair."""
    wrap_ns = cast("Callable[[str], int]", WRAPS[node.layout])(unit)
    first_t_ns, first_raw = node.pairs[0]
    first_ns = _ns(node.layout, unit, first_raw)
    strays = (
        _ns(node.layout, unit, raw) - first_ns - (t_ns - first_t_ns) for t_ns, raw in node.pairs
    )
    if wrap_ns:
        strays = ((stray + wrap_ns // 2) % wrap_ns - wrap_ns // 2 for stray in strays)
    return max(map(abs, strays))


def _ns(layout: str, unit: str, raw: int) -> int:
    if layout.startswith("counter"):
        return raw * (1_000 if unit == "us" else 1)
    seconds, fraction = divmod(raw, 1 << 32)
    fraction_ns = {"ns": fraction, "us": fraction * 1_000, "ntp": fraction * NS_PER_S >> 32}
    return seconds * NS_PER_S + fraction_ns[unit]
