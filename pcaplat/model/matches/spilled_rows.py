"""The matched pairs and crossings that the core spills, and how their rows are read."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pcaplat import _native
from pcaplat.model.arrays import Floats, Ints

ROW = np.dtype(
    [(name, "<i8") for name in ("points", "up", "down", "t_ns", "raw_ns", "trajectory", "evidence")]
)
"""A spilled pair of frames, as rust/src/matching/rows.rs writes it."""


CROSSING = np.dtype(
    [(name, "<i8") for name in ("points", "up", "down", "t_ns", "raw_ns", "told", "variation_ns")]
)
"""A packet that crossed a segment, as rust/src/matching/crossings.rs writes it; or one that was
lost there, as lost.rs does: of its two frames the one that was not seen is -1."""


LOST = np.dtype(
    [
        ("frame", "<i8"),
        ("points", "<i8"),
        ("told", "<i8"),
        ("t_ns", "<i8"),
        ("weight", "<f8"),
    ]
)
"""A lost packet on a segment, as rust/src/matching/loss/lost_packets.rs lists it."""


Rows = NDArray[np.void]


RUN_ROWS = 1 << 17
"""Rows sorted at once, 7 MiB of them."""


MERGED_ROWS = 1 << 15
"""Rows of all sorted runs together that are merged at once, if there are few runs."""


LEAST_BLOCK_ROWS = 1024
"""More than one trajectory has pairs, so that every block takes the merge further."""


POINT_BITS = 16
"""Of a point in a row's `points`: up, down, then whether the direction is reverse, and the kind."""


KINDS = _native.PAIR_KINDS
"""Kinds of a pair, by their number."""


MATCHED_BY = _native.MATCHED_BY
"""How a pair was found, by its number."""


TOLD_BY = _native.TOLD_BY
"""How it is known that a packet was lost, by its number."""


IDENTITIES = _native.IDENTITIES
"""What two frames were recognised by, likewise."""


def rows_in_order(paths: Sequence[str], place: Sequence[int], folder: str) -> Iterator[Rows]:
    """Give all spilled pairs by trajectory, each from its sender on, in bounded memory.

    The order is the same however the pairs were spread over the files: runs are sorted, then
    merged.

    Args:
        paths: The spilled files.
        place: Per point its place in the path.
        folder: Where sorted runs may be kept meanwhile.
    """
    places = np.asarray(place, dtype=np.int64)
    runs: list[Path] = []
    for rows in rows_as_spilled(paths):
        runs.append(Path(folder) / f"sorted-{len(runs)}")
        _sorted(rows, places).tofile(runs[-1])
    try:
        yield from _merged(runs, places)
    finally:
        for run in runs:
            run.unlink(missing_ok=True)


def in_blocks(found: Iterable[Rows], n_rows: int) -> Iterator[Rows]:
    """Give the same rows, so many at once: how they come depends on who found them."""
    rest: list[Rows] = []
    for rows in found:
        rest.append(rows)
        if _n(rest) >= n_rows:
            known = np.concatenate(rest)
            end = len(known) - len(known) % n_rows
            yield from np.split(known[:end], range(n_rows, end, n_rows))
            rest = [known[end:]]
    if _n(rest):
        yield np.concatenate(rest)


def rows_as_spilled(paths: Sequence[str], kind: np.dtype[np.void] = ROW) -> Iterator[Rows]:
    """Fill blocks from the files, one after the other."""
    parts: list[Rows] = []
    for path in paths:
        at = 0
        while len(part := np.fromfile(path, dtype=kind, count=RUN_ROWS - _n(parts), offset=at)):
            at += part.nbytes
            parts.append(part)
            if _n(parts) == RUN_ROWS:
                yield np.concatenate(parts)
                parts = []
    if parts:
        yield np.concatenate(parts)


def _n(parts: Sequence[Rows]) -> int:
    return sum(map(len, parts))


def ends(points: Ints) -> tuple[Ints, Ints, Ints]:
    """Upstream point, downstream point, and whether the direction is reverse."""
    mask = (1 << POINT_BITS) - 1
    return points & mask, points >> POINT_BITS & mask, points >> 2 * POINT_BITS & 1


def kinds(points: Ints) -> Ints:
    """What the frames of each row have in common, as an index into `KINDS`."""
    return points >> 2 * POINT_BITS + 1


def arrivals(rows: Rows) -> tuple[Ints, Ints]:
    """Copies that were made of crossing packets on the way, and whether they were overtaken."""
    return rows["told"] >> 1, rows["told"] & 1


def weights(rows: Rows) -> Floats:
    """How much of each lost packet was booked on the segment."""
    return np.ascontiguousarray(rows["told"]).view(np.float64)


def evidence(rows: Rows) -> tuple[Ints, Ints, Floats]:
    """How pairs were found and by what identities, as indices, and the posterior; NaN: none."""
    told = rows["evidence"]
    by, identity = told & 0xFF, told >> 8 & 3
    doubt = (told >> 32).astype(np.uint32).view(np.float32).astype(np.float64)
    is_likely = np.isin(by, [MATCHED_BY.index(name) for name in ("posterior", "late")])
    return by, identity, np.where(is_likely, 1 - doubt, np.nan)


def _sorted(rows: Rows, place: Ints) -> Rows:
    up, _, is_reverse = ends(rows["points"])
    from_sender = np.where(is_reverse != 0, -place[up], place[up])
    return rows[np.lexsort((rows["down"], from_sender, rows["trajectory"]))]


def _merged(runs: Sequence[Path], place: Ints) -> Iterator[Rows]:
    """Merge sorted runs: what is below every run's last loaded row can go."""
    n_rows = max(LEAST_BLOCK_ROWS, MERGED_ROWS // max(len(runs), 1))
    sizes = [run.stat().st_size // ROW.itemsize for run in runs]
    done = [0] * len(runs)
    while any(at < size for at, size in zip(done, sizes, strict=True)):
        ahead = [
            np.fromfile(run, ROW, n_rows, offset=at * ROW.itemsize)
            for run, at in zip(runs, done, strict=True)
        ]
        more = [
            block["trajectory"][-1]
            for block, at, size in zip(ahead, done, sizes, strict=True)
            if at + len(block) < size
        ]
        if more:
            ahead = [block[: np.searchsorted(block["trajectory"], min(more))] for block in ahead]
        done = [at + len(block) for at, block in zip(done, ahead, strict=True)]
        yield _sorted(np.concatenate(ahead), place)
