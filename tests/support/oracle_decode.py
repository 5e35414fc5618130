"""An independent reading of captures, for the tests: plain `struct`, slow, shared with nothing.

`read_frames` gives the records of a pcap or pcapng file, `innermost` the packet that travels: the
innermost IP packet of a frame, or the frame itself where it carries no IP, with the bytes that no
element on the path may change, which is what `oracle.py` matches by.
"""

from __future__ import annotations

import gzip
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

if TYPE_CHECKING:
    from pathlib import Path

ETHERNET, RAW, SLL, SLL2 = 1, (12, 14, 101, 228, 229), 113, 276
IPV4, IPV6, TEB, ARP = 0x0800, 0x86DD, 0x6558, 0x0806
VLAN_TYPES = (0x8100, 0x88A8, 0x9100)
ICMP, IPIP, TCP, UDP, SIX_IN_4, GRE, ICMPV6 = 1, 4, 6, 17, 41, 47, 58
IPV6_EXTENSIONS, IPV6_FRAGMENT = (0, 43, 60), 44
AH, L2TP = 51, 115
VXLAN_PORTS, GENEVE_PORT, GUE_PORT, L2TP_PORT = (4789, 8472), 6081, 6080, 1701
PPP_IP = (0x21, 0x57)
MAX_CAPTURED = 1 << 18  # a longer record is none
# what may be rewritten: TCP flags to urgent pointer, the checksums of UDP and ICMP
UNSTABLE = {TCP: (13, 20), UDP: (6, 8), ICMP: (2, 4), ICMPV6: (2, 4)}


class Frame(NamedTuple):
    """One record: number from 1, stamp, link type, bytes, and how many they were on the wire."""

    number: int
    t_ns: int
    link: int
    data: bytes
    wire_bytes: int


@dataclass(frozen=True)
class Packet:
    """The innermost packet of a frame, as far as it was captured."""

    flow: tuple[object, ...]
    protocol: int
    ident: int
    fragment: int
    length: int
    stable: bytes
    is_ip: bool

    @property
    def is_truncated(self) -> bool:
        """Were fewer layer-4 bytes captured than the IP header announces?"""
        return len(self.stable) < self.length


def read_frames(path: Path) -> list[Frame]:
    """Every record of a capture file, in the order of the file."""
    data = _unpacked(path)
    if data[:4] == b"\x0a\x0d\x0d\x0a":
        return _pcapng(data)
    return _pcap(data)


def _unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    if data[:4] == b"\x28\xb5\x2f\xfd":
        with pa.input_stream(str(path), compression="zstd") as stream:
            return bytes(stream.read())
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def _pcap(data: bytes) -> list[Frame]:
    order = "<" if data[:1] in {b"\xd4", b"\x4d"} else ">"
    magic, *_, link = struct.unpack(order + "IHHiIII", data[:24])
    fraction_ns = {0xA1B2C3D4: 1000, 0xA1B23C4D: 1}[magic]
    frames: list[Frame] = []
    at = 24
    while at + 16 <= len(data):
        seconds, fraction, captured, wire = struct.unpack_from(order + "IIII", data, at)
        if captured > MAX_CAPTURED:
            break
        stamp_ns = seconds * 10**9 + fraction * fraction_ns
        frames.append(
            Frame(
                len(frames) + 1, stamp_ns, link & 0xFFFF, data[at + 16 : at + 16 + captured], wire
            )
        )
        at += 16 + captured
    return frames


def _pcapng(data: bytes) -> list[Frame]:
    frames: list[Frame] = []
    interfaces: list[tuple[int, int]] = []
    at, order = 0, "<"
    while at + 12 <= len(data):
        if data[at : at + 4] == b"\x0a\x0d\x0d\x0a":
            order, interfaces = ("<" if data[at + 8] == 0x4D else ">"), []
        kind, size = struct.unpack_from(order + "II", data, at)
        body = data[at + 8 : at + size - 4]
        if kind == 1:
            interfaces.append(
                (struct.unpack_from(order + "H", body)[0], _ticks_per_second(body[8:], order))
            )
        elif kind == 6:
            number, high, low, captured, wire = struct.unpack_from(order + "5I", body)
            link, per_second = interfaces[number]
            stamp_ns = ((high << 32) | low) * 10**9 // per_second
            frames.append(Frame(len(frames) + 1, stamp_ns, link, body[20 : 20 + captured], wire))
        at += size
    return frames


def _ticks_per_second(options: bytes, order: str) -> int:
    while len(options) >= 4:
        code, size = struct.unpack_from(order + "HH", options)
        if code == 9:  # if_tsresol: a power of 10, or of 2 with the top bit set
            return int((2 if options[4] & 0x80 else 10) ** (options[4] & 0x7F))
        options = options[4 + size + -size % 4 :]
    return 10**6


def innermost(frame: Frame) -> Packet | None:
    """The packet that travels in a frame; None where too little was captured to tell."""
    try:
        return _link(frame)
    except (IndexError, struct.error):
        return None


