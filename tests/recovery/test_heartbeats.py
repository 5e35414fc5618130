"""Equal packets go both ways, and their way takes longer than they are apart: none is lost."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

import pcaplat
from tests.support.frames import UDP, ip, udp, write_pcap
from tests.support.networks import Edges, Network, Packet, both_ways, datagram, walk

if TYPE_CHECKING:
    from pathlib import Path

START_NS, MS = 1_760_000_000_000_000_000, 1_000_000
N = 1_000
LOST, LATE, MISSED = 0.01, 0.02, 0.02
HOSTS = ("10.1.0.1", "10.2.0.1")
Timed = list[tuple[int, bytes]]


def captured(period_ms: int, delay_ms: int, jitter: float, lost_share: float) -> list[Timed]:
    """What two points captured of heartbeats without an IP identification, and of numbered ones."""
    chance = random.Random(1)  # noqa: S311 - no secret
    points: list[Timed] = [[], []]
    for number in range(N):
        for side in (0, 1):
            ends = HOSTS if side == 0 else HOSTS[::-1]
            heartbeat = ip(*ends, UDP, 0, 64, udp((3_784, 3_784), bytes([side]) * 24))
            other = ip(*ends, UDP, 0, 64, udp((4_000, 4_000), chance.randbytes(100)))
            at_ns = START_NS + number * period_ms * MS + chance.randrange(MS // 1_000)
            for t_ns, frame in ((at_ns, heartbeat), (at_ns + chance.randrange(5 * MS), other)):
                points[side].append((t_ns, frame))
                if chance.random() >= lost_share:
                    took_ns = int(delay_ms * MS * (1 + jitter * chance.random()))
                    points[1 - side].append((t_ns + took_ns, frame))
    return [sorted(point) for point in points]


def saved(points: list[Timed], folder: Path) -> list[str]:
    files = [folder / f"p{number}.pcap" for number in range(len(points))]
    for file, point in zip(files, points, strict=True):
        write_pcap(file, point)
    return [str(file) for file in files]


@pytest.mark.parametrize("clocks", ["one clock", "own clocks"])
@pytest.mark.parametrize(
    ("period_ms", "delay_ms", "jitter"),
    [(20, 12, 0.05), (20, 12, 0.3), (50, 5, 0.5), (50, 30, 0.05)],
)
def test_none_is_lost(
    period_ms: int, delay_ms: int, jitter: float, clocks: str, tmp_path: Path
) -> None:
    files = saved(captured(period_ms, delay_ms, jitter, 0.0), tmp_path)
    same_clock = ["all"] if clocks == "one clock" else []
    with pcaplat.merge(files, same_clock=same_clock) as result:
        rows = result.document["segments"]
    assert [(row["n"], row["n_lost"], row["n_maybe_lost"]) for row in rows] == [(2 * N, 0, 0)] * 2


def test_real_losses_are_told(tmp_path: Path) -> None:
    files = saved(captured(20, 12, 0.05, 0.02), tmp_path)
    with pcaplat.merge(files, same_clock=["all"]) as result:
        rows = result.document["segments"]
    for row in rows:
        assert row["lost_lo_frac"] <= 0.02 <= row["lost_hi_frac"] < 0.04


@dataclass
class Rounds:
    """A script's packets, the same every 3 s: some are lost, some late, and a point misses some."""

    late_ms: tuple[int, int]
    seed: int
    n: int = N // 20
    n_the_same: int = 30
    n_others: int = 0
    """Packets of a round that are unlike all others."""
    late: float = LATE
    missed: float = MISSED
    n_lost: int = 0
    took_ns: list[int] = field(default_factory=list)

    def captured(self) -> list[Timed]:
        """What two points captured."""
        chance = random.Random(self.seed)  # noqa: S311 - no secret

        def new() -> bytes:
            return ip(*HOSTS, UDP, 0, 64, udp((5_000, 6_001), chance.randbytes(30)))

        frames = [new() for _ in range(self.n_the_same)]
        points: list[Timed] = [[], []]
        n_frames = self.n_the_same + self.n_others
        for number, at in product(range(self.n), range(n_frames)):
            frame = frames[at] if at < self.n_the_same else new()
            at_ns = START_NS + number * 3_000 * MS + at * 10 * MS
            is_seen = chance.random() >= self.missed
            points[0].extend([(at_ns, frame)] * is_seen)
            took_ns = int(MS / 10 + chance.expovariate(1 / 3_000))
            took_ns += int(chance.uniform(*self.late_ms) * MS) * (chance.random() < self.late)
            is_lost = chance.random() < LOST
            points[1].extend([(at_ns + took_ns, frame)] * (not is_lost))
            self.n_lost += is_seen and is_lost
            self.took_ns.extend([took_ns] * (is_seen and not is_lost))
        return [sorted(point) for point in points]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("late_ms", [(1, 20), (20, 200)])
def test_late_packets_of_a_round_are_found(
    late_ms: tuple[int, int], seed: int, tmp_path: Path
) -> None:
    rounds = Rounds(late_ms, seed)
    with pcaplat.merge(saved(rounds.captured(), tmp_path), same_clock=["all"]) as result:
        row = next(row for row in result.document["segments"] if row["n"])
    assert (row["n"], row["n_lost"]) == (len(rounds.took_ns), rounds.n_lost)
    assert row["max_ns"] == max(rounds.took_ns) > late_ms[0] * MS
    assert row["mean_ns"] == pytest.approx(sum(rounds.took_ns) / len(rounds.took_ns))


