"""Bulk TCP whose packets are cut and joined on the way, and the truth about every wire segment.

A sender hands down super-segments; the wire carries them in pieces; a receiver joins what follows
each other. A point sees one of the three. Requests and responses go along, whole everywhere, so
that a path can be surveyed.
"""

from __future__ import annotations

import random
import struct
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from tests.support.frames import TCP, UDP, ip, udp, write_pcap

if TYPE_CHECKING:
    from pathlib import Path

START_NS = 1_760_000_000_000_000_000
SENT, WIRE, JOINED = "sent", "wire", "joined"
PIECE_BYTES = 200
PORTS = (40_000, 9_000)


@dataclass(frozen=True)
class Bulk:
    """What the points see, and what happens between them."""

    points: tuple[str, ...] = (SENT, WIRE, WIRE, JOINED)
    n_bursts: int = 60
    first_seq: int = 1_000
    lost_share: float = 0.0  # on each segment of the path
    held_share: float = 0.0
    resend_after_ns: int = 250_000_000
    gap_ns: int = 400_000
    has_length: bool = True  # else the IP total length is 0 above segmentation
    missed_share: float = 0.0  # of what each point between the ends sees, by its capture alone
    offsets_ns: tuple[int, ...] = ()
    seed: int = 1


class Piece(NamedTuple):
    """One wire segment of one transmission."""

    number: int
    burst: int
    flow: int
    seq: int
    size: int


@dataclass
class Frame:
    """What a point recorded: the pieces it holds, none for requests and responses."""

    t_ns: int
    data: bytes
    pieces: tuple[Piece, ...] = ()

    @property
    def span(self) -> tuple[int, int]:
        """First byte and the byte after the last, modulo 2^32."""
        last = self.pieces[-1]
        return self.pieces[0].seq, (last.seq + last.size) % 2**32


@dataclass
class Recorded:
    """All captures, and what is true about them."""

    captures: list[list[Frame]] = field(default_factory=list)
    lost_bytes: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    carried_bytes: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    def save(self, folder: Path) -> list[str]:
        """Write one capture a point."""
        files = []
        for at, capture in enumerate(self.captures):
            files.append(folder / f"p{at}.pcap")
            write_pcap(files[-1], [(frame.t_ns, frame.data) for frame in capture])
        return [str(file) for file in files]

    def pairs(self, up: int, down: int) -> dict[tuple[int, int], set[int]]:
        """Frames of two points that share wire segments of one transmission: which ones."""
        holder = {
            piece.number: number
            for number, frame in enumerate(self.captures[down], 1)
            for piece in frame.pieces
        }
        found: dict[tuple[int, int], set[int]] = defaultdict(set)
        for number, frame in enumerate(self.captures[up], 1):
            for piece in frame.pieces:
                if piece.number in holder:
                    found[number, holder[piece.number]].add(piece.number)
        return found

    def is_whole(self, up: int, down: int, pair: tuple[int, int]) -> bool:
        """Whether two frames are one packet: of the same bytes."""
        return self.captures[up][pair[0] - 1].span == self.captures[down][pair[1] - 1].span


