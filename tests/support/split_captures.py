"""Captures that hold several capture points, written by hand, with the place of every frame.

Clients on one side, servers on the other; each request is answered. Every packet passes all places
between them, and looks at each as its `Look` says.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tests.support.frames import UDP, udp

if TYPE_CHECKING:
    from pathlib import Path

START_NS = 1_700_000_000_000_000_000
CLIENTS = ("10.0.1.1", "10.0.1.2", "10.0.1.3")
SERVERS = ("10.0.2.1", "10.0.2.2")
ETHERNET, RAW, SLL, SLL2, NFLOG, PKTAP = 1, 101, 113, 276, 239, 258


@dataclass(frozen=True)
class Sent:
    """One packet as its sender made it."""

    src: str
    dst: str
    number: int
    is_forward: bool
    ttl: int = 64

    def ip(self, hops: int = 0) -> bytes:
        """The packet, some routers later."""
        port = 4000 + self.number // 2 % 7
        payload = udp(
            (port, 5000) if self.is_forward else (5000, port), struct.pack(">Q", self.number) * 4
        )
        head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0, self.ttl - hops, UDP, 0)
        ends = (bytes(map(int, end.split("."))) for end in (self.src, self.dst))
        return head + b"".join(ends) + payload


Look = Callable[[Sent], bytes]
"""How a packet looks at a place."""


def mac(text: str) -> bytes:
    """A host's address, made from its IP address."""
    return bytes((2, 0)) + bytes(map(int, text.split(".")))


def ether(src: bytes, dst: bytes, payload: bytes, tags: tuple[int, ...] = ()) -> bytes:
    tagged = b"".join(struct.pack(">HH", 0x8100, tag) for tag in tags)
    return dst + src + tagged + b"\x08\x00" + payload


def plain(sent: Sent) -> bytes:
    return ether(mac(sent.src), mac(sent.dst), sent.ip())


def in_vxlan(vni: int, sent: Sent) -> bytes:
    inner = struct.pack(">II", 0x0800_0000, vni << 8) + plain(sent)
    ends = ("172.16.0.1", "172.16.0.2")[:: 1 if sent.is_forward else -1]
    datagram = udp((50_000, 4789), inner)
    outer = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(datagram), 0, 0, 64, UDP, 0)
    outer += b"".join(bytes(map(int, end.split("."))) for end in ends)
    return ether(mac(ends[0]), mac(ends[1]), outer + datagram)


def routed(side: int, sent: Sent, tags: tuple[int, ...] = (), gateway: int | None = None) -> bytes:
    """Before (0: the clients' network) or after a router with an address in either network."""
    is_near_sender = sent.is_forward == (side == 0)
    router = bytes((2, 9, 9, 9, 9, side if gateway is None else gateway))
    host = mac(sent.src if is_near_sender else sent.dst)
    ends = (host, router) if is_near_sender else (router, host)
    return ether(*ends, sent.ip(hops=0 if is_near_sender else 1), tags)


def raw(side: int, sent: Sent) -> bytes:
    return sent.ip(hops=0 if sent.is_forward == (side == 0) else 1)


def sll2(index: int, side: int, sent: Sent) -> bytes:
    """`-i any`: one side receives what the other sends."""
    kind = 0 if sent.is_forward == (side == 0) else 4
    address = mac(sent.src) + bytes(2)
    return struct.pack(">HHIHBB", 0x0800, 0, index, 1, kind, 6) + address + sent.ip()


def sll(side: int, sent: Sent) -> bytes:
    kind = 0 if sent.is_forward == (side == 0) else 4
    return struct.pack(">HHH", kind, 1, 6) + mac(sent.src) + bytes(2) + b"\x08\x00" + sent.ip()


def nflog(side: int, sent: Sent) -> bytes:
    """Before routing (with the device it came by) and after (with the one it leaves by)."""
    is_before = sent.is_forward == (side == 0)
    packet = sent.ip()
    device = struct.pack("<HH", 8, 4 if is_before else 5) + (side + 2).to_bytes(4, "big")
    body = struct.pack("<HH", 4 + len(packet), 9) + packet + bytes(-len(packet) % 4)
    return struct.pack(">BBH", 2, 0, 0) + device + body


