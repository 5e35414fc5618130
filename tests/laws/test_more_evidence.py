"""Packets of another kind, captured too, never widen what is known of a clock."""

from __future__ import annotations

import struct
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

import pcaplat
from tests.support.frames import ICMPV6, UDP, ethernet, ip, udp
from tests.support.networks import (
    START_NS,
    Edges,
    Packet,
    both_ways,
    datagram,
    echo,
    tcp,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GAP_NS = 2_000_000
LINE = ("a", "b", "c")
TAKES_NS = both_ways({("a", "b"): 7_000, ("b", "c"): 10_000})
CLOCKS = {"a": (0, 0.0), "b": (5_000_003, 9.0), "c": (-2_000_000_000, -14.0)}
ARP = 0x0806
LOOSER = 1.01
"""The survey may sample other packets, and find another centre."""


def talk(n: int, chance: np.random.Generator) -> list[Packet]:
    """Requests and answers."""
    made = []
    for turn in range(n // 2):
        t_ns = START_NS + turn * GAP_NS + int(chance.integers(GAP_NS // 2))
        data, ends = chance.bytes(60), ("10.0.0.1", "10.0.9.9")
        ports, ident = (40_000 + turn % 9, 53), turn % 65_535 + 1
        made.append(Packet(t_ns, (LINE,), datagram(ends, ports, ident, data)))
        back = datagram(ends[::-1], ports[::-1], ident, data[::-1])
        made.append(Packet(t_ns + GAP_NS // 2, (LINE[::-1],), back))
    return made


def solicitation(at: int) -> bytes:
    """Neighbour discovery (RFC 4861): who has an address."""
    host = at % 7 + 9
    target = bytes.fromhex("fd00") + bytes(13) + bytes([host])
    body = struct.pack(">BBHI", 135, 0, at & 0xFFFF, 0) + target + bytes([1, 1, 2, 0, 0, 0, 0, 1])
    return ip("fe80::1", f"ff02::1:ff00:{host:x}", ICMPV6, 0, 255, body)


def announcement(at: int) -> bytes:
    """Multicast DNS."""
    ends = (f"10.0.0.{at % 5 + 1}", "224.0.0.251")
    return datagram(ends, (5353, 5353), at % 65_535 + 1, b"q" * 40 + at.to_bytes(4))


def arp(at: int) -> bytes:
    """Who has an IPv4 address (RFC 826)."""
    target = bytes([10, 0, at >> 8 & 255, at & 255])
    head = struct.pack(">HHBBH", 1, 0x0800, 6, 4, 1) + bytes([2, 0, 0, 0, 0, 1, 10, 0, 0, 1])
    return ethernet(0x0200_0000_0001, 0xFFFF_FFFF_FFFF, ARP, head + bytes(6) + target)


def one_way(at: int) -> bytes:
    """Datagrams that nobody answers."""
    ends = (f"10.0.5.{at % 5 + 1}", "10.0.6.1")
    return datagram(ends, (1_111, 2_222), at % 65_535 + 1, b"q" * 40 + at.to_bytes(4))


def segment(at: int) -> bytes:
    """TCP in one direction and the other; nothing is acknowledged, for they come in any order."""
    ends, ports = ("10.0.7.1", "10.0.8.1"), (50_001, 443)
    if at % 2:
        ends, ports = ends[::-1], ports[::-1]
    return tcp(ends, ports, 1 + at * 40, 1, b"t" * 36 + at.to_bytes(4))


def ping(at: int) -> bytes:
    """ICMP echo (RFC 792), requests and replies."""
    ends = ("10.0.7.2", "10.0.8.2")
    return echo(ends[::-1] if at % 2 else ends, 77, at // 2, is_reply=bool(at % 2))


def ipv6(at: int) -> bytes:
    """Datagrams over another version of IP, which have no identification."""
    ends = ("fd00::7:1", "fd00::8:1")
    return ip(*(ends[::-1] if at % 2 else ends), UDP, 0, 64, udp((7, 7), at.to_bytes(4) * 9))


def equal(_: int) -> bytes:
    """Heartbeats, each like the last."""
    return datagram(("10.0.5.1", "10.0.6.1"), (1_111, 2_223), 0, b"alive" * 8)


KINDS: dict[str, tuple[Callable[[int], bytes], bool]] = {
    "neighbour discovery": (solicitation, True),
    "multicast DNS": (announcement, True),
    "ARP": (arp, True),
    "TCP": (segment, True),
    "ICMP echo": (ping, True),
    "IPv6": (ipv6, True),
    "one way": (one_way, False),
    "equal packets": (equal, False),
}
"""Frames, and whether they are born anywhere and go both ways."""


@cache
def half_widths_ns(n: int, seed: int, kinds: tuple[str, ...], folder: Path) -> list[float]:
    chance = np.random.default_rng(seed)
    packets = talk(n, chance)
    for kind in kinds:
        frame, is_born_anywhere = KINDS[kind]
        for at in range(n // 4):
            t_ns = START_NS + int(chance.integers(n // 2 * GAP_NS))
            way = LINE[::-1] if is_born_anywhere and at % 2 else LINE
            packets.append(Packet(t_ns, (way,), frame(at)))
    network = walk(packets, Edges(TAKES_NS), seed)
    network.clocks = CLOCKS
    with pcaplat.merge(network.save(folder), keep_rows=False, intervals=False) as result:
        rows = result.document["clocks"]
        assert [row["point"] for row in rows] == [*LINE]
        return [row["half_width_ns"] for row in rows]


@pytest.mark.parametrize(("n", "seed"), [(1_000, 1), (4_000, 2)])
@pytest.mark.parametrize("kinds", [*((one,) for one in KINDS), tuple(KINDS)], ids="+".join)
def test_no_clock_is_less_sure_for_more_packets(
    kinds: tuple[str, ...], n: int, seed: int, tmp_path: Path
) -> None:
    before_ns = half_widths_ns(n, seed, (), tmp_path)
    after_ns = half_widths_ns(n, seed, kinds, tmp_path)
    for before, after in zip(before_ns, after_ns, strict=True):
        assert after <= LOOSER * before


@pytest.mark.parametrize("left_out", ["b", "d"])
@pytest.mark.parametrize("missed_share", [0.0, 0.3])
@pytest.mark.parametrize("seed", [1, 2])
def test_no_clock_is_less_sure_for_another_point(
    left_out: str, seed: int, missed_share: float, tmp_path: Path
) -> None:
    """Packets bound the clocks of the points that saw them, whoever saw them too."""
    chance = np.random.default_rng(seed)
    line, takes_ns = (*LINE, "d"), TAKES_NS | both_ways({("c", "d"): 4_000})
    packets = [
        one._replace(ways=(line if one.ways[0] == LINE else line[::-1],))
        for one in talk(2_000, chance)
    ]
    is_missed = chance.random(len(packets)) < missed_share
    network = walk(
        packets,
        Edges(takes_ns),
        seed,
        missed=lambda point, packet: point == left_out and bool(is_missed[packet]),
    )
    network.clocks = CLOCKS | {"d": (70_001, 3.0)}
    files = network.save(tmp_path)
    fewer = [file for file in files if not file.endswith(f"{left_out}.pcap")]
    after_ns, before_ns = (widths_ns(some) for some in (files, fewer))
    for point, before in before_ns.items():
        assert after_ns[point] <= LOOSER * before + 1


def widths_ns(files: list[str]) -> dict[str, float]:
    """How far each clock may be off the first point's."""
    with pcaplat.merge(files, reference="a", keep_rows=False, intervals=False) as result:
        return {row["point"]: row["half_width_ns"] for row in result.document["clocks"]}
