"""What a merge told of a network, beside the truth: what is wrong, and what of it in silence."""

from __future__ import annotations

import statistics
import warnings
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pcaplat
from tests.recovery.networks import HAS_NO_ORDER, KINDS
from tests.support.networks import Edge

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.networks import Network

Place = tuple[str, int]
TAIL_NS = 1_000
"""By so much single packets are slower than the mean."""

EDGE_PACKETS = 3
"""So many packets may pass at the very ends of the time that two points cover."""
ABOUT_THE_GRAPH = {
    "order-assumed",
    "order-unknown",
    "direction-missing",
    "unrelated-point",
    "paths-apart",
    "ttl-contradicts-order",
}
ABOUT_LOSS = "fragmented-on-the-way"
"""Says that losses of packets are fragments."""


@dataclass
class Merged:
    """A network, and what was told of it."""

    network: Network
    document: dict[str, Any]
    places: list[tuple[Place, Place]]
    """Of each pair of frames, upstream first: the point that saw it, and its packet's number."""
    names: dict[str, str]
    """Per point of the result the point of the network that most of its frames are of."""
    is_ordered: bool = True
    """Whether one order of the points is right, but for those side by side."""

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The packets of each pair of frames."""
        return [(up[1], down[1]) for up, down in self.places]

    @cached_property
    def n_backward(self) -> int:
        """Pairs of which the packet was downstream first, but for those born on the way."""
        at_ns, born = self.network.times(), self.network.undirected
        places = (two for two in self.places if two[0][1] not in born)
        rows = ((at_ns[up[0]], at_ns[down[0]], up[1]) for up, down in places)
        return sum(there[packet] < here[packet] for here, there, packet in rows if packet in there)

    @cached_property
    def crossings(self) -> dict[Edge, dict[int, int]]:
        """Per true edge how long its packets took."""
        return self.network.crossings()

    def true_ns(self, edge: Edge) -> list[list[int]]:
        """How long packets took: of all of them, and without kinds of those born on the way."""
        took_ns, born = self.crossings.get(edge, {}), self.network.undirected
        kinds = sorted(set(born.values()))
        return [
            [ns for packet, ns in took_ns.items() if born.get(packet) not in left_out]
            for n in range(len(kinds) + 1)
            for left_out in combinations(kinds, n)
        ]

    @cached_property
    def path(self) -> list[str]:
        """The path, by the names of the network's points."""
        return [self.names.get(point, point) for point in self.document["path"]]

    @cached_property
    def edges(self) -> set[Edge]:
        """The edges, as they are written."""
        return {self._ends(row) for row in self.document["edges"]}

    def _ends(self, row: dict[str, Any]) -> Edge:
        near, far = row["near"], row["far"]
        return self.names.get(near, near), self.names.get(far, far)

    @cached_property
    def rows(self) -> dict[Edge, dict[str, Any]]:
        """What was told of packets on edges, as they went; the whole path only if it is one."""
        found = dict[Edge, dict[str, Any]]()
        for row in self.document["segments"]:
            ends = self._ends(row)
            is_any = row["n"] and row["class"] == "packet"
            if is_any and (ends in self.edges or ends != (self.path[0], self.path[-1])):
                found[ends if row["direction"] == "forward" else ends[::-1]] = row
        return found

    @cached_property
    def excused(self) -> set[str | None]:
        """Points of which a warning says that order or direction is open; all of them: None."""
        rows = [row for row in self.document["warnings"] if row["code"] in ABOUT_THE_GRAPH]
        return {self.names.get(row["point"], row["point"]) for row in rows}

    @cached_property
    def codes(self) -> set[str]:
        """What was warned of."""
        return {row["code"] for row in self.document["warnings"]}

    def is_open(self, *points: str) -> bool:
        """Whether it is said that something about these points is not known."""
        return None in self.excused or not self.excused.isdisjoint(points)


def merge_kind(name: str, n: int, seed: int, folder: Path, *, has_own_clocks: bool) -> Merged:
    """Make a network of a kind, save its captures and merge them."""
    network = KINDS[name](n, seed, has_own_clocks=has_own_clocks)
    same_clock = [] if has_own_clocks else ["all"]
    return merge_network(network, folder, same_clock, is_ordered=name not in HAS_NO_ORDER)


def merge_network(
    network: Network, folder: Path, same_clock: list[str], *, is_ordered: bool = True
) -> Merged:
    """Save the captures of a network and merge them."""
    columns = ("up_file", "up_frame", "down_file", "down_frame")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pcaplat.PcaplatWarning)
        with pcaplat.merge(network.save(folder), same_clock=same_clock) as result:
            rows = result.matches.select(columns).collect().iter_rows()
            places = [(network.place(up, a), network.place(down, b)) for up, a, down, b in rows]
            names = _names(network, result)
            document = dict(result.document)
    return Merged(network, document, places, names, is_ordered)


def _names(network: Network, result: pcaplat.Result) -> dict[str, str]:
    if not network.files:
        return {}
    counted: dict[str, Counter[str]] = {}
    table = result.packets.select("point", "file", "frame").collect()
    for point, file, frame in table.iter_rows():
        counted.setdefault(point, Counter())[network.place(file, frame)[0]] += 1
    return {point: found.most_common(1)[0][0] for point, found in counted.items()}


def edges_wrong(found: Merged) -> set[tuple[str, ...]]:
    """Edges that are missing or no edges, whichever way they are written."""
    return {tuple(sorted(edge)) for edge in found.edges} ^ {
        tuple(sorted(edge)) for edge in found.crossings
    }


