"""Packets with telemetry of the nodes they passed, written byte for byte as the specifications say.

P4.org INT 1.0 and 2.1, RFC 9197 and RFC 9486. The frames of one path: a sender, three nodes,
a receiver.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING

import numpy as np

from tests.support.frames import TCP, UDP, ethernet, ip, udp, write_pcap

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

START_NS = 1_700_000_000_123_456_789
INT_PORT = 5_000
NTP_ERA_S = 2_208_988_800
NODES = (11, 12, 13)
ENDS = ("10.0.0.1", "10.0.0.2")
ENDS_6 = ("2001:db8::1", "2001:db8::2")


@dataclass(frozen=True)
class Seen:
    """When a node received and sent a packet, by its own clock."""

    node: int
    received_ns: int
    sent_ns: int


def words(*numbers: int) -> bytes:
    return struct.pack(f">{len(numbers)}I", *numbers)


def int_2(seen: list[Seen], *, source_only: bytes = b"") -> bytes:
    """INT-MD, version 2.1 §5.8: node, interfaces, both times; the last node first."""
    per_node = 4 + 4 + 8 + 8
    header = struct.pack(
        ">BBBBHHHH", 2 << 4, 0, per_node // 4, 8 - len(seen), 0b1100_1100_0000_0000, 0, 0, 0
    )
    stack = b"".join(
        struct.pack(">IIQQ", one.node, 1 << 16 | 2, one.received_ns, one.sent_ns)
        for one in reversed(seen)
    )
    return header + stack + source_only


def int_1(seen: list[Seen]) -> bytes:
    """INT, version 1.0: times of 32 bits."""
    header = struct.pack(">BBBBHH", 1 << 4, 0, 3, 8 - len(seen), 0b1000_1100_0000_0000, 0)
    stack = b"".join(
        words(one.node, one.received_ns & 0xFFFF_FFFF, one.sent_ns & 0xFFFF_FFFF)
        for one in reversed(seen)
    )
    return header + stack


def in_udp(frame: bytes, seen: list[Seen]) -> bytes:
    """Between the UDP header and its payload, §5.7.2, NPT 1; `frame` is Ethernet, IPv4, UDP."""
    head, ports, payload = frame[14:34], struct.unpack(">HH", frame[34:38]), frame[42:]
    data = int_2(seen, source_only=words(0xABCD))
    shim = struct.pack(">BBH", 1 << 4 | 1 << 2, len(data) // 4, ports[1])
    return _ipv4(head, UDP, udp((ports[0], INT_PORT), shim + data + payload))


def in_new_udp(frame: bytes, seen: list[Seen]) -> bytes:
    """In a UDP header of its own before the one that was there, NPT 2."""
    head, protocol, rest = frame[14:34], frame[23], frame[34:]
    data = int_2(seen)
    shim = struct.pack(">BBBB", 1 << 4 | 2 << 2, len(data) // 4, 0, protocol)
    return _ipv4(head, UDP, udp((33_000, INT_PORT), shim + data + rest))


def _ipv4(head: bytes, protocol: int, payload: bytes) -> bytes:
    ident, ttl = struct.unpack(">H", head[4:6])[0], head[8] - 1
    src, dst = (str(ip_address(head[at : at + 4])) for at in (12, 16))
    return ip(src, dst, protocol, ident, ttl, payload)


def in_gpe(frame: bytes, seen: list[Seen]) -> bytes:
    """VXLAN-GPE with next protocol 0x82, §5.7.3."""
    data = int_2(seen)
    shim = struct.pack(">BBBB", 1 << 4, len(data) // 4, 0, 3)
    gpe = words(0x0C00_0082, 5_001 << 8) + shim + data + frame
    return ip("172.16.0.1", "172.16.0.2", UDP, 7, 60, udp((50_000, 4_790), gpe))


def in_geneve(data: bytes, frame: bytes) -> bytes:
    """A Geneve option of class 0x0103, §5.7.4."""
    option = struct.pack(">HBB", 0x0103, 1, len(data) // 4) + data
    head = struct.pack(">BBHI", len(option) // 4, 0, 0x6558, 5_001 << 8)
    return ip("172.16.0.1", "172.16.0.2", UDP, 7, 60, udp((50_000, 6_081), head + option + frame))


def in_geneve_2(frame: bytes, seen: list[Seen]) -> bytes:
    return in_geneve(int_2(seen), frame)


def in_geneve_1(frame: bytes, seen: list[Seen]) -> bytes:
    return in_geneve(int_1(seen), frame)


def _posix(t_ns: int) -> tuple[int, int]:
    return t_ns // 10**9, t_ns % 10**9 // 1_000


def _ptp(t_ns: int) -> tuple[int, int]:
    return divmod(t_ns, 10**9)


def _ntp(t_ns: int) -> tuple[int, int]:
    seconds, ns = divmod(t_ns, 10**9)
    return seconds + NTP_ERA_S, -(-(ns << 32) // 10**9)


FORMATS = {"posix": _posix, "ptp": _ptp, "ntp": _ntp}


def ioam_option(seen: list[Seen], kind: str, *, incremental: bool, has_seconds: bool) -> bytes:
    """An IOAM trace option in hop-by-hop options; a node's time is when it received the packet."""
    bits = 0x9000_0000 | (0x2000_0000 if has_seconds else 0)
    n_words, n_free = 2 + has_seconds, 0 if incremental else 1
    data = words(*[0] * (n_free * n_words))
    for one in reversed(seen):
        seconds, fraction = FORMATS[kind](one.received_ns)
        times = (seconds, fraction) if has_seconds else (fraction,)
        data += words(60 << 24 | one.node, *times)
    lengths = n_words << 11 | n_free * n_words
    trace = struct.pack(">HHI", 123, lengths, bits) + data
    option = struct.pack(">BBBB", 0x31, 2 + len(trace), 0, int(incremental)) + trace
    # the option starts at a multiple of four, and the header is of eights
    padded = b"\x01\x00" + option
    rest = -(2 + len(padded)) % 8
    padded += (
        b"" if rest == 0 else b"\x00" if rest == 1 else bytes([1, rest - 2, *[0] * (rest - 2)])
    )
    return bytes([UDP, (2 + len(padded)) // 8 - 1]) + padded


def ioam(
    kind: str, *, incremental: bool = False, has_seconds: bool = True
) -> Callable[[bytes, list[Seen]], bytes]:
    def write(frame: bytes, seen: list[Seen]) -> bytes:
        head, rest = frame[14:54], frame[54:]
        options = ioam_option(seen, kind, incremental=incremental, has_seconds=has_seconds)
        length = struct.pack(">H", len(options) + len(rest))
        header = head[:4] + length + bytes([0, head[7] - 1]) + head[8:]
        return ethernet(1, 2, 0x86DD, header + options + rest)

    return write


@dataclass
class TracedPath:
    """Requests that pass three nodes, their responses, and what was captured of them.

    `sender` and `receiver` captured packets without telemetry, `leaf` what stands before the last
    node's removal of it. Offsets are of the clocks of sender, nodes, leaf and receiver, ns.
    """

    write: Callable[[bytes, list[Seen]], bytes]
    ends: tuple[str, str] = ENDS
    protocol: int = UDP
    n: int = 400
    offsets_ns: tuple[int, ...] = (0,) * 6
    seed: int = 1
    truth: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def save(self, folder: Path) -> list[str]:
        """Write the three captures, and keep the true latency of each part of the way."""
        chance = np.random.default_rng(self.seed)
        captured: dict[str, list[tuple[int, bytes]]] = {
            name: [] for name in ("sender", "leaf", "receiver")
        }
        off = self.offsets_ns
        t_ns = START_NS
        for number in range(self.n):
            t_ns += int(chance.exponential(2_000_000)) + 1_000_000
            times = t_ns + np.cumsum([0, *chance.integers(2_000, 30_000, 8)])
            frame = self._request(number, chance)
            seen = [
                Seen(
                    node, int(times[1 + 2 * at]) + off[1 + at], int(times[2 + 2 * at]) + off[1 + at]
                )
                for at, node in enumerate(NODES)
            ]
            captured["sender"].append((int(times[0]) + off[0], frame))
            captured["leaf"].append((int(times[7]) + off[4], self.write(frame, seen)))
            captured["receiver"].append((int(times[8]) + off[5], frame))
            self._keep(times.tolist())
            back = int(times[8]) + 40_000
            answer = self._answer(number)
            for name, at, clock in (("receiver", 0, 5), ("leaf", 9_000, 4), ("sender", 80_000, 0)):
                captured[name].append((back + at + off[clock], answer))
        paths = []
        for name, records in captured.items():
            paths.append(str(folder / f"{name}.pcap"))
            write_pcap(folder / f"{name}.pcap", sorted(records))
        return paths

    def _keep(self, times: list[int]) -> None:
        names = ["sender", *(f"{node}-{side}" for node in NODES for side in ("in", "out"))]
        names += ["leaf", "receiver"]
        for (near, up), (far, down) in zip(
            list(zip(names, times, strict=True))[:-1],
            list(zip(names, times, strict=True))[1:],
            strict=True,
        ):
            self.truth.setdefault((near, far), []).append(down - up)

    def _request(self, number: int, chance: np.random.Generator) -> bytes:
        body = struct.pack(">I", number) + chance.bytes(28)
        if self.protocol == TCP:
            header = struct.pack(">HHIIBBHHH", 40_000, 80, number * 32, 1, 0x50, 0x18, 500, 0, 0)
            return ip(*self.ends, TCP, number, 64, header + body)
        return ip(*self.ends, UDP, number, 64, udp((40_000, 9_000), body))

    def _answer(self, number: int) -> bytes:
        body = struct.pack(">I", number) + b"answer"
        if self.protocol == TCP:
            header = struct.pack(
                ">HHIIBBHHH", 80, 40_000, number * 10, number * 32 + 32, 0x50, 0x18, 500, 0, 0
            )
            return ip(*self.ends[::-1], TCP, number, 64, header + body)
        return ip(*self.ends[::-1], UDP, number, 64, udp((9_000, 40_000), body))
