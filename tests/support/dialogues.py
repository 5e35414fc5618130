"""Requests and responses along a path of points whose clocks are wrong, with their truth."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tests.support.frames import ICMP, TCP, UDP, ip, udp, write_pcap

if TYPE_CHECKING:
    from pathlib import Path

CLIENT, SERVER = "10.0.0.1", "10.0.0.2"
START_NS = 1_700_000_000_000_000_000
SYN, ACK, PSH = 2, 16, 8


def tcp(ports: tuple[int, int], seq: int, ack: int, flags: int, payload: bytes = b"") -> bytes:
    """A segment (RFC 9293)."""
    numbers = (seq % 2**32, ack % 2**32)
    return struct.pack(">HHIIBBHHH", *ports, *numbers, 0x50, flags, 500, 0, 0) + payload


def echo(kind: int, number: int) -> bytes:
    """An ICMP echo (RFC 792)."""
    return struct.pack(">BBHHH", kind, 0, 0, 77, number) + bytes(range(48))


def dns(number: int, *, is_response: bool) -> bytes:
    """A query for one name, or what answers it (RFC 1035)."""
    flags = 0x8180 if is_response else 0x0100
    return struct.pack(">HHHHHH", number, flags, 1, 0, 0, 0) + b"\x01a\x00\x00\x01\x00\x01"


@dataclass
class Dialogues:
    """Sends packets over segments of random latency; points see them by their own clocks.

    `offsets_ns` and `drifts_ppm` are the clocks', `resolution_ns` what their stamps are cut to.
    """

    names: tuple[str, ...] = ("a", "b", "c")
    offsets_ns: tuple[int, ...] = (0, 0, 0)
    drifts_ppm: tuple[float, ...] = (0, 0, 0)
    resolution_ns: int = 1
    seed: int = 1
    extra_ns: int = 0
    """What the first segment takes longer on the way there."""
    frames: list[list[tuple[int, bytes]]] = field(default_factory=list)
    n_sent: int = 0

    def __post_init__(self) -> None:
        self.chance = np.random.default_rng(self.seed)
        self.frames = [[] for _ in self.names]

    def send(
        self, t_ns: int, protocol: int, payload: bytes, *, forward: bool, lost_after: int = 99
    ) -> list[int]:
        """Send a packet; gives when each point saw it, by place on the path, in true time."""
        self.n_sent += 1
        src, dst = (CLIENT, SERVER) if forward else (SERVER, CLIENT)
        data = ip(src, dst, protocol, self.n_sent & 0xFFFF, 64, payload)
        n = len(self.names)
        hops = list(range(n)) if forward else list(range(n))[::-1]
        at = [0] * n
        for number, hop in enumerate(hops[: lost_after + 1]):
            if number:
                least_ns = (4_000, 9_000)[forward]
                t_ns += least_ns + int(self.chance.exponential(2_000))
                is_first = forward and number == 1
                t_ns += self.extra_ns if is_first else 0
            at[hop] = t_ns
            stamp = (
                t_ns + self.offsets_ns[hop] + round((t_ns - START_NS) * self.drifts_ppm[hop] / 1e6)
            )
            self.frames[hop].append((stamp // self.resolution_ns * self.resolution_ns, data))
        return at

    def save(self, folder: Path) -> list[str]:
        """Write a file for each point."""
        files = []
        for name, frames in zip(self.names, self.frames, strict=True):
            path = folder / f"{name}.pcap"
            write_pcap(path, sorted(frames, key=lambda frame: frame[0]))
            files.append(str(path))
        return files


Trip = tuple[list[int], list[int]]
"""When each point saw the request, and the response."""


def tcp_turns(path: Dialogues, n: int, t_ns: int, port: int = 40_000) -> list[Trip]:
    """A connection of n requests of two segments each, and responses of two."""
    there, back = (port, 80), (80, port)
    seq, ack = 2**32 - 5_000, 900
    trips = []
    for _ in range(n):
        path.send(t_ns, TCP, tcp(there, seq, ack, ACK, bytes(50)), forward=True)
        asked = path.send(
            t_ns + 900, TCP, tcp(there, seq + 50, ack, ACK | PSH, b"?" * 30), forward=True
        )
        seq += 80
        t_ns = asked[-1] + 20_000 + int(path.chance.exponential(30_000))
        answered = path.send(t_ns, TCP, tcp(back, ack, seq, ACK, b"!" * 100), forward=False)
        path.send(t_ns + 700, TCP, tcp(back, ack + 100, seq, ACK | PSH, b"." * 9), forward=False)
        ack += 109
        trips.append((asked, answered))
        t_ns = answered[0] + 40_000
    return trips


def shares_ns(trips: list[Trip], near: int, far: int) -> np.ndarray:
    """True two-way contributions of a segment."""
    return np.asarray(np.abs(waits_ns(trips, near) - waits_ns(trips, far)))


def waits_ns(trips: list[Trip], point: int) -> np.ndarray:
    """True times from request to response."""
    return np.array([got[point] - asked[point] for asked, got in trips])


__all__ = [
    "ACK",
    "ICMP",
    "PSH",
    "START_NS",
    "SYN",
    "TCP",
    "UDP",
    "Dialogues",
    "dns",
    "echo",
    "tcp",
    "tcp_turns",
    "udp",
]