def pktap(name: str, sent: Sent) -> bytes:
    head = struct.pack("<III", 108, 1, ETHERNET) + name.encode().ljust(24, b"\0") + bytes(72)
    return head + plain(sent)


def in_gre(key: int, sent: Sent) -> bytes:
    """A mirror's copy of a frame, as VMware and others send it: Ethernet in GRE with a key."""
    inner = struct.pack(">HHI", 0x2000, 0x6558, key) + plain(sent)
    outer = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(inner), 0, 0, 64, 47, 0)
    return ether(
        mac("192.0.2.1"), mac("192.0.2.2"), outer + bytes((192, 0, 2, 1, 192, 0, 2, 2)) + inner
    )


def marked(side: int, sent: Sent) -> bytes:
    """A mirror that marks what comes in and what goes out, whichever way it goes."""
    return in_gre(256 if sent.is_forward == (side == 0) else 512, sent)


def keepalive(side: int, sent: Sent) -> bytes:
    """Sent in a tunnel to who sends it back bare, whichever way it goes (GRE keepalives)."""
    return in_vxlan(7, sent) if sent.is_forward == (side == 0) else plain(sent)


@dataclass(frozen=True)
class Written:
    """A capture, and for every frame the place that saw it and the packet's number."""

    path: Path
    places: list[int]
    numbers: list[int]
    t_ns: list[int]


def write(
    path: Path,
    looks: list[Look],
    *,
    link: int = ETHERNET,
    n_packets: int = 120,
    seed: int = 1,
    gap_ns: int = 3_000,
) -> Written:
    """Write a capture of packets that pass the places in order, or in reverse."""
    chance = np.random.default_rng(seed)
    client, server = CLIENTS[0], SERVERS[0]
    records = []
    for number in range(n_packets):
        is_forward = number % 2 == 0
        if is_forward:
            client, server = CLIENTS[chance.integers(3)], SERVERS[chance.integers(2)]
        ends = (client, server) if is_forward else (server, client)
        sent = Sent(*ends, number, is_forward, 64 if is_forward else 128)
        order = range(len(looks)) if is_forward else range(len(looks) - 1, -1, -1)
        t_ns = START_NS + number * 100_000
        for place in order:
            records.append((t_ns, looks[place](sent), place, number))
            t_ns += gap_ns + int(chance.integers(500))
    write_link(path, [(t_ns, data) for t_ns, data, _, _ in records], link)
    _, _, places, numbers = zip(*records, strict=True)
    return Written(path, list(places), list(numbers), [record[0] for record in records])


def write_flags(path: Path, records: list[tuple[int, bytes]], flags: list[int]) -> None:
    """A pcapng file whose frames say which way they went (`epb_flags`)."""
    resolution = struct.pack("<HHB3xHH", 9, 1, 9, 0, 0)
    blocks = [
        block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)),
        block(1, struct.pack("<HHI", 1, 0, 262_144) + resolution),
    ]
    for (t_ns, data), way in zip(records, flags, strict=True):
        head = struct.pack("<IIIII", 0, t_ns >> 32, t_ns & 0xFFFFFFFF, len(data), len(data))
        option = struct.pack("<HHIHH", 2, 4, way, 0, 0)
        blocks.append(block(6, head + data + bytes(-len(data) % 4) + option))
    path.write_bytes(b"".join(blocks))


def block(kind: int, body: bytes) -> bytes:
    size = (12 + len(body)).to_bytes(4, "little")
    return kind.to_bytes(4, "little") + size + body + size


def write_link(path: Path, records: list[tuple[int, bytes]], link: int) -> None:
    """A pcap file of a link type, nanoseconds."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, link))
        for t_ns, data in records:
            seconds, rest_ns = divmod(t_ns, 10**9)
            file.write(struct.pack("<IIII", seconds, rest_ns, len(data), len(data)) + data)
