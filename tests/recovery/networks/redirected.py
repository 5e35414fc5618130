"""Addresses that are translated on the way, of one direction or of both."""

from __future__ import annotations

from tests.recovery.networks.talk import LOST, Pair, host, talk, way, with_clocks
from tests.support.networks import Edges, Network, both_ways, walk

SERVICE, SERVER = "192.0.2.80", host(77)


def redirected(n: int, seed: int, *, has_own_clocks: bool) -> Network:
    """A balancer behind `edge` sends on to a server, which answers clients in its name."""
    there, back = way("client", "edge", "inside", "server"), way("server", "edge", "client")
    clients = tuple(Pair((host(at), SERVICE), (there,), (back,)) for at in range(5))
    packets = talk(clients, n, seed)
    inside = talk(tuple(Pair((p.ends[0], SERVER), (there,), (back,)) for p in clients), n, seed)

    def as_seen(point: str, frame: bytes, number: int) -> bytes:
        is_inside = packets[number].ways[0] == there[0] and point in {"inside", "server"}
        return inside[number].frame if is_inside else frame

    takes_ns = {("client", "edge"): 3_000, ("edge", "inside"): 5_000, ("inside", "server"): 2_000}
    edges = Edges(
        both_ways({**takes_ns, ("edge", "server"): 6_000}), lost={("inside", "server"): LOST}
    )
    return with_clocks(walk(packets, edges, seed, as_seen), has_own=has_own_clocks)


KINDS = {"translated one way": redirected}
