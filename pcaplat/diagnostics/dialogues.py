"""What the two directions of a flow say of each other at one point, without any other point.

Answers follow requests, and bytes are acknowledged after they were sent. Where stamps say otherwise
the two directions have different clocks; where bytes are missing the capture lost them.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from pcaplat.diagnostics.catalogue import diagnose
from pcaplat.model.arrays import Bools, Ints
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.files.captures import Capture, stem
from pcaplat.model.points import Pair
from pcaplat.records import dataclass
from pcaplat.units import format_count, format_ns

ENOUGH_CHANGES = 3
"""Changes of direction each way that a flow must have to say anything."""

ENOUGH_CHANGES_TOGETHER = 10
"""Changes of direction that all flows of a file together must have to say anything."""

AGREEING_FRAC = 0.8
"""Of the flows that have enough changes of direction, this share must say the same."""

EARLY_FRAC = 0.3
"""Where a larger share of a direction's data comes after its acknowledgments, it is no
reordering."""

ENOUGH_EARLY = 5
WAYS = ("toward", "back")
TAI_NS = (36_000_000_000, 37_000_000_000)
NEAR_TAI_NS = 100_000_000


@dataclass(frozen=True)
class Split:
    """The stamps of one direction are so much before those of the other, at one interface."""

    file: int
    interface: int
    least_ns: int
    most_ns: int | None
    n_changes: int
    evidence: str


def find_splits(columns: Mapping[str, Ints]) -> list[Split]:
    """Find interfaces whose received and sent frames have stamps of different clocks.

    In the order of the file a packet stands behind the one it answers. If the stamps of one
    direction are δ too early, each change into it is shorter by δ, and each change out of it longer
    by δ: so δ is at least what stamps ever go back by, and at most the shortest change out of it.
    Queues that write in blocks go back too, but their least changes contradict each other.

    Args:
        columns: Flows of the survey's sample.
    """
    order = np.lexsort((columns["interface"], columns["file"]))
    columns = {name: column[order] for name, column in columns.items()}
    places = np.stack([columns["file"], columns["interface"]], 1)
    begins = np.flatnonzero(np.any(places[1:] != places[:-1], axis=1)) + 1
    found = []
    for first, end in pairwise([0, *begins.tolist(), len(order)] if len(order) else []):
        own = {name: column[first:end] for name, column in columns.items()}
        file, interface = places[first].tolist()
        found += [*_by_turns(file, interface, own), *_by_acks(file, interface, own)][:1]
    return found


def _by_turns(file: int, interface: int, own: Mapping[str, Ints]) -> Iterator[Split]:
    turns = own["n_turns_toward"] + own["n_turns_back"]
    is_enough = (own["n_turns_toward"] >= ENOUGH_CHANGES) & (own["n_turns_back"] >= ENOUGH_CHANGES)
    least, most = _bounds(own, "toward", "back")
    other_least, other_most = _bounds(own, "back", "toward")
    is_other = other_least > least
    least, most = np.where(is_other, other_least, least), np.where(is_other, other_most, most)
    says_so: Bools = is_enough & (least > 0) & (least <= most)
    n_changes = int(turns[says_so].sum())
    if n_changes < ENOUGH_CHANGES_TOGETHER or says_so.sum() < AGREEING_FRAC * is_enough.sum():
        return
    lo_ns, hi_ns = int(least[says_so].max()), int(most[says_so].min())
    if lo_ns <= hi_ns:
        text = (
            f"at {format_count(n_changes)} changes of direction in "
            f"{format_count(int(says_so.sum()))} flow(s) the timestamps of one direction are "
            f"{format_ns(lo_ns)} to {format_ns(hi_ns)} before the timestamps of the other"
        )
        yield Split(file, interface, lo_ns, hi_ns, n_changes, text)


def _bounds(own: Mapping[str, Ints], into: str, out: str) -> tuple[Ints, Ints]:
    """How much too early one direction is at least, if most changes into it go back, and at most.

    Nothing (0) where most do not.
    """
    goes_back = 2 * own[f"n_backward_{into}"] > own[f"n_turns_{into}"]
    return np.where(goes_back, -own[f"least_{into}_ns"], 0), own[f"least_{out}_ns"]


def _by_acks(file: int, interface: int, own: Mapping[str, Ints]) -> Iterator[Split]:
    """Of a file that was sorted afterwards: data come after their acknowledgments."""
    early, data = (
        np.stack([own[f"{name}_{way}"] for way in WAYS]) for name in ("n_early", "n_data")
    )
    # one direction of each flow is early; where none is, the one that says more for it
    way = np.lexsort((data, early), axis=0)[-1]
    n_early, n_data = (int(np.take_along_axis(n, way[None], 0).sum()) for n in (early, data))
    if n_early >= ENOUGH_EARLY and n_early >= EARLY_FRAC * n_data:
        least_ns = int(own["early_ns"].max())
        text = (
            f"{format_count(n_early)} of {format_count(n_data)} TCP segments of one direction are "
            f"timestamped after the acknowledgment of their bytes, by up to {format_ns(least_ns)}"
        )
        yield Split(file, interface, least_ns, None, n_early, text)


def check_splits(captures: Sequence[Capture], splits: Sequence[Split]) -> list[Diagnostic]:
    """Say at which points received and sent frames have stamps of different clocks.

    Args:
        captures: The files.
        splits: Those of `find_splits`.
    """
    diagnostics = []
    for one in splits:
        capture = captures[one.file]
        is_tai = any(abs(one.least_ns - tai_ns) <= NEAR_TAI_NS for tai_ns in TAI_NS)
        why = ", as TAI is ahead of UTC" if is_tai else ""
        text = f"{capture.name}: {one.evidence}{why}"
        diagnostics.append(
            diagnose(
                "two-clocks-in-file", capture.point or stem(capture.name), text, file=capture.name
            )
        )
    return diagnostics


def check_unseen(captures: Sequence[Capture], columns: Mapping[str, Ints]) -> list[Diagnostic]:
    """Say where bytes were acknowledged that the capture never saw.

    Args:
        captures: The files.
        columns: Flows of the survey's sample.
    """
    diagnostics = []
    has_data = np.any([columns[f"n_data_{way}"] for way in WAYS], axis=0)
    for file, capture in enumerate(captures):
        is_of_file = columns["file"] == file
        unseen_bytes = np.maximum(columns["unseen_bytes"] - columns["early_bytes"], 0)[is_of_file]
        if unseen_bytes.sum():
            text = (
                f"{capture.name}: {format_count(int(unseen_bytes.sum()))} bytes were acknowledged "
                f"and never seen, in {format_count(int((unseen_bytes > 0).sum()))} of "
                f"{format_count(int(has_data[is_of_file].sum()))} flow(s), "
                f"{format_count(int(columns['n_unseen'][is_of_file].sum()))} time(s)"
            )
            point = capture.point or stem(capture.name)
            diagnostics.append(diagnose("acked-not-captured", point, text, file=capture.name))
    return diagnostics


def without_branches(
    diagnostics: Sequence[Diagnostic], names: Sequence[str], edges: Sequence[Pair]
) -> list[Diagnostic]:
    """Leave out what branches of a fork lack: their captures did not drop what took another one.

    Args:
        diagnostics: Also those of `check_unseen`.
        names: Of all points.
        edges: Which of them are neighbours.
    """
    branches = {name for at, name in enumerate(names) if _is_branch(at, edges)}
    return [
        one for one in diagnostics if one.code != "acked-not-captured" or one.point not in branches
    ]


def _is_branch(point: int, edges: Sequence[Pair]) -> bool:
    """Tell whether a way leads around a point, from one before it to one behind it."""
    others = [ends for ends in edges if point not in ends]
    reached = {near for near, far in edges if far == point}
    while more := {far for near, far in others if near in reached} - reached:
        reached |= more
    return any(far in reached for near, far in edges if near == point)
