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
from pcaplat.records import dataclass
from pcaplat.study.errors import StudyError

COPIED_SHARE = 0.5
"""Captures that share so many of their stamps, at every point, are of the same packets."""

LEAST_STAMPS = 10
"""Fewer stamps may be equal by chance."""

Names = tuple[str, str]
"""A point of one run, and what may be the same of another."""


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
    """Tell whether both have the same stamps at every point, or the same gaps between them.

    Points of a copy may have their names the other way round.
    """
    if one.contents is None or other.contents is None:
        return False
    first, second = _Frames(one, one.contents), _Frames(other, other.contents)
    common = sorted(set(one.contents.stamps) & set(other.contents.stamps))
    in_order = [name for name in one.path if name in common]
    pairings = (
        list(zip(names, others, strict=True))
        for names, others in ((common, common), (in_order, in_order[::-1]))
    )
    return any(first.are_those_of(second, pairs) for pairs in pairings if pairs)


@dataclass(frozen=True)
class _Frames:
    """Frames of a run, by their stamps."""

    run: MeasuredRun
    contents: Contents

    def are_those_of(self, other: "_Frames", pairs: Sequence[Names]) -> bool:
        """Tell whether both are the same at each of some points, named as each run has them."""
        if all(
            _are_same_stamps(self.contents.stamps[a], other.contents.stamps[b]) for a, b in pairs
        ):
            return True
        shares = [self._rhythm(other, *names) for names in pairs]
        # where frames follow each other regularly, they do so at many places: that tells nothing
        return all(best >= ALIKE_SHARE for best, _ in shares) and any(
            elsewhere < UNLIKE_SHARE for _, elsewhere in shares
        )

    def _rhythm(self, other: "_Frames", mine: str, theirs: str) -> tuple[float, float]:
        coarser_ns = max(self.run.resolution_ns(mine), other.run.resolution_ns(theirs))
        return rhythm_in_common(
            self.contents.times_ns[mine], other.contents.times_ns[theirs], coarser_ns
        )


def _of_one_run(one: MeasuredRun, other: MeasuredRun) -> str | None:
    """Say what tells, at every point, that both are of one run."""
    if one.contents is None or other.contents is None:
        return None
    first, second = one.contents.flows, other.contents.flows
    points = sorted(set(first) & set(second))
    found = [first[point].same_run_as(second[point]) for point in points]
    return found[0] if found and all(found) else None


def _are_same_stamps(one: "np.ndarray", other: "np.ndarray") -> bool:
    return min(len(one), len(other)) >= LEAST_STAMPS and (
        share_in_common(one, other) >= COPIED_SHARE
    )
