"""A translator that keeps the IP identification one way and writes its own the other way."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tests.recovery.networks.talk import LOST, Pair, host, talk, way, with_clocks
from tests.support.frames import checksum
from tests.support.networks import (
    START_NS,
    Edges,
    Network,
    Packet,
    both_ways,
    datagram,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Callable

OUTSIDE = "203.0.113.7"
LINE = ("client", "inside", "outside", "server")
TAKES_NS = {("client", "inside"): 3_000, ("inside", "outside"): 5_000, ("outside", "server"): 2_000}
N_CLIENTS = 4
MOST_FLOWS = 6_000
"""Of a client: its ports are from 40000 on."""


IS_REWRITTEN: dict[str, Callable[[int], bool]] = {
    "kept": lambda _packet: False,
    "rewritten": lambda _packet: True,
    # as by chance
    "lucky": lambda packet: packet % 31 > 0,
    # one of several devices does
    "mixed": lambda packet: packet % 5 == 0,
}
"""Whether a packet gets another IP identification on the way."""

N_BEATS, BEAT_NS, SECOND_NS = 30, 2_000_000, 1_000_000_000
RETRY_NS = 1_000_000
RETRY_LOST = 0.05


def with_ident(frame: bytes, ident: int) -> bytes:
    """The frame with another IP identification, and the checksum that belongs to it."""
    head = frame[14:18] + ident.to_bytes(2) + frame[20:24] + b"\0\0" + frame[26:34]
    whole = head[:10] + checksum(head).to_bytes(2) + head[12:]
    return frame[:14] + whole + frame[34:]


def network(
    n: int,
    seed: int,
    *,
    has_own_clocks: bool,
    ids: tuple[str, str],
    is_translated: bool = True,
    n_flows: int = 6,
) -> Network:
    """`ids` of packets there and back: `kept`, `zero` at all points, or see `IS_REWRITTEN`.

    Each client has so many flows, or fewer.
    """
    ways = ((way(*LINE),), (way(*LINE[::-1]),))
    # one source address outside; the ports of clients are their own already
    inner = tuple(Pair((host(at), "198.51.100.9"), *ways) for at in range(N_CLIENTS))
    outer = tuple(Pair((OUTSIDE, "198.51.100.9"), *ways) for _ in range(N_CLIENTS))
    n_flows = min(n_flows, n // 4)
    packets = talk(inner, n, seed, n_flows)
    outside = talk(outer, n, seed, n_flows) if is_translated else packets

    def as_seen(point: str, frame: bytes, number: int) -> bytes:
        is_outside = point in {"outside", "server"}
        seen = outside[number].frame if is_outside else frame
        is_there = packets[number].ways[0][0] == LINE[0]
        kept = ids[0] if is_there else ids[1]
        if kept == "zero":
            return with_ident(seen, 0)
        # the translator numbers what passes it, on the side where it comes out
        is_numbered = is_outside == is_there and IS_REWRITTEN[kept](number)
        return with_ident(seen, (number * 7 + 20_011) % 65_535 + 1) if is_numbered else seen

    edges = Edges(both_ways(TAKES_NS), lost={("inside", "outside"): LOST})
    return with_clocks(walk(packets, edges, seed, as_seen), has_own=has_own_clocks)


def heartbeats(n: int, seed: int, *, ahead: int) -> Network:
    """A device adds a number to IDs. Packets of most flows are equal but for these."""
    chance = np.random.default_rng(seed)
    packets = list[Packet]()
    for flow in range(n // N_BEATS):
        ends, ports, data = (host(flow), "198.51.100.9"), (20_000 + flow, 53), chance.bytes(40)
        t_ns, first = START_NS + int(chance.integers(SECOND_NS)), int(chance.integers(1, 60_000))
        for beat in range(N_BEATS):
            data = data if flow % 3 else chance.bytes(40)
            frame = datagram(ends, ports, first + beat, data)
            packets.append(Packet(t_ns, way(*LINE[1:3]), frame))
            t_ns += int(BEAT_NS * chance.uniform(0.7, 1.3))
    packets.sort(key=lambda packet: packet.t_ns)

    def as_seen(point: str, frame: bytes, _number: int) -> bytes:
        ident = int.from_bytes(frame[18:20])
        return with_ident(frame, ident + ahead) if point == "outside" else frame

    edges = Edges(both_ways(TAKES_NS), tail_ns=5_000, lost={LINE[1:3]: RETRY_LOST})
    return walk(packets, edges, seed, as_seen)


def asked_twice(
    n: int,
    seed: int,
    *,
    n_rewritten: int,
    n_flows: int,
    missed: float = 0.0,
    seldom: float | None = None,
) -> Network:
    """Each query is sent twice, with IDs of their own; so many other packets get another ID.

    Each point misses such a share; with `seldom`, the second sees only so many of those others,
    and there is a third behind it.
    """
    line = LINE[1:3] if seldom is None else LINE[1:]
    chance = np.random.default_rng(seed)
    packets = list[Packet]()
    for at in range(n):
        is_query = at >= n_rewritten
        ends = (host(at % 20 + 20 * is_query), "198.51.100.9")
        ports = (20_000 + at % n_flows if is_query else 50_000 + at % 100, 53)
        t_ns, data = START_NS + int(chance.integers(n * RETRY_NS)), chance.bytes(40)
        for again in range(1 + is_query):
            frame = datagram(ends, ports, int(chance.integers(1, 65_536)), data)
            packets.append(Packet(t_ns + again * RETRY_NS, way(*line), frame))
    packets.sort(key=lambda packet: packet.t_ns)
    is_other = np.array([packet.frame[34:36] >= (50_000).to_bytes(2) for packet in packets])
    is_missed = {point: chance.random(len(packets)) < missed for point in line}
    if seldom is not None:
        is_missed["outside"] |= is_other & (chance.random(len(packets)) >= seldom)

    def as_seen(point: str, frame: bytes, number: int) -> bytes:
        is_new = is_other[number] and point != "inside"
        return with_ident(frame, (number * 7 + 20_011) % 65_535 + 1) if is_new else frame

    edges = Edges(both_ways(TAKES_NS), tail_ns=200_000, lost={LINE[1:3]: RETRY_LOST})
    return walk(packets, edges, seed, as_seen, lambda point, at: bool(is_missed[point][at]))


KINDS = {
    "NAT, IDs kept there, rewritten back": partial(network, ids=("kept", "rewritten")),
    "NAT, IDs rewritten there, kept back": partial(network, ids=("rewritten", "kept")),
    "NAT, IDs zero there, rewritten back": partial(network, ids=("zero", "rewritten")),
    "NAT, IDs rewritten both ways": partial(network, ids=("rewritten", "rewritten")),
    "no NAT, IDs kept there, rewritten back": partial(
        network, ids=("kept", "rewritten"), is_translated=False
    ),
    "no NAT, IDs rewritten both ways": partial(
        network, ids=("rewritten", "rewritten"), is_translated=False
    ),
    "no NAT, short flows, IDs rewritten back": partial(
        network, ids=("kept", "rewritten"), is_translated=False, n_flows=MOST_FLOWS
    ),
    "no NAT, short flows, some rewritten IDs the same": partial(
        network, ids=("kept", "lucky"), is_translated=False, n_flows=MOST_FLOWS
    ),
    "no NAT, IDs zero there, rewritten back": partial(
        network, ids=("zero", "rewritten"), is_translated=False
    ),
}
