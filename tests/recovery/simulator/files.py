"""Capture files: what was recorded, in the format and the order a point writes."""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
import zlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tests.recovery.simulator.headers import header

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.recovery.simulator.headers import Bytes
    from tests.recovery.simulator.scenario import Numbers

ETHERNET, SLL2 = 1, 276
LONGEST = 262_144
SNOOP_ETHERNET, ERF_ETHERNET = 4, 2


class Recording(NamedTuple):
    """Frames in the order of a file: stamps, what was captured, how long they really are."""

    stamps_ns: Numbers
    captured: list[bytes]
    wire_bytes: Numbers
    link: int
    interfaces: Numbers  # per frame its number; only pcapng writes it down
    names: tuple[str, ...]


def write(folder: Path, name: str, kind: str, recording: Recording) -> Path:
    """Write a file; the kind is a format, and behind a dot how it is packed."""
    form, _, packing = kind.partition(".")
    suffix = "pcap" if form.startswith("pcap-") else form
    path = folder / f"{name}.{suffix}{'.' * bool(packing)}{packing}"
    data = FORMATS[form](recording)
    path.write_bytes(PACKINGS[packing](data) if packing else data)
    return path


def suffix_of(kind: str) -> str:
    """What the names of such files end in."""
    form, _, packing = kind.partition(".")
    return f".{'pcap' if form.startswith('pcap-') else form}{'.' * bool(packing)}{packing}"


def _interleaved(heads: Bytes, bodies: list[bytes], align: int = 1) -> bytes:
    width, blob = heads.shape[1], np.ascontiguousarray(heads).tobytes()
    parts: list[bytes] = []
    for at, body in zip(range(0, len(blob), width), bodies, strict=True):
        parts += (blob[at : at + width], body, bytes(-len(body) % align))
    return b"".join(parts)


def _captured_bytes(recording: Recording) -> Numbers:
    return np.fromiter(map(len, recording.captured), np.int64, len(recording.captured))


def _pcap(order: str, unit_ns: int) -> Callable[[Recording], bytes]:
    def made(recording: Recording) -> bytes:
        magic = 0xA1B23C4D if unit_ns == 1 else 0xA1B2C3D4
        opening = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, LONGEST, recording.link)
        seconds, rest_ns = np.divmod(recording.stamps_ns, 10**9)
        columns = (seconds, rest_ns // unit_ns, _captured_bytes(recording), recording.wire_bytes)
        heads = np.stack(columns, 1).astype(f"{order}u4").view(np.uint8)
        return opening + _interleaved(heads, recording.captured)

    return made


def _block(kind: int, body: bytes) -> bytes:
    size = 12 + len(body)
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)


def _interface(name: str, link: int) -> bytes:
    raw = name.encode()
    named = struct.pack("<HH", 2, len(raw)) + raw + bytes(-len(raw) % 4)
    nanoseconds = struct.pack("<HHB3x", 9, 1, 9)
    return _block(1, struct.pack("<HHI", link, 0, LONGEST) + named + nanoseconds + bytes(4))


def _pcapng(recording: Recording) -> bytes:
    opening = _block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    opening += b"".join(_interface(name, recording.link) for name in recording.names)
    n_bytes = _captured_bytes(recording)
    size = 32 + (n_bytes + 3 & ~3)
    high, low = recording.stamps_ns >> 32, recording.stamps_ns & 0xFFFF_FFFF
    kind = np.full(len(size), 6)
    columns = (kind, size, recording.interfaces, high, low, n_bytes, recording.wire_bytes)
    heads = np.stack(columns, 1).astype("<u4").view(np.uint8)
    tails = size.astype("<u4").tobytes()
    bodies = [
        body + bytes(-len(body) % 4) + tails[4 * at : 4 * at + 4]
        for at, body in enumerate(recording.captured)
    ]
    return opening + _interleaved(heads, bodies)


def _snoop(recording: Recording) -> bytes:
    """RFC 1761."""
    n_bytes = _captured_bytes(recording)
    seconds, rest_ns = np.divmod(recording.stamps_ns, 10**9)
    size = 24 + (n_bytes + 3 & ~3)
    columns = (recording.wire_bytes, n_bytes, size, 0 * size, seconds, rest_ns // 1000)
    heads = np.stack(columns, 1).astype(">u4").view(np.uint8)
    opening = b"snoop\0\0\0" + struct.pack(">II", 2, SNOOP_ETHERNET)
    return opening + _interleaved(heads, recording.captured, 4)


def _erf(recording: Recording) -> bytes:
    """Endace's records: seconds with 2^-32 fractions, little-endian; frames with a check."""
    seconds, rest_ns = np.divmod(recording.stamps_ns, 10**9)
    fraction = -(-(rest_ns << 32) // 10**9)  # rounded up, so that whole nanoseconds come back
    stamps = ((seconds << 32) | fraction).astype("<u8").view(np.uint8).reshape(-1, 8)
    checks = (zlib.crc32(data).to_bytes(4, "little") for data in recording.captured)
    bodies = [data + check for data, check in zip(recording.captured, checks, strict=True)]
    n_bytes, wire_bytes = _captured_bytes(recording) + 4, recording.wire_bytes + 4
    rest = header("112222", ERF_ETHERNET, 4, n_bytes + 18, 0, wire_bytes, 0, n=len(n_bytes))
    return _interleaved(np.hstack([stamps, rest]), bodies)


FORMATS: dict[str, Callable[[Recording], bytes]] = {
    "pcap": _pcap("<", 1),
    "pcap-us": _pcap("<", 1000),
    "pcap-swapped": _pcap(">", 1),
    "pcapng": _pcapng,
    "snoop": _snoop,
    "erf": _erf,
}
PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, 1, mtime=0),
    "bz2": bz2.compress,
    "xz": lambda data: lzma.compress(data, preset=0),
}
