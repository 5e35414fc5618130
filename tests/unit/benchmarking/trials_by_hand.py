"""Captures of trials whose truth is known, and a reading of them that shares no code."""

from __future__ import annotations

import json
import random
import struct
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tests.support.frames import UDP, ip, udp, write_pcap
from tests.support.make_sample import pack

if TYPE_CHECKING:
    from collections.abc import Sequence

START_NS = 1_700_000_000_000_000_000
LATENCY_NS, SPREAD_NS = 20_000, 3_000


@dataclass(frozen=True)
class Planned:
    """One trial: frame size with FCS, frames a second, how many, how many of them lost, pause."""

    frame_bytes: int
    rate_pps: int
    n: int = 1000
    n_lost: int = 0
    pause_ns: int = 300_000_000
    is_reverse: bool = False


@dataclass(frozen=True)
class Seen:
    """What an independent reading of both files tells of one planned trial."""

    n_sent: int
    n_lost: int
    mean_ns: float
    rate_pps: float


def write_trials(folder: Path, plans: Sequence[Planned], seed: int = 1) -> tuple[Path, Path]:
    """Write a.pcap at the sender and b.pcap at the receiver; every frame has its own number."""
    chance, t_ns, number = random.Random(seed), START_NS, 0  # noqa: S311 - no secret
    sides: tuple[list[tuple[int, bytes]], list[tuple[int, bytes]]] = ([], [])
    for at, plan in enumerate(plans):
        sent, came = sides[::-1] if plan.is_reverse else sides
        ends = ("10.0.0.2", "10.0.0.1") if plan.is_reverse else ("10.0.0.1", "10.0.0.2")
        lost = set(chance.sample(range(10, plan.n - 10), plan.n_lost))
        for k in range(plan.n):
            t_ns += 1_000_000_000 // plan.rate_pps
            payload = struct.pack(">IQ", at, number) + bytes(plan.frame_bytes - 46 - 12)
            frame = ip(*ends, UDP, number & 0xFFFF, 64, udp((5000, 7), payload))
            number += 1
            off_ns = chance.randrange(2000)
            sent.append((t_ns + off_ns, frame))
            if k not in lost:
                came.append((t_ns + off_ns + LATENCY_NS + chance.randrange(SPREAD_NS), frame))
        t_ns += plan.pause_ns
    for path, records in zip((folder / "a.pcap", folder / "b.pcap"), sides, strict=True):
        write_pcap(path, sorted(records))
    return folder / "a.pcap", folder / "b.pcap"


def read_by_hand(path: Path) -> dict[tuple[int, int], int]:
    """When each frame passed, by its trial and number: with nothing but struct."""
    data, at, found = path.read_bytes(), 24, {}
    while at < len(data):
        seconds, ns, kept, _ = struct.unpack_from("<IIII", data, at)
        trial, number = struct.unpack_from(">IQ", data, at + 16 + 42)
        found[trial, number] = seconds * 10**9 + ns
        at += 16 + kept
    return found


def truth_of(files: tuple[Path, Path], plans: Sequence[Planned]) -> list[Seen]:
    """Count and time every trial from the files alone."""
    both = [read_by_hand(path) for path in files]
    found = []
    for at, plan in enumerate(plans):
        sent, came = both[::-1] if plan.is_reverse else both
        mine = {key: t_ns for key, t_ns in sent.items() if key[0] == at}
        latencies = [came[key] - t_ns for key, t_ns in mine.items() if key in came]
        times = sorted(mine.values())
        rate = (len(times) - 1) * 1e9 / (times[-1] - times[0])
        mean_ns = sum(latencies) / len(latencies)
        found.append(Seen(len(mine), len(mine) - len(latencies), mean_ns, rate))
    return found


SAMPLE = (
    Planned(64, 1000, 500),
    Planned(64, 2000, 500),
    Planned(64, 4000, 500, 5),
    Planned(512, 1000, 500),
    Planned(512, 2000, 500, 1),
)


def main() -> None:
    """Write samples/rfc2544: `python -m tests.unit.benchmarking.trials_by_hand samples/rfc2544`."""
    sample = Path(sys.argv[1])
    sample.mkdir(exist_ok=True)
    with TemporaryDirectory() as scratch:
        files = write_trials(Path(scratch), SAMPLE)
        truths = truth_of(files, SAMPLE)
        for path in files:
            pack(path, sample, "zst")
    trials = [
        {"frame_bytes": plan.frame_bytes, "asked_pps": plan.rate_pps} | asdict(seen)
        for plan, seen in zip(SAMPLE, truths, strict=True)
    ]
    (sample / "trials.json").write_text(json.dumps(trials, indent=1) + "\n")


if __name__ == "__main__":
    main()
