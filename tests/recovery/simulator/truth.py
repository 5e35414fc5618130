"""The truth in numbers: which frames carry the same piece, and what each segment did."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tests.recovery.simulator.pieces import ETHER, KINDS, UDP
from tests.recovery.simulator.scenario import START_NS
from tests.recovery.simulator.wrapping import OPAQUE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.recovery.simulator.outcome import Outcome
    from tests.recovery.simulator.pieces import Flags
    from tests.recovery.simulator.scenario import Numbers

DAY_NS = 86_400 * 10**9
CLASSES = (*KINDS, "identical", "coalesced", "fragment")
IDENTICAL, COALESCED, FRAGMENT = range(len(KINDS), len(CLASSES))


class Edges(NamedTuple):
    """Per piece two frames that carry it, at points that recorded it one after the other."""

    piece: Numbers
    up: Numbers  # frames numbered over all points
    down: Numbers


class Hop(NamedTuple):
    """What happened between two points in one direction, as true figures.

    Classes are packet, first-byte and last-byte. A packet is what was left whole at every point on
    the way: what was cut and happens to be joined to the same bytes again is other packets.
    """

    latencies_ns: dict[str, Numbers]  # by class
    lost_at_ns: dict[str, Numbers]  # by class, of frames as they were where they were seen last
    lost_bytes_at_ns: Numbers  # one row each, and how many as the other
    reordered: dict[str, int]  # by class, of frames that arrived
    duplicated: dict[str, int]  # by class, copies beyond those of the frame that went in
    captured_frac: float  # of what arrived, the part that the second point captured

    @property
    def packets_ns(self) -> Numbers:
        """Latencies of whole packets."""
        return self.latencies_ns["packet"]

    @property
    def n_reordered(self) -> int:
        """Whole packets that arrived after anything of their flow that was sent later."""
        return self.reordered["packet"]

    def n_lost(
        self, covered_ns: tuple[int, int], margin_ns: int = 0, of_class: str = "packet"
    ) -> int:
        """Losses inside the time that all points cover, give or take a margin at either end."""
        return int(_inside(self.lost_at_ns[of_class], covered_ns, margin_ns).sum())

    def n_lost_bytes(self, covered_ns: tuple[int, int], margin_ns: int = 0) -> int:
        """Bytes of TCP that were lost in that time."""
        at_ns, n_bytes = self.lost_bytes_at_ns
        return int(n_bytes[_inside(at_ns, covered_ns, margin_ns)].sum())


def _inside(at_ns: Numbers, covered_ns: tuple[int, int], margin_ns: int) -> Flags:
    first_ns, last_ns = covered_ns[0] - margin_ns, covered_ns[1] + margin_ns
    return np.asarray((at_ns >= first_ns) & (at_ns <= last_ns))


@dataclass
class Truth:
    """What an outcome's captures should be recognised as."""

    outcome: Outcome

    @cached_property
    def starts(self) -> Numbers:
        """The number of each point's first frame, over all points."""
        return np.cumsum([0, *(len(r.frames) for r in self.outcome.records)])

    def joined(self, column: str) -> NDArray[np.int64]:
        """A column of all frames."""
        return np.concatenate([r.frames[column] for r in self.outcome.records])

    @cached_property
    def whole(self) -> Numbers:
        """Per frame itself, or of fragments of an outer packet the last one."""
        first, parts, copies = (self.joined(name) for name in ("first", "part", "is_copy"))
        point = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        order = np.lexsort((parts, copies, first, point))
        place = np.arange(len(order))
        is_last = (parts == self.joined("n_parts") - 1)[order]
        last = np.where(is_last, place, len(place) - 1)[::-1]
        found = np.empty_like(order)
        found[order] = order[np.minimum.accumulate(last)[::-1]]
        return found

    @cached_property
    def seen(self) -> Numbers:
        """Per piece and point the original frame that carries it, or -1."""
        records, n = self.outcome.records, len(self.outcome.journey.pieces)
        found = np.full((n, len(records)), -1, np.int64)
        for at, (frames, members) in enumerate(records):
            rows = np.flatnonzero(~frames["is_copy"] & (frames["part"] == frames["n_parts"] - 1))
            each = frames["n_pieces"][rows]
            ends = np.cumsum(each)
            within = np.arange(each.sum()) - np.repeat(ends - each, each)
            pieces = members[np.repeat(frames["start"][rows], each) + within]
            copy_of = self.outcome.journey.pieces["copy_of"][pieces]
            pieces = np.where(copy_of >= 0, copy_of, pieces)
            found[pieces, at] = np.repeat(rows, each) + self.starts[at]
        return found

    @cached_property
    def copies(self) -> Numbers:
        """Per frame how many later copies of it were recorded."""
        found = np.zeros(self.starts[-1], np.int64)
        for at, (frames, members) in enumerate(self.outcome.records):
            rows = frames[frames["is_copy"] & (frames["part"] == 0)]
            pieces = members[rows["start"]]
            copy_of = self.outcome.journey.pieces["copy_of"][pieces]
            originals = self.seen[np.where(copy_of >= 0, copy_of, pieces), at]
            np.add.at(found, originals[originals >= 0], 1)
        return found

    @cached_property
    def forward(self) -> Flags:
        """Per piece which way it goes."""
        return np.asarray(self.outcome.journey.pieces["forward"])

    @cached_property
    def edges(self) -> Edges:
        """Every piece's steps from point to point."""
        parts = [np.zeros((3, 0), np.int64)]
        order = np.argsort(self.outcome.scenario.hop_of, kind="stable")
        for forward in (True, False):
            last = np.where(self.forward == forward, -1, -2)
            for at in order[:: 1 if forward else -1]:
                here = np.where(last == -2, -1, self.seen[:, at])
                both = np.flatnonzero((here >= 0) & (last >= 0))
                parts.append(np.stack([both, last[both], here[both]]))
                last = np.where(here >= 0, here, last)
        return Edges(*np.concatenate(parts, axis=1))

    @cached_property
    def class_of(self) -> Numbers:
        """Per piece its class, an index of `CLASSES`."""
        pieces, flows = self.outcome.journey.pieces, self.outcome.flows
        found = flows["kind"][pieces["flow"]].astype(np.int64)
        found[self.is_identical] = IDENTICAL
        sizes = self.joined("n_pieces")
        in_many = ((self.seen >= 0) & (sizes[self.seen] > 1)).any(axis=1)
        found[in_many] = COALESCED
        is_cut = (pieces["total"] > pieces["size"]) & (found == UDP)
        found[is_cut | (in_many & (flows["kind"][pieces["flow"]] == UDP))] = FRAGMENT
        return np.asarray(found)

    @cached_property
    def is_identical(self) -> Flags:
        """Per piece whether another one has the same bytes wherever both are seen."""
        pieces, traffic = self.outcome.journey.pieces, self.outcome.scenario.traffic
        flows = self.outcome.flows[pieces["flow"]]
        has_stamp = (flows["kind"] < UDP) & traffic.has_tcp_stamps
        is_numbered = (flows["kind"] != UDP) | (pieces["offset"] > 0)
        columns = (
            pieces["flow"],
            pieces["forward"],
            np.where(is_numbered, pieces["number"], 0),
            np.where(flows["kind"] < UDP, pieces["ack"], 0),
            pieces["total"],
            pieces["body"],
            pieces["quotes"],
            np.where(has_stamp, pieces["value"], 0),
            np.where(flows["version"] == 4, pieces["ident"], 0),
        )
        _, back, times = np.unique(
            np.stack(columns, 1), axis=0, return_inverse=True, return_counts=True
        )
        return np.asarray((times[back] > 1) & (pieces["copy_of"] < 0))

    def named(self, near: str, far: str, direction: str) -> Hop:
        """The truth about two points by their names, and a direction."""
        names = [point.name for point in self.outcome.scenario.points]
        return self.hop(names.index(near), names.index(far), forward=direction == "forward")

    def hop(self, near: int, far: int, *, forward: bool) -> Hop:
        """The truth about two points and one direction."""
        up, down = (near, far) if forward else (far, near)
        times_ns, hops = self.outcome.journey.times_ns, self.outcome.scenario.hop_of
        original = self.outcome.journey.pieces["copy_of"] < 0
        mine = (self.forward == forward) & (self.seen[:, up] >= 0) & original
        branch = self.outcome.scenario.points[down].branch
        if branch is not None:
            mine &= self.outcome.journey.branch == branch
        has_arrived = times_ns[:, hops[down]] >= 0
        lost, arrived = np.flatnonzero(mine & ~has_arrived), np.flatnonzero(mine & has_arrived)
        both = np.flatnonzero(mine & (self.seen[:, down] >= 0))
        between = [
            at
            for at, hop in enumerate(hops)
            if min(hops[near], hops[far]) < hop < max(hops[near], hops[far])
        ]
        classes, pairs = self._pairs(both, up, down, between)
        first, took_ns = self.joined("first"), np.diff(self.joined("time_ns")[pairs])[:, 0]
        is_late = self._is_late(self._stream[first[pairs[:, 0]]], self.joined("time_ns")[pairs])
        n_more = (self.copies[pairs[:, 1]] - self.copies[pairs[:, 0]]).clip(0)
        by_way = sorted(between, key=lambda at: hops[at], reverse=not forward)
        lost_at_ns, lost_bytes_at_ns = self._lost(lost, [up, *by_way])
        return Hop(
            {name: took_ns[mine] for name, mine in classes.items()},
            lost_at_ns,
            lost_bytes_at_ns,
            {name: int((is_late & mine).sum()) for name, mine in classes.items()},
            {name: int(n_more[mine].sum()) for name, mine in classes.items()},
            len(both) / len(arrived) if len(arrived) else 1.0,
        )

    def _pairs(
        self, pieces: Numbers, up: int, down: int, between: list[int]
    ) -> tuple[dict[str, Flags], Numbers]:
        """Frames of two points that share pieces, and which of them are of which class."""
        pairs, back = np.unique(self.seen[pieces][:, [up, down]], axis=0, return_inverse=True)
        bounds = np.stack(self._bounds(np.arange(self.starts[-1])))
        (start, end), ours = bounds[:, pairs], self.seen[pieces][:, between]
        starts, ends = start[:, 0] == start[:, 1], end[:, 0] == end[:, 1]
        is_other = (bounds[:, ours] != bounds[:, self.seen[pieces, up]][:, :, None]).any(axis=0)
        is_whole = starts & ends
        is_whole[back.reshape(-1)[(is_other & (ours >= 0)).any(axis=1)]] = False
        named = {
            "packet": is_whole,
            "first-byte": starts & ~is_whole,
            "last-byte": ~starts & ends,
        }
        return named, pairs

    def _bounds(self, frames: Numbers) -> tuple[Numbers, Numbers]:
        """Where frames start and end in what their flow sent."""
        first = self.outcome.journey.pieces[self.joined("first")[frames]]
        start = first["number"] + first["offset"]
        is_headed = (self.outcome.flows["kind"][first["flow"]] == UDP) & (first["offset"] == 0)
        return start, start + self.joined("size")[frames] + 8 * is_headed

    def _is_late(self, stream: Numbers, times_ns: Numbers) -> Flags:
        """Which frames of a flow arrive after one that was sent later (RFC 4737).

        The packets are those that arrive: one that was joined is late if its first byte is, for
        class first-byte, or its last one, for class last-byte.
        """
        sent_ns, arrived_ns = times_ns.T - START_NS
        _, stream = np.unique(stream, return_inverse=True)
        order = np.lexsort((sent_ns, arrived_ns, stream))
        sent = (stream * DAY_NS + sent_ns)[order]
        is_late = np.zeros(len(order), bool)
        is_late[order] = sent < np.maximum.accumulate(sent) if len(sent) else False
        return is_late

    def _lost(self, pieces: Numbers, way: list[int]) -> tuple[dict[str, Numbers], Numbers]:
        """When frames were seen last that were lost, by class; and those bytes of TCP that were.

        Frames that were cut or joined since they entered are lost as bytes alone.
        """
        last = np.full(len(pieces), -1)
        for at in way:
            last = np.where(self.seen[pieces, at] >= 0, self.seen[pieces, at], last)
        frames, back, n_lost = np.unique(last, return_inverse=True, return_counts=True)
        made, frame_ns = self.outcome.journey.pieces, self.joined("time_ns")
        start, end = bounds = self._bounds(last)
        has_entered = np.equal(bounds, self._bounds(self.seen[pieces, way[0]])).all(axis=0)
        begins = made["number"][pieces] + made["offset"][pieces]
        is_all = (n_lost == self.joined("n_pieces")[frames])[back.reshape(-1)]
        is_first, is_last = begins == start, begins + made["size"][pieces] == end
        is_tcp = self.outcome.flows["kind"][made["flow"][pieces]] < UDP
        named = {
            "packet": is_all & is_first & has_entered,
            "first-byte": ~is_all & is_first,
            "last-byte": ~is_all & is_last,
        }
        return (
            {name: frame_ns[last[mine]] for name, mine in named.items()},
            np.stack([frame_ns[last[is_tcp]], made["size"][pieces[is_tcp]]]),
        )

    @cached_property
    def _stream(self) -> Numbers:
        """Per piece the flow that can be told.

        All of an opaque tunnel is one, and all non-IP frames of a link. An echo's identifier is its
        port, for a translator too (RFC 5508); ICMP errors are apart, by the flow that they quote.
        """
        pieces = self.outcome.journey.pieces
        flow, is_error = pieces["flow"], pieces["quotes"] >= 0
        tunnels = [p.tunnel.kind for p in self.outcome.scenario.points if p.tunnel]
        told = np.where(is_error, -2 - flow, flow)
        told = np.where(self.outcome.flows["kind"][flow] == ETHER, -1, told)
        return np.asarray(told if OPAQUE.isdisjoint(tunnels) else np.full_like(flow, -1))

    def covered_ns(self) -> tuple[int, int]:
        """The time that all points cover: loss is counted in it alone."""
        times_ns = [r.frames["time_ns"] for r in self.outcome.records]
        return max(int(t.min()) for t in times_ns), min(int(t.max()) for t in times_ns)
