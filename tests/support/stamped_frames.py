"""Frames with times inside, put together as the vendors' documents say."""

import struct
import zlib

SECOND = 10**9
UDP = bytes.fromhex(
    "02000000000202000000000108004500001e12344000401114990a0000010a0000029c409c41000ad4a7dead"
)


def udp(number: int) -> bytes:
    """A UDP packet that is like no other, in 60 octets."""
    return UDP[:18] + struct.pack(">H", number) + UDP[20:-2] + struct.pack(">H", number) + bytes(16)


def fcs(frame: bytes) -> bytes:
    return struct.pack("<I", zlib.crc32(frame))


def seconds_and_ns(ns: int) -> bytes:
    return struct.pack(">II", ns // SECOND, ns % SECOND)


def metamako(frame: bytes, ns: int) -> bytes:
    trailer = seconds_and_ns(ns) + struct.pack(">BHB", 1, 0xEAA0, 13)
    whole = frame + fcs(frame) + trailer
    return whole + fcs(whole)


def exablaze(frame: bytes, ns: int) -> bytes:
    fraction = -(-(ns % SECOND << 40) // SECOND)
    whole = frame + fcs(frame) + bytes([0, 47]) + struct.pack(">I", ns // SECOND)
    whole += fraction.to_bytes(5, "big") + b"\0"
    return whole + fcs(whole)


def arista_48(frame: bytes, ns: int) -> bytes:
    seconds = ns // SECOND & 0xFFFF
    header = bytes.fromhex("d28b00010120") + struct.pack(">HI", seconds, ns % SECOND)
    return frame[:12] + header + frame[12:]


def erspan_3(frame: bytes, ns: int) -> bytes:
    header = bytes.fromhex("100022eb000000072064b005")
    header += struct.pack(">II", ns & 0xFFFFFFFF, 0x1234809E)
    ip = struct.pack(">HHHHBBH", 0x4500, 20 + len(header + frame), 1, 0x4000, 64, 47, 0)
    return (
        bytes.fromhex("02000000000d02000000000c0800")
        + ip
        + bytes.fromhex("c0000201c0000202")
        + header
        + frame
    )


def ttag(frame: bytes, ns: int) -> bytes:
    return frame[:12] + b"\x89\x88" + struct.pack(">Q", ns)[2:] + frame[12:]


def fields(ns: int) -> bytes:
    """Length of the packet, source port, and the time by IEEE 1588."""
    return bytes.fromhex("0102003c0203080405") + b"\x06\x08" + seconds_and_ns(ns)


def gigamon(frame: bytes, ns: int) -> bytes:
    header = fields(ns)
    return frame[:12] + b"\x22\xe5" + bytes([1 + len(header)]) + header + frame[12:]


def internet_checksum(data: bytes) -> bytes:
    words = struct.unpack(f">{(len(data) + 1) // 2}H", data + bytes(len(data) % 2))
    return struct.pack(">H", 0xFFFF - (sum(words) % 0xFFFF or 0xFFFF))


def gigamon_fields(frame: bytes, ns: int) -> bytes:
    trailer = fields(ns) + bytes([len(fields(ns))]) + b"\x22\xe5"
    return frame + trailer + internet_checksum(trailer)


def gigamon_trailer(frame: bytes, ns: int) -> bytes:
    whole = frame + fcs(frame) + b"\x12\x34" + seconds_and_ns(ns)
    return whole + fcs(whole)


def ixia(frame: bytes, ns: int) -> bytes:
    trailer = b"\x06\x08" + seconds_and_ns(ns) + b"\x0a\xaf\x12"
    whole = frame + trailer + internet_checksum(trailer)
    return whole + fcs(whole)


def vss(frame: bytes, ns: int) -> bytes:
    return frame + struct.pack(">II", ns // SECOND, ns % SECOND | 3 << 30)


STAMPS = {
    "metamako": metamako,
    "exablaze": exablaze,
    "arista-7280": arista_48,
    "erspan3": erspan_3,
    "ttag": ttag,
    "gigamon": gigamon,
    "gigamon-fields": gigamon_fields,
    "gigamon-trailer": gigamon_trailer,
    "ixia": ixia,
    "vss": vss,
}
TRAILERS = ["metamako", "exablaze", "gigamon-fields", "gigamon-trailer", "ixia", "vss"]
