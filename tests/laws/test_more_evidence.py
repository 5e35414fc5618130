"""Packets of another kind, captured too, never widen what is known of a clock."""

from __future__ import annotations

import struct
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

import pcaplat
from tests.support.frames import ICMPV6, ethernet, ip
from tests.support.networks import START_NS, Edges, Packet, both_ways, datagram, walk

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


def equal(_: int) -> bytes:
    """Heartbeats, each like the last."""
    return datagram(("10.0.5.1", "10.0.6.1"), (1_111, 2_223), 0, b"alive" * 8)


KINDS: dict[str, tuple[Callable[[int], bytes], bool]] = {
    "neighbour discovery": (solicitation, True),
    "multicast DNS": (announcement, True),
    "ARP": (arp, True),
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
