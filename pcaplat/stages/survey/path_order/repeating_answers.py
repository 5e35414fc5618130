"""Packets that repeat themselves, told by their rhythm where no other goes their way.

Answers without a number of their own (resets, acknowledgments, constant payloads) come again and
again. Where two points saw as many of one identity, and the times between them are alike there as
they are for no other pairing of first, second, third, these are the same packets.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from pcaplat.model.arrays import Bools, Ints, distinct
from pcaplat.stages.survey.observations import COPIES_WITHIN_NS, Observations, among

FEWEST = 3
"""Two observations have one time between them: no rhythm."""

CLEARER = 20
"""Any other pairing of the times at two points must be so many times less alike."""

LEAST_NS = 1_000_000
"""Any other pairing must differ by at least this much: what comes like clockwork has no rhythm."""

ENOUGH = 12
"""Times between packets, of all identities of a way, that are alike at two points."""

MULTIPLIER = 0x9E3779B1
Way = tuple[int, bool]


def with_repeating_answers(
    seen: Sequence[Observations], unique: Sequence[Observations]
) -> list[Observations]:
    """Add what rhythm tells to what is unique, where no unique packet goes that way.

    Args:
        seen: What each point saw.
        unique: What it saw once, ascending by key.

    Returns:
        `unique`, with observations whose keys are those of their places in the rhythm, ascending.
    """
    told = _ways(unique)
    found: dict[Way, list[tuple[int, Ints]]] = {}
    for way, rows in _untold(seen, told):
        found.setdefault(way, []).extend(rows)
    added: list[list[Ints]] = [[] for _ in seen]
    for rows in found.values():
        if sum(len(row) - 1 for _, row in rows) >= ENOUGH * len({point for point, _ in rows}):
            for point, row in rows:
                added[point].append(row)
    return [
        _joined(one, point, rows) if rows else one
        for one, point, rows in zip(unique, seen, added, strict=True)
    ]


def _ways(unique: Sequence[Observations]) -> set[Way]:
    """Ways of address pairs that packets go which two points saw once."""
    keys, n = np.unique(np.concatenate([one.key for one in unique]), return_counts=True)
    ways: set[Way] = set()
    for one in unique:
        both = among(one.key, keys[n > 1])
        for toward in (False, True):
            pairs = distinct(one.pair[both & (one.is_toward == toward)])
            ways.update((pair, toward) for pair in pairs.tolist())
    return ways


def _untold(
    seen: Sequence[Observations], told: set[Way]
) -> Iterator[tuple[Way, list[tuple[int, Ints]]]]:
    """Identities of other ways that two points or more saw in one rhythm: point, rows in time."""
    by_key: dict[int, dict[int, Ints]] = {}
    ways: dict[int, Way] = {}
    for point, observed in enumerate(seen):
        rows = np.flatnonzero(observed.is_directed & _is_untold(observed, told))
        by = rows[np.lexsort((observed.t_ns[rows], observed.key[rows]))]
        starts = np.flatnonzero(np.diff(observed.key[by], prepend=observed.key[by[:1]] - 1))
        for observations in np.split(by, starts[1:]) if len(by) else ():
            gaps_ns = np.diff(observed.t_ns[observations])
            group = observations[np.append(True, gaps_ns > COPIES_WITHIN_NS)]
            key = int(observed.key[group[0]])
            by_key.setdefault(key, {})[point] = group
            ways[key] = int(observed.pair[group[0]]), bool(observed.is_toward[group[0]])
    for key, groups in by_key.items():
        rows_of = list(groups.items())
        times = {point: seen[point].t_ns[rows] for point, rows in rows_of}
        first = rows_of[0][0]
        alike = [
            (p, rows) for p, rows in rows_of if p == first or _is_alike(times[first], times[p])
        ]
        if len(alike) > 1:
            yield ways[key], alike


def _is_untold(one: Observations, told: set[Way]) -> Bools:
    pairs = one.pairs.tolist()
    is_untold = np.array([[(pair, way) not in told for pair in pairs] for way in (0, 1)], np.bool_)
    return np.asarray(is_untold[one.is_toward.astype(int), one.of_pair])


def _is_alike(here_ns: Ints, there_ns: Ints) -> bool:
    """Tell whether the k-th here is the k-th there, and no other."""
    if len(here_ns) != len(there_ns) or len(here_ns) < FEWEST:
        return False
    spread_ns = int(np.ptp(there_ns - here_ns))
    shifted = (int(np.ptp(a)) for a in (there_ns[1:] - here_ns[:-1], there_ns[:-1] - here_ns[1:]))
    return min(shifted) > max(LEAST_NS, CLEARER * spread_ns)


def _joined(unique: Observations, seen: Observations, rows: Sequence[Ints]) -> Observations:
    places = np.concatenate([np.arange(len(row)) for row in rows]) + 1
    more = seen.at(np.concatenate(rows))
    keys = more.key ^ (places * MULTIPLIER)
    columns = {
        name: np.concatenate(
            (getattr(unique, name), keys if name == "key" else getattr(more, name))
        )
        for name in Observations.__dataclass_fields__
    }
    both = Observations(**columns)
    return both.at(np.argsort(both.key, kind="stable"))
