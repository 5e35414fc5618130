"""Hosts behind a translator that send one query a flow, of which some get no answer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tests.recovery.networks.identifiers import LINE, OUTSIDE, TAKES_NS
from tests.recovery.networks.talk import LOST, host, way, with_clocks
from tests.support.networks import START_NS, Edges, Network, Packet, both_ways, datagram, walk

if TYPE_CHECKING:
    from collections.abc import Callable

N_CLIENTS = 20
SERVER = "198.51.100.9"
ANSWER_NS, EVERY_NS, TWIN_NS = 400_000, 150_000, 100_000
FIRST_PORT, N_PORTS = 10_000, 50_000
"""Beyond those of tunnels."""


class Message(NamedTuple):
    """What one of two hosts sends to the other."""

    ends: tuple[str, str]
    ports: tuple[int, int]
    ident: int
    payload: bytes

    def frame(self, *, is_there: bool) -> bytes:
        """The frame, from the first host to the second, or back."""
        (near, far), (from_port, to_port) = self.ends, self.ports
        if is_there:
            return datagram((near, far), (from_port, to_port), self.ident, self.payload)
        return datagram((far, near), (to_port, from_port), self.ident, self.payload)


def queries(
    n: int,
    seed: int,
    *,
    has_own_clocks: bool,
    has_ids: bool = True,
    n_twins: int = 0,
    missed: float = 0.0,
) -> Network:
    """Each way loses some. The translator gives each flow another port, and each port again.

    After them, so many queries are sent twice at once, by two flows, and nobody answers. Points
    miss such a share.
    """
    chance = np.random.default_rng(seed)
    packets, outside = list[Packet](), list[bytes]()

    def add(t_ns: int, number: int, payload: bytes, *, is_there: bool) -> None:
        ident = int(chance.integers(1, 65_536)) if has_ids else 0
        port = FIRST_PORT + number // N_CLIENTS * 7 % N_PORTS
        pair, ports = (host(number % N_CLIENTS), SERVER), (port, 53)
        outer, outer_ports = (OUTSIDE, SERVER), (FIRST_PORT + number * 31 % N_PORTS, 53)
        inside = Message(pair, ports, ident, payload)
        translated = Message(outer, outer_ports, ident, payload)
        line, answers = (LINE, -1) if is_there else (LINE[::-1], len(packets) - 1)
        packets.append(Packet(t_ns, way(*line), inside.frame(is_there=is_there), answers))
        outside.append(translated.frame(is_there=is_there))

    for number in range(n // 2):
        t_ns = START_NS + number * EVERY_NS + int(chance.integers(EVERY_NS))
        add(t_ns, number, chance.bytes(30), is_there=True)
        later_ns = ANSWER_NS + int(chance.integers(ANSWER_NS))
        add(t_ns + later_ns, number, chance.bytes(50), is_there=False)

    for twin in range(n_twins):
        t_ns, payload = START_NS + (n // 2 + twin) * EVERY_NS * 20, chance.bytes(30)
        for number in (n // 2 + 2 * twin, n // 2 + 2 * twin + 1):
            add(t_ns + number % 2 * TWIN_NS, number, payload, is_there=True)

    def as_seen(point: str, frame: bytes, number: int) -> bytes:
        return outside[number] if point in LINE[2:] else frame

    lost = dict.fromkeys([("inside", "outside"), ("outside", "inside")], LOST)
    edges = Edges(both_ways(TAKES_NS), lost=lost)
    made = walk(packets, edges, seed, as_seen, lambda _point, _packet: chance.random() < missed)
    return with_clocks(made, has_own=has_own_clocks)


KINDS: dict[str, Callable[..., Network]] = {
    "NAT, one query a flow": queries,
    "NAT, one query a flow, no IDs": partial(queries, has_ids=False),
}
