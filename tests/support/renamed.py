"""Captures whose addresses are renamed so that of any two the smaller one is the greater then."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from tests.support.rewritten import records, rewrite

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Naming = Callable[[bytes], bytes]

IPV4, IPV6, ARP, VLAN = 0x0800, 0x86DD, 0x0806, 0x8100
TCP, UDP = 6, 17
GROUPS = 224
VXLAN_PORTS = (4789, 8472)


def turned(address: bytes) -> bytes:
    """The smaller, the greater; what is no host's own address stays."""
    if not 0 < address[0] < GROUPS:
        return address
    return bytes((GROUPS - address[0], *(octet ^ 0xFF for octet in address[1:])))


def updated(checksum: int, before: bytes, after: bytes) -> int:
    """A checksum as far right or wrong as it was (RFC 1624, equation 3)."""
    words = zip(
        struct.unpack(f">{len(before) // 2}H", before),
        struct.unpack(f">{len(after) // 2}H", after),
        strict=True,
    )
    total: int = (~checksum & 0xFFFF) + sum((~old & 0xFFFF) + new for old, new in words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def reserved(address: bytes) -> bytes:
    """The same in 240.0.0.0/4, which some networks use for their hosts."""
    return bytes((240 + address[0] % 8, *address[1:])) if 0 < address[0] < GROUPS else address


def renamed(frame: bytes, name: Naming = turned) -> bytes:
    """A frame of Ethernet with all its IPv4 addresses renamed, those in VXLAN too."""
    data = bytearray(frame)
    _ethernet(data, 0, name)
    return bytes(data)


def _ethernet(data: bytearray, at: int, name: Naming) -> None:
    at += 12
    (kind,) = struct.unpack_from(">H", data, at)
    while kind == VLAN:
        at += 4
        (kind,) = struct.unpack_from(">H", data, at)
    if kind == IPV4:
        _ipv4(data, at + 2, name)
    elif kind == ARP:
        for where in (at + 16, at + 26):
            data[where : where + 4] = name(bytes(data[where : where + 4]))


def _ipv4(data: bytearray, at: int, name: Naming) -> None:
    before = bytes(data[at + 12 : at + 20])
    after = name(before[:4]) + name(before[4:])
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
            _ethernet(data, inside + 16, name)


def _update(data: bytearray, at: int, before: bytes, after: bytes) -> None:
    if at + 2 <= len(data):
        (checksum,) = struct.unpack_from(">H", data, at)
        struct.pack_into(">H", data, at, updated(checksum, before, after))


def rename(file: Path, name: Naming = turned) -> None:
    """Rename the addresses in a pcap file of nanoseconds."""
    rewrite(file, [(t_ns, renamed(frame, name)) for t_ns, frame in records(file)])
