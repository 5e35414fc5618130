"""Datagrams whole at one point and in fragments, or in others, at the next."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, NamedTuple, Protocol

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP, fragment
from scapy.layers.inet6 import IPv6, IPv6ExtHdrFragment, fragment6
from scapy.packet import Packet, Raw

import pcaplat
from tests.recovery.simulator.__main__ import scored
from tests.recovery.simulator.effects import (
    LOSS,
    NAMES,
    at,
    each,
    links,
    only,
    together,
    traffic,
    translated,
)
from tests.support.frames import ethernet, write_pcap
from tests.unit.stages.test_fragments import merged

if TYPE_CHECKING:
    from pathlib import Path

    from tests.recovery.simulator.effects import Contrast

    class Make(Protocol):
        """Makes a packet of some length."""

        def __call__(self, chance: random.Random, number: int, *, is_forward: bool) -> Packet:
            """Of that number, one way or the other."""


US, START_NS = 1_000, 1_760_000_000_000_000_000
POINTS = ("whole", "cut", "recut", "joined")
LINK_NS = 20 * US


class Seen(NamedTuple):
    """A frame: which datagram it is of, and which bytes of its IP payload it carries."""

    t_ns: int
    data: bytes
    datagram: int
    start: int
    end: int


def framed(packet: Packet) -> bytes:
    return ethernet(1, 2, 0x86DD if IPv6 in packet else 0x0800, bytes(packet))


def cut(packet: Packet, n_bytes: int) -> list[Packet]:
    """What scapy makes of an IPv4 packet, or of a fragment."""
    return [IP(bytes(one)) for one in fragment(packet, n_bytes)]  # type: ignore[no-untyped-call]


def span(packet: Packet) -> tuple[int, int]:
    """The bytes that scapy says it carries."""
    if IPv6 not in packet:
        start = packet[IP].frag * 8
        return start, start + len(bytes(packet)) - 20
    if IPv6ExtHdrFragment not in packet:
        return 0, len(bytes(packet)) - 40
    start = packet[IPv6ExtHdrFragment].offset * 8
    return start, start + len(bytes(packet)) - 48


def datagram(chance: random.Random, number: int, *, is_forward: bool) -> Packet:
    """A datagram of some length, in one of three shapes."""
    payload = Raw(chance.randbytes(chance.choice((40, 300, 2_000, 5_001))))
    near, far = ("10.0.0.1", "10.0.0.2") if number % 3 else ("fd00::1", "fd00::2")
    src, dst = (near, far) if is_forward else (far, near)
    ports = (7_000, 8_000) if is_forward else (8_000, 7_000)
    if number % 3 == 0:
        return IPv6(bytes(IPv6(src=src, dst=dst) / UDP(sport=ports[0], dport=ports[1]) / payload))
    echo = ICMP(type=8 if is_forward else 0, id=5, seq=number)
    inner = echo if number % 3 == 1 else UDP(sport=ports[0], dport=ports[1])
    packet: Packet = IP(bytes(IP(src=src, dst=dst, id=number + 1) / inner / payload))
    return packet


def segment(chance: random.Random, number: int, *, is_forward: bool) -> Packet:
    """A TCP segment longer than the links carry, or a short one."""
    payload = Raw(chance.randbytes(chance.choice((40, 300, 2_000, 5_001))))
    near, far = ("10.0.0.1", "10.0.0.2") if number % 3 else ("fd00::1", "fd00::2")
    src, dst = (near, far) if is_forward else (far, near)
    ports = (7_000, 8_000) if is_forward else (8_000, 7_000)
    tcp = TCP(sport=ports[0], dport=ports[1], seq=number * 6_000, ack=number * 6_000, flags="PA")
    if number % 3 == 0:
        return IPv6(bytes(IPv6(src=src, dst=dst) / tcp / payload))
    return IP(bytes(IP(src=src, dst=dst, id=number + 1) / tcp / payload))


def in_fragments(whole: Packet, number: int) -> list[Packet]:
    """As a sender's link of 1,500 bytes has it."""
    if IPv6 not in whole:
        return cut(whole, 1_480)
    if len(bytes(whole)) <= 1_500:
        return [whole]
    head = IPv6(src=whole.src, dst=whole.dst)
    header = IPv6ExtHdrFragment(id=0x1_0000 + number, nh=whole.nh)
    made = fragment6(head / header / whole.payload, 1_500)  # type: ignore[no-untyped-call]
    return [IPv6(bytes(one)) for one in made]


def captured(
    folder: Path, seed: int, lost: float = 0.0, make: Make = datagram
) -> tuple[list[str], list[list[Seen]]]:
    """Four points: whole, in fragments, IPv4 in shorter ones, and put together again."""
    chance = random.Random(seed)  # noqa: S311 - a simulation
    seen: list[list[Seen]] = [[] for _ in POINTS]
    for number in range(250):
        is_forward = bool(chance.getrandbits(1))
        t_ns = START_NS + number * 60 * US
        whole = make(chance, number, is_forward=is_forward)
        parts = in_fragments(whole, number)
        again = [p for one in parts for p in ([one] if IPv6 in one else cut(one, 552))]
        shapes = [[whole], parts, again, [whole]]
        order = range(4) if is_forward else (3, 2, 1, 0)
        for place, point in enumerate(order):
            for late, packet in enumerate(shapes[point]):
                if chance.random() < lost and 0 < place < 3:
                    continue
                late_ns = t_ns + place * LINK_NS + chance.randrange(300) + late * 600
                seen[point].append(Seen(late_ns, framed(packet), number, *span(packet)))
    files = []
    for name, frames in zip(POINTS, seen, strict=True):
        frames.sort()
        files.append(f"{folder}/{name}.pcap")
        write_pcap(folder / f"{name}.pcap", [(one.t_ns, one.data) for one in frames])
    return files, seen


