"""Any octets as several captures made from one: who saw which packet when, and what went wrong.

The first eight octets say what the path is like; each four after them are one mutation: its kind, a
point, a packet, and how much.
"""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HEAD_BYTES, MUTATION_BYTES, MOST_MUTATIONS = 8, 4, 64
START_NS = 1_760_000_000 * 10**9
HEAD = bytes.fromhex("4d3cb2a1020004000000000000000000ffff000001000000")
NAMES = "abcd"
UDP, TCP, ICMP = 17, 6, 1
MS_NS, HOUR_NS = 10**6, 3_600 * 10**9
SENT_AGAIN = 255


@dataclass(frozen=True)
class Seen:
    """A frame at one point, by the time there."""

    t_ns: int
    frame: bytes


@dataclass
class Captures:
    """What the points saw; `is_honest` while true packets are all there is.

    `ahead_ns`: how far the clock of each point is ahead, where that is the same all the time.
    """

    points: list[list[Seen]]
    options: dict[str, Any] = field(default_factory=dict)
    ahead_ns: list[int] = field(default_factory=list)
    is_honest: bool = True
    n_late: Counter[int] = field(default_factory=Counter)

    def save(self, folder: Path) -> list[Path]:
        """Write a pcap file a point."""
        files = []
        for name, seen in zip(NAMES, self.points, strict=False):
            files.append(folder / f"{name}.pcap")
            files[-1].write_bytes(HEAD + b"".join(map(record, seen)))
        return files


def record(seen: Seen) -> bytes:
    t_ns, n = min(max(seen.t_ns, 0), (2**32 - 1) * 10**9), len(seen.frame)
    return struct.pack("<IIII", t_ns // 10**9, t_ns % 10**9, n, n) + seen.frame


def frame(protocol: int, flow: int, number: int, n_bytes: int, *, is_back: bool) -> bytes:
    """One packet of a flow, with bytes of its own."""
    ends = [(0x0A000001 + flow % 7, 20_000 + flow), (0x0A000101, 80)]
    (src, src_port), (dst, dst_port) = ends[::-1] if is_back else ends
    body = (number * 2_654_435_761 % 2**32).to_bytes(4, "big") * (n_bytes // 4)
    if protocol == TCP:
        sequence = number * n_bytes % 2**32
        head = struct.pack(">HHIIBBHHH", src_port, dst_port, sequence, 1, 0x50, 0x18, 999, 0, 0)
    elif protocol == UDP:
        head = struct.pack(">HHHH", src_port, dst_port, 8 + len(body), 0)
    else:
        head = struct.pack(">BBHHH", 0 if is_back else 8, 0, 0, flow, number % 2**16)
    length = 20 + len(head) + len(body)
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, length, number % 2**16, 0, 64, protocol, 0, src, dst)
    return bytes(range(1, 13)) + b"\x08\x00" + ip + head + body


def in_vxlan(inner: bytes) -> bytes:
    """Carry a frame as a tunnel does."""
    udp = struct.pack(">HHHHII", 50_000, 4_789, 16 + len(inner), 0, 0x0800_0000, 7 << 8)
    length = 20 + len(udp) + len(inner)
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, length, 0, 0, 64, UDP, 0, 0xC0A80001, 0xC0A80002)
    return bytes(range(21, 33)) + b"\x08\x00" + ip + udp + inner


def captures_of(data: bytes) -> Captures:
    """Read octets as captures."""
    head = data[:HEAD_BYTES].ljust(HEAD_BYTES, b"\0")
    found = travelled(head)
    rest = data[HEAD_BYTES:]
    for at in range(0, min(len(rest), MOST_MUTATIONS * MUTATION_BYTES), MUTATION_BYTES):
        mutate(found, rest[at : at + MUTATION_BYTES])
    set_clocks(found, head[2])
    return found


