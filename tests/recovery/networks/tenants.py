"""Two tenants whose hosts have the same addresses, ports, numbers and payloads."""

from __future__ import annotations

import struct
from functools import partial
from typing import TYPE_CHECKING

from tests.recovery.networks.shapes import ENDS
from tests.recovery.networks.talk import LOST, Kind, Pair, seldom, talk, way, with_clocks
from tests.support.frames import VXLAN_PORT
from tests.support.networks import Edges, Network, Packet, both_ways, datagram, walk

if TYPE_CHECKING:
    from collections.abc import Callable

VTEPS = ("172.16.0.1", "172.16.0.2")
VNIS = {"red": 5001, "blue": 5002}
SLOWER = 1_000
"""So many times less often hosts talk that clocks drift by microseconds from packet to packet."""

BEYOND_GATEWAY = 700
"""So much higher is a tenant's identifier behind the gateway."""


def tenants() -> Kind:
    """Each tenant has a host at either side, both hypervisors see both."""
    there = {name: way(f"{name}1", "hv1", "hv2", f"{name}2") for name in VNIS}
    takes_ns = {("hv1", "hv2"): 6_000}
    for name in there:
        takes_ns |= {(f"{name}1", "hv1"): 2_000, ("hv2", f"{name}2"): 2_500}
    pairs = tuple(Pair(ENDS, (ways,), (way(*ways[0][::-1]),)) for ways in there.values())
    return Kind(pairs, both_ways(takes_ns), ("hv1", "hv2"))


def twice(red: list[Packet], later_ns: Callable[[int], int]) -> list[Packet]:
    """The same conversation of the other tenant, each packet so much later."""
    return [
        packet._replace(
            t_ns=packet.t_ns + later_ns(at),
            ways=(tuple(point.replace("red", "blue") for point in packet.ways[0]),),
        )
        for at, packet in enumerate(red)
    ]


def some_us(number: int) -> int:
    """Seven to twenty-two microseconds."""
    return 7_000 + number * 7_919 % 15_000


def encapsulated(frame: bytes, vni: int, number: int, *, forward: bool) -> bytes:
    """The frame in VXLAN, from one VTEP to the other."""
    inner = struct.pack(">II", 0x0800_0000, vni << 8) + frame
    ends = VTEPS if forward else (VTEPS[1], VTEPS[0])
    return datagram(ends, (50_000 + forward, VXLAN_PORT), number % 65_535 + 1, inner)


def network(n: int, seed: int, *, has_own_clocks: bool, slower: int = 1) -> Network:
    """The same conversation in both, the second some microseconds later."""
    kind = tenants()
    red = seldom(talk(kind.pairs[:1], n // 2, seed), slower)
    blue = twice([p._replace(answers=_moved(p.answers, len(red))) for p in red], some_us)
    packets = red + blue

    def as_seen(point: str, frame: bytes, number: int) -> bytes:
        if not point.startswith("hv"):
            return frame
        vni = VNIS["blue" if number >= len(red) else "red"]
        forward = packets[number].ways[0][0].endswith("1")
        return encapsulated(frame, vni, number, forward=forward)

    made = walk(packets, Edges(kind.takes_ns, lost={kind.loses: LOST}), seed, as_seen)
    return with_clocks(made, has_own=has_own_clocks)


def _moved(answers: int, by: int) -> int:
    return answers + by if answers >= 0 else answers


BETWEEN = both_ways({("hv1", "gw"): 5_000, ("gw", "hv2"): 7_000, ("hv1", "hv2"): 12_000})


def at_hypervisors(n: int, seed: int, *, has_own_clocks: bool) -> Network:
    """Only the hypervisors are captured; both tenants' frames pass both."""
    return _between(("hv1", "hv2"), n, seed, has_own_clocks=has_own_clocks)


def behind_gateway(n: int, seed: int, *, has_own_clocks: bool) -> Network:
    """A gateway translates the tunnel identifiers on the way; tenants stay what they are."""
    return _between(("hv1", "gw", "hv2"), n, seed, has_own_clocks=has_own_clocks)


def _between(points: tuple[str, ...], n: int, seed: int, *, has_own_clocks: bool) -> Network:
    pair = Pair(ENDS, (way(*points),), (way(*points[::-1]),))
    red = talk((pair,), n // 2, seed)
    packets = red + twice([p._replace(answers=_moved(p.answers, len(red))) for p in red], some_us)

    def as_seen(point: str, frame: bytes, number: int) -> bytes:
        vni = VNIS["blue" if number >= len(red) else "red"]
        vni += BEYOND_GATEWAY if point == "hv2" and "gw" in points else 0
        forward = packets[number].ways[0][0] == "hv1"
        return encapsulated(frame, vni, number, forward=forward)

    made = walk(packets, Edges(BETWEEN, lost={(points[-2], points[-1]): LOST}), seed, as_seen)
    return with_clocks(made, has_own=has_own_clocks)


def own_words(n: int, seed: int, *, has_own_clocks: bool, slower: int = 1) -> Network:
    """Hosts of both tenants have the same addresses and ports, and talk about other things."""
    kind = tenants()
    red = [(p, VNIS["red"]) for p in talk(kind.pairs[:1], n // 2, seed)]
    blue = [(p, VNIS["blue"]) for p in talk(kind.pairs[1:], n // 2, seed + 1_000)]
    blue = [(p._replace(answers=_moved(p.answers, len(red))), vni) for p, vni in blue]
    both = red + blue
    packets = seldom([packet for packet, _ in both], slower)

    def as_seen(point: str, frame: bytes, number: int) -> bytes:
        packet, vni = both[number]
        forward = packet.ways[0][0].endswith("1")
        is_between = point.startswith("hv")
        return encapsulated(frame, vni, number, forward=forward) if is_between else frame

    edges = Edges(kind.takes_ns, lost={kind.loses: LOST})
    return with_clocks(walk(packets, edges, seed, as_seen), has_own=has_own_clocks)


KINDS: dict[str, Callable[..., Network]] = {
    "two tenants": network,
    "two tenants, seldom": partial(network, slower=SLOWER),
    "two tenants, own words": own_words,
    "two tenants, own words, seldom": partial(own_words, slower=SLOWER),
    "two tenants at hypervisors": at_hypervisors,
    "two tenants behind a gateway": behind_gateway,
}