def kind_of(up: Seen, down: Seen) -> str:
    starts, ends = up.start == down.start, up.end == down.end
    return {(1, 1): "packet", (1, 0): "first-byte", (0, 1): "last-byte"}.get(
        (starts, ends), "overlap"
    )


@pytest.mark.parametrize("make", [datagram, segment])
def test_every_byte_is_followed_through_every_cut(make: Make, tmp_path: Path) -> None:
    files, seen = captured(tmp_path, 1, make=make)
    result = pcaplat.merge(files, path=[*POINTS], same_clock=["all"])
    expected = set()
    for near, far in itertools.pairwise(range(4)):
        of_datagram: dict[int, list[tuple[int, Seen]]] = {}
        for number, one in enumerate(seen[near], 1):
            of_datagram.setdefault(one.datagram, []).append((number, one))
        for j, other in enumerate(seen[far], 1):
            for i, one in of_datagram[other.datagram]:
                if max(one.start, other.start) < min(one.end, other.end):
                    near_end, far_end = (POINTS[near], i), (POINTS[far], j)
                    ends = (near_end, far_end) if one.t_ns < other.t_ns else (far_end, near_end)
                    expected.add((*ends[0], *ends[1], kind_of(one, other)))
    columns = ("up_point", "up_frame", "down_point", "down_frame", "kind")
    rows = result.matches.select(*columns).collect().rows()
    assert len(rows) == len(set(rows))
    assert set(rows) == expected
    assert {row[4] for row in rows} == {"packet", "first-byte", "last-byte", "overlap"}
    assert all(row["n_lost"] == 0 == row["lost_bytes"] for row in result.document["segments"])
    statuses = set(result.packets.collect()["status"])
    assert statuses == {"matched", "coalesced"}


@pytest.mark.parametrize(("seed", "make"), [(2, datagram), (3, datagram), (4, segment)])
def test_no_byte_is_taken_for_another(seed: int, make: Make, tmp_path: Path) -> None:
    """Captures that miss a fifth of all fragments pair what they have, rightly."""
    files, seen = captured(tmp_path, seed, 0.2, make)
    result = pcaplat.merge(files, path=[*POINTS], same_clock=["all"])
    rows = result.matches.collect()
    of = dict(zip(POINTS, seen, strict=True))
    for row in rows.iter_rows(named=True):
        up = of[row["up_point"]][row["up_frame"] - 1]
        down = of[row["down_point"]][row["down_frame"] - 1]
        assert up.datagram == down.datagram
        assert max(up.start, down.start) < min(up.end, down.end)
        ends = sorted(POINTS.index(row[name]) for name in ("up_point", "down_point"))
        between = [one for point in POINTS[ends[0] + 1 : ends[1]] for one in of[point]]
        cut = [one for one in between if one.datagram == up.datagram and one[3:] != up[3:]]
        kinds = {kind_of(up, down)}
        if cut and up[3:] == down[3:]:
            # cut and joined again, it waited for its other pieces; the first alone names it surely
            kinds = {"first-byte"} if any(one.start == 0 for one in cut) else kinds | {"first-byte"}
        assert row["kind"] in kinds
    assert len(rows) > 1_000


def udp(fragments: str) -> Contrast:
    """Long datagrams, and other traffic."""
    return traffic(datagram_bytes=4_000, fragments=fragments)


HARD: dict[str, Contrast] = {
    "cut, loss": together(udp("cut"), LOSS),
    "joined, loss": together(udp("joined"), LOSS),
    "cut, reordered": together(udp("cut"), links(held_share=0.02)),
    "joined, mirror drops": together(udp("joined"), at(("leaf", "spine"), missed_share=0.2)),
    "cut, translated": together(udp("cut"), translated("snat")),
    "joined, snap": together(udp("joined"), at(NAMES, snap=96)),
    "cut, unsorted": together(udp("cut"), each("order", *["shuffled"] * 5)),
}


@pytest.mark.parametrize("name", HARD)
def test_fragments_are_found_whatever_else_happens(name: str, tmp_path: Path) -> None:
    score, _ = merged(HARD[name], tmp_path, 700)
    assert score.n_wrong == 0
    counts = score.counts()["fragment"]
    assert counts.n > 150
    assert counts.recall >= 0.998


@pytest.mark.parametrize("hosts", [1, 2])
@pytest.mark.parametrize(("n", "seed"), [(1_000, 1), (5_000, 2)])
def test_what_is_cut_on_the_way_and_joined_at_the_end_is_not_lost(
    hosts: int, n: int, seed: int, tmp_path: Path
) -> None:
    both = traffic(datagram_bytes=4_000, fragments="both", near_hosts=hosts, far_hosts=hosts)
    score, _ = merged(both, tmp_path, n, seed)
    assert score.n_wrong == 0
    assert score.counts()["fragment"].recall == 1
    segments = score.result.document["segments"]
    assert all(row["n_lost"] == 0 == row["lost_bytes"] for row in segments)


def test_identifications_used_again_too_soon_tell_nothing(tmp_path: Path) -> None:
    few = traffic(shares=only("udp"), ip6_share=0.0, idents="random", n_idents=30, gap_ns=3_000)
    drops = at(("leaf", "spine"), missed_share=0.2)
    score, _ = merged(together(udp("cut"), few, LOSS, drops), tmp_path, 1_500)
    assert score.n_wrong == 0
    assert score.counts()["fragment"].recall > 0.7


def test_order_in_fragments_of_tunnels_is_that_of_the_packets(tmp_path: Path) -> None:
    score = scored("outer fragments", tmp_path, 2_000)
    assert all(row.n_reordered == 0 for row in score.figures)