@pytest.mark.parametrize("n", [1_000, 4_000])
def test_late_heartbeats_are_not_lost_however_many_came(n: int, tmp_path: Path) -> None:
    beats = Rounds((60, 400), 1, n, n_the_same=1, n_others=1)
    with pcaplat.merge(saved(beats.captured(), tmp_path), same_clock=["all"]) as result:
        row = next(row for row in result.document["segments"] if row["n"])
    n, mean_ns = len(beats.took_ns), sum(beats.took_ns) / len(beats.took_ns)
    assert row["n_lost"] == beats.n_lost
    # those that may be late are counted as lost
    n_most = row["n"] + row["n_undecided"]
    assert n_most - row["n_maybe_late"] <= n <= n_most
    assert row["mean_least_ns"] <= mean_ns <= row["mean_most_ns"]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("n_the_same", [1, 20])
@pytest.mark.parametrize("late_ms", [(1_400, 1_600), (1_800, 1_900), (4_000, 4_100)])
def test_heartbeats_nearer_to_the_next_one_are_not_lost(
    late_ms: tuple[int, int], n_the_same: int, seed: int, tmp_path: Path
) -> None:
    """Each end is followed by a beginning, and no point misses any."""
    beats = Rounds(late_ms, seed, 1_000 // n_the_same, n_the_same, n_others=1, missed=0)
    with pcaplat.merge(saved(beats.captured(), tmp_path), same_clock=["all"]) as result:
        row = next(row for row in result.document["segments"] if row["n"])
    n = len(beats.took_ns)
    # the last ones may be neither lost nor counted
    mean_ns = sum(sorted(beats.took_ns)[:-2]) / n
    assert n - 2 <= row["n"] + row["n_undecided"] <= n
    assert row["n_lost"] - row["n_maybe_late"] <= beats.n_lost + 1
    assert beats.n_lost <= row["n_lost"] + row["n_maybe_lost"]
    assert row["mean_least_ns"] <= mean_ns <= row["mean_most_ns"]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_the_same", [1, 20])
def test_lost_and_missed_heartbeats_are_no_late_ones(
    n_the_same: int, seed: int, tmp_path: Path
) -> None:
    """As many beginnings come before ends as after them."""
    beats = Rounds((0, 0), seed, 1_000 // n_the_same, n_the_same, n_others=1, late=0)
    with pcaplat.merge(saved(beats.captured(), tmp_path), same_clock=["all"]) as result:
        row = next(row for row in result.document["segments"] if row["n"])
    assert (row["n"], row["n_lost"]) == (len(beats.took_ns), beats.n_lost)
    assert row["n_maybe_late"] <= row["n_lost"] / 2


LINE = ("a", "b", "c")
TO_B = ("a", "b", "forward")


def polls(late_ns: int, late_frac: float, period_ns: int, seed: int) -> Network:
    """Five hosts poll a server beside other traffic, and some packets are late."""
    chance = np.random.default_rng(seed)
    packets = []
    for number, host in product(range(6_000 // 5), range(5)):
        at_ns = START_NS + number * period_ns + host * 3 * MS + int(chance.integers(50_000))
        ends, ports = (f"10.0.5.{host + 1}", "10.0.1.1"), (1_000 + host, 502)
        poll = datagram(ends, ports, 0, b"POLL-%d" % host + bytes(20))
        answer = datagram(ends[::-1], ports[::-1], 0, b"ANSWER-%d" % host + bytes(30))
        others = ("10.0.6.1", "10.0.1.1")
        report = datagram(others, (4_000, 5_004), 0, chance.bytes(60))
        command = datagram(others[::-1], (5_004, 4_000), 0, chance.bytes(60))
        packets += [
            Packet(at_ns, (LINE,), poll),
            Packet(at_ns + MS, (LINE[::-1],), answer),
            Packet(at_ns + 2 * MS, (LINE,), report),
            Packet(at_ns + 2 * MS, (LINE[::-1],), command),
        ]
    packets.sort(key=lambda packet: packet.t_ns)
    takes_ns = {("a", "b"): 200_000, ("b", "c"): 300_000}
    late = dict.fromkeys((("a", "b"), ("b", "a")), (late_frac, late_ns))
    return walk(packets, Edges(both_ways(takes_ns), late=late), seed)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("period_ms", [20, 100])
@pytest.mark.parametrize("late_ms", [2_000, 3_000, 5_000])
@pytest.mark.parametrize("late_frac", [0.005, 0.01])
def test_polls_later_than_the_window_are_no_other_polls(
    late_frac: float, late_ms: int, period_ms: int, seed: int, tmp_path: Path
) -> None:
    """Their true partner is out of sight, and another late one in sight is not it.

    But for those that arrive just when another one was due.
    """
    network = polls(late_ms * MS, late_frac, period_ms * MS, seed)
    with pcaplat.merge(network.save(tmp_path), same_clock=["all"], path=LINE) as result:
        columns = ["up_file", "up_frame", "down_file", "down_frame", "latency_ns"]
        pairs = result.matches.select(columns).collect().rows()
        rows = result.document["segments"]
    assert len(pairs) > 0.9 * 2 * 4 * 6_000
    wrong_ns = [row[4] for row in pairs if network.packet(*row[:2]) != network.packet(*row[2:4])]
    assert len(wrong_ns) <= 1
    assert all(0 < latency_ns < MS for latency_ns in wrong_ns)
    assert all(row["lost_lo_frac"] < 5e-4 for row in rows)
    # of those that go on behind the late ones, hardly any
    to_b = next(row for row in rows if (row["near"], row["far"], row["direction"]) == TO_B)
    assert to_b["n_lost"] <= 4
