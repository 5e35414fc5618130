"""The matched pairs and crossings that the core spills, and how their rows are read."""

import os
from collections.abc import Iterable, Iterator, Sequence
from tempfile import TemporaryFile

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


BLOCK_ROWS = 1 << 10
"""Rows of a sorted run that are read at once; a run is so many of these."""


MERGED_BLOCKS = 1 << 5
"""Blocks of all sorted runs that are merged at once."""


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
    firsts: list[Ints] = []
    with TemporaryFile(dir=folder, buffering=0) as file:
        for rows in rows_as_spilled(paths):
            run = _sorted(rows, places)
            firsts.append(run["trajectory"][::BLOCK_ROWS].copy())
            run.tofile(file)
        if firsts:
            yield from _merged(file.fileno(), np.concatenate(firsts), places)


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
    up, _, is_reverse = ends(np.ascontiguousarray(rows["points"]))
    from_sender = np.where(is_reverse != 0, -place[up], place[up])
    trajectory, down = (np.ascontiguousarray(rows[name]) for name in ("trajectory", "down"))
    order = np.argsort(trajectory, kind="stable")
    # mostly the pairs of a packet were spilled from its sender on
    if _is_out_of_order(*(column[order] for column in (trajectory, from_sender, down))):
        order = np.lexsort((down, from_sender, trajectory))
    # several times as fast as `rows[...]`
    return rows.take(order)


def _is_out_of_order(first: Ints, then: Ints, last: Ints) -> bool:
    """Whether rows of one `first`, which ascends, are not in the order of the other two."""
    falls = np.diff(then)
    is_wrong = (falls < 0) | ((falls == 0) & (np.diff(last) < 0))
    return bool((is_wrong & (np.diff(first) == 0)).any())


def _merged(file: int, firsts: Ints, place: Ints) -> Iterator[Rows]:
    """Merge sorted runs, which lie in the file one after the other.

    Every block is read once, in the order of their first trajectories (`firsts`). What comes before
    that of the next block can go.
    """
    order = np.argsort(firsts, kind="stable")
    held: dict[int, Rows] = {}
    for at in range(0, len(order), MERGED_BLOCKS):
        ahead, behind = order[at : at + MERGED_BLOCKS], order[at + MERGED_BLOCKS :]
        held |= {block: _block(file, block) for block in ahead.tolist()}
        due: list[Rows] = []
        # equal rows stay in the order in which they were spilled
        for block, rows in sorted(held.items()):
            due.append(rows[: _n_before(rows, firsts[behind[0]])] if len(behind) else rows)
            held[block] = rows[len(due[-1]) :]
            if not len(held[block]):
                del held[block]
        yield _sorted(np.concatenate(due), place)


def _block(file: int, block: int) -> Rows:
    n_bytes = BLOCK_ROWS * ROW.itemsize
    return np.frombuffer(os.pread(file, n_bytes, block * n_bytes), ROW)


def _n_before(rows: Rows, trajectory: int) -> int:
    if rows["trajectory"][0] >= trajectory:
        return 0
    return int(np.searchsorted(rows["trajectory"], trajectory))