def travelled(head: bytes) -> Captures:
    """One capture, as it passes all points, each way."""
    n_points, kinds, _, delay, gap, flows, options, size = head
    n_points = 2 + n_points % 3
    protocols = ((UDP,), (TCP,), (UDP, TCP), (ICMP, UDP, TCP))[kinds % 4]
    one_ns, gap_ns = 200 << delay % 12, 500 << gap % 12
    points: list[list[Seen]] = [[] for _ in range(n_points)]
    for number in range(40 + size % 80):
        flow = number * 7 % (1 + flows % 40)
        is_back = number % 2 == 1 and kinds & 4 == 0
        sent_ns = START_NS + number * gap_ns
        n_bytes = 4 * (1 + (size + number) % 24)
        packet = frame(protocols[flow % len(protocols)], flow, number, n_bytes, is_back=is_back)
        for at, seen in enumerate(points):
            n_passed = n_points - 1 - at if is_back else at
            jitter_ns = number * 37 % 11 * (one_ns // 16)
            is_inside = kinds & 8 and 0 < at < n_points - 1
            carried = in_vxlan(packet) if is_inside else packet
            seen.append(Seen(sent_ns + n_passed * (one_ns + jitter_ns), carried))
    for seen in points:
        seen.sort(key=lambda one: one.t_ns)
    return Captures(points, asked(options, n_points))


def asked(octet: int, n_points: int) -> dict[str, Any]:
    """Options of the merge."""
    found: dict[str, Any] = {}
    if octet & 1:
        found["by"] = ["flow", "window=1ms"]
    if octet & 2:
        found["lost_after"] = f"{1 << (octet >> 4) + 8}ns"
    if octet & 4:
        found["path"] = [*NAMES[:n_points]]
    if octet & 8:
        found["sample"] = 2
    return found


def set_clocks(found: Captures, octet: int) -> None:
    """Let clocks be apart, each by its own."""
    how, much = octet % 4, octet // 4
    for at, seen in enumerate(found.points):
        apart_ns = at * much * (1 << much % 32) * 10
        found.ahead_ns += ([0], [apart_ns], [], [])[how]
        for place, one in enumerate(seen):
            since_ns = one.t_ns - START_NS
            later_ns = (0, apart_ns, since_ns * at * much // 10**6, 0)[how]
            if how == 3 and at == 1 and since_ns > much * 10_000:
                later_ns = much * 1_000
            seen[place] = replace(one, t_ns=one.t_ns + later_ns)


if TYPE_CHECKING:
    Mutation = Callable[[list[Seen], int, int], None]
    """Lets one thing go wrong at one point: what it saw, which frame, and how much."""


def lost(seen: list[Seen], at: int, _: int) -> None:
    del seen[at]


def copied(seen: list[Seen], at: int, much: int) -> None:
    seen.insert(at + 1, replace(seen[at], t_ns=seen[at].t_ns + much * 100))


def late(seen: list[Seen], at: int, much: int) -> None:
    seen[at] = replace(seen[at], t_ns=seen[at].t_ns + (much << much % 24))


def unsorted(seen: list[Seen], at: int, much: int) -> None:
    seen.insert(min(at + much, len(seen) - 1), seen.pop(at))


def stops(seen: list[Seen], at: int, _: int) -> None:
    del seen[at:]


def begins(seen: list[Seen], at: int, _: int) -> None:
    del seen[:at]


def stamped(seen: list[Seen], at: int, much: int) -> None:
    seen[at] = replace(seen[at], t_ns=seen[at].t_ns + (much - 128) * (1 << much % 40))


def stamped_alike(seen: list[Seen], at: int, _: int) -> None:
    seen[at:] = [replace(one, t_ns=seen[at].t_ns) for one in seen[at:]]


def at_the_epoch(seen: list[Seen], at: int, much: int) -> None:
    seen[at] = replace(seen[at], t_ns=much)


def set_by_hours(seen: list[Seen], at: int, much: int) -> None:
    seen[at:] = [replace(one, t_ns=one.t_ns + much * HOUR_NS) for one in seen[at:]]


def spoilt(seen: list[Seen], at: int, much: int) -> None:
    octets = bytearray(seen[at].frame)
    if octets:
        octets[much % len(octets)] ^= 1 + at % 255
    seen[at] = replace(seen[at], frame=bytes(octets))


def cut(seen: list[Seen], at: int, much: int) -> None:
    seen[at:] = [replace(one, frame=one.frame[: 14 + much]) for one in seen[at:]]


def one_cut(seen: list[Seen], at: int, much: int) -> None:
    seen[at] = replace(seen[at], frame=seen[at].frame[:much])


def alike(seen: list[Seen], at: int, much: int) -> None:
    seen[at] = replace(seen[at], frame=seen[much % len(seen)].frame)


MUTATIONS: tuple[Mutation, ...] = (
    *(lost, copied, late, unsorted, stops, begins),
    *(stamped, stamped_alike, at_the_epoch, set_by_hours),
    *(spoilt, cut, one_cut, alike),
)
HONEST = (lost, copied, late, unsorted, stops, begins)
"""The others stamp packets earlier than they passed, or many at once, or change them."""

FEW_LATE = 1 / 8
"""Of a point's packets, stamped late: where all of one direction are, the way there is as long, and
where all are for a time, the clock was another. No packet says otherwise."""


def mutate(found: Captures, octets: bytes) -> None:
    """Let one thing go wrong."""
    kind, point, packet, much = octets.ljust(MUTATION_BYTES, b"\0")
    seen = found.points[point % len(found.points)]
    if not seen:
        return
    at = packet % len(seen)
    if kind == SENT_AGAIN:
        for other in found.points:
            again = [one for one in other if one.frame == seen[at].frame][:1]
            other += [replace(one, t_ns=one.t_ns + much * MS_NS) for one in again]
        return
    mutation = MUTATIONS[kind % len(MUTATIONS)]
    found.is_honest &= mutation in HONEST
    if mutation is late:
        found.n_late[point % len(found.points)] += 1
        found.is_honest &= max(found.n_late.values()) <= FEW_LATE * len(seen)
    mutation(seen, at, much)
