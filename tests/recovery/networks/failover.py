"""Ways that change: services at several sites, and routers of which one stands by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.recovery.networks.talk import LOST, Pair, host, talk, way, with_clocks
from tests.support.networks import Edges, Network, both_ways, walk

if TYPE_CHECKING:
    from tests.support.networks import Packet, Way

SERVICE = "192.0.2.53"
SITES = ("site1", "site2")
SITES_NS = both_ways(
    {("client", "core"): 3_000, ("core", "site1"): 9_000, ("core", "site2"): 30_000}
)


def moved(packets: list[Packet], at: int, new: dict[tuple[Way, ...], tuple[Way, ...]]) -> None:
    """From the packet of that number on, ways are others."""
    packets[at:] = [p._replace(ways=new.get(p.ways, p.ways)) for p in packets[at:]]


def anycast(n: int, seed: int, *, has_own_clocks: bool) -> Network:
    """Two sites have one address; two thirds of the clients reach the first."""
    to = {name: way("client", "core", name) for name in SITES}
    pairs = tuple(
        Pair((host(at), SERVICE), (to[name],), (way(*to[name][0][::-1]),))
        for at, name in enumerate((*SITES, "site1"))
    )
    made = walk(talk(pairs, n, seed), Edges(SITES_NS, lost={("core", "site2"): LOST}), seed)
    return with_clocks(made, has_own=has_own_clocks)


def withdrawn(n: int, seed: int, *, has_own_clocks: bool) -> Network:
    """The same, and in the middle the route to the first site is withdrawn."""
    to = {name: way("client", "core", name) for name in SITES}
    back = {name: way(*to[name][0][::-1]) for name in SITES}
    pairs = tuple(
        Pair((host(at), SERVICE), (to[name],), (back[name],))
        for at, name in enumerate((*SITES, "site1"))
    )
    packets = talk(pairs, n, seed)
    moved(packets, n // 2, {to["site1"]: to["site2"], back["site1"]: back["site2"]})
    made = walk(packets, Edges(SITES_NS, lost={("core", "site2"): LOST}), seed)
    return with_clocks(made, has_own=has_own_clocks)


STANDBY_NS = both_ways(
    {
        ("left", "active"): 4_000,
        ("active", "right"): 7_000,
        ("left", "standby"): 5_000,
        ("standby", "right"): 12_000,
    }
)


def standby(n: int, seed: int, *, has_own_clocks: bool) -> Network:
    """Of two firewalls the second takes over in the middle."""
    first, second = way("left", "active", "right"), way("left", "standby", "right")
    back = {first: way("right", "active", "left"), second: way("right", "standby", "left")}
    pairs = tuple(Pair((host(at), host(at + 50)), (first,), (back[first],)) for at in range(4))
    packets = talk(pairs, n, seed)
    moved(packets, n // 2, {first: second, back[first]: back[second]})
    made = walk(packets, Edges(STANDBY_NS, lost={("standby", "right"): LOST}), seed)
    return with_clocks(made, has_own=has_own_clocks)


KINDS = {
    "anycast, two sites": anycast,
    "anycast, a site withdrawn": withdrawn,
    "active and standby": standby,
}
