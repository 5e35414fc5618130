"""Who talks to whom by which ways, and the packets that this makes."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tests.support.networks import (
    START_NS,
    Edge,
    Edges,
    Network,
    Packet,
    Way,
    datagram,
    echo,
    tcp,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LOST = 0.1
GAP_NS, ANSWER_NS = 60_000, 90_000
CLOCKS = (
    *((0, 0.0), (5_000_003, 9.0), (-2_000_000_000, -14.0), (700_001, 4.0)),
    *((37_000_000_000, 21.0), (-90_001, -6.0), (12_000, 2.0)),
)


@dataclass(frozen=True)
class Pair:
    """Two hosts, and the ways that flows from one to the other may take, there and back."""

    ends: tuple[str, str]
    there: tuple[tuple[Way, ...], ...]
    back: tuple[tuple[Way, ...], ...] = ()


def way(*points: str) -> tuple[Way, ...]:
    """One way, for a packet with one receiver."""
    return (points,)


def host(number: int) -> str:
    """The address of a host."""
    return f"10.0.{number}.1"


def talk(
    pairs: tuple[Pair, ...], n: int, seed: int, n_flows: int = 6, first_seq: int = 1
) -> list[Packet]:
    """About so many packets: requests, and answers where there is a way back; TCP, UDP, ICMP."""
    chance = np.random.default_rng(seed)
    made: list[Packet] = []
    said = dict.fromkeys(range(len(pairs) * n_flows), (0, first_seq, 1))
    received = {flow: deque([(0, 1)]) for flow in said}
    while len(made) < n:
        which, flow = int(chance.integers(len(pairs))), int(chance.integers(n_flows))
        pair, number = pairs[which], which * n_flows + flow
        turn, seq, answer_seq = said[number]
        t_ns = START_NS + len(made) * GAP_NS // 2 + int(chance.integers(GAP_NS))
        payload, is_tcp = chance.bytes(int(chance.integers(24, 600))), number % 3 == 0
        ack = _received(received[number], t_ns)
        request = _frame(pair.ends, number, (turn, seq, ack), payload, is_reply=False)
        there = pair.there[flow % len(pair.there)]
        made.append(Packet(t_ns, there, request, is_resent=is_tcp))
        seq += len(payload)
        if pair.back:
            said_back = (turn, answer_seq, seq)
            answer = _frame(pair.ends[::-1], number, said_back, payload[:24], is_reply=True)
            later_ns = ANSWER_NS + int(chance.integers(20_000))
            # another hash than there
            back = pair.back[flow // 2 % len(pair.back)]
            made.append(Packet(t_ns + later_ns, back, answer, len(made) - 1, is_resent=is_tcp))
            answer_seq += 24
            received[number].append((t_ns + later_ns + ANSWER_NS, answer_seq))
        said[number] = (turn + 1, seq, answer_seq)
    return made


def seldom(packets: Sequence[Packet], slower: int) -> list[Packet]:
    """The same packets at a rate so many times lower."""
    return [p._replace(t_ns=START_NS + (p.t_ns - START_NS) * slower) for p in packets]


def _received(answers: deque[tuple[int, int]], t_ns: int) -> int:
    """What a sender acknowledges: answers are with it some time after they were sent."""
    while len(answers) > 1 and answers[1][0] <= t_ns:
        answers.popleft()
    return answers[0][1]


def _frame(
    ends: tuple[str, str],
    number: int,
    said: tuple[int, int, int],
    payload: bytes,
    *,
    is_reply: bool,
) -> bytes:
    turn, seq, ack = said
    ports = (443, 40_000 + number) if is_reply else (40_000 + number, 443)
    if number % 3 == 0:
        return tcp(ends, ports, seq, ack, payload)
    if number % 3 == 1:
        return datagram(ends, ports, turn % 65_535 + 1, payload)
    return echo(ends, 100 + number, turn % 65_536, is_reply=is_reply)


def datagrams(pairs: tuple[Pair, ...], n: int, seed: int, gap_ns: int = GAP_NS) -> list[Packet]:
    """So many datagrams, of pairs in turn; nobody answers."""
    chance = np.random.default_rng(seed)
    made = []
    for at in range(n):
        which = int(chance.integers(len(pairs)))
        pair = pairs[which]
        t_ns = START_NS + at * gap_ns + int(chance.integers(gap_ns))
        payload = chance.bytes(int(chance.integers(24, 600)))
        ports = (40_000 + which, 5_001)
        frame = datagram(pair.ends, ports, at // len(pairs) % 65_535 + 1, payload)
        made.append(Packet(t_ns, pair.there[at % len(pair.there)], frame))
    return made


@dataclass(frozen=True)
class Kind:
    """A network: who talks by which ways, how long edges take, where a tenth is lost (not TCP)."""

    pairs: tuple[Pair, ...]
    takes_ns: dict[Edge, int]
    loses: Edge
    as_seen: Callable[[str, bytes, int], bytes] = lambda _point, frame, _packet: frame
    talk: Callable[[tuple[Pair, ...], int, int], list[Packet]] = talk

    def network(self, n: int, seed: int, *, has_own_clocks: bool) -> Network:
        """What the points of it saw."""
        edges = Edges(self.takes_ns, lost={self.loses: LOST})
        packets = self.talk(self.pairs, n, seed)
        return with_clocks(walk(packets, edges, seed, self.as_seen), has_own=has_own_clocks)


def with_clocks(made: Network, *, has_own: bool) -> Network:
    """The network with a clock at each point, where they have their own."""
    if has_own:
        made.clocks = dict(zip(made.seen, CLOCKS, strict=False))
    return made
