"""The latency of each frame since the point before, in files that are read beside its capture."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from pcaplat.model.arrays import Ints
from pcaplat.model.matches.match_table import NUMBER_BITS, MatchTable
from pcaplat.model.matches.spilled_rows import KINDS, Rows, ends, kinds

LATENCY = np.dtype([("latency_ns", "<i8"), ("since", "<u4")])
"""As rust/src/export/merged/findings.rs reads it; `since` counts points from 1, 0: none."""
TIMED = [KINDS.index(name) for name in ("packet", "first-byte")]
"""A frame has one match of these with the point before; its last byte may be another frame's."""


def write_latencies(
    table: MatchTable,
    blocks: Iterable[Rows],
    n_frames: Sequence[int],
    places: Sequence[int],
    folder: str,
) -> list[Path]:
    """Write one file a capture, one record a frame, in the order of the frames.

    Args:
        table: What turns matches into latencies.
        blocks: The matches, in any order.
        n_frames: How many frames each capture has.
        places: By point its place among those that are written, from 0.
        folder: Where the files go.
    """
    paths = [Path(folder) / f"latencies-{file}" for file in range(len(n_frames))]
    found = [
        np.memmap(path, LATENCY, "w+", shape=n) if n else None
        for path, n in zip(paths, n_frames, strict=True)
    ]
    for path, n in zip(paths, n_frames, strict=True):
        if not n:
            path.touch()
    place_of = np.array(places, np.int64)
    for rows in blocks:
        latencies, _, _ = table.latencies(rows)
        is_timed = ~np.isnan(latencies) & np.isin(kinds(rows["points"]), TIMED)
        chosen, latencies = rows[is_timed], latencies[is_timed]
        up, _, _ = ends(chosen["points"])
        files, numbers = _frames(np.ascontiguousarray(chosen["down"]))
        for file in np.unique(files).tolist():
            at = files == file
            records = found[file]
            if records is not None:
                records["latency_ns"][numbers[at] - 1] = latencies[at].astype(np.int64)
                records["since"][numbers[at] - 1] = place_of[up[at]] + 1
    return paths


def _frames(names: Ints) -> tuple[Ints, Ints]:
    """File and number of frames, by their ids."""
    return names >> NUMBER_BITS, names & (1 << NUMBER_BITS) - 1
