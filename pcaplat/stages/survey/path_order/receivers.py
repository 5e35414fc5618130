"""Packets with several receivers: which way they go, and where they branch.

Multicast has a sender, so it has a way, but no answer that would tell it. What tells is time: under
one clock a packet arrives after it left; else it takes about as long as unicast that goes its way.
What is born on the path and goes both ways from there (neighbour discovery, queries of a bridge)
has none.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from pcaplat.model.arrays import Ints
from pcaplat.model.points import Pair
from pcaplat.records import dataclass
from pcaplat.stages.survey.delays.relations import Relations, Shared, between
from pcaplat.stages.survey.observations import Observations, among
from pcaplat.stages.survey.path_order.orient import usual_differences

ENOUGH = 8
"""So many packets of one sender to one group have a way."""

AGREEING = 0.9
"""This share of them must go the same way, on each segment."""

AS_A_RULE = 0.8
"""A branch that a smaller share of the packets take is not one that all of them should."""

CLEARLY = 0.5
"""How much nearer to the one direction's time than to the other's is clear."""


@dataclass(frozen=True)
class SegmentsSeen:
    """The segments of a path, and what is known of packets that go from one end to the other.

    `toward` are the address pairs with a known way, and `domains` the clock of each point.
    """

    relations: Relations
    edges: Sequence[Pair]
    toward: Mapping[int, bool]
    domains: Sequence[int]

    def votes(self) -> Iterator[tuple[int, bool, int]]:
        """Address pairs, whether their packets leave the smaller address, and where they go.

        1 is to the far end of a segment, -1 to the near one, 0 neither.
        """
        for ends in self.edges:
            both = between(self.relations, *ends)
            both = both.at(~both.is_directed)
            rows = np.stack((both.pair, both.is_toward))
            (pairs, toward), of_way, n = np.unique(
                rows, axis=1, return_inverse=True, return_counts=True
            )
            goes = self._goes(ends, both)
            for place in np.flatnonzero(n >= ENOUGH).tolist():
                mean = float(np.mean(goes[of_way == place]))
                sure = 0 if abs(mean) < 2 * AGREEING - 1 else int(np.sign(mean))
                yield int(pairs[place]), bool(toward[place]), sure

    def _goes(self, ends: Pair, both: Shared) -> Ints:
        if self.domains[ends[0]] == self.domains[ends[1]]:
            return np.asarray(np.sign(both.d_ns))
        unicast = between(self.relations, *ends)
        forward, reverse = usual_differences(unicast.at(unicast.is_directed), self.toward)
        if forward is None or reverse is None or forward <= reverse:
            return np.zeros(len(both), np.int64)
        to_far, to_near = np.abs(both.d_ns - forward), np.abs(both.d_ns - reverse)
        is_far, is_near = to_far < CLEARLY * to_near, to_near < CLEARLY * to_far
        return np.asarray(is_far.astype(np.int64) - is_near)


def ways_of_groups(segments: SegmentsSeen) -> dict[int, bool]:
    """Orient what goes to several receivers: whether packets from the smaller address go forward.

    Args:
        segments: The segments, and which way unicast goes there.

    Returns:
        The address pairs of which all segments that tell say the same.
    """
    said: dict[int, set[bool]] = {}
    for pair, is_toward, goes in segments.votes():
        if goes:
            said.setdefault(pair, set()).add((goes > 0) == is_toward)
    agreed = {pair: ways.pop() for pair, ways in said.items() if len(ways) == 1}
    return {pair: way for pair, way in agreed.items() if pair not in segments.toward}


def branches_of_groups(
    unique: Sequence[Observations], edges: Sequence[Pair], ways: Mapping[int, bool]
) -> dict[int, list[Pair]]:
    """Give the steps (upstream, downstream) that packets to several receivers take as a rule.

    Args:
        unique: The packets that each point saw once.
        edges: The segments.
        ways: The way of each address pair.
    """
    some = [one.at(~one.is_directed) for one in unique]
    pairs, n = np.unique(np.concatenate([one.pair for one in some]), return_counts=True)
    found: dict[int, list[Pair]] = {}
    for pair in sorted({*pairs[n >= ENOUGH].tolist()} & ways.keys()):
        of_pair = [one.at(one.pair == pair) for one in some]
        for near, far in edges:
            for toward in (True, False):
                up, down = (near, far) if toward == ways[pair] else (far, near)
                sent = of_pair[up].at(of_pair[up].is_toward == toward)
                if _share(sent, of_pair[down]) >= AS_A_RULE:
                    found.setdefault(pair, []).append((up, down))
    return found


def _share(sent: Observations, there: Observations) -> float:
    """What share of packets came to a point, from the first that did to the last."""
    is_there = among(sent.key, there.key)
    if is_there.sum() < ENOUGH:
        return 0.0
    t_ns = sent.t_ns[is_there]
    is_meanwhile = (sent.t_ns >= t_ns.min()) & (sent.t_ns <= t_ns.max())
    return float(is_there.sum() / is_meanwhile.sum())
