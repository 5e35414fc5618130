"""Which end of a path that forks is its first, and which its last."""

from collections.abc import Collection, Sequence

from pcaplat.model.points import Pair
from pcaplat.stages.survey.delays.relations import Relations


def are_apart(along: Sequence[int], relations: Relations) -> bool:
    """Whether no packet goes from one end of a path to the other, as between two tenants."""
    return len(along) > 2 and _n_shared((along[0], along[-1]), relations) == 0  # noqa: PLR2004


def between_ends_that_share(
    along: Sequence[int], edges: Collection[Pair], relations: Relations
) -> list[int]:
    """Put first and last the two ends that share most packets.

    Example:
        Points 0 and 1 send to 2, which sends to 3 and 4; what 0 sends arrives at 3.

        >>> from pcaplat.stages.survey.delays.relations import NOTHING_SHARED as none
        >>> edges = [(0, 2), (1, 2), (2, 3), (2, 4)]
        >>> between_ends_that_share([0, 1, 2, 3, 4], edges, {(0, 2): none})
        [0, 1, 2, 3, 4]
    """
    behind, before = ({ends[side] for ends in edges} for side in (1, 0))
    firsts = [point for point in along if point in before and point not in behind]
    lasts = [point for point in along if point in behind and point not in before]
    pairs = [(first, last) for first in firsts for last in lasts]
    first, last = max(
        pairs, key=lambda ends: _n_shared(ends, relations), default=(along[0], along[-1])
    )
    if not _n_shared((first, last), relations):
        return [*along]
    return [first, *(point for point in along if point not in (first, last)), last]


def _n_shared(ends: Pair, relations: Relations) -> int:
    both = relations.get((min(ends), max(ends)))
    return 0 if both is None else len(both)
