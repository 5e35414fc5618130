"""The bytes of frames: those of one shape at once, as rows of one matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.recovery.simulator.headers import MORE_FRAGMENTS, folded, header, put, word_sum
from tests.recovery.simulator.packets import Group, icmp_error, network, transport
from tests.recovery.simulator.payload import pool
from tests.recovery.simulator.pieces import ETHER, POOL_BYTES, SYN, UDP
from tests.recovery.simulator.translation import flows_at
from tests.recovery.simulator.wrapping import (
    IPV4,
    IPV6,
    OPAQUE,
    OTHER,
    ethernet,
    outermost,
    tunnelled,
)

if TYPE_CHECKING:
    from tests.recovery.simulator.headers import Bytes
    from tests.recovery.simulator.pieces import Table
    from tests.recovery.simulator.scenario import Numbers, Scenario

EMPTY_FRAME_BYTES = 60


def render(scenario: Scenario, at: int, frames: Table, pieces: Table, flows: Table) -> list[bytes]:
    """The frames as they are on the wire at the point number `at`."""
    point = scenario.points[at]
    seen = flows_at(scenario, flows, scenario.hop_of[at])
    mine = pieces[frames["first"]]
    shapes = _shapes(frames, mine, seen[mine["flow"]])
    made: list[bytes] = [b""] * len(frames)
    for shape in np.unique(shapes):
        rows = np.flatnonzero(shapes == shape)
        group = Group(
            scenario, point, frames[rows], mine[rows], seen[mine["flow"][rows]], pieces, seen
        )
        for row, data in zip(rows.tolist(), _assemble(group), strict=True):
            made[row] = data
    return made


def _shapes(frames: Table, pieces: Table, flows: Table) -> Numbers:
    """Frames with equal numbers have headers of equal length."""
    opens = (flows["kind"] < UDP) & (pieces["flags"] & SYN > 0)
    is_fragment = (pieces["offset"] > 0) | (frames["size"] < pieces["total"])
    is_fragment &= flows["kind"] == UDP
    digits = (
        np.maximum(flows["kind"], 1),
        flows["version"],
        opens,
        is_fragment,
        pieces["offset"] > 0,
        pieces["quotes"] >= 0,
    )
    found = np.zeros(len(frames), np.int64)
    for digit in digits:
        found = found * 10 + digit
    return found


def _assemble(group: Group) -> list[bytes]:
    """Headers and payload; padded where the point pads."""
    head, start, size = _packet(group)
    tunnel, forward = group.point.tunnel, group.pieces["forward"]
    if tunnel is None:
        head = np.hstack([outermost(group.point, _ethertype(group), forward), head])
        return _joined(head, start, size, is_padded=group.point.is_padded)
    if tunnel.kind in OPAQUE:
        size = head.shape[1] + size + 20 & ~3
        start = group.frames["first"] * 7_919 % POOL_BYTES
        inner = np.zeros((len(size), 0), np.uint8)
    else:
        inner = np.hstack([ethernet(_ethertype(group), forward, place=group.point.routers), head])
    by = group.frames["first"] + 1
    outer, behind = tunnelled(tunnel, inner, size, forward, by, group.pieces["flow"])
    link = outermost(group.point, IPV4, forward)
    whole = _joined(np.hstack([link, outer, behind]), start, size, is_padded=False)
    if not tunnel.mtu:
        return whole
    return [_part(data, link.shape[1], tunnel.mtu, part) for data, part in _parts(group, whole)]


def _parts(group: Group, whole: list[bytes]) -> Any:  # noqa: ANN401 - an iterator of pairs
    return zip(whole, group.frames["part"].tolist(), strict=True)


def _part(data: bytes, link_bytes: int, mtu: int, part: int) -> bytes:
    """One fragment of an outer IPv4 packet; all of it, if it fits."""
    packet = data[link_bytes:]
    if len(packet) <= mtu:
        return data
    step = (mtu - 20) & ~7
    body = packet[20 + part * step : 20 + (part + 1) * step]
    is_last = 20 + (part + 1) * step >= len(packet)
    fragment = part * step // 8 | (0 if is_last else MORE_FRAGMENTS)
    made = np.frombuffer(packet[:20], np.uint8).copy()[None, :]
    for column, value in ((2, 20 + len(body)), (6, fragment), (10, 0)):
        put(made, column, 2, value)
    put(made, 10, 2, ~folded(word_sum(made)) & 0xFFFF)
    return data[:link_bytes] + made.tobytes() + body


def _joined(head: Bytes, start: Numbers, size: Numbers, *, is_padded: bool) -> list[bytes]:
    width, blob, body = head.shape[1], np.ascontiguousarray(head).tobytes(), pool()
    rows = zip(range(0, len(blob), width), start.tolist(), size.tolist(), strict=True)
    if not is_padded:
        return [blob[at : at + width] + body[s : s + n] for at, s, n in rows]
    found = (blob[at : at + width] + body[s : s + n] for at, s, n in rows)
    return [data.ljust(EMPTY_FRAME_BYTES, b"\0") for data in found]


def _ethertype(group: Group) -> int:
    if group.kind == ETHER:
        return OTHER
    return IPV4 if group.version == 4 else IPV6


def _packet(group: Group) -> tuple[Bytes, Numbers, Numbers]:
    """IP and transport headers, and where the payload is."""
    pieces, size = group.pieces, group.frames["size"]
    start, n = pieces["body"], len(pieces)
    if group.kind == ETHER:
        return header("24", pieces["flow"] & 0xFFFF, pieces["number"], n=n), start, size
    if pieces["quotes"][0] >= 0:
        return icmp_error(group), start, np.zeros(n, np.int64)
    body = np.zeros((n, 0), np.uint8) if pieces["offset"][0] > 0 else transport(group)
    return np.hstack([network(group, body.shape[1] + size), body]), start, size
