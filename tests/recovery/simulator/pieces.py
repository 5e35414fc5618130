"""What travels: flows, and the pieces that are one frame each on the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.recovery.simulator.scenario import Numbers, Scenario

    Table = NDArray[Any]
    Flags = NDArray[np.bool_]

KINDS = ("tcp", "bulk", "udp", "icmp", "ether")
TCP, BULK, UDP, ICMP, ETHER = range(len(KINDS))
SYN, SYN_ACK, ACK, PSH_ACK = 0x02, 0x12, 0x10, 0x18
FLOWS_A_HOST = 4
POOL_BYTES = 1_000_003  # payloads are cut from so many random bytes, round and round

FLOW = np.dtype(
    [
        ("kind", "i4"),
        ("version", "i4"),
        ("slot", "i4"),  # flows of one slot follow each other in time
        ("is_constant", "?"),  # every packet has the same payload
        ("is_opened_forward", "?"),
        ("near", "u1", 16),  # addresses; IPv4 in the last four bytes
        ("far", "u1", 16),
        ("near_port", "i8"),
        ("far_port", "i8"),
        ("first_seq", "i8", 2),  # of what goes in reverse, and forward
        ("shift", "i8", 2),  # what a firewall adds to them
        ("body", "i8", 2),  # where its payloads start in the pool
    ]
)
PIECE = np.dtype(
    [
        ("flow", "i8"),
        ("forward", "?"),
        ("deal", "i8"),  # the transaction it belongs to
        ("unit", "i8"),  # pieces of one unit are sent as one frame
        ("number", "i8"),  # sequence number, or turn
        ("ack", "i8"),
        ("size", "i8"),  # bytes of payload in this piece
        ("body", "i8"),  # where they are in the pool
        ("offset", "i8"),  # of a fragment, in the IP payload
        ("total", "i8"),  # bytes of payload of the datagram
        ("ident", "i8"),
        ("flags", "i8"),
        ("value", "i8"),  # TCP time stamp
        ("quotes", "i8"),  # the piece that an ICMP error is about
        ("is_reply", "?"),
        ("copy_of", "i8"),  # the piece that the network doubled
        ("sent_ns", "i8"),
    ]
)


def empty(n: int) -> Table:
    """So many pieces of nothing, none a copy or about another."""
    made = np.zeros(n, PIECE)
    made["quotes"] = made["copy_of"] = -1
    return made


def before_in_group(groups: Numbers, amounts: Numbers) -> Numbers:
    """The sum of the amounts of earlier rows of the same group."""
    order = np.argsort(groups, kind="stable")
    sums = np.cumsum(amounts[order]) - amounts[order]
    starts = np.r_[True, groups[order][1:] != groups[order][:-1]] if len(order) else np.array([])
    base = np.maximum.accumulate(np.where(starts, sums, 0)) if len(order) else sums
    found = np.empty_like(sums)
    found[order] = sums - base
    return np.asarray(found)


def make_flows(scenario: Scenario, n_flows: int) -> Table:
    """Flows in slots: of each slot one after the other, all of the slot's kind."""
    traffic, chance = scenario.traffic, scenario.chance("flows")
    flows: Any = np.zeros(n_flows, FLOW)
    number = np.arange(n_flows)
    slots = number % traffic.n_at_once
    flows["slot"] = slots
    bounds = np.cumsum([share for _, share in traffic.shares]) * traffic.n_at_once
    codes = np.array([KINDS.index(kind) for kind, _ in traffic.shares])
    flows["kind"] = codes[np.minimum(np.searchsorted(bounds, slots + 0.5), len(codes) - 1)]
    rank = before_in_group(flows["kind"], np.ones(n_flows, np.int64)) % traffic.n_at_once
    spread = (rank * 0.618_034 + 0.3) % 1
    flows["version"] = np.where(spread < traffic.ip6_share, 6, 4)
    turned = (rank * 0.414_214 + 0.2) % 1
    flows["is_constant"] = (flows["kind"] == UDP) & (turned < traffic.constant_share)
    flows["is_opened_forward"] = (slots % 6) != 5
    flows["near"], flows["far"] = _addresses(flows, 1), _addresses(flows, 2)
    opened = flows["is_opened_forward"]
    own, service = 24_000 + number % 40_000, 20_100 + slots % 5
    flows["near_port"], flows["far_port"] = (
        np.where(opened, own, service),
        np.where(opened, service, own),
    )
    flows["first_seq"] = chance.integers(0, 2**32, (n_flows, 2))
    flows["body"] = chance.integers(0, POOL_BYTES, (n_flows, 2))
    return np.asarray(flows)


def _addresses(flows: Table, side: int) -> NDArray[np.uint8]:
    """10.SIDE.0.HOST or fd00:SIDE::HOST, four flows to a host."""
    host = flows["slot"] // FLOWS_A_HOST + 1
    made = np.zeros((len(flows), 16), np.uint8)
    made[:, 14], made[:, 15] = host >> 8, host & 255
    is_6 = flows["version"] == 6
    made[~is_6, 12:14] = 10, side
    made[is_6, 0], made[is_6, 3] = 0xFD, side
    return made
