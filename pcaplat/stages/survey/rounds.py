"""Packets that come again long after: a script that is run each minute sends the same ones.

A packet need not be the only one of its kind in a whole capture, only near in time. Where most
packets come again, the usual difference of two clocks is the one that most pairs of equal packets
agree on: one round more than any difference that is wrong by a round.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pcaplat.model.arrays import Ints, distinct
from pcaplat.stages.survey.observations import Observations

APART_NS = 1_000_000_000
"""What comes again after so long is another packet: no path holds one for as long."""

AGREEING_NS = APART_NS // 4
"""Differences of packets agree within this: clocks drift by some tens of ppm."""

MOSTLY = 0.5
"""Unless this share of the packets come again, the others tell all that is to be told."""

MOST_ROUNDS = 64
"""What comes again more often than this tells nothing of when."""

DEVIATIONS = 3
"""By so many standard deviations more pairs agree on the usual difference than on any other."""

MULTIPLIER = -7_046_029_254_386_353_131
"""Odd: so that rounds of one packet have different numbers."""


def told_apart(seen: Sequence[Observations]) -> list[Observations]:
    """Number the rounds of packets that come again, so that each is a packet of its own.

    Args:
        seen: What each point saw.

    Returns:
        The same, if few packets come again, or if nothing tells which round is which.
    """
    if not _come_again(seen):
        return [*seen]
    first = max(range(len(seen)), key=lambda point: len(seen[point]))
    ahead_ns = [_usual(seen[first], one) for one in seen]
    if None in ahead_ns:
        return [*seen]
    key = np.concatenate([one.key for one in seen])
    t_ns = np.concatenate([one.t_ns - (ns or 0) for one, ns in zip(seen, ahead_ns, strict=True)])
    by = np.lexsort((t_ns, key))
    is_other = np.append(True, key[by][1:] != key[by][:-1])
    is_next = ~is_other & (np.diff(t_ns[by], prepend=0) > APART_NS // 2)
    passed = np.cumsum(is_next)
    starts = np.maximum.accumulate(np.where(is_other, np.arange(len(by)), 0))
    turn = np.empty_like(key)
    turn[by] = passed - passed[starts]
    keys = np.split(key ^ (turn * MULTIPLIER), np.cumsum([len(one) for one in seen])[:-1])
    return [replace(one, key=own) for one, own in zip(seen, keys, strict=True)]


def _come_again(seen: Sequence[Observations]) -> bool:
    """Tell whether most packets do, of those that any point saw."""
    again, keys = list[Ints](), [one.key for one in seen if len(one)]
    for one in seen:
        is_far = np.diff(one.t_ns[one.by_key]) > APART_NS
        key = one.key[one.by_key]
        again.append(key[1:][is_far & (np.diff(key) == 0)])
    n_all = len(distinct(np.concatenate(keys))) if keys else 0
    return bool(n_all) and len(distinct(np.concatenate(again))) > MOSTLY * n_all


def _usual(one: Observations, other: Observations) -> int | None:
    """How far the second point's clock is ahead; None if several times are as likely."""
    differences = np.sort(_differences(one, other))
    if not len(differences):
        return None
    n = np.searchsorted(differences, differences + AGREEING_NS, "right") - np.arange(
        len(differences)
    )
    at = int(np.argmax(n))
    middle = int(differences[at + n[at] // 2])
    is_else = np.abs(differences - middle) > APART_NS // 2
    n_else = int(n[is_else].max(initial=0))
    n_missed = min(len(one), len(other)) - int(n[at])
    by_chance = DEVIATIONS * np.sqrt(2 * max(0, n_missed) + 1)
    return middle if n[at] - n_else > by_chance else None


def _differences(one: Observations, other: Observations) -> Ints:
    """Times between all observations of equal packets at two points."""
    by = np.argsort(other.key, kind="stable")
    keys = other.key[by]
    low, high = (np.searchsorted(keys, one.key, side) for side in ("left", "right"))
    n = np.where(high - low > MOST_ROUNDS, 0, high - low)
    row = np.repeat(np.arange(len(one)), n)
    within = np.arange(len(row)) - np.repeat(np.cumsum(n) - n, n)
    return np.asarray(other.t_ns[by][low[row] + within] - one.t_ns[row])
