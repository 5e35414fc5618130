"""Pairs of addresses that each carry packets one way only, some this way and some that."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from tests.recovery.networks.shapes import FABRIC
from tests.recovery.networks.talk import Kind, Pair, datagrams, host, way
from tests.recovery.networks.tenants import encapsulated
from tests.support.networks import both_ways

if TYPE_CHECKING:
    from collections.abc import Sequence

LINE = ("a", "b", "c", "d", "e")


def pairs_along(points: Sequence[str], n_pairs: int, back: int) -> tuple[Pair, ...]:
    """So many pairs, of which every `back`-th sends in reverse."""
    ways = {True: (way(*points),), False: (way(*points[::-1]),)}
    return tuple(
        Pair((host(at), host(at + 50)), ways[at % back != back - 1]) for at in range(n_pairs)
    )


def line(takes_ns: Sequence[int], n_pairs: int = 8, back: int = 2) -> Kind:
    """Points in a row, whose edges take so long."""
    points = LINE[: len(takes_ns) + 1]
    edges = dict(zip(pairwise(points), takes_ns, strict=True))
    loses = (points[-2], points[-1])
    return Kind(pairs_along(points, n_pairs, back), both_ways(edges), loses, talk=datagrams)


def mixed() -> Kind:
    """Datagrams, TCP and echoes, of which nobody sees an answer."""
    return Kind(
        tuple(
            Pair((host(at), host(at + 50)), (way(*("abc" if at % 2 else "cba")),))
            for at in range(8)
        ),
        both_ways({("a", "b"): 5_000, ("b", "c"): 8_000}),
        ("b", "c"),
    )


def tunnelled() -> Kind:
    """The points in the middle see the packets between VTEPs, which swap with the direction."""
    plain = line((4_000, 9_000, 6_000, 3_000))
    forward_hosts = {p.ends[0] for p in plain.pairs if p.there[0][0][0] == "a"}
    sources = {bytes(map(int, name.split("."))) for name in forward_hosts}

    def as_seen(point: str, frame: bytes, number: int) -> bytes:
        if point not in "bcd":
            return frame
        return encapsulated(frame, 5001, number, forward=frame[26:30] in sources)

    return Kind(plain.pairs, plain.takes_ns, plain.loses, as_seen, datagrams)


def spines() -> Kind:
    """ECMP: what goes there passes one spine, what comes back the other; nobody answers."""
    there, back = way("a", "ra", "s1", "rb", "b"), way("b", "rb", "s2", "ra", "a")
    pairs = tuple(Pair((host(at), host(at + 50)), (there if at % 2 else back,)) for at in range(10))
    return Kind(pairs, FABRIC, ("s1", "rb"), talk=datagrams)


KINDS = {
    "pairs one way only": mixed().network,
    "datagrams one way, 2 points": line((7_000,)).network,
    "datagrams one way, 5 points": line((4_000, 9_000, 6_000, 3_000)).network,
    "datagrams one way, microseconds": line((900, 1_300, 1_100, 700)).network,
    "datagrams one way, milliseconds": line((3_000_000, 11_000_000, 40_000_000)).network,
    "datagrams one way, two pairs": line((4_000, 9_000, 6_000), 2).network,
    "datagrams one way, one in ten back": line((4_000, 9_000, 6_000), 10, 10).network,
    "datagrams one way, tunnel": tunnelled().network,
    "datagrams one way, spines": spines().network,
}
