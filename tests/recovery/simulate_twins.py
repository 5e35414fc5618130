"""Packets that are equal to the byte, among others that are not: what points see, and the truth.

Shares the frames' bytes with `frames_by_hand` and nothing with the product.
"""

from __future__ import annotations

import itertools
import random
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tests.support.frames import UDP, ip, udp, write_pcap

if TYPE_CHECKING:
    from pathlib import Path

    import pcaplat

TCP, ACK = 6, 0x10
START_NS = 1_760_000_000_000_000_000
N_BACKGROUND = 1500
ENDS = {4: ("10.1.0.9", "10.2.0.9"), 6: ("fd00:1::9", "fd00:2::9")}


@dataclass(frozen=True)
class Twins:
    """One flow of equal packets, and how the path and the points treat it.

    `spacing_ns` is the mean; `is_regular` makes every gap that, else gaps are exponential. Packets
    come in trains of `train`, 2 ms apart; `unlike_trains` do not equal each other. Every
    `marked`-th packet is unique (0: none). Delays are `delay_ns` plus an exponential tail; a path
    that `keeps_order` is a queue. `burst_ns` is how far now and then a queue holds everything up.
    `missed_share` is what the mirrors of the points `missed_at` drop.
    """

    spacing_ns: int = 34_000
    is_regular: bool = False
    n: int = 600
    train: int = 0
    unlike_trains: bool = False
    marked: int = 0
    kind: str = "udp6"
    lost_share: float = 0.0
    missed_share: float = 0.0
    missed_at: tuple[int, ...] = (1,)
    copied_share: float = 0.0
    copy_after_ns: int = 4_000
    tail_ns: int = 500
    delay_ns: int = 3_000
    keeps_order: bool = True
    burst_ns: int = 0
    both_ways: bool = False
    n_points: int = 3
    seed: int = 1

    def is_forward(self, packet: int) -> bool:
        """Whether a packet goes from the first point to the last."""
        return packet < self.n or (packet >= 2 * self.n and packet % 2 == 0)


class Frame(NamedTuple):
    """A frame at a point."""

    stamp_ns: int
    packet: int
    is_copy: bool
    is_twin: bool
    data: bytes


class Counted(NamedTuple):
    """What a merge made of it: pairs of equal packets between neighbours."""

    n_possible: int
    n_right: int
    n_wrong: int
    n_ambiguous: int


def capture(scenario: Twins) -> list[list[Frame]]:
    """What each point recorded, in order of time."""
    chance = random.Random(scenario.seed)  # noqa: S311 - the same draw every time
    sent = _sent(scenario, chance)
    seen: list[list[Frame]] = [[] for _ in range(scenario.n_points)]
    span_ns = (sent[-1][0] if sent else START_NS) - START_NS + 1
    bursts = sorted(chance.randrange(span_ns) + START_NS for _ in range(6))
    for forward in (True, False):
        order = range(scenario.n_points) if forward else range(scenario.n_points - 1, -1, -1)
        now = [one for one in sent if one[2] is forward]
        for at, point in enumerate(order):
            if at:
                now = _crossed(scenario, chance, now, bursts)
            seen[point] += _recorded(scenario, chance, point, now)
    return [sorted(frames, key=lambda one: one.stamp_ns) for frames in seen]


def _sent(scenario: Twins, chance: random.Random) -> list[tuple[int, int, bool, bool, bytes]]:
    """Time, packet, direction, whether it has twins, bytes."""
    sent, t_ns = [], START_NS + 1_000_000
    for number in range(scenario.n):
        gap_ns = scenario.spacing_ns
        gap_ns = gap_ns if scenario.is_regular else int(chance.expovariate(1 / gap_ns))
        if scenario.train and number % scenario.train == 0:
            gap_ns += 2_500_000
        t_ns += gap_ns
        is_marked = scenario.marked and number % scenario.marked == 0
        mark = number // scenario.train + 1 if scenario.unlike_trains else 0
        data = _packet(scenario.kind, number if is_marked else mark, number)
        sent.append((t_ns, number, True, not is_marked, data))
        if scenario.both_ways:
            back = _packet(scenario.kind, 0, number, back=True)
            sent.append((t_ns + 15_000, number + scenario.n, False, True, back))
    span_ns = t_ns - START_NS
    for number in range(N_BACKGROUND):
        at_ns = START_NS + number * span_ns // N_BACKGROUND + chance.randrange(1000)
        forward = number % 2 == 0
        ends = ("10.1.0.1", "10.2.0.1")
        src, dst = ends if forward else ends[::-1]
        ports = (4000, 7000) if forward else (7000, 4000)
        payload = chance.randbytes(16)
        data = ip(src, dst, UDP, number + 1 & 0xFFFF, 64, udp(ports, payload))
        sent.append((at_ns, number + 2 * scenario.n, forward, False, data))
    return sorted(sent, key=lambda one: one[:2])


