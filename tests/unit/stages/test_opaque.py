"""Packets that nobody can look into, and frames without IP: told apart by what they show."""

from __future__ import annotations

import random
import struct
from typing import TYPE_CHECKING, NamedTuple

import pytest

import pcaplat
from tests.recovery.simulator.effects import LOSS, at, each, only, together, traffic, tunnel
from tests.support.frames import UDP, ethernet, ip, udp, write_pcap
from tests.unit.stages.test_fragments import merged

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.recovery.simulator.effects import Contrast

    Shape = Callable[[int, "Sent", int], bytes]

US, START_NS = 1_000, 1_760_000_000_000_000_000
POINTS = ("inside", "outside", "far")
IPIP, ESP, AH, GRE = 4, 50, 51, 47
INSIDE, OUTSIDE, FAR = "10.0.0.7", "192.0.2.1", "198.51.100.9"


class Sent(NamedTuple):
    """A packet: its number, which way it goes, and what nobody can read."""

    number: int
    is_forward: bool
    secret: bytes


def esp(sent: Sent) -> bytes:
    """RFC 4303: SPI, sequence number."""
    spi = 0xABCD if sent.is_forward else 0x1234
    return struct.pack(">II", spi, sent.number // 2) + sent.secret


def wireguard(sent: Sent) -> bytes:
    """Transport data: type, receiver, counter."""
    receiver = 77 if sent.is_forward else 78
    return struct.pack("<IIQ", 4, receiver, sent.number // 2) + sent.secret


def gre(sent: Sent) -> bytes:
    """RFC 2890: a sequence number, and a protocol that is not known."""
    return struct.pack(">HHI", 0x1000, 0x7777, sent.number) + b"the same always"


def ah(sent: Sent, next_header: int, protected: bytes) -> bytes:
    """RFC 4302 §2: next header, length, SPI, sequence number, check value."""
    spi = 0xABCD if sent.is_forward else 0x1234
    return struct.pack(">BBHII", next_header, 4, 0, spi, sent.number // 2) + bytes(12) + protected


def ah_transport(sent: Sent) -> bytes:
    """Before a datagram."""
    ports = (5_001, 5_002) if sent.is_forward else (5_002, 5_001)
    return ah(sent, UDP, udp(ports, sent.secret))


def ah_tunnel(sent: Sent) -> bytes:
    """Before a packet between two hosts behind the gateways."""
    ends = ("10.1.0.1", "10.2.0.1") if sent.is_forward else ("10.2.0.1", "10.1.0.1")
    inner = ip(*ends, UDP, 0, 64, udp((7, 7), sent.secret))[14:]
    return ah(sent, IPIP, inner)


def addresses(point: int, *, is_forward: bool, is_translated: bool) -> tuple[str, str]:
    near = OUTSIDE if point and is_translated else INSIDE
    return (near, FAR) if is_forward else (FAR, near)


def over_ip(protocol: int, body: Callable[[Sent], bytes], *, is_translated: bool) -> Shape:
    """Straight over IP, as numbered by its sender."""

    def frame(point: int, sent: Sent, ident: int) -> bytes:
        ends = addresses(point, is_forward=sent.is_forward, is_translated=is_translated)
        return ip(*ends, protocol, ident, 64 - point, body(sent))

    return frame


def over_udp(port: int, body: Callable[[Sent], bytes]) -> Shape:
    """Over UDP, from a port that the translator changes too."""

    def frame(point: int, sent: Sent, ident: int) -> bytes:
        ends = addresses(point, is_forward=sent.is_forward, is_translated=True)
        near = 61_234 if point else port
        ports = (near, port) if sent.is_forward else (port, near)
        return ip(*ends, UDP, ident, 64 - point, udp(ports, body(sent)))

    return frame


SHAPES: dict[str, Shape] = {
    "esp": over_ip(ESP, esp, is_translated=False),
    "esp, translated": over_ip(ESP, esp, is_translated=True),
    "esp in UDP, translated": over_udp(4_500, esp),
    "wireguard, translated": over_udp(51_820, wireguard),
    "ah": over_ip(AH, ah_transport, is_translated=False),
    "ah, translated": over_ip(AH, ah_transport, is_translated=True),
    "ah in tunnel mode": over_ip(AH, ah_tunnel, is_translated=False),
    "ah in tunnel mode, translated": over_ip(AH, ah_tunnel, is_translated=True),
    "gre": over_ip(GRE, gre, is_translated=False),
}


@pytest.mark.parametrize("has_ident", [True, False])
@pytest.mark.parametrize("name", SHAPES)
def test_what_is_opaque_is_told_by_its_numbers(
    name: str, *, has_ident: bool, tmp_path: Path
) -> None:
    chance = random.Random(7)  # noqa: S311 - a simulation
    frames: dict[str, list[tuple[int, bytes, int]]] = {point: [] for point in POINTS}
    for number in range(400):
        sent = Sent(number, number % 2 == 0, chance.randbytes(48))
        for place, point in enumerate(POINTS if sent.is_forward else POINTS[::-1]):
            at_ns = START_NS + number * 50 * US + place * 10 * US + chance.randrange(400)
            ident = number + 1 if has_ident else 0
            data = SHAPES[name](POINTS.index(point), sent, ident)
            # one in fifty is lost on the way
            if number % 50 != 13 or place == 0:
                frames[point].append((at_ns, data, number))
    files = []
    for point, seen in frames.items():
        seen.sort()
        files.append(f"{tmp_path}/{point}.pcap")
        write_pcap(tmp_path / f"{point}.pcap", [(at_ns, data) for at_ns, data, _ in seen])
    result = pcaplat.merge(files, same_clock=["all"])
    assert result.document["path"] in ([*POINTS], [*POINTS][::-1])
    columns = ("up_point", "up_frame", "down_point", "down_frame")
    rows = result.matches.select(*columns).collect().rows()
    for up, up_frame, down, down_frame in rows:
        assert frames[up][up_frame - 1][2] == frames[down][down_frame - 1][2]
    n_lost = sum(number % 50 == 13 for number in range(400))
    assert len(rows) == 2 * (400 - n_lost)
    lost = [row["n_lost"] for row in result.document["segments"] if row["far"] != row["near"]]
    assert sum(lost) == 2 * n_lost  # on the first segment, and on the whole path


LINKS: dict[str, Contrast] = {
    "alone": together(),
    "in a tunnel": tunnel("vxlan"),
    "other tags": each("vlan", 0, 10, 10, 20, 0),
    "mirrored": tunnel("erspan2", ("leaf",)),
    "copies": at(("leaf",), copied_share=0.1),
}


@pytest.mark.parametrize("name", LINKS)
def test_frames_without_ip_are_lost_as_others_are(name: str, tmp_path: Path) -> None:
    frames = traffic(shares=only("ether", "udp"))
    score, _ = merged(together(frames, LINKS[name], LOSS), tmp_path, 1_200)
    assert score.n_wrong == 0
    assert score.counts()["ether"].recall == 1
    assert sum(row.n_truly_lost for row in score.figures) > 50
    assert all(row.n_lost == 0 for row in score.figures)


def test_what_bridges_keep_to_themselves_is_not_lost(tmp_path: Path) -> None:
    """Frames to groups (STP, LLDP) and ARP are born and end anywhere."""
    chance = random.Random(3)  # noqa: S311 - a simulation
    near: list[tuple[int, bytes]] = []
    far: list[tuple[int, bytes]] = []
    for number in range(600):
        at_ns, is_forward = START_NS + number * 50 * US, number % 2 == 0
        ends = (1, 2) if is_forward else (2, 1)
        payload = struct.pack(">I", number) + chance.randbytes(60)
        group = ethernet(ends[0], 0x0180_C200_000E, 0x88CC, payload)
        kind = number % 6
        data = group if kind == 5 else ethernet(*ends, 0x0806, payload)
        if kind < 4:
            data = ethernet(*ends, 0x88B5, payload)
        first, second = (near, far) if is_forward else (far, near)
        first.append((at_ns, data))
        # ARP and groups never cross; of the others one in twenty is lost
        if kind < 4 and number % 20 != 10:
            second.append((at_ns + 10 * US + chance.randrange(300), data))
    for name, frames in (("near", near), ("far", far)):
        write_pcap(tmp_path / f"{name}.pcap", sorted(frames))
    files = [str(tmp_path / f"{name}.pcap") for name in ("near", "far")]
    result = pcaplat.merge(files, path=["near", "far"], same_clock=["all"])
    n_lost = sum(number % 6 < 4 and number % 20 == 10 for number in range(600))
    assert sum(row["n_lost"] for row in result.document["segments"]) == n_lost
