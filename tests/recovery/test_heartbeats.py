"""Equal packets go both ways, and their way takes longer than they are apart: none is lost."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

import pcaplat
from tests.support.frames import UDP, ip, udp, write_pcap

if TYPE_CHECKING:
    from pathlib import Path

START_NS, MS = 1_760_000_000_000_000_000, 1_000_000
N = 1_000
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
