"""Frames of the simulated segmentation, and the files that hold them, written by hand."""

from __future__ import annotations

import struct
from ipaddress import ip_address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

TCP, UDP = 6, 17


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data[: len(data) // 2 * 2]))
    total += data[-1] << 8 if len(data) % 2 else 0
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ip(src: str, dst: str, protocol: int, ident: int, ttl: int, payload: bytes) -> bytes:
    """An Ethernet frame with an IPv4 packet (RFC 791)."""
    source, target = ip_address(src).packed, ip_address(dst).packed
    bare = (
        struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), ident, 0x4000, ttl, protocol, 0)
        + source
        + target
    )
    header = bare[:10] + checksum(bare).to_bytes(2) + bare[12:]
    return bytes.fromhex("020000000002 020000000001 0800") + header + payload


def tcp(ports: tuple[int, int], seq: int, ack: int, flags: int, payload: bytes) -> bytes:
    """A TCP segment without options (RFC 9293)."""
    return struct.pack(">HHIIBBHHH", *ports, seq, ack, 0x50, flags, 8192, 0, 0) + payload


def udp(ports: tuple[int, int], payload: bytes) -> bytes:
    """A UDP datagram (RFC 768)."""
    return struct.pack(">HHHH", *ports, 8 + len(payload), 0) + payload


def write_pcap(path: Path, records: list[tuple[int, bytes]]) -> None:
    """A pcap file in little-endian order, with nanoseconds."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, 1))
        for stamp_ns, data in records:
            stamp = divmod(stamp_ns, 10**9)
            file.write(struct.pack("<IIII", *stamp, len(data), len(data)) + data)
