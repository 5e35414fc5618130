"""Captures whose addresses are renamed so that of any two the smaller one is the greater then."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from tests.support.rewritten import records, rewrite

if TYPE_CHECKING:
    from pathlib import Path

IPV4, IPV6, ARP, VLAN = 0x0800, 0x86DD, 0x0806, 0x8100
TCP, UDP, ICMP = 6, 17, 1
VXLAN_PORTS = (4789, 8472)


def turned(address: bytes) -> bytes:
    """Another address of the same network of 8 bits; group addresses stay."""
    if address[0] >= 224 or address == bytes(4):
        return address
    return address[:1] + bytes(octet ^ 0xFF for octet in address[1:])


def updated(checksum: int, before: bytes, after: bytes) -> int:
    """A checksum as far right or wrong as it was (RFC 1624, equation 3)."""
    words = zip(
        struct.unpack(f">{len(before) // 2}H", before),
        struct.unpack(f">{len(after) // 2}H", after),
        strict=True,
    )
    total = (~checksum & 0xFFFF) + sum((~old & 0xFFFF) + new for old, new in words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def renamed(frame: bytes) -> bytes:
    """A frame of Ethernet with all its IPv4 addresses renamed, those in VXLAN too."""
    data = bytearray(frame)
    _ethernet(data, 0)
    return bytes(data)


def _ethernet(data: bytearray, at: int) -> None:
    at += 12
    (kind,) = struct.unpack_from(">H", data, at)
    while kind == VLAN:
        at += 4
        (kind,) = struct.unpack_from(">H", data, at)
    if kind == IPV4:
        _ipv4(data, at + 2)
    elif kind == ARP:
        for where in (at + 16, at + 26):
            data[where : where + 4] = turned(bytes(data[where : where + 4]))


def _ipv4(data: bytearray, at: int) -> None:
    before = bytes(data[at + 12 : at + 20])
    after = turned(before[:4]) + turned(before[4:])
    data[at + 12 : at + 20] = after
    _update(data, at + 10, before, after)
    inside = at + 4 * (data[at] & 15)
    is_first = not struct.unpack_from(">H", data, at + 6)[0] & 0x1FFF
    protocol = data[at + 9]
    checksum_at = {TCP: inside + 16, UDP: inside + 6}.get(protocol)
    if is_first and checksum_at is not None and (protocol == TCP or any(data[checksum_at:][:2])):
        _update(data, checksum_at, before, after)
    if is_first and protocol == UDP:
        (port,) = struct.unpack_from(">H", data, inside + 2)
        if port in VXLAN_PORTS:
            _ethernet(data, inside + 16)


def _update(data: bytearray, at: int, before: bytes, after: bytes) -> None:
    if at + 2 <= len(data):
        (checksum,) = struct.unpack_from(">H", data, at)
        struct.pack_into(">H", data, at, updated(checksum, before, after))


def rename(file: Path) -> None:
    """Rename the addresses in a pcap file of nanoseconds."""
    rewrite(file, [(t_ns, renamed(frame)) for t_ns, frame in records(file)])
