"""Networks that are no lines: packets that each take a way of their own, and what points capture.

A packet's ways all begin at one point; it has several where it is sent to several receivers. What a
point captured, and where each packet was last, is known exactly. It shares no code with what it is
to test.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tests.support.frames import ICMP, TCP, UDP, checksum, ip, udp

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

START_NS = 1_760_000_000_000_000_000
Way = tuple[str, ...]
Edge = tuple[str, str]


class Packet(NamedTuple):
    """When it passes its first point, the ways it takes, and its frame there."""

    t_ns: int
    ways: tuple[Way, ...]
    frame: bytes
    answers: int = -1
    """The number of the packet without which it is not sent."""
    is_resent: bool = False
    """Whether its sender would send it again: none of these is lost."""


class Sighting(NamedTuple):
    """A packet at a point, in true time; of the packets by its number."""

    t_ns: int
    packet: int
    frame: bytes
    is_copy: bool = False
    """Whether the point had captured the packet already, or the part of it before this one."""


@dataclass(frozen=True)
class Edges:
    """What edges do: how long each takes, and by how much some packets are late or lost there."""

    takes_ns: dict[Edge, int]
    tail_ns: int = 400
    lost: dict[Edge, float] = field(default_factory=dict)
    late: dict[Edge, tuple[float, int]] = field(default_factory=dict)


Seen = dict[str, list[Sighting]]


@dataclass
class Network:
    """What each point saw of the packets, and how to save it."""

    packets: Sequence[Packet]
    seen: Seen
    lost: list[tuple[Edge, int]] = field(default_factory=list)
    """On which edge which packet was lost."""
    clocks: dict[str, tuple[int, float]] = field(default_factory=dict)
    """Per point how far its clock is ahead, and by how many ppm it is fast."""
    resolution_ns: dict[str, int] = field(default_factory=dict)
    """Per point what its timestamps are rounded down to, where that is more than a nanosecond."""
    files: dict[str, str] = field(default_factory=dict)
    """Per point the file that it shares with others; the rest have one each, by their names."""
    undirected: dict[int, str] = field(default_factory=dict)
    """Packets that may stay out of segments with all of their kind: they may be born on the way."""
    ahead_ns: Callable[[str, int], int] = lambda _point, _packet: 0
    """By how much a point stamps a packet ahead of its own clock."""

    def save(self, folder: Path) -> list[str]:
        """Write a capture for each point, by its name."""
        for name, places in self.recorded.items():
            with (folder / f"{name}.pcap").open("wb") as file:
                file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, 1))
                for point, row in places:
                    one = self.seen[point][row]
                    data, n_bytes = one.frame, len(one.frame)
                    head = (*divmod(self._stamp_ns(point, one), 10**9), n_bytes, n_bytes)
                    file.write(struct.pack("<IIII", *head) + data)
        return [str(folder / f"{name}.pcap") for name in self.recorded]

    def _stamp_ns(self, point: str, one: Sighting) -> int:
        off_ns, drift_ppm = self.clocks.get(point, (0, 0.0))
        stamp_ns = one.t_ns + off_ns + round((one.t_ns - START_NS) * drift_ppm * 1e-6)
        stamp_ns += self.ahead_ns(point, one.packet)
        return stamp_ns - stamp_ns % self.resolution_ns.get(point, 1)

    @cached_property
    def recorded(self) -> dict[str, list[tuple[str, int]]]:
        """Per file its frames: the point that saw each, and which of that point's it is."""
        made: dict[str, list[tuple[str, int]]] = {}
        for point, sightings in self.seen.items():
            rows = made.setdefault(self.files.get(point, point), [])
            rows += [(point, row) for row in range(len(sightings))]
        for rows in made.values():
            rows.sort(key=lambda place: self.seen[place[0]][place[1]].t_ns)
        return made

    def place(self, file: str, frame: int) -> tuple[str, int]:
        """The point that saw a frame of a file, and the number of its packet."""
        point, row = self.recorded[file.rpartition("/")[2].partition(".")[0]][frame - 1]
        return point, self.seen[point][row].packet

    def packet(self, file: str, frame: int) -> int:
        """The number of the packet that a frame of a file carries."""
        return self.place(file, frame)[1]

    def crossings(self) -> dict[Edge, dict[int, int]]:
        """Per edge between points that capture the packets of both its ends, how long they took."""
        at_ns, found = self.times(), dict[Edge, dict[int, int]]()
        for number, packet in enumerate(self.packets):
            for way in packet.ways:
                for up, down in pairwise(point for point in way if point in at_ns):
                    if number in at_ns[up] and number in at_ns[down]:
                        took_ns = at_ns[down][number] - at_ns[up][number]
                        found.setdefault((up, down), {})[number] = took_ns
        return found

    def times(self) -> dict[str, dict[int, int]]:
        """Per point when it saw which packet."""
        return {
            point: {one.packet: one.t_ns for one in seen if not one.is_copy}
            for point, seen in self.seen.items()
        }


