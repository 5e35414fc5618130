"""What stands in the way, one by one: each effect makes of a scenario one that has it too."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.recovery.simulator.scenario import (
    Clock,
    Link,
    Point,
    Scenario,
    Traffic,
    Translation,
    Tunnel,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Contrast = Callable[[Scenario], Scenario]

NAMES = ("vm", "up", "leaf", "spine", "far")
MS, SECOND = 1_000_000, 1_000_000_000
OVERLAY = ("up", "leaf", "spine")


def base(n_packets: int = 2_000, seed: int = 1) -> Scenario:
    """Five points of a plain path; traffic of all kinds, both ways."""
    links = (Link(3_000, 2_500), Link(1_200, 1_500), Link(6_000, 5_000), Link(2_000, 4_000))
    points = tuple(Point(name) for name in NAMES)
    return Scenario(points, links, Traffic(n_packets=n_packets), seed=seed)


def at(names: Iterable[str], **changes: Any) -> Contrast:  # noqa: ANN401 - fields of a point
    """Change points."""
    chosen = set(names)

    def effect(scenario: Scenario) -> Scenario:
        points = (replace(p, **changes) if p.name in chosen else p for p in scenario.points)
        return replace(scenario, points=tuple(points))

    return effect


def each(field: str, *values: Any) -> Contrast:  # noqa: ANN401 - values of a field
    """Give every point a value of its own, along the path."""

    def effect(scenario: Scenario) -> Scenario:
        points = (
            replace(p, **{field: values[hop]})
            for p, hop in zip(scenario.points, scenario.hop_of, strict=True)
        )
        return replace(scenario, points=tuple(points))

    return effect


def traffic(**changes: Any) -> Contrast:  # noqa: ANN401 - fields of traffic
    """Change the traffic."""
    return lambda scenario: replace(scenario, traffic=replace(scenario.traffic, **changes))


def links(**changes: Any) -> Contrast:  # noqa: ANN401 - fields of a link
    """Change the links."""
    return lambda scenario: replace(
        scenario, links=tuple(replace(link, **changes) for link in scenario.links)
    )


def translated(*kinds: str, reuses_ports: bool = False) -> Contrast:
    """Put a translator between leaf and spine."""
    translation = Translation(3, frozenset(kinds), reuses_ports=reuses_ports)
    return lambda scenario: replace(scenario, translation=translation)


def parallel(by: str) -> Contrast:
    """Two leaves instead of one, each of which sees a share."""

    def effect(scenario: Scenario) -> Scenario:
        points = []
        for point, hop in zip(scenario.points, scenario.hop_of, strict=True):
            both = (0, 1) if point.name == "leaf" else (None,)
            points += [
                replace(
                    point,
                    hop=hop,
                    branch=branch,
                    name=point.name if branch is None else f"{point.name}{branch}",
                )
                for branch in both
            ]
        return replace(scenario, points=tuple(points), n_branches=2, branches_by=by)

    return effect


def together(*effects: Contrast) -> Contrast:
    """One after the other."""

    def effect(scenario: Scenario) -> Scenario:
        for one in effects:
            scenario = one(scenario)
        return scenario

    return effect


def tunnel(kind: str, names: Iterable[str] = OVERLAY, **fields: int) -> Contrast:
    """Points that see the packets in a tunnel."""
    return at(names, tunnel=Tunnel(kind, **fields))


def only(*kinds: str) -> tuple[tuple[str, float], ...]:
    """Equal shares of some kinds of traffic."""
    return tuple((kind, 1 / len(kinds)) for kind in kinds)


def long_path(n_points: int) -> Contrast:
    """So many points, every third one of them in a tunnel, behind routers of their own."""

    def effect(scenario: Scenario) -> Scenario:
        overlay = Tunnel("vxlan")
        points = tuple(
            Point(f"p{at}", tunnel=overlay if at % 3 == 1 else None, routers=at // 2)
            for at in range(n_points)
        )
        there = tuple(Link(1_000 + 700 * at, 2_000 + 300 * at) for at in range(n_points - 1))
        return NO_BRIDGED(replace(scenario, points=points, links=there))

    return effect


def weak(n_idents: int) -> Contrast:
    """Identities of so many values, and points that miss a packet now and then."""
    few = traffic(
        shares=only("udp"), ip6_share=0.0, constant_share=0.8, idents="random", n_idents=n_idents
    )
    return together(few, LOSS)


NO_BRIDGED = traffic(shares=(("tcp", 0.4), ("bulk", 0.2), ("udp", 0.3), ("icmp", 0.1)))
ROUTED = together(NO_BRIDGED, each("routers", 0, 1, 1, 2, 2))
LOSS = links(lost_share=0.01)
CUT = together(
    traffic(super_bytes=65_160), at(("vm", "far"), is_partial=True), at(("up",), is_padded=True)
)
JOINED = traffic(joined_bytes=60_000)
NO_NUMBERS = traffic(idents="zero", has_tcp_stamps=False)
TWINS = together(NO_NUMBERS, traffic(constant_share=1.0))
ONE_SWITCH = together(at(("leaf",), file="switch"), at(("spine",), file="switch", interface=1))
ANY = together(
    at(("vm",), file="host", is_cooked=True, interface=5),
    at(("up",), file="host", is_cooked=True, interface=2),
)

EFFECTS: dict[str, Contrast] = {
    "plain": together(),
    "vxlan": tunnel("vxlan", number=5002, number_back=5001),
    "vxlan on port 8472": tunnel("vxlan", port=8472),
    "geneve": tunnel("geneve"),
    "erspan II": tunnel("erspan2", ("leaf",)),
    "erspan III": tunnel("erspan3", ("leaf",)),
    "esp": tunnel("esp", NAMES),
    "wireguard": tunnel("wireguard", NAMES),
    "non-IP frames": traffic(shares=only("ether", "udp")),
    "routed": ROUTED,
    "VLAN changed": each("vlan", 0, 10, 10, 20, 0),
    "DSCP rewritten": each("dscp", 0, 0, 46, 46, 10),
    "MSS clamped": each("mss", 1460, 1460, 1360, 1360, 1360),
    "checksum offload": at(("vm", "far"), is_partial=True),
    "cut": CUT,
    "cut, length 0": together(CUT, at(("vm", "far"), is_zero_length=True)),
    "joined": together(JOINED, at(("far",), is_partial=True)),
    "cut and joined": together(CUT, JOINED),
    "cut and joined, loss": together(CUT, JOINED, LOSS),
    "identical packets": together(TWINS, traffic(shares=only("udp", "icmp"), ip6_share=0.5)),
    "identical packets, loss": together(
        TWINS, LOSS, traffic(shares=only("udp", "icmp"), ip6_share=0.5)
    ),
    "flows of identical packets only, loss": together(
        TWINS,
        LOSS,
        traffic(shares=(("udp", 0.2), ("tcp", 0.5), ("icmp", 0.3)), ip6_share=0.5, gap_ns=60_000),
    ),
    "identical packets 60 us apart, loss": together(
        TWINS,
        LOSS,
        traffic(shares=(("udp", 0.4), ("tcp", 0.6)), ip6_share=0.5, n_at_once=5, gap_ns=12_000),
    ),
    "pure ACKs, loss": together(LOSS, traffic(idents="zero", shares=only("bulk"))),
    "resent byte for byte": together(NO_NUMBERS, LOSS, traffic(shares=only("tcp", "bulk"))),
    "IP ID wraps": traffic(idents="wraps", constant_share=1.0, shares=only("udp"), ip6_share=0.0),
    "heartbeats": together(
        NO_NUMBERS, LOSS, traffic(shares=only("udp", "tcp"), constant_share=1.0, is_regular=True)
    ),
    "identities of 30 values, loss": weak(30),
    "identities of 300 values, loss": weak(300),
    "identities of 3,000 values, loss": weak(3_000),
    "identities of 30,000 values, loss": weak(30_000),
    "mirror copies": at(("leaf",), copied_share=1.0),
    "some copies": at(("leaf", "spine"), copied_share=0.05),
    "doubled on the way": links(doubled_share=0.01),
    "two points in a file, routed": together(ROUTED, ONE_SWITCH),
    "two points in a file, VLANs": together(each("vlan", 0, 10, 10, 20, 20), ONE_SWITCH),
    "hairpin": together(
        tunnel("vxlan", ("up", "leaf"), number=5001, number_back=5002),
        tunnel("vxlan", ("spine",), number=5002, number_back=5001),
        ROUTED,
        ONE_SWITCH,
    ),
    "any capture": together(tunnel("vxlan"), ANY),
    "SNAT": translated("snat"),
    "DNAT": translated("dnat"),
    "twice NAT": translated("snat", "dnat"),
    "NAT64": translated("nat64"),
    "NAT, ports reused": together(
        translated("snat", reuses_ports=True), traffic(n_turns=12, n_at_once=40)
    ),
    "NAT, sequence numbers": translated("snat", "seq"),
    "NAT, ICMP errors": together(translated("snat"), traffic(errors_share=0.1)),
    "fragments": traffic(datagram_bytes=4_000, fragments="everywhere"),
    "fragments, cut on the way": traffic(datagram_bytes=4_000, fragments="cut"),
    "fragments, joined at the end": traffic(datagram_bytes=4_000, fragments="joined"),
    "outer fragments": tunnel("vxlan", mtu=1_500),
    "snap 96": at(NAMES, snap=96),
    "snap lengths differ": each("snap", 262_144, 128, 96, 200, 262_144),
    "snap 96, vxlan": together(tunnel("vxlan"), at(NAMES, snap=96), traffic(ip6_share=0.0)),
    "snap 128, vxlan": together(tunnel("vxlan"), at(NAMES, snap=128)),
    "loss": LOSS,
    "reordering": links(held_share=0.02),
    "mirror drops 20 %": at(("leaf", "spine"), missed_share=0.2),
    "ECMP": parallel("flow"),
    "LAG, packet by packet": parallel("packet"),
    "2 points": long_path(2),
    "8 points": long_path(8),
    "clocks apart": each(
        "clock",
        Clock(),
        Clock(37 * SECOND, 12.0),
        Clock(-250 * MS, -20.0),
        Clock(1_234_567, 3.0),
        Clock(-9 * SECOND, 28.0),
    ),
    "a clock is set": at(("leaf",), clock=Clock(5 * MS, 4.0, 300_000, 20 * MS)),
    "timestamps of 1 us": at(("leaf", "far"), clock=Clock(resolution_ns=1_000), kind="pcap-us"),
    "file formats": each("kind", "pcap-swapped", "pcapng", "erf", "pcapng.gz", "pcap.xz"),
    "file formats of 1 us": together(
        at(NAMES, clock=Clock(resolution_ns=1_000)),
        each("kind", "pcap-us", "snoop", "pcap-us.bz2", "snoop.gz", "pcap-us.xz"),
    ),
    "files unsorted": each("order", "wobbling", "shuffled", "wobbling", "sorted", "shuffled"),
}
EVERYTHING = (
    "routed",
    "DSCP rewritten",
    "MSS clamped",
    "cut and joined",
    "loss",
    "reordering",
    "some copies",
    "mirror drops 20 %",
    "SNAT",
    "fragments",
    "clocks apart",
    "file formats",
    "files unsorted",
)
ALL = (*EFFECTS, "everything")
WRONG_CLOCKS = {"clocks apart", "a clock is set", "everything"}


def scenario(name: str, n_packets: int = 2_000, seed: int = 1) -> Scenario:
    """The base path with one effect, or with everything."""
    start = base(n_packets, seed)
    if name == "everything":
        mixed = traffic(constant_share=0.3)
        effects = [mixed, tunnel("vxlan"), *(EFFECTS[part] for part in EVERYTHING)]
        return together(*effects)(start)
    return EFFECTS[name](start)