def _packet(kind: str, mark: int, number: int, *, back: bool = False) -> bytes:
    version = int(kind[-1])
    src, dst = ENDS[version][::-1] if back else ENDS[version]
    ports = (9000, 9001) if not back else (9001, 9000)
    if kind.startswith("ack"):
        bare = struct.pack(">HHIIBBHHH", *ports, 1000 + mark, 5000, 0x50, ACK, 8192, 0, 0)
        return ip(src, dst, TCP, 0, 64, bare)
    wrapped = number % 7 + 1 if kind.startswith("wrap") else 0
    payload = mark.to_bytes(4, "big") + b"the same again"
    return ip(src, dst, UDP, wrapped, 64, udp(ports, payload))


def _crossed(
    scenario: Twins,
    chance: random.Random,
    now: list[tuple[int, int, bool, bool, bytes]],
    bursts: list[int],
) -> list[tuple[int, int, bool, bool, bytes]]:
    arrived, last_ns = [], 0
    for t_ns, number, forward, is_twin, data in now:
        if chance.random() < scenario.lost_share:
            continue
        out_ns = t_ns + scenario.delay_ns + int(chance.expovariate(1 / scenario.tail_ns))
        if scenario.burst_ns:
            held = [scenario.burst_ns - (t_ns - at) // 4 for at in bursts if t_ns >= at]
            out_ns += max([0, *held[-1:]])
        if scenario.keeps_order:
            out_ns = max(out_ns, last_ns + 80)
            last_ns = out_ns
        arrived.append((out_ns, number, forward, is_twin, data))
    return sorted(arrived, key=lambda one: one[:2])


def _recorded(
    scenario: Twins,
    chance: random.Random,
    point: int,
    now: list[tuple[int, int, bool, bool, bytes]],
) -> list[Frame]:
    frames = []
    for t_ns, number, _, is_twin, data in now:
        if point in scenario.missed_at and chance.random() < scenario.missed_share:
            continue
        frames.append(Frame(t_ns, number, is_copy=False, is_twin=is_twin, data=data))
        if point == 1 and chance.random() < scenario.copied_share:
            again_ns = t_ns + scenario.copy_after_ns + chance.randrange(200)
            frames.append(Frame(again_ns, number, is_copy=True, is_twin=is_twin, data=data))
    return frames


def save(seen: list[list[Frame]], folder: Path) -> list[str]:
    """Write one file a point."""
    files = [folder / f"p{point}.pcap" for point in range(len(seen))]
    for file, frames in zip(files, seen, strict=True):
        write_pcap(file, [(one.stamp_ns, one.data) for one in frames])
    return [str(file) for file in files]


def count(seen: list[list[Frame]], result: pcaplat.Result) -> Counted:
    """Compare the pairs of equal packets with the truth; a copy is no right partner."""
    columns = ("up_point", "up_frame", "down_point", "down_frame")
    frame = {f"p{p}": frames for p, frames in enumerate(seen)}
    n_right = n_wrong = 0
    for up, up_frame, down, down_frame in result.matches.select(columns).collect().iter_rows():
        one, other = frame[up][up_frame - 1], frame[down][down_frame - 1]
        if not (one.is_twin or other.is_twin):
            continue
        is_right = one.packet == other.packet and not one.is_copy and not other.is_copy
        n_right += is_right and abs(int(up[1:]) - int(down[1:])) == 1
        n_wrong += not is_right
    packets = [{one.packet for one in frames if one.is_twin} for frames in seen]
    n_possible = sum(len(a & b) for a, b in itertools.pairwise(packets))
    return Counted(n_possible, n_right, n_wrong, result.document["matching"]["n_ambiguous"])
