"""Packets are sent twice, and a device behind the first point drops one of each two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from tests.recovery.networks.talk import with_clocks
from tests.support.frames import TCP, ip
from tests.support.networks import (
    START_NS,
    Edges,
    Network,
    Packet,
    both_ways,
    datagram,
    tcp,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Callable

MS_NS = 1_000_000
WAY = ("p1", "p2")
SERVER = "10.0.50.1"
TWICE = 0.7
"""The share of requests that are sent twice."""

JITTER = 0.3
"""By so much of its mean the time until the second varies."""


@dataclass(frozen=True)
class SentTwice:
    """How long the path takes, how much later packets come again, and what p1 misses of them."""

    takes_ms: float
    again_ms: float
    missed: float
    kind: str = "udp"
    late: float = 0.0
    tail_ns: int = 400
    n: int = 3_000
    n_senders: int = 8
    drops: Literal["first", "second"] = "second"
    seed: int = 1

    def network(self, *, has_own: bool) -> Network:
        """What p1 and p2 saw."""
        chance = np.random.default_rng(self.seed)
        packets: list[Packet] = []
        sent_twice: set[int] = set()
        said: dict[str, int] = {}
        for at in range(self.n):
            t_ns = START_NS + at * MS_NS + int(chance.integers(MS_NS))
            is_twice = bool(chance.random() < TWICE)
            number = int(chance.integers(self.n_senders))
            sender = f"10.0.{1 + number // 200 + 100 * (not is_twice)}.{number % 200 + 1}"
            data = at.to_bytes(4) + chance.bytes(int(chance.integers(24, 300)))
            seq = said.get(sender, 1)
            said[sender] = seq + len(data)
            ident = 0 if is_twice else at % 65_535 + 1
            request, answer = self._frames(sender, (at, seq, ident), data)
            if is_twice:
                sent_twice |= {len(packets), len(packets) + 1}
                again_ns = self.again_ms * MS_NS * (1 + JITTER * (2 * chance.random() - 1))
                dropped = (WAY[:1],)
                ways = ((WAY,), dropped) if self.drops == "second" else (dropped, (WAY,))
                times_ns = (t_ns, t_ns + int(again_ns))
                packets += [
                    Packet(at_ns, way, request) for at_ns, way in zip(times_ns, ways, strict=True)
                ]
            else:
                packets.append(Packet(t_ns, (WAY,), request))
            first = len(packets) - 1 - is_twice
            back_ns = t_ns + int(self.takes_ms * MS_NS) + 90_000 + int(chance.integers(20_000))
            packets.append(Packet(back_ns, (WAY[::-1],), answer, first))
        edges = Edges(
            both_ways({WAY: int(self.takes_ms * MS_NS)}),
            self.tail_ns,
            late={WAY: (self.late, 30 * MS_NS)},
        )
        is_missed = self._missed(chance.random(len(packets)) < self.missed, sent_twice)
        return with_clocks(walk(packets, edges, self.seed, missed=is_missed), has_own=has_own)

    @staticmethod
    def _missed(
        is_missed: np.ndarray[tuple[int], np.dtype[np.bool_]], sent_twice: set[int]
    ) -> Callable[[str, int], bool]:
        return lambda point, packet: (
            point == "p1" and packet in sent_twice and bool(is_missed[packet])
        )

    def _frames(
        self, sender: str, numbers: tuple[int, int, int], data: bytes
    ) -> tuple[bytes, bytes]:
        """A request, and its answer."""
        at, seq, ident = numbers
        there, back = (sender, SERVER), (SERVER, sender)
        if self.kind == "udp":
            request = datagram(there, (40_000, 5_001), ident, data)
            return request, datagram(back, (5_001, 40_000), at % 65_535 + 1, data[:24])
        segment = tcp(there, (40_000, 5_001), seq, 1, data)
        request = ip(*there, TCP, ident, 64, segment[34:])
        return request, tcp(back, (5_001, 40_000), 1, seq + len(data), b"")