def run(bulk: Bulk) -> Recorded:
    """Send everything, let the points record it."""
    chance = random.Random(bulk.seed)  # noqa: S311 - the same draw every time
    recorded = Recorded([[] for _ in bulk.points])
    now_ns, seqs, number = START_NS, [bulk.first_seq, 77], 0
    for burst in range(bulk.n_bursts):
        now_ns += bulk.gap_ns + chance.randrange(bulk.gap_ns // 4)
        flow = burst % 2
        pieces = []
        for _ in range(2 + chance.randrange(18)):
            pieces.append(Piece(number, burst, flow, seqs[flow], PIECE_BYTES))
            number, seqs[flow] = number + 1, (seqs[flow] + PIECE_BYTES) % 2**32
        lost = _send(bulk, chance, recorded, pieces, now_ns)
        while lost:
            again = [
                piece._replace(number=number + i, burst=-number) for i, piece in enumerate(lost)
            ]
            number += len(lost)
            now_ns += bulk.resend_after_ns
            lost = _send(bulk, chance, recorded, again, now_ns)
        _requests(bulk, chance, recorded, burst, now_ns + bulk.gap_ns // 2)
    for at, capture in enumerate(recorded.captures):
        offset_ns = bulk.offsets_ns[at] if bulk.offsets_ns else 0
        capture.sort(key=lambda frame: frame.t_ns)
        for frame in capture:
            frame.t_ns += offset_ns
    return recorded


def _send(
    bulk: Bulk, chance: random.Random, recorded: Recorded, pieces: list[Piece], at_ns: int
) -> list[Piece]:
    """One super-segment, or several where bytes between are missing; returns what was lost."""
    arrivals = {piece: at_ns + 400 * i for i, piece in enumerate(pieces)}
    lost: list[Piece] = []
    for at, capture in enumerate(recorded.captures):
        _record(bulk, chance, capture, at, arrivals)
        if at == len(bulk.points) - 1:
            break
        for piece in list(arrivals):
            if chance.random() < bulk.lost_share:
                del arrivals[piece]
                lost.append(piece)
                recorded.lost_bytes[at] += piece.size
                continue
            recorded.carried_bytes[at] += piece.size
            arrivals[piece] += 2_000 + int(chance.expovariate(1 / 150))
            arrivals[piece] += 9_000 if chance.random() < bulk.held_share else 0
    return sorted(lost)


def _record(
    bulk: Bulk, chance: random.Random, capture: list[Frame], at: int, arrivals: dict[Piece, int]
) -> None:
    """What a point sees of the pieces that reach it."""
    what, is_between = bulk.points[at], 0 < at < len(bulk.points) - 1
    for group in _groups(chance, what, sorted(arrivals, key=lambda piece: arrivals[piece])):
        if is_between and chance.random() < bulk.missed_share:
            continue
        t_ns = arrivals[group[0] if what == SENT else group[-1]] + (800 if what == JOINED else 0)
        capture.append(Frame(t_ns, _frame(bulk, group, what), tuple(group)))


def _groups(chance: random.Random, what: str, pieces: list[Piece]) -> list[list[Piece]]:
    """Pieces that stand in one frame: those that follow each other without a gap."""
    groups: list[list[Piece]] = []
    most = 1 if what == WIRE else 10**6
    for piece in pieces:
        if what == JOINED and (not groups or len(groups[-1]) == 1):
            most = 1 + chance.randrange(12)
        last = groups[-1][-1] if groups else None
        if last and last.seq + last.size == piece.seq and len(groups[-1]) < most:
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return groups


def _frame(bulk: Bulk, pieces: list[Piece], what: str) -> bytes:
    first = pieces[0]
    payload = b"".join(
        random.Random(piece.seq * 2 + piece.flow).randbytes(piece.size)  # noqa: S311 - likewise
        for piece in pieces
    )
    ports = (PORTS[0] + first.flow, PORTS[1])
    segment = struct.pack(">HHIIBBHHH", *ports, first.seq, 5, 0x50, 0x10, 8192, 0, 0) + payload
    frame = ip("10.1.0.1", "10.2.0.1", TCP, first.number % 65_535 + 1, 64, segment)
    if what != WIRE and len(pieces) > 1 and not bulk.has_length:
        return frame[:16] + bytes(2) + frame[18:]
    return frame


def _requests(
    bulk: Bulk, chance: random.Random, recorded: Recorded, number: int, at_ns: int
) -> None:
    """A request there and a response back, of UDP, whole at every point."""
    last = len(bulk.points) - 1
    for turn in range(3):
        there_ns = at_ns + turn * 50_000
        back_ns = there_ns + 2_400 * last + 9_000
        for forward, start_ns in ((True, there_ns), (False, back_ns)):
            ends = ("10.1.0.1", "10.2.0.1") if forward else ("10.2.0.1", "10.1.0.1")
            ports = (5_000, 53) if forward else (53, 5_000)
            ident = 1 + (number * 3 + turn) % 60_000
            data = ip(*ends, UDP, ident, 64, udp(ports, chance.randbytes(40)))
            now_ns = start_ns
            for at in range(last + 1) if forward else range(last, -1, -1):
                recorded.captures[at].append(Frame(now_ns, data))
                now_ns += 2_000 + int(chance.expovariate(1 / 150))


def neighbours(bulk: Bulk) -> list[tuple[int, int]]:
    """Segments of the path."""
    return list(pairwise(range(len(bulk.points))))
