"""Runs that are one run: captures given twice, whole, cut or moved in time, or cut into pieces."""

import itertools
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from pcaplat.metrics.contents import (
    ALIKE_SHARE,
    UNLIKE_SHARE,
    Contents,
    rhythm_in_common,
    share_in_common,
)
from pcaplat.metrics.runs import MeasuredRun, Scenario
from pcaplat.study.errors import StudyError

COPIED_SHARE = 0.5
"""Captures that share so many of their stamps, at every point, are of the same packets."""

LEAST_STAMPS = 10
"""Fewer stamps may be equal by chance."""


def refuse_copies(scenarios: Sequence[Scenario]) -> None:
    """Refuse runs that are one run: nothing is learnt from it twice.

    Raises:
        StudyError: Two runs hold the same packets, or one goes on with the other; it names both.
    """
    runs = [(scenario.name, run) for scenario in scenarios for run in scenario.runs]
    digests = [_digest(run) for _, run in runs]
    for first, second in itertools.combinations(range(len(runs)), 2):
        (one_of, one), (other_of, other) = runs[first], runs[second]
        if digests[first] == digests[second] != "" or _share_frames(one, other):
            raise StudyError.copied(f"{one_of}/{one.name}", f"{other_of}/{other.name}")
        evidence = _of_one_run(one, other)
        if evidence:
            names = f"{one_of}/{one.name}", f"{other_of}/{other.name}"
            raise StudyError.cut_into_pieces(*names, evidence)


def _digest(run: MeasuredRun) -> str:
    """Digest of all latencies, block by block; the same wherever they were moved in time."""
    blocks = [run.blocks[key] for key in sorted(run.blocks)]
    if not any(len(np.unique(one.sum_ns)) > 1 for one in blocks):
        return ""
    digest = blake2b(digest_size=16)
    for one in blocks:
        for column in (one.n, one.sum_ns):
            digest.update(np.ascontiguousarray(column, np.int64).tobytes())
    return digest.hexdigest()


def _share_frames(one: MeasuredRun, other: MeasuredRun) -> bool:
    """Tell whether both have the same stamps at every point, or the same gaps between them."""
    first, second = one.contents, other.contents
    if first is None or second is None:
        return False
    points = sorted(set(first.stamps) & set(second.stamps))
    if not points or all(_are_same_stamps(first, second, point) for point in points):
        return bool(points)
    shares = [
        rhythm_in_common(first.times_ns[at], second.times_ns[at], _coarser_ns(one, other, at))
        for at in points
    ]
    # where frames follow each other regularly, they do so at many places: that tells nothing
    return all(best >= ALIKE_SHARE for best, _ in shares) and any(
        elsewhere < UNLIKE_SHARE for _, elsewhere in shares
    )


def _of_one_run(one: MeasuredRun, other: MeasuredRun) -> str | None:
    """Say what tells, at every point, that both are of one run."""
    if one.contents is None or other.contents is None:
        return None
    first, second = one.contents.flows, other.contents.flows
    points = sorted(set(first) & set(second))
    found = [first[point].same_run_as(second[point]) for point in points]
    return found[0] if found and all(found) else None


def _are_same_stamps(one: Contents, other: Contents, point: str) -> bool:
    pair = one.stamps[point], other.stamps[point]
    return min(map(len, pair)) >= LEAST_STAMPS and share_in_common(*pair) >= COPIED_SHARE


def _coarser_ns(one: MeasuredRun, other: MeasuredRun, point: str) -> float:
    return max(one.resolution_ns(point), other.resolution_ns(point))
