"""Perfetto: a track a segment and direction, a slice a crossing, arrows along each packet."""

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import TYPE_CHECKING, TextIO

from pcaplat.tables.columns import Row
from pcaplat.text import printable

if TYPE_CHECKING:
    from pcaplat.run.result import Result

NEEDS_ROWS = True
VARINT, FIXED64, BYTES = 0, 1, 2
"""How protobuf writes a field (protobuf.dev, Encoding)."""
PACKET, TIMESTAMP, EVENT, DESCRIPTOR, SEQUENCE, FLAGS = 1, 8, 11, 60, 10, 13
UUID, NAME, PARENT = 1, 2, 5
TYPE, TRACK, EVENT_NAME, FLOW, NOTE = 9, 11, 23, 47, 4
NOTE_NAME, NOTE_INT, NOTE_TEXT = 10, 4, 6
"""Fields of perfetto_trace.proto: those of packets, tracks, events and annotations."""
SLICE_BEGIN, SLICE_END = 1, 2
IS_CLEARED = 1

Lane = tuple[int, int]
"""When a track is free again, and its number."""


def show_merge(result: "Result", stream: TextIO) -> None:
    """Write the crossings of a result as a trace for ui.perfetto.dev."""
    from pcaplat.run.merged.crossings import crossings_of

    for packet in _packets(crossings_of(result)):
        stream.buffer.write(_field(PACKET, packet))
    stream.flush()


def _packets(crossings: Iterator[Row]) -> Iterator[bytes]:
    """Give the packets of a trace: tracks when they are first used, slices with their ends."""
    parents: dict[tuple[str, str], int] = {}
    free: dict[int, list[Lane]] = {}
    n_tracks = 0
    is_first = True
    for row in crossings:
        key = (row["segment"], row["direction"])
        if key not in parents:
            n_tracks += 1
            parents[key] = n_tracks
            yield _track(n_tracks, f"{row['segment']} {row['direction']}", 0, is_first=is_first)
            is_first = False
        parent = parents[key]
        start_ns, end_ns = row["up_ns"], row["up_ns"] + max(round(row["latency_ns"]), 0)
        lanes = free.setdefault(parent, [])
        # slices of one track nest; those that overlap go side by side
        if lanes and lanes[0][0] <= start_ns:
            _, track = heappop(lanes)
        else:
            n_tracks += 1
            track = n_tracks
            yield _track(track, row["segment"], parent)
        heappush(lanes, (end_ns, track))
        yield _event(start_ns, track, SLICE_BEGIN, row)
        yield _event(end_ns, track, SLICE_END)


def _track(uuid: int, name: str, parent: int, *, is_first: bool = False) -> bytes:
    about = _field(UUID, uuid) + _field(NAME, printable(name).encode())
    if parent:
        about += _field(PARENT, parent)
    flags = _field(FLAGS, IS_CLEARED) if is_first else b""
    return _field(SEQUENCE, 1) + flags + _field(DESCRIPTOR, about)


def _event(t_ns: int, track: int, kind: int, row: Row | None = None) -> bytes:
    event = _field(TYPE, kind) + _field(TRACK, track)
    if row:
        event += _field(EVENT_NAME, printable(row["segment"]).encode())
        if row["trajectory_id"] is not None:
            event += _fixed(FLOW, row["trajectory_id"])
        event += b"".join(_field(NOTE, note) for note in _notes(row))
    return _field(TIMESTAMP, t_ns) + _field(SEQUENCE, 1) + _field(EVENT, event)


def _notes(row: Row) -> Iterator[bytes]:
    for name in ("latency_ns", "trajectory_id", "up_frame", "down_frame"):
        if row[name] is not None:
            value = _field(NOTE_INT, int(row[name]) & (1 << 64) - 1)
            yield _field(NOTE_NAME, name.encode()) + value
    for name in ("up_file", "down_file", "kind"):
        text = _field(NOTE_TEXT, printable(row[name]).encode())
        yield _field(NOTE_NAME, name.encode()) + text


def _field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3 | VARINT) + _varint(value)
    return _varint(number << 3 | BYTES) + _varint(len(value)) + value


def _fixed(number: int, value: int) -> bytes:
    return _varint(number << 3 | FIXED64) + value.to_bytes(8, "little")


def _varint(value: int) -> bytes:
    """Write seven bits a byte, the lowest first; all but the last have their highest bit set."""
    written = bytearray()
    while value > 0x7F:  # noqa: PLR2004 - seven bits
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])
