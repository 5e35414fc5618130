"""Everything that passes: requests, what answers them, acknowledgments, and what is sent again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.recovery.simulator.pieces import (
    ACK,
    BULK,
    POOL_BYTES,
    SYN_ACK,
    TCP,
    UDP,
    before_in_group,
    empty,
)
from tests.recovery.simulator.traffic import FRAGMENT_BYTES, answers, requests, talk
from tests.recovery.simulator.transit import Journey, travel

if TYPE_CHECKING:
    from tests.recovery.simulator.pieces import Flags, Table
    from tests.recovery.simulator.scenario import Numbers, Scenario
    from tests.recovery.simulator.traffic import Talk

ROUNDS = 3


def send_everything(scenario: Scenario) -> tuple[Table, Journey]:
    """Send all traffic of a scenario; give its flows, and the pieces with their times."""
    said = talk(scenario)
    asked = _until_there(scenario, requests(scenario, said), said.flows, "asked")
    answer = answers(scenario, said, _arrived_ns(scenario, asked, len(said.flow)))
    answered = _until_there(scenario, answer, said.flows, "answered")
    rest = [
        travel(scenario, _acks_of_answers(scenario, answered, said), said.flows, "acks"),
        travel(scenario, _acks_of_bulk(scenario, asked, said), said.flows, "bulk acks"),
        travel(scenario, _errors(scenario, asked, said), said.flows, "errors"),
    ]
    journey = _doubled(scenario, _together([asked, answered, *rest]))
    _number(scenario, journey.pieces, said.flows)
    return said.flows, journey


def last_hop(scenario: Scenario, journey: Journey) -> Numbers:
    """When each piece reached the end of its path, or -1."""
    there = np.where(journey.pieces["forward"], scenario.n_hops - 1, 0)
    return np.asarray(journey.times_ns[np.arange(len(there)), there])


def _until_there(scenario: Scenario, pieces: Table, flows: Table, purpose: str) -> Journey:
    """Send; what TCP lost it sends again, byte for byte, until it is there or is given up."""
    journeys = [travel(scenario, pieces, flows, purpose)]
    for turn in range(ROUNDS):
        newest = journeys[-1]
        is_lost = last_hop(scenario, newest) < 0
        again = newest.pieces[is_lost & (flows["kind"][newest.pieces["flow"]] < UDP)].copy()
        if not len(again):
            break
        timeout_ns = scenario.traffic.retransmit_ns << turn
        again["sent_ns"] += timeout_ns
        again["value"] += timeout_ns // 1_000_000
        again["unit"] = np.arange(len(again))
        journeys.append(travel(scenario, again, flows, f"{purpose}{turn}"))
    return _together(journeys)


def _together(journeys: list[Journey]) -> Journey:
    """Journeys one behind the other; what numbers pieces and units is moved along."""
    starts = np.cumsum([0, *(len(j.pieces) for j in journeys)])
    units = 0
    for journey in journeys:
        journey.pieces["unit"] += units
        units = int(journey.pieces["unit"].max(initial=units)) + 1
    joined = [j.joined + start for j, start in zip(journeys, starts, strict=False)]
    return Journey(
        np.concatenate([j.pieces for j in journeys]),
        np.concatenate([j.times_ns for j in journeys]),
        np.concatenate(joined),
        np.concatenate([j.branch for j in journeys]),
    )


def _arrived_ns(scenario: Scenario, asked: Journey, n: int) -> Numbers:
    """When all of a transaction's request was there, or -1."""
    at_ns = last_hop(scenario, asked)
    deal, again = asked.pieces["deal"], asked.pieces
    arrived_ns, bytes_there = np.full(n, -1, np.int64), np.zeros(n, np.int64)
    there = at_ns >= 0
    np.maximum.at(arrived_ns, deal[there], at_ns[there])
    np.add.at(bytes_there, deal[there], again["size"][there])
    wanted = np.zeros(n, np.int64)
    np.maximum.at(wanted, deal, again["total"])
    return np.where(bytes_there >= wanted, arrived_ns, -1)


def _acks_of_answers(scenario: Scenario, answered: Journey, said: Talk) -> Table:
    """The third packet of each opening, and for some answers a pure acknowledgment."""
    at_ns, pieces = last_hop(scenario, answered), answered.pieces
    chance = scenario.chance("acks")
    wanted = chance.random(len(pieces)) < np.where(pieces["flags"] == SYN_ACK, 1.1, 0.3)
    wanted &= np.isin(said.flows["kind"][pieces["flow"]], (TCP, BULK)) & (at_ns >= 0)
    after = pieces["number"] + pieces["size"] + (pieces["flags"] == SYN_ACK)
    acks = _pure_acks(pieces[wanted], after[wanted], at_ns[wanted] + 9_000)
    acks["number"] = pieces["ack"][wanted]
    return acks


def _pure_acks(about: Table, ack: Numbers, at_ns: Numbers) -> Table:
    acks = empty(len(about))
    acks["flow"], acks["forward"], acks["deal"] = about["flow"], ~about["forward"], about["deal"]
    acks["number"], acks["ack"], acks["flags"] = about["ack"], ack, ACK
    acks["unit"], acks["sent_ns"] = np.arange(len(acks)), at_ns
    acks["value"] = about["value"] + 1_000
    return acks


