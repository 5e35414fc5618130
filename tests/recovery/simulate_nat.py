"""Paths with address translation whose truth is known: what leaves one point is rewritten."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.support.frames import (
    ICMP,
    ICMPV6,
    TCP,
    UDP,
    checksum,
    ethernet,
    octets,
    udp,
    write_pcap,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

START_NS = 1_760_000_000_000_000_000
End = tuple[str, int]


@dataclass(frozen=True)
class Packet:
    """One packet: its ends (of an echo the identifier stands for both ports) and its bytes."""

    at_ns: int
    src: End
    dst: End
    protocol: int
    payload: bytes
    ident: int = 0
    seq: int = 0
    ack: int = 0
    flags: int = 0x18
    options: bytes = b""
    sacks: tuple[tuple[int, int], ...] = ()
    icmp: tuple[int, int] = (8, 0)
    quoted: Packet | None = None

    def frame(self) -> bytes:
        """The packet in Ethernet."""
        return ethernet(2, 1, 0x86DD if ":" in self.src[0] else 0x0800, self.datagram())

    def datagram(self) -> bytes:
        """The IP packet (RFC 791, RFC 8200)."""
        body, protocol = self._transport(), self.protocol
        source, target = octets(self.src[0]), octets(self.dst[0])
        if len(source) == 16:
            protocol = ICMPV6 if protocol == ICMP else protocol
            return struct.pack(">IHBB", 6 << 28, len(body), protocol, 60) + source + target + body
        bare = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(body), self.ident, 0, 60, protocol, 0)
        bare += source + target
        return bare[:10] + checksum(bare).to_bytes(2) + bare[12:] + body

    def _transport(self) -> bytes:
        ports = (self.src[1], self.dst[1])
        if self.protocol == UDP:
            return udp(ports, self.payload)
        if self.protocol == TCP:
            options = self.options + selective(self.sacks)
            offset = (20 + len(options)) // 4 << 4
            numbers = struct.pack(">HHII", *ports, self.seq, self.ack)
            rest = struct.pack(">BBHHH", offset, self.flags, 8192, hash(ports) & 0xFFFF, 0)
            return numbers + rest + options + self.payload
        if self.quoted is not None:
            quoted = self.quoted.datagram()
            n_header = 40 if ":" in self.quoted.src[0] else 20
            body = struct.pack(">I", 1360 + n_header) + quoted[: n_header + 40]
        else:
            body = struct.pack(">HH", self.src[1], self.seq & 0xFFFF) + self.payload
        bare = struct.pack(">BBH", *self._icmp(), 0) + body
        return bare[:2] + checksum(bare).to_bytes(2) + bare[4:]

    def _icmp(self) -> tuple[int, int]:
        wide = {(8, 0): (128, 0), (0, 0): (129, 0), (3, 4): (2, 0)}  # RFC 7915
        return wide[self.icmp] if ":" in self.src[0] else self.icmp


@dataclass
class Translator:
    """Inside ends become outside ones, both ways; `shifts` are added to sequence numbers.

    `inside` and `outside` map a packet's pair of ends (sender, receiver, as sent by the client) at
    the client's side to those at the server's, from a time on.
    """

    legs: list[tuple[int, tuple[End, End], tuple[End, End]]]
    shift: int = 0
    shift_back: int = 0
    keeps_ident: bool = True
    keeps_ident_back: bool | None = None
    """Whether it does so towards the client too; None as towards the server."""

    def _leg(self, packet: Packet, ends: tuple[End, End]) -> tuple[End, End]:
        known = [leg for leg in self.legs if leg[1] == ends and leg[0] <= packet.at_ns]
        return max(known)[2] if known else ends

    def out(self, packet: Packet, *, forward: bool) -> Packet:
        """The packet as the server's side sees it."""
        ends = (packet.src, packet.dst) if forward else (packet.dst, packet.src)
        client, server = self._leg(packet, ends)
        src, dst = (client, server) if forward else (server, client)
        seq, ack = (self.shift, self.shift_back) if forward else (self.shift_back, self.shift)
        quoted = packet.quoted and self.out(packet.quoted, forward=not forward)
        changed = replace(packet, src=src, dst=dst, quoted=quoted)
        if packet.protocol == TCP:
            changed = replace(
                changed,
                seq=(packet.seq + seq) % 2**32,
                ack=(packet.ack + ack) % 2**32 if packet.ack else 0,
                sacks=tuple(((a + ack) % 2**32, (b + ack) % 2**32) for a, b in packet.sacks),
            )
        is_as_there = forward or self.keeps_ident_back is None
        is_kept = self.keeps_ident if is_as_there else self.keeps_ident_back
        return changed if is_kept else replace(changed, ident=packet.ident * 7919 % 65521)


@dataclass
class Recorded:
    """Frames of each point with the packets' numbers."""

    names: list[str]
    captures: list[list[tuple[int, int, bytes]]]

    def save(self, folder: Path) -> list[str]:
        """Write one capture a point."""
        files = []
        for name, capture in zip(self.names, self.captures, strict=True):
            path = folder / f"{name}.pcap"
            write_pcap(path, [(t, data) for t, _, data in capture])
            files.append(f"{name}={path}")
        return files

    def packet_of(self) -> dict[tuple[str, int], int]:
        """Which packet a frame of a point carries."""
        return {
            (name, n): number
            for name, capture in zip(self.names, self.captures, strict=True)
            for n, (_, number, _) in enumerate(capture, 1)
        }


