"""Which frames a point records, and which pieces each of them carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tests.recovery.simulator.pieces import ETHER, SYN, UDP

if TYPE_CHECKING:
    from tests.recovery.simulator.pieces import Table
    from tests.recovery.simulator.scenario import Numbers, Point, Scenario
    from tests.recovery.simulator.transit import Journey

FRAME = np.dtype(
    [
        ("first", "i8"),  # the piece that its headers are those of
        ("n_pieces", "i8"),
        ("start", "i8"),  # of its pieces in `members`
        ("size", "i8"),  # payload of all of them
        ("time_ns", "i8"),
        ("is_copy", "?"),
        ("part", "i8"),  # of an outer packet in fragments
        ("n_parts", "i8"),
    ]
)


class Recorded(NamedTuple):
    """Frames of one point in the order of true time, and their pieces one after the other."""

    frames: Table
    members: Numbers


def record(scenario: Scenario, at: int, journey: Journey, flows: Table) -> Recorded:
    """What the point number `at` sees of everything that passes."""
    point, hop = scenario.points[at], scenario.hop_of[at]
    is_there = journey.times_ns[:, hop] >= 0
    if point.branch is not None:
        is_there &= journey.branch == point.branch
    if scenario.is_one_way:
        is_there &= journey.pieces["forward"]
    seen = np.flatnonzero(is_there)
    units = _units(scenario, hop, journey)[seen]
    pieces = journey.pieces
    order = np.lexsort((pieces["offset"][seen], pieces["number"][seen], units))
    seen, units = seen[order], units[order]
    starts = np.flatnonzero(np.r_[True, units[1:] != units[:-1]]) if len(seen) else seen
    frames: Any = np.zeros(len(starts), FRAME)
    frames["first"], frames["start"] = seen[starts], starts
    frames["n_pieces"] = np.diff(np.r_[starts, len(seen)])
    frames["size"] = np.add.reduceat(pieces["size"][seen], starts) if len(seen) else 0
    frames["time_ns"] = journey.times_ns[frames["first"], hop]
    frames["n_parts"] = 1
    original = pieces["copy_of"][frames["first"]]
    frames["is_copy"] = (original >= 0) & (journey.times_ns[original, hop] >= 0)
    if point.tunnel and point.tunnel.mtu:
        frames = _in_parts(point.tunnel.mtu, frames, _outer_bytes(scenario, frames, pieces, flows))
    return Recorded(_observed(point, frames, scenario.chance("record", at)), seen)


def _outer_bytes(scenario: Scenario, frames: Table, pieces: Table, flows: Table) -> Numbers:
    """How long outer IP packets of VXLAN are."""
    mine = pieces[frames["first"]]
    flow = flows[mine["flow"]]
    tcp = 20 + 12 * scenario.traffic.has_tcp_stamps + 4 * (mine["flags"] & SYN > 0)
    transport = np.where(flow["kind"] < UDP, tcp, 8)
    network = np.where(flow["version"] == 4, 20, 40)
    inner = np.where(flow["kind"] == ETHER, 6, network + transport) + frames["size"]
    return np.asarray(20 + 8 + 8 + 14 + inner)


def _in_parts(mtu: int, frames: Table, n_bytes: Numbers) -> Table:
    """Packets that are too long as fragments, one after the other."""
    step = (mtu - 20) & ~7
    n_parts = np.where(n_bytes > mtu, -(-(n_bytes - 20) // step), 1)
    parts = np.repeat(frames, n_parts)
    parts["n_parts"] = np.repeat(n_parts, n_parts)
    parts["part"] = np.arange(len(parts)) - np.repeat(np.cumsum(n_parts) - n_parts, n_parts)
    # the last one passes when the packet has: what waited behind it comes after all of them
    parts["time_ns"] -= 700 * (parts["n_parts"] - 1 - parts["part"])
    return parts


def _units(scenario: Scenario, hop: int, journey: Journey) -> Numbers:
    """Per piece what tells its frame from others."""
    pieces, alone = journey.pieces, np.arange(len(journey.pieces))
    _, first, back = np.unique(pieces["unit"], return_index=True, return_inverse=True)
    units = {"wire": alone, "whole": first[back], "joined": journey.joined}
    zones = [scenario.zone(hop, forward=forward) for forward in (False, True)]
    return np.where(pieces["forward"], units[zones[1]], units[zones[0]])


def _observed(point: Point, frames: Table, chance: np.random.Generator) -> Table:
    """Leave out what the capture missed, add what the mirror sent twice; sort by time."""
    kept = frames[chance.random(len(frames)) >= point.missed_share]
    copies = kept[chance.random(len(kept)) < point.copied_share]
    copies["time_ns"] += point.copy_after_ns
    copies["is_copy"] = True
    both = np.concatenate([kept, copies])
    return both[np.argsort(both["time_ns"], kind="stable")]
