"""Three captures of equal packets that the point in the middle sees off by half their period."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.frames import UDP, ip, udp
from tests.unit.diagnostics.lint_by_hand import CLIENT, SERVER, START_NS, pcap, requests

if TYPE_CHECKING:
    from pathlib import Path

US = 1_000
PERIOD_NS, BURST_NS = 200 * US, 2_500 * US
N_BURSTS, N_IN_BURST = 100, 5
EQUAL = ip(CLIENT, SERVER, UDP, 0, 64, udp((40_007, 53), bytes(64)))

USUAL = (10 * US, 20 * US)
"""When the middle and the far point see what the near one sent."""
ODD = ((-90 * US, -70 * US), (40 * US, -50 * US))
"""Of a tenth of the packets each: ways on which equal packets seem to go, a period off."""
TRAP = (110 * US, 20 * US)
"""Of the equal packets: to the middle as if a period too early, and from there too."""


def records(point: int, equal: tuple[int, int]) -> list[tuple[int, bytes]]:
    """What a point sees, each packet a little late."""
    found = []
    for at, packet in enumerate(requests(2_400)):
        ways = ODD[at // 10 % 2] if at % 10 == 0 else USUAL
        if at % 97 != 31 * point:
            later_ns = (0, *ways)[point] + at * (7, 11, 13)[point] % 211
            found.append((packet.t_ns + later_ns, packet.frame))
    for at, packet in enumerate(requests(2_400, is_forward=False)):
        later_ns = (0, *USUAL)[2 - point] + at * (17, 11, 13)[point] % 211
        found.append((packet.t_ns + 30_011 + later_ns, packet.frame))
    for at in range(N_BURSTS * N_IN_BURST):
        burst, number = divmod(at, N_IN_BURST)
        later_ns = (0, *equal)[point] + at * (19, 23, 29)[point] % 211
        found.append((START_NS + burst * BURST_NS + number * PERIOD_NS + later_ns, EQUAL))
    return sorted(found)


def triangle(folder: Path, equal: tuple[int, int]) -> list[str]:
    """Write what the three points see."""
    files = [folder / f"{name}.pcap" for name in ("near", "middle", "far")]
    for point, file in enumerate(files):
        pcap(file, records(point, equal))
    return list(map(str, files))
