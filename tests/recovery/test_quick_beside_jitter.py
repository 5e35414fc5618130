"""A quick segment beside one of which the latency swings: what is lost there is sent again."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.recovery.networks.judge import merge_network, pairs_wrong
from tests.recovery.networks.talk import with_clocks
from tests.support.frames import UDP, ip, udp
from tests.support.networks import START_NS, Network, Packet, Sighting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MS_NS = 1_000_000
LINE = ("p0", "p1", "p2")
QUICK_NS, TAIL_NS = 20_000, 3_000
N, GAP_NS, AGAIN_NS, LOST_SHARE, MISSED_SHARE = 3_000, 10 * MS_NS, 200 * MS_NS, 0.03, 0.1


def saw_tooth(t_ns: int, _: np.random.Generator) -> float:
    """A queue that fills within 4 s and runs empty within one."""
    part = (t_ns - START_NS) / 5e9 % 1
    return 300_000 + 40 * MS_NS * min(part / 0.8, (1 - part) / 0.2)


def radio(_: int, chance: np.random.Generator) -> float:
    """Packets that wait, and some that are sent again and again."""
    is_late = chance.random() < 0.02
    return 300_000 + chance.exponential(2 * MS_NS) + is_late * chance.uniform(20, 120) * MS_NS


@dataclass(frozen=True)
class QuickBeside:
    """A quick segment of a path of two, whether the other is behind it, and who misses packets."""

    swings: Callable[[int, np.random.Generator], float]
    is_behind: bool
    misses: str

    def network(self, seed: int) -> Network:
        """What was lost on the quick segment is sent again, equal to the byte."""
        chance = np.random.default_rng(seed)
        network = Network([], {point: [] for point in LINE})
        packets: list[Packet] = []
        for along, t_ns, frame in self._sent(chance):
            at_ns, has_arrived = t_ns, False
            while not has_arrived:
                packets.append(Packet(at_ns, (along,), frame))
                has_arrived = self._walk(network, packets, chance)
                at_ns += AGAIN_NS + int(chance.integers(MS_NS))
        network.packets = packets
        for seen in network.seen.values():
            seen.sort()
        return network

    @staticmethod
    def _sent(chance: np.random.Generator) -> Iterator[tuple[tuple[str, ...], int, bytes]]:
        """Each packet's way, and when it is sent first."""
        hosts = ("10.1.0.1", "10.2.0.1")
        for at in range(N):
            t_ns = START_NS + at * GAP_NS
            yield LINE, t_ns, ip(*hosts, UDP, 0, 64, udp((5_000, 5_001), chance.bytes(40)))
            frame = ip(*hosts[::-1], UDP, 0, 64, udp((5_001, 5_000), chance.bytes(40)))
            yield LINE[::-1], t_ns + GAP_NS // 2, frame

    def _walk(self, network: Network, packets: list[Packet], chance: np.random.Generator) -> bool:
        """Let the last packet pass the points. Whether it arrives."""
        number = len(packets) - 1
        t_ns, (along,), frame, *_ = packets[-1]
        quick = {*(LINE[:2] if self.is_behind else LINE[1:])}
        for up, down in pairwise((*along, "")):
            if up != self.misses or chance.random() >= MISSED_SHARE:
                network.seen[up].append(Sighting(t_ns, number, frame))
            is_quick = {up, down} == quick
            if is_quick and chance.random() < LOST_SHARE:
                return False
            took_ns = QUICK_NS + chance.exponential(TAIL_NS)
            t_ns += int(took_ns if is_quick else self.swings(t_ns, chance))
        return True


@pytest.mark.one_in(5)
@pytest.mark.parametrize("clocks", ["one", "own"])
@pytest.mark.parametrize("misses", LINE)
@pytest.mark.parametrize("is_behind", [True, False])
@pytest.mark.parametrize("swings", [saw_tooth, radio])
def test_no_pair_is_wrong(
    swings: Callable[[int, np.random.Generator], float],
    is_behind: bool,  # noqa: FBT001 - a parameter of the test
    misses: str,
    clocks: str,
    tmp_path: Path,
) -> None:
    network = QuickBeside(swings, is_behind, misses).network(seed=1)
    with_their = with_clocks(network, has_own=clocks == "own")
    found = merge_network(with_their, tmp_path, [] if clocks == "own" else ["all"])
    assert pairs_wrong(found) == []
