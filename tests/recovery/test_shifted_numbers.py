"""A firewall that draws a shift of the sequence numbers for each connection: some are little."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import pcaplat
from tests.support.networks import START_NS, Edges, Packet, both_ways, tcp, walk

if TYPE_CHECKING:
    from pathlib import Path

LINE = ("a", "b", "c", "d")
TAKES_NS = both_ways({("a", "b"): 20_000, ("b", "c"): 90_000, ("c", "d"): 25_000})
LOST = {("b", "c"): 0.01, ("c", "b"): 0.01}
BEHIND = ("c", "d")
N_TURNS, GAP_NS = 40, 60_000
HALF = 1 << 31


def drawn(kind: str, flow: int, chance: np.random.Generator) -> int:
    """How far the server's numbers are ahead behind the firewall."""
    if kind == "little, a quarter" and flow % 4 == 0:
        return int(chance.integers(1, 1 << 16))
    if kind == "little and back, a few" and flow % 10 == 0:
        return -int(chance.integers(1, 1 << 20))
    return HALF + int(chance.integers(-(1 << 30), 1 << 30))


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("kind", ["little, a quarter", "little and back, a few"])
def test_connections_whose_shift_is_little_are_followed(
    kind: str, seed: int, tmp_path: Path
) -> None:
    chance = np.random.default_rng(seed)
    packets, shift = list[Packet](), list[int]()
    for turn in range(N_TURNS * 40):
        flow, at = turn % 40, turn // 40
        if not at:
            shift.append(drawn(kind, flow, chance))
        hosts, ports = (f"10.1.0.{flow % 5 + 1}", "10.9.0.1"), (30_000 + flow, 443)
        asked, told = 1_000 + 97 * flow + at * 120, 5_000_000 + 1_009 * flow + at * 800
        t_ns = START_NS + turn * GAP_NS
        request = tcp(hosts, ports, asked, told, chance.bytes(120))
        packets.append(Packet(t_ns, (LINE,), request))
        answer = tcp(hosts[::-1], ports[::-1], told, asked + 120, chance.bytes(800))
        packets.append(Packet(t_ns + 400_000, (LINE[::-1],), answer, len(packets) - 1))

    def as_seen(point: str, frame: bytes, packet: int) -> bytes:
        by = shift[packet // 2 % 40] if point in BEHIND else 0
        return shifted(frame, by, is_answer=packet % 2 == 1) if by else frame

    network = walk(packets, Edges(TAKES_NS, lost=LOST), seed, as_seen)
    with pcaplat.merge(network.save(tmp_path), same_clock=["all"], keep_rows=False) as result:
        rows = [dict(row) for row in result.document["segments"]]
    assert len(rows) == 8
    for row in rows:
        if (row["near"], row["far"]) == ("a", "d"):
            continue
        edge = (row["near"], row["far"])
        edge = edge if row["direction"] == "forward" else edge[::-1]
        n_lost = sum(at == edge for at, _ in network.lost)
        assert abs(row["n_lost"] - n_lost) <= 1, edge


def shifted(frame: bytes, by: int, *, is_answer: bool) -> bytes:
    """The same frame with other numbers: what the server sends, and what acknowledges it."""
    place = 14 + 20 + (4 if is_answer else 8)
    number = (int.from_bytes(frame[place : place + 4], "big") + by) % 2**32
    return frame[:place] + number.to_bytes(4, "big") + frame[place + 4 :]
