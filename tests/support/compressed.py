"""Captures compressed in members that reading may begin at, as bgzip and zstd's tools make them."""

from __future__ import annotations

import struct
import zlib
from itertools import pairwise
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

BGZF_HEAD = struct.Struct("<4BIBBH2sHH")
BGZF_MOST_BYTES = 65_280
SKIPPABLE = struct.Struct("<II")
SKIPPABLE_MAGIC, SEEKABLE_MAGIC = 0x184D2A50, 0x8F92EAB1
TABLE_MAGIC = SKIPPABLE_MAGIC + 0xE
RAW = -zlib.MAX_WBITS


def pieces(data: bytes, cuts: Sequence[int]) -> list[bytes]:
    """Cut at places, which may be equal."""
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    return [data[one:other] for one, other in pairwise(places)]


def bgzf_block(data: bytes, *, more_bytes: int = 0, length: int | None = None) -> bytes:
    """Give one block; one that lies is off by `more_bytes`, or of another `length`."""
    packer = zlib.compressobj(6, zlib.DEFLATED, RAW)
    packed = packer.compress(data) + packer.flush()
    n_bytes = BGZF_HEAD.size + len(packed) + 8
    head = BGZF_HEAD.pack(31, 139, 8, 4, 0, 0, 255, 6, b"BC", 2, n_bytes - 1 + more_bytes)
    n_said = len(data) if length is None else length
    return head + packed + struct.pack("<II", zlib.crc32(data), n_said)


def bgzip(data: bytes, cuts: Sequence[int] = ()) -> bytes:
    """As bgzip does, with blocks that end at places too; the last block is empty."""
    blocks = [
        bgzf_block(piece[at : at + BGZF_MOST_BYTES])
        for piece in pieces(data, cuts)
        for at in range(0, max(1, len(piece)), BGZF_MOST_BYTES)
    ]
    return b"".join([*blocks, bgzf_block(b"")])


def zstd_frame(data: bytes) -> bytes:
    """Give a frame that says how long it is."""
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


def zstd_stream(data: bytes) -> bytes:
    """Give a frame that does not, as of a pipe."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as packer:
        packer.write(data)
    return bytes(sink.getvalue().to_pybytes())


def zstd_frames(
    data: bytes, cuts: Sequence[int], frame: Callable[[bytes], bytes] = zstd_frame
) -> bytes:
    """Frames one behind the other, some with what is to be skipped between them."""
    skipped = SKIPPABLE.pack(SKIPPABLE_MAGIC + 3, 5) + b"other"
    parts = [frame(piece) for piece in pieces(data, cuts)]
    return b"".join(part + skipped * (at % 3 == 1) for at, part in enumerate(parts))


def pzstd(data: bytes, cuts: Sequence[int]) -> bytes:
    """As pzstd does: the length of each frame stands before it, to be skipped."""
    frames = [zstd_stream(piece) for piece in pieces(data, cuts)]
    lengths = [SKIPPABLE.pack(SKIPPABLE_MAGIC, 4) + struct.pack("<I", len(one)) for one in frames]
    return b"".join(length + frame for length, frame in zip(lengths, frames, strict=True))


def zstd_seekable(data: bytes, cuts: Sequence[int], *, lie: int = 0) -> bytes:
    """In the seekable format: frames that do not say how long they are, and a table that does.

    A table that lies moves so many bytes from the second frame to the third.
    """
    parts = pieces(data, cuts)
    frames, lengths = [zstd_stream(piece) for piece in parts], [len(piece) for piece in parts]
    if lie:
        lengths[1], lengths[2] = lengths[1] - lie, lengths[2] + lie
    told = zip(frames, lengths, strict=True)
    rows = b"".join(struct.pack("<II", len(frame), n_bytes) for frame, n_bytes in told)
    table = rows + struct.pack("<IBI", len(frames), 0, SEEKABLE_MAGIC)
    return b"".join(frames) + SKIPPABLE.pack(TABLE_MAGIC, len(table)) + table
