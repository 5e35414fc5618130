"""Nanosecond pcap files, written batch after batch; compressed, or cut into several, if wanted."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from sets.frames import Bytes, Frames, inner_frames, joined, outer_headers, put_flows
from sets.traffic import Ints, Passing, Traffic, local_ns

if TYPE_CHECKING:
    from sets.recipes import Recipe

KINDS = {".zst": "zstd", ".gz": "gzip"}
TWICE_NS = 700
AT_ONCE = 1 << 15
RECORD = 16
COPIED_BYTES = 1 << 24


class Captures:
    """The files of a set; a batch goes to the end of each point's file, or into one of its own."""

    def __init__(self, folder: Path, recipe: Recipe, random: np.random.Generator) -> None:
        """Write into an empty folder."""
        self.folder, self.recipe, self.random = folder, recipe, random
        self.n_written = 0

    def add(self, traffic: Traffic, passings: list[Passing]) -> None:
        """Write what each point sees of a batch."""
        recipe = self.recipe
        frames = inner_frames(self.random, traffic, recipe)
        for at, passing in enumerate(passings):
            is_last = at == len(passings) - 1
            if at == 1 or is_last:  # the first has longer ones, the last has other addresses
                for of_size in frames:
                    put_flows(
                        of_size, traffic, recipe, is_translated=is_last and recipe.is_translated
                    )
            order, stamps_ns = _in_order(passing, at)
            records = _records(frames, traffic, recipe, at, order, stamps_ns)
            self._append(recipe.points[at], records)
        self.n_written += 1

    def _append(self, point: str, records: bytes) -> None:
        number = f"-{self.n_written:03}" if self.recipe.n_files > 1 else ""
        with (self.folder / f"{point}{number}.pcap").open("ab") as file:
            if not file.tell():
                snap_bytes = self.recipe.snap_bytes
                header = np.array([0xA1B23C4D, 0x00040002, 0, 0, snap_bytes, 1], "<u4")
                file.write(header.tobytes())
            file.write(records)

    def close(self) -> None:
        """Compress the files, if wanted."""
        for path in sorted(self.folder.glob("*.pcap")) if self.recipe.suffix else ():
            kind = KINDS[self.recipe.suffix]
            with (
                path.open("rb") as plain,
                pa.output_stream(f"{path}{self.recipe.suffix}", kind) as out,
            ):
                shutil.copyfileobj(plain, out, COPIED_BYTES)
            path.unlink()


def _in_order(passing: Passing, at: int) -> tuple[Ints, Ints]:
    """Give the packets that a point records, in the order of its stamps, and the stamps."""
    once, twice = np.flatnonzero(passing.seen), np.flatnonzero(passing.twice)
    packets = np.concatenate([once, twice])
    stamps_ns = local_ns(passing.at_ns[packets], at)
    stamps_ns[len(once) :] += TWICE_NS
    order = np.argsort(stamps_ns, kind="stable")
    return packets[order], stamps_ns[order]


def _records(
    frames: list[Frames],
    traffic: Traffic,
    recipe: Recipe,
    at: int,
    order: Ints,
    stamps_ns: Ints,
) -> bytes:
    """Put a point's records together, one length of frames after the other."""
    parts = [_of_size(one, traffic, recipe, at) for one in frames]
    widths = np.asarray([rows.shape[1] for _, rows in parts])
    size = traffic.size[order]
    ends = np.cumsum(widths[size] + RECORD)
    out = np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8)
    for number, (of_size, (wire_bytes, rows)) in enumerate(zip(frames, parts, strict=True)):
        mine = np.flatnonzero(size == number)
        for first in range(0, len(mine), AT_ONCE):
            some = mine[first : first + AT_ONCE]
            row = np.searchsorted(of_size.mine, order[some])
            header = np.empty((len(some), 4), "<u4")
            header[:, 0], header[:, 1] = np.divmod(stamps_ns[some], 10**9)
            header[:, 2], header[:, 3] = rows.shape[1], wire_bytes[row]
            record = np.concatenate([header.view(np.uint8), rows[row]], axis=1)
            starts = ends[some] - record.shape[1]
            out[starts[:, None] + np.arange(record.shape[1])] = record
    return out.tobytes()


def _of_size(frames: Frames, traffic: Traffic, recipe: Recipe, at: int) -> tuple[Ints, Bytes]:
    """Give the frames of one length as a point has them: bytes on the wire, and what is kept."""
    inner_bytes = np.full(len(frames.mine), frames.wire_bytes)
    if at == 0:
        inner_bytes += joined(frames, traffic)
    outer = outer_headers(traffic, frames.mine, recipe.carrier(at), inner_bytes)
    rows = np.concatenate([outer, frames.rows], axis=1)[:, : recipe.snap_bytes]
    return inner_bytes + outer.shape[1], rows
