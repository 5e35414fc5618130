"""Captures in which some packets pass later from one point on, the files sorted again."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from tests.support.oracle import Oracle
from tests.support.oracle_decode import Frame, read_frames

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.oracle import Segment

Key = tuple[str, str, str]


@dataclass
class Moved:
    """The files, and of each segment and direction the pairs of frames and how long they took."""

    files: dict[str, Path]
    pairs: dict[Key, list[tuple[int, int]]]
    latencies_ns: dict[Key, list[int]]
    late: dict[Key, list[tuple[int, int]]]
    """The pairs of the packets that were moved, on the segment before the first that moved."""
    n_lost: dict[Key, int]


def moved(
    source: dict[str, Path], folder: Path, behind: tuple[str, str], share: float, late_ns: int
) -> Moved:
    """Move a share of the packets later, in either direction behind the first of two neighbours.

    None is moved in the last part of the time, so that all are there before it ends. `source` has
    the captures of a path in its order, on one clock; pairs are found without the product.
    """
    oracle = Oracle(source)
    segments = {(s.near, s.far, s.direction): s for s in oracle.segments()}
    frames = {point: {f.number: f for f in read_frames(file)} for point, file in source.items()}
    later: dict[str, set[int]] = {point: set() for point in source}
    chosen: dict[Key, list[tuple[int, int]]] = {}
    for direction in ("forward", "reverse"):
        chosen[*behind, direction] = found = []
        for pair, chain in _chains(list(source), segments, oracle, behind, direction):
            t_ns = frames[next(iter(chain))][chain[next(iter(chain))]].t_ns
            if t_ns < _until_ns(oracle, late_ns) and _draw(direction, pair) < share:
                found.append(pair)
                for point, number in chain.items():
                    later[point].add(number)
    written = {
        point: _write(folder / f"{point}.pcap", frames[point], later[point], late_ns)
        for point in source
    }
    return _described(written, segments, chosen, folder)


def _draw(direction: str, pair: tuple[int, int]) -> float:
    return random.Random(f"{direction} {pair}").random()  # noqa: S311 - the same every time


def _until_ns(oracle: Oracle, late_ns: int) -> int:
    first_ns, last_ns = oracle.window_ns
    return min(last_ns - 2 * late_ns, first_ns + (last_ns - first_ns) * 7 // 10)


def _chains(
    points: list[str],
    segments: dict[Key, Segment],
    oracle: Oracle,
    behind: tuple[str, str],
    direction: str,
) -> list[tuple[tuple[int, int], dict[str, int]]]:
    """Packets like no other: their pair on the segment, and their frames at all points behind.

    One that has a copy is none of them: while the copy is on time, the packet is.
    """
    near, far = (points.index(end) for end in behind)
    onward = list(range(far, len(points))) if direction == "forward" else list(range(near, -1, -1))
    alone = [
        {group[0].number for group in groups.values() if len(group) == 1} - set(copies.values())
        for groups, copies in zip(oracle.by_key, oracle.copies, strict=True)
    ]
    steps = []
    for here, there in pairwise(onward):
        key = (points[min(here, there)], points[max(here, there)], direction)
        steps.append((points[here], points[there], dict(segments[key].pairs)))
    found = []
    for up, down in segments[*behind, direction].pairs:
        chain = {points[onward[0]]: down}
        for at, to, onto in steps:
            if chain.get(at) in onto:
                chain[to] = onto[chain[at]]
        is_alone = all(chain.get(points[at]) in alone[at] for at in onward)
        if len(chain) == len(onward) and is_alone:
            found.append(((up, down), chain))
    return found


def _write(
    path: Path, frames: dict[int, Frame], later: set[int], late_ns: int
) -> dict[int, tuple[int, int]]:
    """Write a file; per old number of a frame its new one and its time."""
    order = sorted((f.t_ns + late_ns * (f.number in later), f.number) for f in frames.values())
    with path.open("wb") as file:
        link = next(iter(frames.values())).link
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, link))
        for t_ns, number in order:
            frame = frames[number]
            head = (*divmod(t_ns, 10**9), len(frame.data), frame.wire_bytes)
            file.write(struct.pack("<IIII", *head) + frame.data)
    return {number: (at + 1, t_ns) for at, (t_ns, number) in enumerate(order)}


def _described(
    written: dict[str, dict[int, tuple[int, int]]],
    segments: dict[Key, Segment],
    chosen: dict[Key, list[tuple[int, int]]],
    folder: Path,
) -> Moved:
    made = Moved({point: folder / f"{point}.pcap" for point in written}, {}, {}, {}, {})
    for key, segment in segments.items():
        near, far, direction = key
        up, down = (
            written[end] for end in ((near, far) if direction == "forward" else (far, near))
        )
        made.pairs[key] = [(up[a][0], down[b][0]) for a, b in segment.pairs]
        made.latencies_ns[key] = [down[b][1] - up[a][1] for a, b in segment.pairs]
        made.late[key] = [(up[a][0], down[b][0]) for a, b in chosen.get(key, [])]
        made.n_lost[key] = segment.n_lost
    return made