def walk(
    packets: Sequence[Packet],
    edges: Edges,
    seed: int = 1,
    as_seen: Callable[[str, bytes, int], bytes] = lambda _point, frame, _packet: frame,
    missed: Callable[[str, int], bool] = lambda _point, _packet: False,
) -> Network:
    """Send the packets on their ways. `missed` says which point did not capture which packet."""
    chance = np.random.default_rng(seed)
    lossless = replace(edges, lost={})
    seen: Seen = {}
    lost: list[tuple[Edge, int]] = []
    unanswered: set[int] = set()
    for number, packet in enumerate(packets):
        if packet.answers in unanswered:
            continue
        at_ns = {packet.ways[0][0]: packet.t_ns}
        for way in packet.ways:
            gone = _follow(way, at_ns, lossless if packet.is_resent else edges, chance)
            lost += [(edge, number) for edge in gone]
            unanswered |= {number} if gone else set()
        for point, t_ns in at_ns.items():
            if t_ns >= 0 and not missed(point, number):
                frame = as_seen(point, packet.frame, number)
                seen.setdefault(point, []).append(Sighting(t_ns, number, frame))
    return Network(packets, {point: sorted(seen[point]) for point in sorted(seen)}, lost)


def _follow(
    way: Way, at_ns: dict[str, int], edges: Edges, chance: np.random.Generator
) -> list[Edge]:
    """Note when a packet passes the points of a way; give where it was lost: -1 behind that."""
    lost = []
    for edge in pairwise(way):
        if edge[1] not in at_ns:
            share, by_ns = edges.late.get(edge, (0.0, 0))
            took_ns = edges.takes_ns[edge] + int(chance.exponential(edges.tail_ns))
            took_ns += by_ns * int(chance.random() < share)
            is_lost = chance.random() < edges.lost.get(edge, 0.0)
            is_there = at_ns[edge[0]] >= 0
            lost += [edge] if is_there and is_lost else []
            at_ns[edge[1]] = at_ns[edge[0]] + took_ns if is_there and not is_lost else -1
    return lost


def both_ways(takes_ns: dict[Edge, int]) -> dict[Edge, int]:
    """The same edges back, which take a fifth longer."""
    return takes_ns | {(far, near): ns * 6 // 5 for (near, far), ns in takes_ns.items()}


def tcp(ends: tuple[str, str], ports: tuple[int, int], seq: int, ack: int, data: bytes) -> bytes:
    """A TCP segment (RFC 9293), its IP identification made of its numbers."""
    head = struct.pack(">HHIIBBHHH", *ports, seq % 2**32, ack % 2**32, 0x50, 0x18, 8192, 0, 0)
    return ip(*ends, TCP, (seq + ack) % 65_521 + 1, 64, head + data)


def datagram(ends: tuple[str, str], ports: tuple[int, int], ident: int, data: bytes) -> bytes:
    """A UDP packet."""
    return ip(*ends, UDP, ident, 64, udp(ports, data))


def echo(ends: tuple[str, str], ident: int, number: int, *, is_reply: bool) -> bytes:
    """An ICMP echo request or reply (RFC 792)."""
    bare = struct.pack(">BBHHH", 0 if is_reply else 8, 0, 0, ident, number) + bytes(48)
    made = bare[:2] + checksum(bare).to_bytes(2) + bare[4:]
    return ip(*ends, ICMP, number % 65_535 + 1, 64, made)
