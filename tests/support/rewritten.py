"""Captures whose stamps are changed after they were made."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HEAD_BYTES, RECORD_BYTES = 24, 16

Stamped = tuple[int, bytes]
"""When a frame was seen, ns, and its bytes."""


def records(file: Path) -> list[Stamped]:
    """The frames of a pcap file of nanoseconds."""
    data, at, found = file.read_bytes(), HEAD_BYTES, []
    while at < len(data):
        seconds, ns, size, _ = struct.unpack_from("<IIII", data, at)
        at += RECORD_BYTES
        found.append((seconds * 10**9 + ns, data[at : at + size]))
        at += size
    return found


def rewrite(file: Path, frames: list[Stamped]) -> None:
    """Write other frames behind the same header."""
    head = file.read_bytes()[:HEAD_BYTES]
    bodies = (
        struct.pack("<IIII", *divmod(t_ns, 10**9), len(data), len(data)) + data
        for t_ns, data in frames
    )
    file.write_bytes(head + b"".join(bodies))


def restamp(file: Path, by_ns: Callable[[int], int]) -> None:
    """Add to each stamp what its frame's place, from 0, is given."""
    frames = records(file)
    rewrite(file, [(t_ns + by_ns(at), data) for at, (t_ns, data) in enumerate(frames)])
