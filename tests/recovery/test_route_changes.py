"""A link becomes longer by milliseconds, both ways, while the captures run: it loses no more."""

from __future__ import annotations

import random
import struct
from typing import TYPE_CHECKING

import numpy as np
import pytest

import pcaplat
from tests.recovery.networks.judge import edges_wrong, merge_network, pairs_wrong
from tests.support.frames import UDP, ip, udp, write_pcap
from tests.support.networks import Network, Packet, Sighting, datagram

if TYPE_CHECKING:
    from pathlib import Path

START_NS, MS = 1_760_000_000_000_000_000, 1_000_000
N, GAP_NS, NEAR_NS, LOST_SHARE = 2_000, 500_000, 20_000, 0.01


def journeys(longer_ns: int, seed: int) -> list[tuple[bool, tuple[int, ...], bytes]]:
    """Packets either way: whether a sends them, when each of three points sees them, the frame."""
    chance, found = random.Random(seed), []  # noqa: S311 - no secret
    for number in range(N):
        is_forward = chance.random() < 0.5
        at_ns = START_NS + number * GAP_NS + chance.randrange(GAP_NS)
        ends = ("10.1.0.1", "10.2.0.1") if is_forward else ("10.2.0.1", "10.1.0.1")
        far_ns = NEAR_NS + (longer_ns if number >= N // 2 else 0)
        times_ns = [at_ns]
        for link_ns in (far_ns, NEAR_NS) if is_forward else (NEAR_NS, far_ns):
            was_lost = times_ns[-1] < 0 or chance.random() < LOST_SHARE
            took_ns = link_ns + int(chance.expovariate(1 / 3_000))
            times_ns.append(-1 if was_lost else times_ns[-1] + took_ns)
        times_ns = times_ns if is_forward else times_ns[::-1]
        data = chance.randbytes(40)
        frame = ip(*ends, UDP, number + 1, 64, udp((5_000, 5_001), data))
        found.append((is_forward, tuple(times_ns), frame))
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("longer_ns", [8 * MS, 40 * MS])
def test_all_that_took_the_longer_way_arrived(longer_ns: int, seed: int, tmp_path: Path) -> None:
    sent, files = journeys(longer_ns, seed), []
    for point in range(3):
        files.append(tmp_path / f"p{point}.pcap")
        seen = [(t_ns[point], frame) for _, t_ns, frame in sent if t_ns[point] >= 0]
        write_pcap(files[-1], sorted(seen))
    with pcaplat.merge([str(file) for file in files], same_clock=["all"]) as result:
        rows = [row for row in result.document["segments"] if row["class"] == "packet"]
    assert len(rows) == 6
    for row in rows:
        near, far = (int(row[end][1:]) for end in ("near", "far"))
        up, down = (near, far) if row["direction"] == "forward" else (far, near)
        mine = [t_ns for way, t_ns, _ in sent if way == (up < down) and t_ns[up] >= 0]
        took_ns = [t_ns[down] - t_ns[up] for t_ns in mine if t_ns[down] >= 0]
        assert row["n"] == len(took_ns)
        # losses whose waiting time ends after the captures are not counted
        n_lost = len(mine) - len(took_ns)
        assert row["n_lost"] <= n_lost
        assert row["lost_lo_frac"] <= n_lost / len(mine) <= row["lost_hi_frac"]
        assert row["mean_ns"] == pytest.approx(float(np.mean(took_ns)), abs=1)
        assert row["max_ns"] == max(took_ns)


@pytest.mark.parametrize("seed", range(8))
def test_streams_that_nobody_answers_have_the_order_of_one_clock(seed: int, tmp_path: Path) -> None:
    """A link becomes slower half-way, so that most differences tell of no clock."""
    chance = np.random.default_rng(seed)
    line, n = ("p1", "p2", "p3", "p4"), 250
    packets = list[Packet]()
    made = Network(packets, {point: [] for point in line})
    for number, along in enumerate((line, line[::-1])):
        ends, ports = (f"10.1.{number}.1", f"10.2.{number}.1"), (5_000 + number, 5_000)
        for at in range(n):
            frame = datagram(ends, ports, 0, struct.pack(">II", number, at))
            t_ns = START_NS + at * 20_000_000 + number * 3_000_000
            packets.append(Packet(t_ns, (along,), frame))
            for place, point in enumerate(along):
                if place:
                    t_ns += 5_000 + int(chance.exponential(400))
                t_ns += 120_000_000 * (point == "p4" and along == line and at > 0.48 * n)
                if place in {0, 3} or chance.random() > 0.01:
                    made.seen[point].append(Sighting(t_ns, len(packets) - 1, frame))
    for seen in made.seen.values():
        seen.sort()
    found = merge_network(made, tmp_path, ["all"])
    assert edges_wrong(found) == set()
    assert found.n_backward == 0
    assert pairs_wrong(found) == []