def _acks_of_bulk(scenario: Scenario, asked: Journey, said: Talk) -> Table:
    """One for every other frame that arrives, up to the first byte that is missing."""
    at_ns, pieces = last_hop(scenario, asked), asked.pieces
    is_bulk = (said.flows["kind"][pieces["flow"]] == BULK) & (pieces["size"] > 0) & (at_ns >= 0)
    is_first = asked.joined == np.arange(len(pieces))
    rows, acks = [], []
    for flow in np.unique(pieces["flow"][is_bulk]):
        mine = np.flatnonzero(is_bulk & (pieces["flow"] == flow))
        stream = mine[np.argsort(pieces["number"][mine], kind="stable")]
        end, whole_ns = _contiguous(pieces[stream], at_ns[stream])
        frames = mine[is_first[mine]]
        frames = frames[np.argsort(at_ns[frames], kind="stable")][1::2]
        reached = np.searchsorted(whole_ns, at_ns[frames], "right")
        rows.append(frames)
        acks.append(np.r_[pieces["number"][stream[0]], end][reached])
    if not rows:
        return empty(0)
    row, ack = np.concatenate(rows), np.concatenate(acks)
    return np.asarray(_pure_acks(pieces[row], ack, at_ns[row] + 3_000))


def _contiguous(stream: Table, at_ns: Numbers) -> tuple[Numbers, Numbers]:
    """Where the stream ends after each piece, and since when it has no hole before that."""
    end = np.maximum.accumulate(stream["number"] + stream["size"])
    starts = np.r_[stream["number"][1:], end[-1]]
    hole = np.r_[False, (starts > end)[:-1]]
    whole_ns = np.maximum.accumulate(np.where(hole, np.iinfo(np.int64).max, at_ns))
    return end, whole_ns


def _errors(scenario: Scenario, asked: Journey, said: Talk) -> Table:
    """Port unreachable for some UDP requests that arrived."""
    at_ns, pieces = last_hop(scenario, asked), asked.pieces
    share = scenario.traffic.errors_share
    chosen = scenario.chance("errors").random(len(pieces)) < share
    chosen &= (said.flows["kind"][pieces["flow"]] == UDP) & (at_ns >= 0)
    chosen &= pieces["size"] == pieces["total"]
    rows = np.flatnonzero(chosen)
    made = _pure_acks(pieces[rows], pieces["ack"][rows], at_ns[rows] + 5_000)
    made["quotes"], made["is_reply"] = rows, True
    return np.asarray(made)


def _doubled(scenario: Scenario, journey: Journey) -> Journey:
    """What the network sent twice: the second goes on from there a moment later (RFC 5560)."""
    chance = scenario.chance("doubled")
    found = [journey]
    for near, link in enumerate(scenario.links):
        chosen = chance.random(len(journey.pieces)) < link.doubled_share
        down = np.where(journey.pieces["forward"], near + 1, near)
        chosen &= journey.times_ns[np.arange(len(chosen)), down] >= 0
        rows = np.flatnonzero(chosen)
        copies = journey.pieces[rows].copy()
        copies["copy_of"], copies["unit"] = rows, np.arange(len(rows))
        hops = np.arange(scenario.n_hops)
        after = np.where(copies["forward"][:, None], hops > near, hops <= near)
        times_ns = journey.times_ns[rows]
        times_ns = np.where(after & (times_ns >= 0), times_ns + link.doubled_after_ns, -1)
        alone = np.arange(len(rows))
        found.append(Journey(copies, times_ns, alone, journey.branch[rows]))
    return _together(found)


def _number(scenario: Scenario, pieces: Table, flows: Table) -> None:
    """Give IP IDs in the order of sending: each in its manner."""
    how = scenario.traffic.idents
    counts = _counts(pieces)
    order = np.argsort(pieces["sent_ns"], kind="stable")
    group = 2 * pieces["flow"] + pieces["forward"] if how == "flow" else pieces["forward"] * 1
    rank = np.empty(len(pieces), np.int64)
    rank[order] = before_in_group(group[order], counts[order].astype(np.int64))
    first = group * 7_919 % 65_536 if how == "flow" else 0
    step = {"wraps": 1_024, "zero": 0}.get(how, 1)
    ident = first * (how == "flow") + 1 + rank * step if step else np.zeros_like(rank)
    if how == "random":
        ident = scenario.chance("idents").integers(1, scenario.traffic.n_idents + 1, len(rank))
    ident = np.where((pieces["flags"] == SYN_ACK) & (flows["kind"][pieces["flow"]] < UDP), 0, ident)
    is_long = (pieces["total"] > pieces["size"]) & (flows["kind"][pieces["flow"]] == UDP)
    # what is cut on the way has an ID of its own (RFC 6864), and all fragments the same
    start = np.arange(len(pieces)) - pieces["offset"] // FRAGMENT_BYTES
    ident = np.where(is_long, (1 + ident[start] if step else start + 1), ident)
    copied = pieces["copy_of"] >= 0
    ident[copied] = ident[pieces["copy_of"][copied]]
    pieces["ident"] = ident


def _counts(pieces: Table) -> Flags:
    """Not copies, nor later fragments."""
    return np.asarray((pieces["copy_of"] < 0) & (pieces["offset"] == 0))


__all__ = ["POOL_BYTES", "last_hop", "send_everything"]
