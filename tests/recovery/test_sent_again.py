"""Losses that are sent again, equal to the byte: how soon they come again tells late ones apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.recovery.networks.judge import Merged, merge_network, pairs_wrong
from tests.recovery.networks.talk import with_clocks
from tests.support.frames import UDP, ip, udp
from tests.support.networks import START_NS, Network, Packet, Sighting

if TYPE_CHECKING:
    from pathlib import Path

MS_NS = 1_000_000
AT_THE_END = 2
"""Packets that may be neither lost nor counted, because the capture ends soon."""
ENDS = ("p0", "p1")
HOSTS, PORTS = ("10.1.0.1", "10.2.0.1"), (5_000, 5_001)


@dataclass(frozen=True)
class SentAgain:
    """Two points, and what happens between them."""

    missed: tuple[float, float]
    loss: float
    again_ns: tuple[int, int]
    base_ns: int = 100_000
    tail_ns: int = 3_000
    late_share: float = 0.0
    late_ns: tuple[int, int] = (1 * MS_NS, 20 * MS_NS)
    n: int = 3_000
    unique: float = 0.02
    n_beats: int = 0
    """Packets of a flow each that come again in turn, beside a few that do not."""
    is_impatient: bool = False
    """Late packets are sent again too."""

    def merged(self, folder: Path, seed: int, *, has_own_clocks: bool) -> Merged:
        """What a merge tells of it."""
        network = with_clocks(self._network(seed), has_own=has_own_clocks)
        return merge_network(network, folder, [] if has_own_clocks else ["all"])

    def _network(self, seed: int) -> Network:
        chance = np.random.default_rng(seed)
        network, packets = Network([], {point: [] for point in ENDS}), []
        for at in range(self.n):
            there = at % 2 == 0
            along = ENDS if there else ENDS[::-1]
            hosts, ports = (HOSTS, PORTS) if there else (HOSTS[::-1], PORTS[::-1])
            is_beat = self.n_beats > 0 and chance.random() >= self.unique
            ends = (at % self.n_beats + 6_000, 6_000) if is_beat else ports
            frame = ip(*hosts, UDP, 0, 64, udp(ends, bytes(40) if is_beat else chance.bytes(40)))
            at_ns, has_arrived = START_NS + at * MS_NS, False
            while not has_arrived:
                packets.append(Packet(at_ns, (along,), frame))
                took_ns = self._walk(network, packets, chance)
                waits_ns = int(chance.integers(*self.again_ns))
                has_arrived = took_ns < (waits_ns if self.is_impatient else np.inf)
                at_ns += waits_ns
        network.packets = packets
        for seen in network.seen.values():
            seen.sort()
        return network

    def _walk(self, network: Network, packets: list[Packet], chance: np.random.Generator) -> float:
        """Let the last packet pass both points. How long it takes: for ever if it is lost."""
        t_ns, (along,), frame, *_ = packets[-1]
        took_ns = self.base_ns + chance.exponential(self.tail_ns)
        if chance.random() < self.late_share:
            took_ns += chance.uniform(*self.late_ns)
        is_lost = chance.random() < self.loss
        if is_lost:
            network.lost.append(((along[0], along[1]), len(packets) - 1))
        for point, after_ns in zip(along, (0, int(took_ns)), strict=True):
            is_seen = chance.random() >= self.missed[ENDS.index(point)]
            if is_seen and not (after_ns and is_lost):
                network.seen[point].append(Sighting(t_ns + after_ns, len(packets) - 1, frame))
        return np.inf if is_lost else took_ns


@pytest.mark.one_in(5)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("clocks", ["one", "own"])
@pytest.mark.parametrize("missed", [(0.01, 0.0), (0.01, 0.01), (0.02, 0.05)])
def test_late_packets_are_found_where_losses_come_again_much_later(
    missed: tuple[float, float], clocks: str, seed: int, tmp_path: Path
) -> None:
    sent = SentAgain(missed, 0.005, (200 * MS_NS, 201 * MS_NS), late_share=0.05)
    found = sent.merged(tmp_path, seed, has_own_clocks=clocks == "own")
    assert pairs_wrong(found) == []
    for edge, row in found.rows.items():
        took_ns = found.crossings[edge].values()
        assert sum(ns > MS_NS for ns in took_ns) > 50
        assert abs(row["n"] - len(took_ns)) <= 2
        assert row["max_ns"] == pytest.approx(max(took_ns), abs=2 * row["clock_half_width_ns"] + 1)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("again_ms", [10, 30])
@pytest.mark.parametrize("tail_us", [30, 300])
def test_what_came_again_soon_is_no_late_packet(
    tail_us: int, again_ms: int, seed: int, tmp_path: Path
) -> None:
    again_ns = (again_ms * MS_NS, (again_ms + 1) * MS_NS)
    sent = SentAgain((0.01, 0.1), 0.03, again_ns, 500_000, tail_us * 1_000, n=6_000)
    found = sent.merged(tmp_path, seed, has_own_clocks=False)
    assert pairs_wrong(found) == []
    for edge, row in found.rows.items():
        assert row["max_ns"] == pytest.approx(max(found.crossings[edge].values()), abs=1)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
@pytest.mark.parametrize("missed", [(0.01, 0.0), (0.1, 0.0), (0.05, 0.05)])
def test_a_beat_and_its_repetition_are_two_packets(
    missed: tuple[float, float], seed: int, tmp_path: Path
) -> None:
    sent = SentAgain(missed, 0.05, (5 * MS_NS, 6 * MS_NS), n_beats=20, n=2_400)
    found = sent.merged(tmp_path, seed, has_own_clocks=False)
    assert pairs_wrong(found) == []
    for edge, row in found.rows.items():
        assert row["max_ns"] == pytest.approx(max(found.crossings[edge].values()), abs=1)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("again_ms", [20, 35])
def test_late_beats_beside_repetitions_are_neither_lost_nor_wrong(
    again_ms: int, seed: int, tmp_path: Path
) -> None:
    again_ns = (again_ms * MS_NS, (again_ms + 1) * MS_NS)
    sent = SentAgain(
        (0.02, 0.02), 0.02, again_ns, late_share=0.02, unique=0.2, n=6_000, n_beats=100
    )
    found = sent.merged(tmp_path, seed, has_own_clocks=False)
    assert pairs_wrong(found) == []
    for edge, row in found.rows.items():
        took_ns = found.crossings[edge].values()
        assert row["n"] + row["n_undecided"] >= 0.99 * len(took_ns)
        assert row["mean_least_ns"] <= sum(took_ns) / len(took_ns) <= row["mean_most_ns"]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("clocks", ["one", "own"])
@pytest.mark.parametrize("late_ms", [(30, 60), (300, 600), (900, 1_000)])
def test_late_packets_that_were_sent_again_are_not_lost(
    late_ms: tuple[int, int], clocks: str, seed: int, tmp_path: Path
) -> None:
    """Both arrive, and nothing tells which is which."""
    late_ns = (late_ms[0] * MS_NS, late_ms[1] * MS_NS)
    again_ns = (late_ns[0] // 4, late_ns[0] // 2)
    sent = SentAgain((0, 0), 0.01, again_ns, late_share=0.02, late_ns=late_ns, is_impatient=True)
    found = sent.merged(tmp_path, seed, has_own_clocks=clocks == "own")
    assert pairs_wrong(found) == []
    for edge, row in found.rows.items():
        took_ns = sorted(found.crossings[edge].values())
        n_lost = sum(lost == edge for lost, _ in found.network.lost)
        assert len(took_ns) - AT_THE_END <= row["n"] + row["n_undecided"] <= len(took_ns)
        assert row["n_lost"] - row["n_maybe_late"] <= n_lost
        assert n_lost <= row["n_lost"] + row["n_maybe_lost"]
        mean_ns = sum(took_ns[:-AT_THE_END]) / len(took_ns)
        assert row["mean_least_ns"] <= mean_ns <= row["mean_most_ns"]
