"""An independent matcher for the tests: N captures of one path, in path order, on one clock.

It pairs a packet between neighbours of the path only where nothing else is possible: one frame here
and one frame there within a window, and for packets that repeat themselves, exactly one candidate
in a narrow band around what this segment usually takes. Everything else stays unpaired.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tests.support.oracle_decode import TCP, Packet, innermost, read_frames

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

WINDOW_NS = 50_000_000
COPY_GAP_NS = 2_000_000
BAND_MARGIN_NS = 300
BAND_TAILS = (0.005, 0.025, 0.1)  # the narrower one speaks only where the wider one leaves a choice

Key: TypeAlias = tuple[object, ...]


class Sighting(NamedTuple):
    """A packet at one point."""

    t_ns: int
    number: int
    packet: Packet


@dataclass
class Segment:
    """What happened between two neighbours in one direction."""

    near: str
    far: str
    direction: str
    pairs: list[tuple[int, int]] = field(default_factory=list)
    latencies_ns: list[int] = field(default_factory=list)
    n_lost: int = 0
    n_duplicated: int = 0

    @property
    def n(self) -> int:
        """How many packets were seen at both ends."""
        return len(self.latencies_ns)

    @property
    def median_ns(self) -> float:
        """The middle latency; the mean of the two middle ones of an even number."""
        ordered = sorted(self.latencies_ns)
        return (ordered[(self.n - 1) // 2] + ordered[self.n // 2]) / 2


def common_prefixes(captures: Iterable[list[Sighting]]) -> dict[int, int]:
    """Per protocol, the layer-4 bytes that even the shortest truncated frame has."""
    prefixes: dict[int, int] = {}
    for sighting in (s for capture in captures for s in capture):
        packet = sighting.packet
        if packet.is_truncated:
            prefixes[packet.protocol] = min(
                len(packet.stable), prefixes.get(packet.protocol, 1 << 20)
            )
    return prefixes


def key_of(packet: Packet, prefixes: dict[int, int]) -> Key:
    """What is the same wherever the packet is seen."""
    stable = packet.stable[: prefixes.get(packet.protocol)]
    return (packet.flow, packet.protocol, packet.ident, packet.fragment, packet.length, stable)


@lru_cache(maxsize=6)  # as many points as a path of the lab has
def sightings(path: Path) -> list[Sighting]:
    """The decodable frames of a file, in time order."""
    decoded = ((f, innermost(f)) for f in read_frames(path))
    return sorted((Sighting(f.t_ns, f.number, p) for f, p in decoded if p), key=lambda s: s[:2])


class Oracle:
    """The captures of one path, matched."""

    def __init__(self, files: dict[str, Path]) -> None:
        self.points = list(files)
        self.seen = [sightings(file) for file in files.values()]
        prefixes = common_prefixes(self.seen)
        self.by_key = [self._grouped(capture, prefixes) for capture in self.seen]
        once = {key for groups in self.by_key for key, group in groups.items() if len(group) == 1}
        self.copies = [self._fold(groups, once) for groups in self.by_key]

    @staticmethod
    def _grouped(capture: list[Sighting], prefixes: dict[int, int]) -> dict[Key, list[Sighting]]:
        groups: dict[Key, list[Sighting]] = defaultdict(list)
        for sighting in capture:
            groups[key_of(sighting.packet, prefixes)].append(sighting)
        return groups

    @staticmethod
    def _fold(groups: dict[Key, list[Sighting]], once: set[Key]) -> dict[int, int]:
        """Remove later copies.

        Without an IP ID only a point that saw the key once tells them from repetitions.
        """
        copies: dict[int, int] = {}
        for key, group in groups.items():
            if not group[0].packet.ident and key not in once:
                continue
            kept = group[:1]
            for sighting in group[1:]:
                if sighting.t_ns - kept[-1].t_ns <= COPY_GAP_NS:
                    copies[sighting.number] = kept[-1].number
                else:
                    kept.append(sighting)
            group[:] = kept
        return copies

    @cached_property
    def forward_votes(self) -> Counter[Key]:
        """Per directed address pair: packets seen nearer the first point first, less the others."""
        votes: Counter[Key] = Counter()
        for near in range(len(self.points) - 1):
            for far in range(near + 1, len(self.points)):
                for key, group in self.by_key[near].items():
                    other = self.by_key[far].get(key, [])
                    if len(group) == len(other) == 1:
                        votes[_pair(group[0])] += 1 if other[0].t_ns > group[0].t_ns else -1
        return votes

    def _goes(self, sighting: Sighting, *, forward: bool) -> bool:
        pair = _pair(sighting)
        votes = self.forward_votes[pair] or self.source_votes[pair[:-1]]
        return votes > 0 if forward else votes < 0

    @cached_property
    def source_votes(self) -> Counter[Key]:
        """The same per source: where it sits, for packets that never are unique."""
        votes: Counter[Key] = Counter()
        for pair, n in self.forward_votes.items():
            votes[pair[:-1]] += n
        return votes

    @cached_property
    def window_ns(self) -> tuple[int, int]:
        """The time that all points cover."""
        return max(c[0].t_ns for c in self.seen), min(c[-1].t_ns for c in self.seen)

    def segments(self) -> list[Segment]:
        """Every pair of neighbours, each direction."""
        return [
            self._segment(at, forward=forward)
            for at in range(len(self.points) - 1)
            for forward in (True, False)
        ]

    def _segment(self, at: int, *, forward: bool) -> Segment:
        up, down = (at, at + 1) if forward else (at + 1, at)
        beyond = list(range(down, len(self.points))) if forward else list(range(down, -1, -1))
        segment = Segment(self.points[at], self.points[at + 1], "forward" if forward else "reverse")
        wanted = {
            key for key, group in self.by_key[up].items() if self._goes(group[0], forward=forward)
        }
        pairs, rest = self._one_to_one(up, down, wanted, 0, WINDOW_NS)
        usual_ns = sorted(b.t_ns - a.t_ns for a, b in pairs)
        for tail in BAND_TAILS if usual_ns else ():
            found, rest = self._one_to_one(up, down, rest, *_band(usual_ns, tail))
            pairs += found
        segment.pairs = [(a.number, b.number) for a, b in pairs]
        segment.latencies_ns = sorted(b.t_ns - a.t_ns for a, b in pairs)
        segment.n_lost = self._lost(up, beyond, wanted)
        copied_up = set(self.copies[up].values())
        copied_down = set(self.copies[down].values())
        segment.n_duplicated = sum(
            b.number in copied_down and a.number not in copied_up for a, b in pairs
        )
        return segment

    def _one_to_one(
        self, up: int, down: int, keys: set[Key], low_ns: float, high_ns: float
    ) -> tuple[list[tuple[Sighting, Sighting]], set[Key]]:
        pairs, rest = [], set()
        for key in keys:
            there = self.by_key[down].get(key, [])
            here = self.by_key[up][key]
            onward = {a: [b for b in there if low_ns <= b.t_ns - a.t_ns <= high_ns] for a in here}
            n_claims = Counter(b for candidates in onward.values() for b in candidates)
            found = [(a, c[0]) for a, c in onward.items() if len(c) == 1 and n_claims[c[0]] == 1]
            if any(len(c) > 1 for c in onward.values()) or any(n > 1 for n in n_claims.values()):
                rest.add(key)
            else:
                pairs += found
        return pairs, rest

    def _lost(self, up: int, beyond: list[int], wanted: set[Key]) -> int:
        first, last = self.window_ns
        flows = {key[0] for point in beyond for key in self.by_key[point]}
        gone = 0
        for key in wanted:
            if key[0] not in flows:
                continue
            for sighting in self.by_key[up][key]:
                if first <= sighting.t_ns <= last and not self._arrived(sighting, key, beyond):
                    gone += 1
        return gone

    def _arrived(self, sighting: Sighting, key: Key, beyond: list[int]) -> bool:
        def soon(other: Sighting) -> bool:
            return 0 <= other.t_ns - sighting.t_ns <= WINDOW_NS

        return any(any(map(soon, self.by_key[p].get(key, []))) for p in beyond) or any(
            soon(other) for p in beyond for other in self.tcp_overlaps(p, sighting)
        )

    def tcp_overlaps(self, point: int, sighting: Sighting) -> Iterable[Sighting]:
        """Frames at a point with one of the same payload bytes: TCP cut or joined on the way."""
        wanted = _byte_range(sighting.packet)
        if wanted is None:
            return
        for other in self._tcp_flows[point].get(sighting.packet.flow, ()):
            found = _byte_range(other.packet)
            if found and found[0] < wanted[1] and wanted[0] < found[1]:
                yield other

    @cached_property
    def _tcp_flows(self) -> list[dict[tuple[object, ...], list[Sighting]]]:
        flows: list[dict[tuple[object, ...], list[Sighting]]] = []
        for capture in self.seen:
            flows.append(defaultdict(list))
            for sighting in capture:
                if sighting.packet.protocol == TCP:
                    flows[-1][sighting.packet.flow].append(sighting)
        return flows


def _pair(sighting: Sighting) -> Key:
    flow = sighting.packet.flow
    return flow[:3] if flow[0] == "arp" else flow[:2]


def _band(ordered_ns: list[int], tail: float) -> tuple[float, float]:
    cut = int(len(ordered_ns) * tail)
    low, high = ordered_ns[cut], ordered_ns[-1 - cut]
    margin_ns = (high - low) / 2 + BAND_MARGIN_NS
    return max(0, low - margin_ns), high + margin_ns


def _byte_range(packet: Packet) -> tuple[int, int] | None:
    if packet.protocol != TCP or packet.fragment or len(packet.stable) < 13:
        return None
    start = int.from_bytes(packet.stable[4:8])
    n_payload = packet.length - (packet.stable[12] >> 4) * 4
    return (start, start + n_payload) if n_payload > 0 else None
