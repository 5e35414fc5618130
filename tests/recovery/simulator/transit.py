"""How pieces get from hop to hop: delay, queues, loss, overtaking, cutting, joining."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tests.recovery.simulator.pieces import UDP
from tests.recovery.simulator.scenario import START_NS

if TYPE_CHECKING:
    from tests.recovery.simulator.pieces import Flags, Table
    from tests.recovery.simulator.scenario import Link, Numbers, Scenario

CARD_NS_A_BYTE = 0.8
HEADER_BYTES = 90
JOINING_NS = 300
JOIN_WITHIN_NS = 40_000


class Journey(NamedTuple):
    """Pieces, when each passed each hop (-1: never), and which were joined at their end."""

    pieces: Table
    times_ns: Numbers  # a row a piece, a column a hop
    joined: Numbers  # the same number: one frame at the receiver's hops
    branch: Numbers


def travel(scenario: Scenario, pieces: Table, flows: Table, purpose: str) -> Journey:
    """Send pieces along the path, each in its direction."""
    chance = scenario.chance("transit", purpose)
    times_ns = np.full((len(pieces), scenario.n_hops), -1, np.int64)
    joined = np.arange(len(pieces))
    by = pieces["flow"] if scenario.branches_by == "flow" else joined
    branch = by % scenario.n_branches
    for forward in (True, False):
        mine = np.flatnonzero(pieces["forward"] == forward)
        walk = _Walk(scenario, flows, pieces[mine], branch[mine], chance)
        times_ns[mine], local = walk.run(forward=forward)
        joined[mine] = mine[local] if len(mine) else local
    return Journey(pieces, times_ns, joined, np.asarray(branch))


class _Walk(NamedTuple):
    scenario: Scenario
    flows: Table
    pieces: Table
    branch: Numbers
    chance: np.random.Generator

    def run(self, *, forward: bool) -> tuple[Numbers, Numbers]:
        """Times of these pieces at each hop, and the first piece of what each was joined to."""
        n = len(self.pieces)
        hops = self.scenario.along(forward=forward)
        times_ns = np.full((n, self.scenario.n_hops), -1, np.int64)
        joined = np.arange(n)
        if not n:
            return times_ns, joined
        times_ns[:, hops[0]] = self.pieces["sent_ns"]
        groups = _leaders(self.pieces["unit"])
        is_joined = False
        for up, down in itertools.pairwise(hops):
            zones = [self.scenario.zone(hop, forward=forward) for hop in (up, down)]
            moves_whole = zones[0] == zones[1] != "wire"
            units = (groups if zones[0] == "whole" else joined) if moves_whole else np.arange(n)
            link = self.scenario.links[min(up, down)]
            rate = CARD_NS_A_BYTE if zones[0] == "whole" != zones[1] else link.ns_a_byte
            times_ns[:, down] = self._cross(link, times_ns[:, up], units, rate, forward=forward)
            if zones[1] == "joined" and not is_joined:
                joined, is_joined = self._join(times_ns[:, down]), True
                times_ns[:, down] = _last_of(joined, times_ns[:, down])
        return times_ns, joined

    def _cross(
        self, link: Link, up_ns: Numbers, units: Numbers, rate: float, *, forward: bool
    ) -> Numbers:
        """When each arrives, or -1; what travels in one unit arrives at one time."""
        lead = np.flatnonzero((units == np.arange(len(units))) & (up_ns >= 0))
        lead = lead[np.argsort(up_ns[lead], kind="stable")]
        base_ns = (link.forward_ns if forward else link.reverse_ns) + link.branch_ns * self.branch
        tail_ns = self.chance.exponential(link.tail_ns, len(lead)).astype(np.int64)
        service_ns = ((self.pieces["size"][lead] + HEADER_BYTES) * rate).astype(np.int64)
        done_ns = np.cumsum(service_ns)
        ready_ns = up_ns[lead] + base_ns[lead] + tail_ns
        # each waits for the one before (Lindley), in a sum instead of a loop
        out_ns = np.maximum.accumulate(ready_ns - (done_ns - service_ns)) + done_ns
        is_held = self.chance.random(len(lead)) < link.held_share
        if link.held_until_ns:
            is_held &= up_ns[lead] < START_NS + link.held_until_ns
        out_ns += np.where(is_held, link.held_ns, 0)
        out_ns[self.chance.random(len(lead)) < link.lost_share] = -1
        arrived_ns = np.full(len(units), -1, np.int64)
        arrived_ns[lead] = out_ns
        return arrived_ns[units]

    def _join(self, at_ns: Numbers) -> Numbers:
        """Neighbours in a stream that arrive together become one frame; so do all fragments."""
        order = np.argsort(at_ns, kind="stable")
        order = order[np.argsort(self.pieces["flow"][order], kind="stable")]
        order = order[at_ns[order] >= 0]
        joined = np.arange(len(at_ns))
        joined[order] = order[self._starts(order, at_ns)]
        return joined

    def _starts(self, order: Numbers, at_ns: Numbers) -> Numbers:
        """Per piece in order of arrival: the place of the first one of its frame."""
        breaks = self._breaks(self.pieces[order], at_ns[order])
        most, chance = self.scenario.traffic.joined_bytes, self.chance.random(len(order))
        starts = np.arange(len(order))
        first, n_bytes = 0, 0
        for place, size in enumerate(self.pieces["size"][order].tolist()):
            n_bytes += size
            is_full = self._is_tcp(order[place]) and (n_bytes > most or chance[place] < 0.08)
            if breaks[place] or is_full:
                first, n_bytes = place, size
            starts[place] = first
        return starts

    def _is_tcp(self, piece: int) -> bool:
        return bool(self.flows["kind"][self.pieces["flow"][piece]] != UDP)

    def _breaks(self, pieces: Table, at_ns: Numbers) -> Flags:
        """Where a piece cannot be joined to the one that arrived before it."""
        kind = self.flows["kind"][pieces["flow"]]
        is_fragment = pieces["total"] > pieces["size"]
        has_data = pieces["size"] > 0
        after = np.r_[-1, pieces["number"][:-1] + pieces["size"][:-1]]
        same_flow = np.r_[False, pieces["flow"][1:] == pieces["flow"][:-1]]
        soon = np.r_[False, np.diff(at_ns) < JOIN_WITHIN_NS]
        follows = same_flow & soon & has_data & np.r_[False, has_data[:-1]]
        tcp = follows & (kind < UDP) & (pieces["number"] == after)
        tcp &= self.scenario.traffic.joined_bytes > 0
        tcp &= pieces["offset"] == 0
        same_deal = np.r_[False, pieces["unit"][1:] - pieces["unit"][:-1] == 1] & same_flow
        udp = same_deal & (kind == UDP) & is_fragment & (pieces["offset"] > 0)
        udp &= self.scenario.traffic.fragments in {"joined", "both"}
        return np.asarray(~(tcp | udp))


def _leaders(units: Numbers) -> Numbers:
    """Per piece the first piece of its unit."""
    _, first, back = np.unique(units, return_index=True, return_inverse=True)
    return np.asarray(first[back])


def _last_of(groups: Numbers, at_ns: Numbers) -> Numbers:
    """A joined frame is there when its last piece is, and a moment later."""
    last_ns = np.full(len(at_ns), -1, np.int64)
    np.maximum.at(last_ns, groups, at_ns)
    found = last_ns[groups]
    alone = np.bincount(groups, minlength=len(groups))[groups] == 1
    return np.where(at_ns < 0, -1, np.where(alone, found, found + JOINING_NS))