def order_wrong(found: Merged) -> list[Any]:
    """Points that are missing, and edges of packets that go against the path as it is written."""
    path = found.path
    wrong: list[Any] = sorted(set(path) ^ set(found.network.seen))
    if wrong or not found.is_ordered:
        return wrong
    opens = found.network.packets[0].ways[0]
    if path.index(opens[0]) > path.index(opens[-1]):
        path = path[::-1]
    for packet in found.network.packets:
        for one in packet.ways:
            places = [path.index(point) for point in one if point in found.network.seen]
            if places not in (sorted(places), sorted(places, reverse=True)):
                wrong.append(one)
    return wrong[:3]


def segments_wrong(found: Merged) -> dict[Any, Any]:
    """Segments that are no edge of that direction, or are missing, or count others."""
    wrong: dict[Any, Any] = dict.fromkeys(found.rows.keys() - found.crossings.keys(), "no edge")
    for edge in found.crossings:
        n = found.rows[edge]["n"] if edge in found.rows else 0
        counts = [len(each) for each in found.true_ns(edge)]
        least, most = min(counts), max(counts)
        if not least - EDGE_PACKETS <= n <= most + EDGE_PACKETS:
            wrong[edge] = (n, least, most)
    return wrong


def lost_wrong(found: Merged) -> dict[Any, Any]:
    """Losses at the wrong edge, too many or too few, or another share of what was sent."""
    wrong = {}
    at_ns = found.network.times()
    lost_ns: dict[Any, list[int]] = {edge: [] for edge in found.crossings}
    for edge, number in found.network.lost:
        lost_ns.setdefault(edge, []).append(at_ns[edge[0]][number])
    for edge, row in found.rows.items():
        if edge not in found.crossings:
            # what is no edge may lose what was lost on several
            if row["n_lost"] > len(found.network.lost) + 1:
                wrong[edge] = (row["n_lost"], 0)
            continue
        true, came = lost_ns.get(edge, []), found.crossings[edge]
        # what was seen last less than the waiting time before the end is neither lost nor counted
        ends_ns = (_end_ns(found, edge, 0), _end_ns(found, edge, 1))
        waited_ns = min(ends_ns) - (row["loss_threshold_ns"] or 0)
        # nor what was lost before the far end saw anything: its capture may have begun there
        first_ns = min((at_ns[edge[0]][number] for number in came), default=waited_ns)
        least = sum(first_ns <= ns <= waited_ns for ns in true)
        slack = 1 if true else 0
        is_counted = least - slack <= row["n_lost"] <= len(true) + slack
        # the share of the same packets as are counted: with those born on the way, or without
        counts = [len(each) for each in found.true_ns(edge)]
        n = min(counts, key=lambda n: abs(n - row["n"]))
        if not is_counted or not _is_share(row, len(true) / max(len(true) + n, 1)):
            wrong[edge] = (row["n_lost"], len(true))
    return wrong


def _end_ns(found: Merged, edge: Edge, side: int) -> int:
    """When the last packet set out on an edge that one of its ends can have seen."""
    seen = found.network.seen[edge[side]][-1].t_ns
    return seen - side * max(found.crossings[edge].values())


def _is_share(row: dict[str, Any], share: float) -> bool:
    """Whether a loss ratio is within its interval, widened by its half-width: a sample's is."""
    low, high = row["lost_lo_frac"], row["lost_hi_frac"]
    if low is None or not row["n_waited"] + row["n_lost"]:
        return True
    half = (high - low) / 2
    return bool(low - half <= share <= high + half)


def means_wrong(found: Merged, widths: int = 1) -> dict[Any, Any]:
    """Means farther from the truth than so many half-widths of clocks."""
    wrong = {}
    for edge, row in found.rows.items():
        each_ns = [each for each in found.true_ns(edge) if each]
        if row["mean_ns"] is None or not each_ns:
            continue
        known_ns = (row["clock_half_width_ns"] or 0) + _resolution_ns(found.network, edge)
        # a packet more or less at the ends of the time
        slack_ns = widths * known_ns + 1 + EDGE_PACKETS * TAIL_NS / len(each_ns[0])
        off_ns = min(abs(row["mean_ns"] - statistics.fmean(each)) for each in each_ns)
        if off_ns > slack_ns:
            wrong[edge] = (row["mean_ns"], statistics.fmean(each_ns[0]), slack_ns)
    return wrong


def _resolution_ns(network: Network, edge: Edge) -> int:
    steps_ns = [network.resolution_ns.get(point, 1) for point in edge]
    return sum(step_ns for step_ns in steps_ns if step_ns > 1)


def pairs_wrong(found: Merged) -> list[tuple[int, int]]:
    """Pairs of frames of two packets."""
    return [two for two in found.pairs if two[0] != two[1]]


def wrong_in_silence(found: Merged) -> dict[str, Any]:
    """What is neither right nor null nor warned of."""
    segments, lost = segments_wrong(found), lost_wrong(found)
    wrong = {
        "edges": [edge for edge in edges_wrong(found) if not found.is_open(*edge)],
        "order": [] if found.is_open() else order_wrong(found),
        "segments": {e: segments[e] for e in segments if not found.is_open(*e)},
        # an order that is open excuses no loss that was none
        "loss": {e: n for e, n in lost.items() if n[0] > n[1] or not found.is_open(*e)}
        if ABOUT_LOSS not in found.codes
        else {},
        "means": means_wrong(found),
        "pairs": pairs_wrong(found),
    }
    return {what: each for what, each in wrong.items() if each}
