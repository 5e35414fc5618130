"""A path whose truth is known: packets go along it both ways, and wrong clocks record them.

`run(scenario)` sends requests and responses of TCP, UDP and ICMP, in IPv4 and IPv6, and returns
what every point recorded together with what really happened. Tests ask the product to recover the
latter from the former.
"""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tests.simulate_packets import (
    ICMP,
    ICMPV6,
    TCP,
    UDP,
    echo,
    ip,
    tcp,
    udp,
    vxlan,
    write_pcap,
    write_pcapng,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

START_NS = 1_760_000_000_000_000_000
COPY_AFTER_NS = 4_000


@dataclass(frozen=True)
class Point:
    """Where packets are recorded, and how wrong its clock is."""

    name: str
    offset_ns: int = 0
    drift_ppm: float = 0.0
    in_vxlan: bool = False
    copied_share: float = 0.0
    resolution_ns: int = 1

    def stamp_ns(self, true_ns: int) -> int:
        """What this clock says at a true time."""
        drifted_ns = round((true_ns - START_NS) * self.drift_ppm * 1e-6)
        return (true_ns + self.offset_ns + drifted_ns) // self.resolution_ns * self.resolution_ns


@dataclass(frozen=True)
class Link:
    """How long packets take between two neighbouring points, and what happens to them."""

    forward_ns: int = 3_000
    reverse_ns: int = 3_000
    tail_ns: int = 500
    lost_share: float = 0.0
    held_share: float = 0.0
    held_ns: int = 12_000


@dataclass(frozen=True)
class Scenario:
    """A path and its traffic."""

    points: tuple[Point, ...]
    links: tuple[Link, ...]
    n_transactions: int = 150
    gap_ns: int = 60_000
    burst: int = 1
    has_twins: bool = (
        False  # UDP over IPv6 repeats the same bytes: only time tells its packets apart
    )
    seed: int = 1


class Seen(NamedTuple):
    """A frame on its way into a file."""

    stamp_ns: int
    packet: int
    is_copy: bool
    data: bytes


@dataclass
class Passage:
    """One packet: its flow, its direction, and when it passed each point that it reached."""

    flow: tuple[str, int, bool]
    forward: bool
    at_ns: dict[int, int]
    data: bytes


@dataclass
class Hop:
    """The truth about one segment and direction."""

    latencies_ns: list[int] = field(default_factory=list)
    lost_at_ns: list[int] = field(default_factory=list)
    n_reordered: int = 0

    def n_lost(self, covered_ns: tuple[int, int], margin_ns: int = 0) -> int:
        """Losses inside the time that all points cover, give or take a margin at either end."""
        first_ns, last_ns = covered_ns
        return sum(first_ns - margin_ns <= at <= last_ns + margin_ns for at in self.lost_at_ns)


@dataclass
class Outcome:
    """What the points recorded, and what really happened."""

    scenario: Scenario
    passages: list[Passage]
    seen: list[list[Seen]]

    def save(self, folder: Path, *, suffix: str = ".pcap") -> list[Path]:
        """Write one capture a point, in path order."""
        files = [folder / (point.name + suffix) for point in self.scenario.points]
        for file, point, capture in zip(files, self.scenario.points, self.seen, strict=True):
            records = [(s.stamp_ns, s.data) for s in capture]
            if suffix == ".pcapng":
                write_pcapng(file, records)
            else:
                write_pcap(file, records, nanoseconds=point.resolution_ns < 1000)
        return files

    def packet_of(self) -> dict[tuple[str, int], int]:
        """Which packet a frame of a point carries."""
        points = self.scenario.points
        return {
            (points[p].name, n): s.packet
            for p, capture in enumerate(self.seen)
            for n, s in enumerate(capture, 1)
        }

    def n_copies(self) -> dict[str, int]:
        """How many frames of each point are later copies."""
        points = self.scenario.points
        return {
            point.name: sum(s.is_copy for s in capture)
            for point, capture in zip(points, self.seen, strict=True)
        }

    def hops(self) -> dict[tuple[str, str, str], Hop]:
        """The truth per segment and direction."""
        names = [point.name for point in self.scenario.points]
        found: dict[tuple[str, str, str], Hop] = {}
        for near in range(len(names) - 1):
            for forward, direction in ((True, "forward"), (False, "reverse")):
                up, down = (near, near + 1) if forward else (near + 1, near)
                found[names[near], names[near + 1], direction] = self._hop(
                    up, down, forward=forward
                )
        return found

    def _hop(self, up: int, down: int, *, forward: bool) -> Hop:
        mine = [p for p in self.passages if p.forward is forward and up in p.at_ns]
        both = [p for p in mine if down in p.at_ns]
        lost_at_ns = [p.at_ns[up] for p in mine if down not in p.at_ns]
        latencies_ns = [p.at_ns[down] - p.at_ns[up] for p in both]
        return Hop(latencies_ns, lost_at_ns, n_reordered(both, up, down))

    def covered_ns(self) -> tuple[int, int]:
        """The time that all points cover, as true time: loss is counted in it alone."""
        times_ns = [
            [p.at_ns[at] for p in self.passages if at in p.at_ns] for at in range(len(self.seen))
        ]
        return max(map(min, times_ns)), min(map(max, times_ns))


def n_reordered(passages: list[Passage], up: int, down: int) -> int:
    """Packets of a flow that arrive after one that was sent later (RFC 4737, section 3)."""
    flows: dict[tuple[str, int, bool], list[Passage]] = defaultdict(list)
    for passage in sorted(passages, key=lambda p: p.at_ns[up]):
        flows[passage.flow].append(passage)
    late = 0
    for sent in flows.values():
        newest = -1
        for place in sorted(range(len(sent)), key=lambda i: sent[i].at_ns[down]):
            late += place < newest
            newest = max(newest, place)
    return late


def run(scenario: Scenario) -> Outcome:
    """Send the traffic, let the points record it."""
    chance = random.Random(scenario.seed)  # noqa: S311 - the same draw every time
    passages: list[Passage] = []
    now_ns = START_NS
    for number in range(scenario.n_transactions):
        now_ns += scenario.gap_ns // 2 + chance.randrange(scenario.gap_ns)
        for place in range(scenario.burst):
            passages += _transaction(scenario, chance, number, place, now_ns + 2_500 * place)
    return Outcome(scenario, passages, _recorded(scenario, chance, passages))


def _transaction(
    scenario: Scenario, chance: random.Random, number: int, place: int, at_ns: int
) -> Iterator[Passage]:
    flow = number % len(FLOWS)
    turn = number // len(FLOWS) * scenario.burst + place
    request = _sent(scenario, chance, flow, turn, at_ns, forward=True)
    yield request
    last = len(scenario.points) - 1
    if last in request.at_ns:
        answered_ns = request.at_ns[last] + 6_000 + int(chance.expovariate(1 / 2_000))
        yield _sent(scenario, chance, flow, turn, answered_ns, forward=False)


def _sent(
    scenario: Scenario, chance: random.Random, flow: int, turn: int, at_ns: int, *, forward: bool
) -> Passage:
    kind, version = FLOWS[flow]
    payload = chance.randbytes(8 + chance.randrange(40))
    if scenario.has_twins and (kind, version) == ("udp", 6):
        payload = b"the same again and again"
    data = _packet((kind, version), flow, turn, payload, forward=forward)
    at = range(len(scenario.points)) if forward else range(len(scenario.points) - 1, -1, -1)
    times_ns, now_ns = {at[0]: at_ns}, at_ns
    for up, down in itertools.pairwise(at):
        link = scenario.links[min(up, down)]
        if chance.random() < link.lost_share:
            break
        now_ns += (link.forward_ns if forward else link.reverse_ns) + int(
            chance.expovariate(1 / link.tail_ns)
        )
        now_ns += link.held_ns if chance.random() < link.held_share else 0
        times_ns[down] = now_ns
    return Passage((kind, flow, forward), forward, times_ns, data)


FLOWS = (("tcp", 4), ("udp", 4), ("icmp", 4), ("tcp", 6), ("udp", 6), ("tcp", 4), ("icmp", 6))


def _packet(
    protocols: tuple[str, int], flow: int, turn: int, payload: bytes, *, forward: bool
) -> bytes:
    kind, version = protocols
    ends = (
        (f"10.1.0.{flow + 1}", f"10.2.0.{flow + 1}")
        if version == 4
        else (f"fd00:1::{flow + 1:x}", f"fd00:2::{flow + 1:x}")
    )
    src, dst = ends if forward else ends[::-1]
    ports = (40_000 + flow, 7000) if forward else (7000, 40_000 + flow)
    if kind == "icmp":
        request, reply = (8, 0) if version == 4 else (128, 129)
        protocol, body = (
            (ICMP if version == 4 else ICMPV6),
            echo(request if forward else reply, flow, turn, payload),
        )
    elif kind == "udp":
        protocol, body = UDP, udp(ports, payload)
    else:
        opening = 0x02 if forward else 0x12
        protocol, body = (
            TCP,
            tcp(
                ports,
                1_000 + turn * 100,
                5_000 + turn * 100,
                opening if turn == 0 else 0x18,
                payload if turn else b"",
            ),
        )
    return ip(src, dst, protocol, (turn + 1) & 0xFFFF, 64, body)


def _recorded(
    scenario: Scenario, chance: random.Random, passages: list[Passage]
) -> list[list[Seen]]:
    captures: list[list[Seen]] = []
    for at, point in enumerate(scenario.points):
        capture: list[Seen] = []
        for number, passage in enumerate(passages):
            if at not in passage.at_ns:
                continue
            data = (
                vxlan(passage.data, number, forward=passage.forward)
                if point.in_vxlan
                else passage.data
            )
            capture.append(
                Seen(point.stamp_ns(passage.at_ns[at]), number, is_copy=False, data=data)
            )
            if chance.random() < point.copied_share:
                later_ns = passage.at_ns[at] + COPY_AFTER_NS
                capture.append(Seen(point.stamp_ns(later_ns), number, is_copy=True, data=data))
        captures.append(sorted(capture, key=lambda s: s.stamp_ns))
    return captures