def record(
    packets: list[tuple[Packet, bool]],
    translators: list[Translator | None],
    *,
    offsets_ns: list[int],
    lost_share: float = 0.0,
    seed: int = 1,
) -> Recorded:
    """Send packets (each with its direction) along a path of one point more than translators.

    The first point sees what is given; each translator stands between two points.
    """
    chance = random.Random(seed)  # noqa: S311 - the same draw every time
    n = len(translators) + 1
    captures: list[list[tuple[int, int, bytes]]] = [[] for _ in range(n)]
    for number, (packet, forward) in enumerate(packets):
        legs = [packet]
        for translator in translators:
            legs.append(translator.out(legs[-1], forward=forward) if translator else legs[-1])
        at_ns = packet.at_ns
        for place in range(n) if forward else range(n - 1, -1, -1):
            stamp_ns = at_ns + offsets_ns[place]
            captures[place].append((stamp_ns, number, legs[place].frame()))
            at_ns += 5_000 + int(chance.expovariate(1 / 800))
            if chance.random() < lost_share:
                break
    names = [f"p{n - place}" for place in range(n)]
    return Recorded(names, [sorted(capture, key=lambda one: one[:2]) for capture in captures])


def stamp(chance: random.Random, at_ns: int, base: int) -> bytes:
    """A TCP time stamp option (RFC 7323 §3.2)."""
    own = (at_ns // 10**6 + base) % 2**32
    return struct.pack(">BBBBII", 1, 1, 8, 10, own, chance.getrandbits(32))


def selective(blocks: tuple[tuple[int, int], ...]) -> bytes:
    """A TCP option of selective acknowledgments (RFC 2018)."""
    edges = b"".join(struct.pack(">II", *block) for block in blocks)
    return struct.pack(">BBBB", 1, 1, 5, 2 + len(edges)) + edges if blocks else b""


@dataclass(frozen=True)
class Traffic:
    """Flows of one kind: how many, and how many packets each, alternately there and back."""

    protocol: int = TCP
    n_flows: int = 100
    n_each: int = 20
    gap_ns: int = 2_000_000
    has_stamps: bool = True
    has_sacks: bool = False
    seed: int = 7

    def packets(self) -> list[tuple[Packet, bool]]:
        """All packets in order of time, each with its direction."""
        chance = random.Random(self.seed)  # noqa: S311 - the same draw every time
        sent = [one for flow in range(self.n_flows) for one in self._flow(chance, flow)]
        return sorted(sent, key=lambda one: one[0].at_ns)

    def _flow(self, chance: random.Random, flow: int) -> list[tuple[Packet, bool]]:
        client = (f"10.0.{flow % 5}.{flow % 200 + 2}", 20_000 + flow)
        server = (f"203.0.113.{flow % 3 + 1}", 20_000 + flow if self.protocol == ICMP else 443)
        idents = [chance.getrandbits(15), chance.getrandbits(15)]
        numbers = [chance.getrandbits(32), chance.getrandbits(32)]
        bases = [chance.getrandbits(31), chance.getrandbits(31)]
        at_ns, sent = START_NS + chance.randrange(10**9), []
        for turn in range(self.n_each):
            way = turn % 2
            ends = (server, client) if way else (client, server)
            payload = self._payload(chance, turn)
            is_tcp, ack = self.protocol == TCP, numbers[1 - way]
            block = ((ack + 1_460) % 2**32, (ack + 1_460 * (turn + 2)) % 2**32)
            packet = Packet(
                at_ns,
                *ends,
                self.protocol,
                payload,
                ident=idents[way] + turn,
                seq=numbers[way] if is_tcp else turn // 2,
                ack=ack if is_tcp and turn else 0,
                flags=(2, 18)[turn] if turn < 2 else 24,
                options=stamp(chance, at_ns, bases[way]) if is_tcp and self.has_stamps else b"",
                sacks=(block,) if is_tcp and self.has_sacks and turn % 3 == 2 else (),
                icmp=(0 if way else 8, 0),
            )
            sent.append((packet, not way))
            numbers[way] = (numbers[way] + len(payload) + (turn < 2)) % 2**32
            at_ns += int(chance.expovariate(1 / self.gap_ns)) + 1_000
        return sent

    def _payload(self, chance: random.Random, turn: int) -> bytes:
        if self.protocol == TCP:
            return chance.randbytes(chance.choice((0, 20, 300)) if turn > 1 else 0)
        return b"the same in every echo" if self.protocol == ICMP else chance.randbytes(30)


def legs_of(
    packets: list[tuple[Packet, bool]], outside: Callable[[int, End, End], tuple[End, End]]
) -> list[tuple[int, tuple[End, End], tuple[End, End]]]:
    """Legs of a translator for all flows: `outside` gives the ends of the n-th, client first."""
    flows = [(p.src, p.dst) if forward else (p.dst, p.src) for p, forward in packets]
    return [(0, ends, outside(n, *ends)) for n, ends in enumerate(dict.fromkeys(flows))]
