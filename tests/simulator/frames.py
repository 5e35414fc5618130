"""Which frames a point records, and which pieces each of them carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from tests.simulator.pieces import Table
    from tests.simulator.scenario import Numbers, Point, Scenario
    from tests.simulator.transit import Journey

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


def record(scenario: Scenario, at: int, journey: Journey) -> Recorded:
    """What the point number `at` sees of everything that passes."""
    point, hop = scenario.points[at], scenario.hop_of[at]
    is_there = journey.times_ns[:, hop] >= 0
    if point.branch is not None:
        is_there &= journey.branch == point.branch
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
    frames["is_copy"] = pieces["copy_of"][frames["first"]] >= 0
    return Recorded(_observed(point, frames, scenario.chance("record", at)), seen)


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
