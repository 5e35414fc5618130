"""Packets are sent twice, and a device behind the first point drops one of each two."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
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
    from collections.abc import Mapping

MS_NS = 1_000_000
WAY = ("p1", "p2")
SERVER = "10.0.50.1"
SLOWEST = 20
"""No request takes longer by so many times what latencies vary by: its answer comes after it."""

EITHER = 0.5
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
    drops: Literal["first", "second", "either"] = "second"
    """Either: each of the two with a probability of one half."""
    seed: int = 1
    twice: float = 0.7
    """The share of requests that are sent twice."""
    answers_twice: bool = False
    """Their answers too, and p2 misses some of all that are sent twice."""

    def network(self, *, has_own: bool) -> Network:
        """What p1 and p2 saw."""
        chance = np.random.default_rng(self.seed)
        packets: list[Packet] = []
        sent_twice: set[int] = set()
        said: dict[str, int] = {}
        for at in range(self.n):
            t_ns = START_NS + at * MS_NS + int(chance.integers(MS_NS))
            is_twice = bool(chance.random() < self.twice)
            number = int(chance.integers(self.n_senders))
            sender = f"10.0.{1 + number // 200 + 100 * (not is_twice)}.{number % 200 + 1}"
            data = at.to_bytes(4) + chance.bytes(int(chance.integers(24, 300)))
            seq = said.get(sender, 1)
            said[sender] = seq + len(data)
            ident = 0 if is_twice else at % 65_535 + 1
            request, answer = self._frames(sender, (at, seq, ident), data)
            first = len(packets)
            packets += self._sent(Packet(t_ns, (WAY,), request), chance, is_twice=is_twice)
            if is_twice:
                sent_twice |= {first, first + 1}
            slow_ns = int(self.takes_ms * MS_NS) + SLOWEST * self.tail_ns
            back_ns = t_ns + slow_ns + 90_000 + int(chance.integers(20_000))
            packets.append(Packet(back_ns, (WAY[::-1],), answer, first))
            if self.answers_twice and is_twice:
                sent_twice |= {len(packets) - 1, len(packets)}
                packets.append(Packet(back_ns + self._again_ns(chance), (WAY[1:],), answer))
        edges = Edges(
            both_ways({WAY: int(self.takes_ms * MS_NS)}),
            self.tail_ns,
            late={WAY: (self.late, 30 * MS_NS)},
        )
        points = WAY if self.answers_twice else WAY[:1]
        missed = {
            point: sent_twice & set(np.flatnonzero(chance.random(len(packets)) < self.missed))
            for point in points
        }
        is_missed = partial(self._is_missed, missed)
        return with_clocks(walk(packets, edges, self.seed, missed=is_missed), has_own=has_own)

    def _sent(self, once: Packet, chance: np.random.Generator, *, is_twice: bool) -> list[Packet]:
        if not is_twice:
            return [once]
        again = once._replace(t_ns=once.t_ns + self._again_ns(chance))
        is_dropped = (self.drops == "first", self.drops == "second")
        if self.drops == "either":
            is_dropped = (bool(chance.random() < EITHER), bool(chance.random() < EITHER))
        both = zip((once, again), is_dropped, strict=True)
        return [one._replace(ways=(WAY[:1],)) if is_lost else one for one, is_lost in both]

    @staticmethod
    def _is_missed(missed: Mapping[str, set[int]], point: str, packet: int) -> bool:
        return packet in missed.get(point, ())

    def _again_ns(self, chance: np.random.Generator) -> int:
        return int(self.again_ms * MS_NS * (1 + JITTER * (2 * chance.random() - 1)))

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
