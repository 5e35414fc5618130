"""Stars of ports, trees of receivers, several spines, ways back of their own."""

from __future__ import annotations

from itertools import combinations, permutations

from tests.recovery.networks.talk import Kind, Pair, host, way
from tests.support.networks import Way, both_ways

ENDS = (host(1), host(2))


def star(n_ports: int) -> Kind:
    """Ports of one switch; every pair of them talks."""
    ports = [f"port{at}" for at in range(n_ports)]
    pairs = tuple(
        Pair((host(a), host(b)), (way(ports[a], ports[b]),), (way(ports[b], ports[a]),))
        for a, b in permutations(range(n_ports), 2)
    )
    takes_ns = dict.fromkeys(permutations(ports, 2), 1500)
    return Kind(pairs, takes_ns, ("port0", "port1"))


def leaves(n_leaves: int, n_hosts: int) -> Kind:
    """A core and its leaves: any host talks to those of the other leaves, with few packets each."""
    at_leaf = {n: f"leaf{n // n_hosts}" for n in range(n_leaves * n_hosts)}
    pairs = tuple(
        Pair(
            (host(a), host(b)),
            (way(at_leaf[a], "core", at_leaf[b]),),
            (way(at_leaf[b], "core", at_leaf[a]),),
        )
        for a, b in combinations(at_leaf, 2)
        if at_leaf[a] != at_leaf[b]
    )
    takes_ns = {("core", f"leaf{at}"): 3_000 + 2_000 * at for at in range(n_leaves)}
    return Kind(pairs, both_ways(takes_ns), ("core", "leaf1"))


def dumbbell(n_hosts: int) -> Kind:
    """Two sites at either end of a link; any host talks to those of the other three."""
    ways = {"a": ("a", "h1"), "b": ("b", "h1"), "c": ("c", "h2"), "d": ("d", "h2")}
    at = {n: "abcd"[n // n_hosts] for n in range(4 * n_hosts)}

    def between(one: str, other: str) -> tuple[Way, ...]:
        up, down = ways[one], ways[other][::-1]
        return way(*dict.fromkeys((*up, *down)))

    pairs = tuple(
        Pair(
            (host(one), host(other)), (between(at[one], at[other]),), (between(at[other], at[one]),)
        )
        for one, other in combinations(at, 2)
        if at[one] != at[other]
    )
    return Kind(pairs, both_ways(DUMBBELL_NS), ("h1", "b"))


DUMBBELL_NS = {
    ("a", "h1"): 20_000,
    ("b", "h1"): 30_000,
    ("h1", "h2"): 7_000,
    ("c", "h2"): 9_600,
    ("d", "h2"): 3_000,
}


def tree() -> Kind:
    """One sender, three receivers of the same packets, and a conversation with each."""
    receivers = ("r1", "r2", "r3")
    all_of_them = tuple(("sender", "switch", to) for to in receivers)
    pairs = (
        Pair((host(9), "239.1.1.1"), (all_of_them,)),
        *(
            Pair(
                (host(9), host(at)),
                (way("sender", "switch", to),),
                (way(to, "switch", "sender"),),
            )
            for at, to in enumerate(receivers)
        ),
    )
    return Kind(pairs, both_ways(TREE_NS), ("switch", "r2"))


TREE_NS = {
    ("sender", "switch"): 3_000,
    ("switch", "r1"): 4_000,
    ("switch", "r2"): 2_500,
    ("switch", "r3"): 40_000,
}
FABRIC = both_ways(
    {
        ("a", "ra"): 2_000,
        ("ra", "s1"): 3_000,
        ("ra", "s2"): 3_500,
        ("s1", "rb"): 30_000,
        ("s2", "rb"): 4_000,
        ("ra", "rb"): 9_000,
        ("rb", "b"): 2_500,
    }
)
BY_1, BY_2 = way("a", "ra", "s1", "rb", "b"), way("a", "ra", "s2", "rb", "b")
BACK_1, BACK_2 = way("b", "rb", "s1", "ra", "a"), way("b", "rb", "s2", "ra", "a")


def fabric(there: tuple[tuple[Way, ...], ...], back: tuple[tuple[Way, ...], ...]) -> Kind:
    """Two routers, and spines between them."""
    return Kind((Pair(ENDS, there, back),), FABRIC, ("s1", "rb"))


def uplinks() -> Kind:
    """Two uplinks, and two spines between them of which each is seen one way."""
    pair = Pair(ENDS, (way("ra", "s1", "rb"),), (way("rb", "s2", "ra"),))
    return Kind((pair,), FABRIC, ("s1", "rb"))


KINDS = {
    "star of 3": star(3).network,
    "star of 4": star(4).network,
    "star of 5": star(5).network,
    "3 leaves of a core, 15 hosts": leaves(3, 5).network,
    "3 leaves of a core, 60 hosts": leaves(3, 20).network,
    "5 leaves of a core, 20 hosts": leaves(5, 4).network,
    "dumbbell of 4 sites, 20 hosts": dumbbell(5).network,
    "dumbbell of 4 sites, 32 hosts": dumbbell(8).network,
    "tree of 3 receivers": tree().network,
    "ECMP, spines seen both ways": fabric((BY_1, BY_2), (BACK_1, BACK_2)).network,
    "ECMP, spines seen one way": fabric((BY_1, BY_2), (way("b", "rb", "ra", "a"),)).network,
    "another way back": fabric((BY_1,), (BACK_2,)).network,
    "two uplinks, a spine each way": uplinks().network,
}
