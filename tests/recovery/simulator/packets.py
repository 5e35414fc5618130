"""IP and transport headers of frames as a point sees them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tests.recovery.simulator import headers
from tests.recovery.simulator.frames import FRAME
from tests.recovery.simulator.headers import folded, header, pseudo_sum, put, word_sum
from tests.recovery.simulator.payload import word_sums
from tests.recovery.simulator.pieces import ICMP, SYN, UDP

if TYPE_CHECKING:
    from tests.recovery.simulator.headers import Bytes
    from tests.recovery.simulator.pieces import Table
    from tests.recovery.simulator.scenario import Numbers, Point, Scenario

PROTOCOLS = {(0, 4): 6, (0, 6): 6, (UDP, 4): 17, (UDP, 6): 17, (ICMP, 4): 1, (ICMP, 6): 58}
UDP_HEADER_BYTES = 8


class Group(NamedTuple):
    """Frames of one shape at one point: each column a frame."""

    scenario: Scenario
    point: Point
    frames: Table
    pieces: Table
    flows: Table  # as this point sees them
    everything: Any  # all pieces, for what ICMP errors quote
    all_flows: Table
    ttl: int = 0  # of what an ICMP error quotes, which no router changes; 0: by the routers passed

    @property
    def version(self) -> int:
        """Of the IP header."""
        return int(self.flows["version"][0])

    @property
    def kind(self) -> int:
        """Of the flow: 0 for all of TCP."""
        kind = int(self.flows["kind"][0])
        return 0 if kind < UDP else kind


def addressed(group: Group) -> tuple[tuple[Bytes, Bytes], tuple[Numbers, Numbers]]:
    """Addresses and ports, source first."""
    flows, forward = group.flows, group.pieces["forward"]
    wide = forward[:, None]
    ends = (
        np.where(wide, flows["near"], flows["far"]),
        np.where(wide, flows["far"], flows["near"]),
    )
    near, far = flows["near_port"], flows["far_port"]
    return ends, (np.where(forward, near, far), np.where(forward, far, near))


def network(group: Group, length: Numbers, kind: int | None = None) -> Bytes:
    """IP headers around so many bytes, with a fragment's fields."""
    pieces, frames, point = group.pieces, group.frames, group.point
    ends, _ = addressed(group)
    protocol = PROTOCOLS[group.kind if kind is None else kind, group.version]
    tos, ttl = point.dscp << 2, _ttl(group)
    is_udp = group.kind == UDP and kind is None
    has_more = is_udp & (pieces["offset"] + length < pieces["total"] + UDP_HEADER_BYTES)
    is_fragment = np.asarray(is_udp & (has_more | (pieces["offset"] > 0)))
    is_left_open = point.is_zero_length & (frames["n_pieces"] > 1) & ~is_fragment
    if group.version == 4:
        field: Numbers = pieces["offset"] // 8 + has_more * headers.MORE_FRAGMENTS
        field = np.where(is_fragment, field, headers.DONT_FRAGMENT)
        total = np.where(is_left_open, 0, length + 20)
        return headers.ipv4(
            total, protocol, ends, ident=pieces["ident"] & 0xFFFF, fragment=field, ttl=ttl, tos=tos
        )
    length = np.where(is_left_open, 0, length)
    if not is_fragment[0]:
        return headers.ipv6(length, protocol, ends, hops=ttl, tos=tos)
    between = headers.ipv6_fragment(protocol, pieces["offset"], has_more, pieces["ident"])
    return np.hstack([headers.ipv6(length + 8, 44, ends, hops=ttl, tos=tos), between])


def _ttl(group: Group) -> Numbers | int:
    passed = group.point.routers
    to_pass = group.scenario.n_routers - passed
    return group.ttl or 64 - np.where(group.pieces["forward"], passed, to_pass)


def icmp_error(group: Group) -> Bytes:
    """Port unreachable, about a packet as it is on this side of a translator (RFC 5508)."""
    about, n = group.everything[group.pieces["quotes"]], len(group.pieces)
    frames: Any = np.zeros(n, FRAME)
    frames["size"], frames["n_pieces"] = about["size"], 1
    plain = replace(group.point, is_partial=False, is_zero_length=False, dscp=0)
    ttl = 64 - group.scenario.n_routers
    quoted = group._replace(point=plain, frames=frames, pieces=about, ttl=ttl)
    body = transport(quoted)
    kind, code = (3, 3) if group.version == 4 else (1, 4)
    quote = [network(quoted, UDP_HEADER_BYTES + about["size"]), body]
    made = np.hstack([header("1124", kind, code, 0, 0, n=n), *quote])
    covered = word_sum(made)
    length = np.full(n, made.shape[1])
    if group.version == 6:
        covered += pseudo_sum(addressed(group)[0], PROTOCOLS[ICMP, 6], length)
    put(made, 2, 2, ~folded(covered) & 0xFFFF)
    return np.hstack([network(group, length, ICMP), made])


def transport(group: Group) -> Bytes:
    """Transport headers with their checksum, or what offload leaves of it."""
    pieces, size = group.pieces, group.frames["size"]
    ends, _ = addressed(group)
    protocol = PROTOCOLS[group.kind, group.version]
    total = np.where(group.kind == UDP, pieces["total"], size)
    column, made = _bare(group, protocol, total)
    length = total + made.shape[1]
    covered = pseudo_sum(ends, protocol, length)
    if protocol == PROTOCOLS[ICMP, 4]:
        covered = np.zeros_like(covered)
    elif group.point.is_partial and group.kind != ICMP:
        put(made, column, 2, folded(covered))
        return made
    whole = folded(covered + word_sum(made) + word_sums(pieces["body"], total))
    value = ~whole & 0xFFFF
    put(made, column, 2, np.where((value == 0) & (group.kind == UDP), 0xFFFF, value))
    return made


def _bare(group: Group, protocol: int, total: Numbers) -> tuple[int, Bytes]:
    """The transport header without its checksum, and the column of that."""
    pieces, flows = group.pieces, group.flows
    _, ports = addressed(group)
    if group.kind == UDP:
        return 6, headers.udp(ports, total + 8)
    if group.kind == ICMP:
        request, reply = (8, 0) if protocol == 1 else (128, 129)
        kind = np.where(pieces["is_reply"], reply, request)
        return 2, headers.echo(kind, flows["near_port"] & 0xFFFF, pieces["number"] & 0xFFFF)
    sent, other = pieces["forward"].astype(int), 1 - pieces["forward"]
    rows = np.arange(len(pieces))
    shift = flows["shift"]
    has_stamps = group.scenario.traffic.has_tcp_stamps
    opens = bool(pieces["flags"][0] & SYN)
    options = headers.tcp_options(
        pieces["value"], pieces["value"] - 3, group.point.mss, has_stamps=has_stamps, opens=opens
    )
    acked = np.where(pieces["flags"] == SYN, 0, pieces["ack"] + shift[rows, other])
    number = pieces["number"] + shift[rows, sent]
    return 16, headers.tcp(ports, number, acked, pieces["flags"], options)
