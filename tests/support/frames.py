"""Single frames made by hand, and a file to hold them."""

from __future__ import annotations

import struct
from functools import cache
from ipaddress import ip_address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

TCP, UDP, ICMP, ICMPV6 = 6, 17, 1, 58
VXLAN_PORT = 4789


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071): a sum with end-around carry is one modulo 2¹⁶ − 1."""
    total = int.from_bytes(data + bytes(len(data) % 2))
    return ~((total - 1) % 0xFFFF + 1 if total else 0) & 0xFFFF


@cache
def octets(address: str) -> bytes:
    """An address as packets carry it."""
    return ip_address(address).packed


def ethernet(src: int, dst: int, ethertype: int, payload: bytes) -> bytes:
    """A frame between two of our hosts, by their numbers."""
    return struct.pack(">6s6sH", dst.to_bytes(6), src.to_bytes(6), ethertype) + payload


def ip(src: str, dst: str, protocol: int, ident: int, ttl: int, payload: bytes) -> bytes:
    """A frame with an IPv4 packet (RFC 791) or, by the addresses, an IPv6 one (RFC 8200)."""
    source, target = octets(src), octets(dst)
    if len(source) == 16:
        header = struct.pack(">IHBB", 6 << 28, len(payload), protocol, ttl) + source + target
        return ethernet(0x0200_0000_0001, 0x0200_0000_0002, 0x86DD, header + payload)
    bare = (
        struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), ident, 0x4000, ttl, protocol, 0)
        + source
        + target
    )
    header = bare[:10] + checksum(bare).to_bytes(2) + bare[12:]
    return ethernet(0x0200_0000_0001, 0x0200_0000_0002, 0x0800, header + payload)


def udp(ports: tuple[int, int], payload: bytes) -> bytes:
    """A UDP datagram (RFC 768)."""
    return struct.pack(">HHHH", *ports, 8 + len(payload), 0) + payload


def vxlan(frame: bytes, ident: int, *, forward: bool) -> bytes:
    """The frame inside a VXLAN tunnel (RFC 7348)."""
    ends = ("172.16.0.1", "172.16.0.2")
    src, dst = ends if forward else ends[::-1]
    inner = struct.pack(">II", 0x0800_0000, 5001 << 8) + frame
    return ip(src, dst, UDP, ident & 0xFFFF, 64, udp((50_000 + forward, VXLAN_PORT), inner))


def write_pcap(path: Path, records: list[tuple[int, bytes]]) -> None:
    """A pcap file of nanoseconds, little-endian."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, 1))
        for stamp_ns, data in records:
            head = struct.pack("<IIII", *divmod(stamp_ns, 10**9), len(data), len(data))
            file.write(head + data)


def snap(path: Path, n_bytes: int) -> None:
    """Cut the frames of a pcap file, as a snap length does."""
    data, at = path.read_bytes(), 24
    with path.open("wb") as file:
        file.write(data[:at])
        while at < len(data):
            seconds, ns, caplen, length = struct.unpack_from("<IIII", data, at)
            kept = data[at + 16 : at + 16 + min(caplen, n_bytes)]
            file.write(struct.pack("<IIII", seconds, ns, len(kept), length) + kept)
            at += 16 + caplen
