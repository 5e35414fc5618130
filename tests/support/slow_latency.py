"""Two captures of a path whose latency changes quickly, and a part of it slowly."""

from __future__ import annotations

from math import cos, pi
from typing import TYPE_CHECKING

import numpy as np

from tests.support.frames import UDP, ip, udp, write_pcap

if TYPE_CHECKING:
    from pathlib import Path

START_NS, GAP_NS = 1_760_000_000_000_000_000, 200_000
LEAST_NS, QUICK_NS = 9_000, 1_000


def changing(folder: Path, slow_ns: float, n: int = 1_500, seed: int = 1) -> list[str]:
    """Write near and far; `slow_ns` is how far latency swings, 0.75 times in the run."""
    chance = np.random.default_rng(seed)
    near: list[tuple[int, bytes]] = []
    far: list[tuple[int, bytes]] = []
    for number in range(n):
        for first, last, ends in ((near, far, (1, 2)), (far, near, (2, 1))):
            t_ns = START_NS + number * GAP_NS + ends[0] * GAP_NS // 4
            swing_ns = slow_ns * (1 - cos(1.5 * pi * number / n))
            took_ns = LEAST_NS + swing_ns + chance.exponential(QUICK_NS)
            src, dst = (f"10.0.0.{end}" for end in ends)
            ports = (5_000 + ends[0], 5_000 + ends[1])
            frame = ip(src, dst, UDP, number, 64, udp(ports, f"{ends} {number}".encode()))
            first.append((t_ns, frame))
            last.append((t_ns + int(took_ns), frame))
    for name, frames in (("near", near), ("far", far)):
        write_pcap(folder / f"{name}.pcap", sorted(frames))
    return [str(folder / f"{name}.pcap") for name in ("near", "far")]
