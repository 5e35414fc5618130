"""Who sends what, and when: requests and bulk data first, then what answers them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tests.recovery.simulator.pieces import (
    ACK,
    BULK,
    ICMP,
    POOL_BYTES,
    PSH_ACK,
    SYN,
    SYN_ACK,
    TCP,
    UDP,
    before_in_group,
    empty,
    make_flows,
)
from tests.recovery.simulator.scenario import START_NS

if TYPE_CHECKING:
    from tests.recovery.simulator.pieces import Table
    from tests.recovery.simulator.scenario import Numbers, Scenario, Traffic

FRAGMENT_BYTES = 1440  # of IP payload; a multiple of eight (RFC 791)
UDP_HEADER_BYTES = 8
CONSTANT_BYTES = 24


class Talk(NamedTuple):
    """Transactions in time order, and the flows they belong to."""

    flows: Table
    flow: Numbers
    turn: Numbers
    at_ns: Numbers
    n_bytes: Numbers
    answer_bytes: Numbers


def talk(scenario: Scenario) -> Talk:
    """Lay out transactions: slots take turns, a flow lasts `n_turns` of them."""
    traffic, chance = scenario.traffic, scenario.chance("talk")
    n = max(traffic.n_at_once, round(traffic.n_packets / packets_a_transaction(traffic)))
    gaps_ns = traffic.gap_ns // 2 + chance.integers(0, traffic.gap_ns, n)
    gaps_ns[:] = traffic.gap_ns if traffic.is_regular else gaps_ns
    at_ns = START_NS + np.cumsum(gaps_ns)
    number = np.arange(n)
    rounds, slot = number // traffic.n_at_once, number % traffic.n_at_once
    flow = rounds // traffic.n_turns * traffic.n_at_once + slot
    flows = make_flows(scenario, int(flow.max()) + 1)
    kind, turn = flows["kind"][flow], rounds % traffic.n_turns
    n_bytes, answer_bytes = chance.integers(8, 400, n), chance.integers(8, 400, n)
    n_bytes[kind == BULK] = _bulk_bytes(traffic, chance, int((kind == BULK).sum()))
    answer_bytes[kind == BULK] = 0
    is_opening = np.isin(kind, (TCP, BULK)) & (turn == 0)
    for sizes in (n_bytes, answer_bytes):
        sizes[flows["is_constant"][flow]] = CONSTANT_BYTES
        sizes[kind == ICMP] = 56
        sizes[is_opening] = 0
    if traffic.datagram_bytes:
        is_long = (kind == UDP) & (number % 3 == 0)
        n_bytes[is_long] = traffic.datagram_bytes - chance.integers(0, 900, int(is_long.sum()))
        answer_bytes[is_long & (number % 2 == 0)] = traffic.datagram_bytes
    return Talk(flows, flow, turn, at_ns, n_bytes, answer_bytes)


def _bulk_bytes(traffic: Traffic, chance: np.random.Generator, n: int) -> Numbers:
    least, most = (11_000, 65_000) if traffic.super_bytes else (4_000, 11_000)
    return chance.integers(least, most, n)


def packets_a_transaction(traffic: Traffic) -> float:
    """How many packets one brings about, roughly."""
    bulk = 27.0 * 1.4 if traffic.super_bytes else 6.0 * 1.4
    each = {"tcp": 2.3, "bulk": bulk, "udp": 2.0, "icmp": 2.0, "ether": 2.0}
    if traffic.datagram_bytes:
        each["udp"] = 2 + traffic.datagram_bytes / FRAGMENT_BYTES / 2
    return sum(share * each[kind] for kind, share in traffic.shares)


def requests(scenario: Scenario, said: Talk) -> Table:
    """What the openers of flows send, cut to pieces."""
    forward = said.flows["is_opened_forward"][said.flow]
    rows = _messages(said, forward, said.n_bytes, said.at_ns)
    rows["ack"] = _next_number(said, ~forward, said.answer_bytes)
    rows["flags"] = np.where(said.turn == 0, SYN, PSH_ACK)
    rows["ack"][said.turn == 0] = 0
    return cut(rows, scenario.traffic, said.flows["kind"][said.flow])


def answers(scenario: Scenario, said: Talk, arrived_ns: Numbers) -> Table:
    """What comes back for transactions whose request arrived; -1 where it did not."""
    chance = scenario.chance("answers")
    there = arrived_ns >= 0
    there &= chance.random(len(there)) < scenario.traffic.reply_share
    there &= (said.flows["kind"][said.flow] != BULK) | (said.turn == 0)
    waited_ns = 6_000 + chance.exponential(2_000, len(there)).astype(np.int64)
    forward = ~said.flows["is_opened_forward"][said.flow]
    rows = _messages(said, forward, said.answer_bytes, arrived_ns + waited_ns)
    rows["ack"] = _next_number(said, ~forward, said.n_bytes) + said.n_bytes + (said.turn == 0)
    rows["flags"] = np.where(said.turn == 0, SYN_ACK, PSH_ACK)
    rows["is_reply"] = True
    kept = rows[there]
    return cut(kept, scenario.traffic, said.flows["kind"][kept["flow"]])


def _messages(said: Talk, forward: Numbers, n_bytes: Numbers, at_ns: Numbers) -> Table:
    """One row a transaction."""
    rows = empty(len(said.flow))
    kind, constant = said.flows["kind"][said.flow], said.flows["is_constant"][said.flow]
    is_tcp = np.isin(kind, (TCP, BULK))
    rows["flow"], rows["forward"], rows["sent_ns"] = said.flow, forward, at_ns
    rows["unit"] = rows["deal"] = np.arange(len(rows))
    rows["total"] = rows["size"] = n_bytes
    sent = before_in_group(said.flow, n_bytes)
    rows["number"] = np.where(is_tcp, _next_number(said, forward, n_bytes), said.turn)
    start = said.flows["body"][said.flow, forward.astype(int)]
    rows["body"] = np.where(constant, start, start + sent) % POOL_BYTES
    rows["value"] = (at_ns - START_NS) // 1_000_000 + 77
    return rows


def _next_number(said: Talk, forward: Numbers, n_bytes: Numbers) -> Numbers:
    """The sequence number of what a side of a connection sends next, SYN counted as one."""
    first = said.flows["first_seq"][said.flow, forward.astype(int)]
    return np.asarray(first + (said.turn > 0) + before_in_group(said.flow, n_bytes))


def cut(rows: Table, traffic: Traffic, kind: Numbers) -> Table:
    """Cut messages into what fits the wire: TCP segments, IP fragments."""
    segment = 1448 if traffic.has_tcp_stamps else 1460
    header = np.where(kind == UDP, UDP_HEADER_BYTES, 0)
    step = np.where(kind == UDP, FRAGMENT_BYTES, segment)
    n_each = np.maximum(1, -(-(rows["size"] + header) // step))
    pieces = np.repeat(rows, n_each)
    place = np.arange(len(pieces)) - np.repeat(np.cumsum(n_each) - n_each, n_each)
    header, step = np.repeat(header, n_each), np.repeat(step, n_each)
    start = np.maximum(0, place * step - header)
    end = np.minimum(pieces["total"], (place + 1) * step - header)
    is_udp = np.repeat(kind == UDP, n_each)
    pieces["size"], pieces["body"] = end - start, (pieces["body"] + start) % POOL_BYTES
    pieces["offset"] = np.where(is_udp, place * step, 0)
    pieces["number"] += np.where(is_udp, 0, start)
    last = place == np.repeat(n_each, n_each) - 1
    pieces["flags"] = np.where((pieces["flags"] == PSH_ACK) & ~last, ACK, pieces["flags"])
    return _in_units(pieces, traffic, place, is_udp)


def _in_units(pieces: Table, traffic: Traffic, place: Numbers, is_udp: Numbers) -> Table:
    """What is sent as one frame; what is not leaves one after the other."""
    each = traffic.super_bytes // 1460
    group = place // each if each else place
    group = np.where(is_udp, 0 if traffic.fragments in {"cut", "both"} else place, group)
    changed = np.r_[True, np.diff(pieces["unit"]) != 0] if len(pieces) else np.array([], bool)
    changed |= np.r_[True, np.diff(group) != 0] if len(pieces) else changed
    pieces["unit"] = np.cumsum(changed)
    pieces["sent_ns"] += group * 1_300
    return np.asarray(pieces)