def _link(frame: Frame) -> Packet:
    data, missing = frame.data, frame.wire_bytes - len(frame.data)
    if frame.link == ETHERNET:
        return _ethernet(data, missing)
    if frame.link in RAW:
        return _ip(data, missing)
    start, at = (16, 14) if frame.link == SLL else (20, 0)
    return _typed(struct.unpack_from(">H", data, at)[0], data[start:], missing)


def _ethernet(data: bytes, missing: int) -> Packet:
    return _typed(struct.unpack_from(">H", data, 12)[0], data[14:], missing)


def _typed(ethertype: int, data: bytes, missing: int) -> Packet:
    if ethertype in VLAN_TYPES:
        return _typed(struct.unpack_from(">H", data, 2)[0], data[4:], missing)
    if ethertype in {IPV4, IPV6}:
        return _ip(data, missing)
    if ethertype == ARP:  # sender and target address stand where a flow would
        return Packet(("arp", data[14:18], data[24:28]), 0, 0, 0, 28, data[:28], is_ip=False)
    return Packet(("ethertype", ethertype), 0, 0, 0, len(data) + missing, data, is_ip=False)


def _ip(data: bytes, missing: int) -> Packet:
    return _ipv4(data, missing) if data[0] >> 4 == 4 else _ipv6(data, missing)


def _ipv4(data: bytes, missing: int) -> Packet:
    total, ident, fragment = struct.unpack_from(">HHH", data, 2)
    start = (data[0] & 15) * 4
    total = total or len(data) + missing  # 0: the network card was to fill it in
    flow = (data[12:16], data[16:20])
    return _payload(flow, data[9], ident, fragment & 0x3FFF, total - start, data[start:total])


def _ipv6(data: bytes, missing: int) -> Packet:
    length, protocol = struct.unpack_from(">HB", data, 4)
    end = 40 + length if length else len(data) + missing
    start, ident, fragment = 40, 0, 0
    while protocol in IPV6_EXTENSIONS or protocol == IPV6_FRAGMENT:
        if protocol == IPV6_FRAGMENT:
            fragment, ident = struct.unpack_from(">HI", data, start + 2)
            size = 8
        else:
            size = 8 + 8 * data[start + 1]
        protocol, start = data[start], start + size
    return _payload(
        (data[8:24], data[24:40]), protocol, ident, fragment, end - start, data[start:end]
    )


def _payload(
    flow: tuple[bytes, bytes], protocol: int, ident: int, fragment: int, length: int, data: bytes
) -> Packet:
    if not fragment:
        inner = _tunnelled(protocol, data, length - len(data))
        if inner:
            return inner
    ports = struct.unpack_from(">HH", data) if protocol in {TCP, UDP} and not fragment else ()
    stable = bytearray(data)
    for at in range(*UNSTABLE.get(protocol, (0, 0))):
        if at < len(stable) and not fragment:
            stable[at] = 0
    return Packet((*flow, *ports), protocol, ident, fragment, length, bytes(stable), is_ip=True)


def _tunnelled(protocol: int, data: bytes, missing: int) -> Packet | None:
    if protocol in {IPIP, SIX_IN_4}:
        return _ip(data, missing)
    if protocol == GRE:
        flags, ethertype = struct.unpack_from(">HH", data)
        start = 4 + 4 * (flags >> 15 & 1) + 4 * (flags >> 13 & 1) + 4 * (flags >> 12 & 1)
        return (
            _ethernet(data[start:], missing)
            if ethertype == TEB
            else _typed(ethertype, data[start:], missing)
        )
    if protocol == AH:
        return _tunnelled(data[0], data[4 * data[1] + 8 :], missing)
    if protocol == L2TP and any(data[:4]):  # as Linux has it: no cookie, 4 bytes of sublayer
        return _ethernet(data[8:], missing)
    if protocol == UDP and len(data) > 16:
        return _over_udp(struct.unpack_from(">HH", data), data[8:], missing)
    return None


def _over_udp(ports: tuple[int, ...], data: bytes, missing: int) -> Packet | None:
    port = ports[1]
    if port in VXLAN_PORTS and data[0] & 0x08:
        return _ethernet(data[8:], missing)
    if port == GENEVE_PORT:
        return _ethernet(data[8 + 4 * (data[0] & 0x3F) :], missing)
    if port == GUE_PORT:
        return _tunnelled(data[1], data[4 + 4 * (data[0] & 0x1F) :], missing)
    return _l2tp(data, missing) if L2TP_PORT in ports else None


def _l2tp(data: bytes, missing: int) -> Packet | None:
    """Version 2: PPP behind a header with a length, or without; control messages carry nothing."""
    if data[0] & 0x80 or data[1] & 0x0F != 2:
        return None
    ppp = data[8 if data[0] & 0x40 else 6 :].removeprefix(b"\xff\x03")
    return _ip(ppp[2:], missing) if int.from_bytes(ppp[:2]) in PPP_IP else None
