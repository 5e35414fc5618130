"""Scripted traffic that comes again after a minute, and timestamps of milliseconds."""

from __future__ import annotations

from functools import partial

from tests.recovery.networks.identifiers import with_ident
from tests.recovery.networks.talk import LOST, Pair, host, talk, way, with_clocks
from tests.support.networks import START_NS, Edges, Network, Packet, both_ways, walk

LINE = ("p1", "p2", "p3")
PAIRS = tuple(
    Pair((host(at), host(at + 50)), (way(*LINE),), (way(*LINE[::-1]),)) for at in range(4)
)
MINUTE_NS, MS = 60_000_000_000, 1_000_000


def again(n: int, seed: int, *, has_own_clocks: bool, n_rounds: int) -> Network:
    """A script sends the same packets each minute, all with IP ID 1."""
    once = [p._replace(frame=with_ident(p.frame, 1)) for p in talk(PAIRS, n // n_rounds, seed)]
    packets: list[Packet] = []
    for turn in range(n_rounds):
        shift = len(packets)
        packets += [
            p._replace(
                t_ns=p.t_ns + turn * MINUTE_NS, answers=p.answers + shift if p.answers >= 0 else -1
            )
            for p in once
        ]
    takes_ns = both_ways({("p1", "p2"): 4_000, ("p2", "p3"): 9_000})
    made = walk(packets, Edges(takes_ns, lost={("p2", "p3"): LOST}), seed)
    return with_clocks(made, has_own=has_own_clocks)


def coarse(
    n: int, seed: int, *, has_own_clocks: bool, takes_ns: tuple[int, int], points: str
) -> Network:
    """Some points write milliseconds only."""
    edges = both_ways({("p1", "p2"): takes_ns[0], ("p2", "p3"): takes_ns[1]})
    # an answer leaves when its request is there, and the next request when the answer is
    longer = max(1, sum(takes_ns) // 10_000)
    packets = [
        p._replace(t_ns=START_NS + (p.t_ns - START_NS) * longer) for p in talk(PAIRS, n, seed)
    ]
    made = walk(packets, Edges(edges, lost={("p2", "p3"): LOST}), seed)
    made.resolution_ns = {f"p{digit}": MS for digit in points}
    return with_clocks(made, has_own=has_own_clocks)


KINDS = {
    "the same twice, a minute apart": partial(again, n_rounds=2),
    "the same each minute, 5 times": partial(again, n_rounds=5),
    "the same each minute, 20 times": partial(again, n_rounds=20),
    "timestamps of 1 ms": partial(coarse, takes_ns=(4_000, 9_000), points="123"),
    "timestamps of 1 ms at one point": partial(coarse, takes_ns=(4_000, 9_000), points="2"),
    "timestamps of 1 ms, edges of 5": partial(coarse, takes_ns=(5 * MS, 8 * MS), points="123"),
}
