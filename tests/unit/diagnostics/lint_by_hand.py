"""Captures in which one thing is wrong, and the same without it."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.recovery.simulator import run
from tests.recovery.simulator.files import Recording, write
from tests.support.frames import TCP, UDP, ip, udp, vxlan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.recovery.simulator import Scenario

START_NS = 1_700_000_000_123_456_789
CLIENT, SERVER = "10.0.0.1", "10.0.0.2"
HOUR_NS = 3_600_000_000_000
ACK, PSH_ACK, SYN, SYN_ACK = 0x10, 0x18, 0x02, 0x12


@dataclass(frozen=True)
class Packet:
    """When it left its sender, which way it goes, and its frame there."""

    t_ns: int
    frame: bytes
    is_forward: bool


Talk = list[Packet]
Records = list[tuple[int, bytes]]


def segment(seq: int, ack: int, payload: bytes, *, is_forward: bool, flags: int = PSH_ACK) -> bytes:
    """A TCP segment (RFC 9293) in a frame, its IP identification made of its numbers."""
    ends, ports = ((CLIENT, SERVER), (40_000, 80))
    if not is_forward:
        ends, ports = ends[::-1], ports[::-1]
    head = struct.pack(">HHIIBBHHH", *ports, seq % 2**32, ack % 2**32, 0x50, flags, 8192, 0, 0)
    return ip(*ends, TCP, (seq + ack) % 65_521 + 1, 64, head + payload)


def sent(
    t_ns: int, seq: int, ack: int, payload: bytes, *, is_forward: bool, flags: int = PSH_ACK
) -> Packet:
    """A segment that leaves its sender then."""
    return Packet(
        t_ns, segment(seq, ack, payload, is_forward=is_forward, flags=flags), is_forward=is_forward
    )


def turns(n: int = 300, gap_ns: int = 61_003, answer_ns: int = 23_011, n_bytes: int = 128) -> Talk:
    """A connection of requests and answers: each acknowledges what came before."""
    found = [
        sent(START_NS, 0, 0, b"", is_forward=True, flags=SYN),
        sent(START_NS + 11_001, 0, 1, b"", is_forward=False, flags=SYN_ACK),
        sent(START_NS + 30_007, 1, 1, b"", is_forward=True, flags=ACK),
    ]
    for at in range(n):
        t_ns = START_NS + 50_000 + at * gap_ns + at * at % 977
        seq, payload = 1 + at * n_bytes, at.to_bytes(4) * (n_bytes // 4)
        found += [
            sent(t_ns, seq, seq, payload, is_forward=True),
            sent(t_ns + answer_ns + at % 89, seq, seq + n_bytes, payload, is_forward=False),
        ]
    return found


def requests(n: int = 300, *, payload_bytes: int = 64, is_forward: bool = True) -> Talk:
    """UDP one way, every packet unlike the others."""
    ends, ports = ((CLIENT, SERVER), (40_001, 53))
    if not is_forward:
        ends, ports = ends[::-1], ports[::-1]
    found = []
    for at in range(n):
        data = udp(ports, at.to_bytes(4) * (payload_bytes // 4))
        frame = ip(*ends, UDP, at + 1, 64, data)
        found.append(Packet(START_NS + at * 61_003 + at * at % 977, frame, is_forward=is_forward))
    return found


def crossing(n: int = 600) -> Talk:
    """Packets both ways that meet at the near end, long and short ones."""
    found = []
    for at in range(n):
        t_ns = START_NS + at * 20_011 + at * at % 977
        sizes = (1_400, 40) if at % 2 else (40, 1_400)
        for is_forward, n_bytes in zip((True, False), sizes, strict=True):
            ports = (40_001, 53) if is_forward else (53, 40_001)
            ends = (CLIENT, SERVER) if is_forward else (SERVER, CLIENT)
            data = udp(ports, at.to_bytes(4) * (n_bytes // 4))
            frame = ip(*ends, UDP, at + 1, 64, data)
            sent_ns = t_ns if is_forward else t_ns - 10_000 + at * 7 % 19
            found.append(Packet(sent_ns, frame, is_forward=is_forward))
    return found


def queued(records: Records, rate_gbps: int = 10) -> Records:
    """Behind a port that sends one frame after the other (24 octets between them)."""
    found, free_ns = [], 0
    for t_ns, frame in records:
        start_ns = max(t_ns, free_ns)
        found.append((start_ns, frame))
        free_ns = start_ns + (len(frame) + 24) * 8 // rate_gbps
    return found


def pcap(
    path: Path, records: Records, *, snap: int = 262_144, link: int = 1, unit_ns: int = 1
) -> None:
    """A pcap file of nanoseconds or microseconds, frames cut to a snap length."""
    magic = 0xA1B23C4D if unit_ns == 1 else 0xA1B2C3D4
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", magic, 2, 4, 0, 0, snap, link))
        for stamp_ns, data in records:
            seconds, rest_ns = divmod(stamp_ns, 10**9)
            cut = data[:snap]
            file.write(struct.pack("<IIII", seconds, rest_ns // unit_ns, len(cut), len(data)) + cut)


def pcapng(path: Path, records: Records, *, n_dropped: int = 0) -> None:
    """A pcapng file of one interface, and what it says was dropped (isb_osdrop)."""
    stamps_ns = np.array([stamp_ns for stamp_ns, _ in records], np.int64)
    frames = [frame for _, frame in records]
    n_bytes = np.array([len(frame) for frame in frames])
    recording = Recording(stamps_ns, frames, n_bytes, 1, 0 * n_bytes, ("eth0",))
    data = write(path.parent, path.stem, "pcapng", recording).read_bytes()
    body = struct.pack("<IIIHHQI", 0, 0, 0, 7, 8, n_dropped, 0)
    size = 12 + len(body)
    block = struct.pack("<II", 5, size) + body + struct.pack("<I", size)
    path.with_suffix(".pcapng").unlink()
    path.write_bytes(data + block)


def two_links(path: Path, records: Records) -> None:
    """A pcapng file of two sections: Ethernet, and the same behind cooked headers."""
    half = len(records) // 2
    pcapng(path, records[:half])
    whole = path.read_bytes()
    cooked = bytes.fromhex("0800") + bytes(18)
    pcapng(path, [(t_ns, cooked + frame[14:]) for t_ns, frame in records[half:]])
    ethernet, sll2 = (struct.pack("<HHI", link, 0, 262_144) for link in (1, 276))
    path.write_bytes(whole + path.read_bytes().replace(ethernet, sll2))


def cut_short(path: Path, records: Records) -> None:
    """A file that was not copied to its end."""
    pcap(path, records)
    path.write_bytes(path.read_bytes()[:-5])


@dataclass(frozen=True)
class Place:
    """A point: how far along, what its clock does, and what becomes of a frame on the way to it."""

    at_ns: int = 0
    """From the near end."""
    of_ns: int = 10_000
    """The whole path."""
    clock: Callable[[int], int] = lambda t_ns: t_ns
    ahead_ns: Callable[[Packet], int] = lambda _packet: 0
    """How far the clock that stamps this frame is ahead of the others."""
    frame: Callable[[Packet], bytes] = lambda packet: packet.frame
    stamped: Callable[[int, int, bytes], bytes] = lambda _at, _t_ns, frame: frame
    """A frame with its stamp inside, of its number, time and bytes."""
    sees: Callable[[int, Packet], bool] = lambda _at, _packet: True
    jitter: int = 7
    order: Callable[[Records], Records] = lambda records: records
    write: Callable[[Path, Records], None] = pcap
    point: str = ""
    """What it is given for, if not what its file is called."""

    def records(self, talk: Talk) -> Records:
        """What it captures."""
        found = []
        for at, packet in enumerate(talk):
            if self.sees(at, packet):
                far_ns = self.at_ns if packet.is_forward else self.of_ns - self.at_ns
                t_ns = packet.t_ns + far_ns + at * self.jitter % 211
                stamp_ns = self.clock(t_ns) + self.ahead_ns(packet)
                found.append((t_ns, stamp_ns, self.stamped(at, t_ns, self.frame(packet))))
        found.sort(key=lambda record: record[0])
        return self.order([(stamp_ns, frame) for _, stamp_ns, frame in found])


NEAR, MIDDLE, FAR = Place(), Place(4_000, jitter=11), Place(10_000, jitter=13)


def in_tunnel(packet: Packet) -> bytes:
    """As the underlay sees it."""
    return vxlan(packet.frame, sum(packet.frame) % 65_536, forward=packet.is_forward)


@dataclass(frozen=True)
class Set:
    """Captures to write, and how to look at them."""

    places: dict[str, Place] = field(default_factory=lambda: {"near": NEAR, "far": FAR})
    talk: Talk = field(default_factory=turns)
    options: dict[str, Any] = field(default_factory=dict)
    meanwhile: Callable[[Path], object] | None = None
    """What becomes of the first capture while it is read."""

    def having(self, **changes: Place) -> Set:
        """The same with other points, or more of them."""
        return replace(self, places=self.places | changes)

    def save(self, folder: Path) -> list[str]:
        """Write the captures; give what to name on the command line."""
        named = []
        for name, place in self.places.items():
            path = folder / f"{name}.pcap"
            place.write(path, place.records(self.talk))
            named.append(f"{place.point}={path}" if place.point else str(path))
        return named


@dataclass(frozen=True)
class Written:
    """Captures that a function writes into a folder."""

    files: Callable[[Path], list[str]]
    options: dict[str, Any] = field(default_factory=dict)

    def save(self, folder: Path) -> list[str]:
        """Write the captures; give what to name on the command line."""
        return self.files(folder)


@dataclass(frozen=True)
class Simulated:
    """Captures of the simulator."""

    scenario: Scenario
    options: dict[str, Any] = field(default_factory=dict)

    def save(self, folder: Path) -> list[str]:
        """Write the captures; give what to name on the command line."""
        return [str(path) for path in run(self.scenario).save(folder)]


CLEAN = Set()
