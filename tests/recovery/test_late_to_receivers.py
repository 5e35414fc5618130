"""Packets to a group are late at one receiver, or at all of them together: none counts as lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

import pcaplat
from tests.support.frames import UDP, ip, udp
from tests.support.networks import START_NS, Network, Packet, Sighting

if TYPE_CHECKING:
    from pathlib import Path

N, S, MS = 1_000, 1_000_000_000, 1_000_000
LATE = 0.03
WAITED_NS = 100 * MS
Ways = tuple[tuple[str, ...], ...]
RECEIVERS = ("r1", "r2", "r3")
STAR: Ways = tuple(("sender", receiver) for receiver in RECEIVERS)
SWITCH: Ways = tuple(("sender", "switch", receiver) for receiver in RECEIVERS)
DEEP: Ways = (
    ("sender", "switch", "r1"),
    *(("sender", "switch", "second", r) for r in ("r2", "r3")),
)


def frame(number: int, content: bytes) -> bytes:
    ends = ("10.1.0.1", "239.1.1.1")
    return ip(*ends, UDP, number, 64, udp((5_000, 5_000), content))


@dataclass
class Group:
    """A packet every half second: every other one is unlike all others, in time and not lost."""

    ways: Ways
    lost_share: float
    content: bytes | None
    network: Network = field(init=False)
    chance: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))

    def __post_init__(self) -> None:
        """Send all of them."""
        self.network = Network([], {point: [] for way in self.ways for point in way})
        self.network.packets = [self.sent(number) for number in range(2 * N)]
        for sightings in self.network.seen.values():
            sightings.sort()

    def sent(self, number: int) -> Packet:
        """Send one."""
        is_plain = number % 2 == 1
        content = (not is_plain and self.content) or self.chance.bytes(40)
        sent_ns = START_NS + number * S // 2 + int(self.chance.integers(MS))
        packet = Packet(sent_ns, self.ways, frame(is_plain * number, content))
        at_ns: dict[str, int | None] = {"sender": sent_ns}
        late_ns = self.late_ns(number)
        for edge in dict.fromkeys(edge for way in self.ways for edge in pairwise(way)):
            up_ns = at_ns[edge[0]]
            at_ns[edge[1]] = None
            if up_ns is not None and not is_plain and self.chance.random() < self.lost_share:
                self.network.lost.append((edge, number))
            elif up_ns is not None:
                took_ns = 20_000 + int(self.chance.exponential(2_000)) + late_ns.get(edge, 0)
                at_ns[edge[1]] = up_ns + took_ns
        for point, t_ns in at_ns.items():
            if t_ns is not None:
                self.network.seen[point].append(Sighting(t_ns, number, packet.frame))
        return packet

    def late_ns(self, number: int) -> dict[tuple[str, str], int]:
        """On which edges it is late: some; later in the run, all of a fork together, or all."""
        edges = dict.fromkeys(edge for way in self.ways for edge in pairwise(way))
        fork = self.ways[0][-2]
        if number % 2 == 1:
            return {}
        if number >= 3 * N // 2 and self.chance.random() < LATE:
            return {edge: self.some_ns() for edge in edges}
        if number >= N:
            is_late, late_ns = self.chance.random() < LATE, self.some_ns()
            return {edge: late_ns for edge in edges if edge[0] == fork and is_late}
        last = (edge for edge in edges if edge[1] in RECEIVERS)
        return {edge: self.some_ns() for edge in last if self.chance.random() < LATE}

    def some_ns(self) -> int:
        """How late one is."""
        return int(self.chance.integers(20 * MS, 250 * MS))


@pytest.mark.one_in(5)
@pytest.mark.parametrize("content", [None, b"heartbeat"], ids=["unlike", "heartbeats"])
@pytest.mark.parametrize("lost_share", [0.0, 0.01])
@pytest.mark.parametrize("ways", [STAR, SWITCH, DEEP], ids=["star", "switch", "two switches"])
def test_late_packets_of_a_group_arrive_at_every_receiver(
    ways: Ways, lost_share: float, content: bytes | None, tmp_path: Path
) -> None:
    network = Group(ways, lost_share, content).network
    with pcaplat.merge(network.save(tmp_path), same_clock=["all"]) as result:
        rows = {}
        for row in result.document["segments"]:
            ends = (row["near"], row["far"])
            edge = ends if row["direction"] == "forward" else ends[::-1]
            rows[edge] = (row["n"], row["n_lost"], row["max_ns"])
        matched = {row["point"]: row["n_matched"] for row in result.document["points"]}
        names = "point", "file", "frame", "trajectory_id", "status"
        frames = result.packets.select(names).collect()
        pairs = result.matches.select("up_file", "up_frame", "trajectory_id").collect()
    lost = [edge for edge, _ in network.lost]
    true = {
        edge: (len(took_ns), lost.count(edge), max(took_ns.values()))
        for edge, took_ns in network.crossings().items()
    }
    assert {edge: rows[edge] for edge in true} == true
    seen = Counter(one.packet for seen in network.seen.values() for one in seen)
    assert matched == {
        point: sum(seen[one.packet] > 1 for one in sightings)
        for point, sightings in network.seen.items()
    }
    tallied: Counter[str] = Counter()
    of_packet: dict[int, set[int | None]] = {}
    for point, file, number, trajectory_id, status in frames.iter_rows():
        tallied[point] += status == "matched"
        if status == "matched":
            of_packet.setdefault(network.packet(file, number), set()).add(trajectory_id)
    assert tallied == matched
    for file, number, trajectory_id in pairs.iter_rows():
        of_packet[network.packet(file, number)].add(trajectory_id)
    assert max(map(len, of_packet.values())) == 1, "a packet is one trajectory"


@dataclass
class OneTooLate(Group):
    """Some packets come to one point, and to what is behind it, later than is waited for."""

    point: str = "r1"

    def late_ns(self, number: int) -> dict[tuple[str, str], int]:
        """Only on the edge to that point."""
        edges = dict.fromkeys(edge for way in self.ways for edge in pairwise(way))
        late_ns = int(self.chance.integers(105, 245)) * MS
        is_late = number % 20 == (10 if self.content else 9)
        return {edge: late_ns for edge in edges if edge[1] == self.point and is_late}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("content", [None, b"heartbeat"], ids=["unlike", "heartbeats"])
@pytest.mark.parametrize(
    ("ways", "point"),
    [
        *((STAR, receiver) for receiver in RECEIVERS),
        *((SWITCH, receiver) for receiver in RECEIVERS),
        *((DEEP, point) for point in ("r1", "second", "r2", "r3")),
    ],
)
def test_what_comes_too_late_to_one_receiver_is_lost_there_alone(
    ways: Ways, point: str, content: bytes | None, tmp_path: Path
) -> None:
    network = OneTooLate(ways, 0, content, point=point).network
    with pcaplat.merge(network.save(tmp_path), same_clock=["all"], lost_after="100ms") as result:
        counted = {}
        for row in result.document["segments"]:
            ends = (row["near"], row["far"])
            edge = ends if row["direction"] == "forward" else ends[::-1]
            counted[edge] = (row["n"], row["n_lost"], row["max_ns"])
    true = {}
    for edge, took_ns in network.crossings().items():
        in_time = [ns for ns in took_ns.values() if ns <= WAITED_NS]
        true[edge] = (len(in_time), len(took_ns) - len(in_time), max(in_time))
    assert sum(n_lost for _, n_lost, _ in true.values()) == 2 * N // 20
    assert {edge: counted[edge] for edge in true} == true
