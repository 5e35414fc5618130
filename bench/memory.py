"""What a merge takes of memory, and whether that grows with the captures.

Three points of one clock, 200,000 packets a second, snap length 96; each case with N packets a
point, and with four times as many: `python bench/memory.py [N [CASE ...]]` (N is 250,000 unless
given) prints peak resident memory and time of `pcaplat merge --same-clock all`. A merge whose
memory is its window's takes the same for both. Cases that remember seconds, or runs of thousands of
equal packets, begin with 4 N: with less, both would tell how the memory fills, not whether it
grows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

START_NS, GAP_NS = 1_760_000_000_000_000_000, 5_000
POINTS, DELAYS_NS = ("a", "b", "c"), (0, 4_000, 10_000)
HEADER = bytes.fromhex("4d3cb2a1020004000000000000000000 60000000 01000000".replace(" ", ""))
SNAP = 96
ETHERNET = bytes.fromhex("02000000000a02000000000b0800")
TCP, UDP = 6, 17
LOST_SHARE, NEARLY_ALL = 0.001, 0.99
SUPER, SEGMENT = 14_480, 1_448


@dataclass(frozen=True)
class Packets:
    """One value a packet; sources are 10.0.0.0/8 and a port, `payload` is in bytes."""

    at_ns: Ints
    host: Ints
    port: Ints
    seq: Ints
    ident: Ints
    payload: Ints
    protocol: int = TCP
    net: int = 10

    def __getitem__(self, chosen: object) -> Packets:
        """Give some of them."""
        fields = ("at_ns", "host", "port", "seq", "ident", "payload")
        return replace(self, **{name: getattr(self, name)[chosen] for name in fields})


def one_flow(n: int) -> Packets:
    """All packets are of one TCP connection, one way."""
    zero, number = np.zeros(n, np.int64), np.arange(n)
    return Packets(number * GAP_NS, zero, zero, number * 100, number, zero + 100)


def many_flows(n: int) -> Packets:
    """Every packet is of a flow of its own."""
    number = np.arange(n)
    return replace(one_flow(n), host=number // 50_000, port=number % 50_000, protocol=UDP)


def many_pairs(n: int) -> Packets:
    """Every packet is of two addresses of its own."""
    return replace(many_flows(n), host=np.arange(n), port=np.zeros(n, np.int64))


def equal_packets(n: int) -> Packets:
    """Of 20 flows whose packets, nine in ten, are equal, each 100 µs after the one before."""
    number, zero = np.arange(n), np.zeros(n, np.int64)
    ident = np.where(number // 20 % 10, 0, number // 200 + 1)
    return replace(one_flow(n), port=number % 20, seq=zero, ident=ident, protocol=UDP)


def thousand_flows(n: int) -> Packets:
    """A thousand TCP connections, translated before the last point."""
    number = np.arange(n)
    return replace(one_flow(n), port=number % 1_000, seq=number // 1_000 * 100)


def super_segments(n: int) -> Packets:
    """One TCP connection in frames of 14 kB, which are cut into ten behind the first point."""
    n, plain = n // 10, one_flow(n // 10)
    zero, number = np.zeros(n, np.int64), np.arange(n)
    return replace(plain, at_ns=number * 10 * GAP_NS, seq=number * SUPER, payload=zero + SUPER)


def cut(packets: Packets) -> Packets:
    """Cut every packet into ten."""
    whole, part = packets[np.repeat(np.arange(len(packets.seq)), 10)], np.arange(10)
    parts = np.tile(part, len(packets.seq))
    return replace(
        whole,
        at_ns=whole.at_ns + parts * 1_200,
        seq=whole.seq + parts * SEGMENT,
        ident=whole.ident * 10 + parts,
        payload=np.full_like(whole.seq, SEGMENT),
    )


Case = tuple[Callable[[int], Packets], list[str], int]
CASES: dict[str, Case] = {
    "one flow": (one_flow, [], 1),
    "a flow a packet": (many_flows, [], 4),
    "a flow a packet, --lost-after 1s": (many_flows, ["--lost-after", "1s"], 4),
    "two addresses a packet": (many_pairs, [], 4),
    "99 % leftovers": (thousand_flows, [], 1),
    "equal packets": (equal_packets, [], 4),
    "cut and joined": (super_segments, [], 1),
    "translated": (thousand_flows, [], 1),
}
"""Packets, options, and how many times N the smaller captures have."""


def save(folder: Path, name: str, n: int) -> None:
    """Write the captures of a case."""
    packets, random = CASES[name][0](n), np.random.default_rng(7)
    packets = replace(packets, at_ns=packets.at_ns + random.integers(0, 999, len(packets.seq)))
    for at, (point, delay_ns) in enumerate(zip(POINTS, DELAYS_NS, strict=True)):
        if at and name == "cut and joined":
            packets = cut(packets) if at == 1 else packets
        if at:
            lost = NEARLY_ALL if name == "99 % leftovers" and at == 1 else LOST_SHARE
            packets = packets[random.random(len(packets.seq)) >= lost]
        here = packets
        if point == "c" and name == "translated":
            here = replace(packets, net=11, port=packets.port[:] + 7_000)
        tail_ns = random.exponential(700, len(here.seq)).astype(np.int64)
        late_ns = np.maximum.accumulate(here.at_ns + delay_ns + tail_ns * bool(at))
        captured = HEADER + records(here, START_NS + late_ns).tobytes()
        (folder / f"{point}.pcap").write_bytes(captured)


def records(packets: Packets, stamps_ns: Ints) -> Bytes:
    """Give all records of a file, cut to the snap length."""
    out = np.zeros((len(stamps_ns), 16 + SNAP), np.uint8)
    is_tcp = packets.protocol == TCP
    length = packets.payload + (52 if is_tcp else 28)
    captured = np.full_like(length, SNAP)
    head = np.stack([stamps_ns // 10**9, stamps_ns % 10**9, captured, length + 14], axis=1)
    out[:, :16] = head.astype("<u4").view(np.uint8)
    out[:, 16:30] = np.frombuffer(ETHERNET, np.uint8)
    ip = out[:, 30:]
    ip[:, 0], ip[:, 8], ip[:, 9] = 0x45, 64, packets.protocol
    _put(ip, 2, length, 2)
    _put(ip, 4, packets.ident, 2)
    _put(ip, 12, packets.host + (packets.net << 24) + 1, 4)
    _put(ip, 16, np.full_like(length, 0xC0000201), 4)
    _put(ip, 20, packets.port + 10_000, 2)
    _put(ip, 22, np.full_like(length, 443), 2)
    if is_tcp:
        _put(ip, 24, packets.seq & 0xFFFFFFFF, 4)
        _put(ip, 28, np.full_like(length, 77), 4)
        ip[:, 32], ip[:, 33] = 0x80, 0x10
        ip[:, 40:44] = (1, 1, 8, 10)
        _put(ip, 44, packets.seq // 1_000_000, 4)
    else:
        _put(ip, 24, packets.payload + 8, 2)
        _put(ip, 28, packets.seq, 8)
    return out


def _put(rows: Bytes, at: int, values: Ints, n_bytes: int) -> None:
    """Write numbers into a column, the high octet first."""
    rows[:, at : at + n_bytes] = values.astype(">u8")[:, None].view(np.uint8)[:, 8 - n_bytes :]


def measured(files: list[str], options: list[str]) -> tuple[float, float, float]:
    """Peak resident memory in MB and time in seconds of a merge, and the share that it matched."""
    command = [sys.executable, "-m", "pcaplat", "merge", "--quiet", "--same-clock", "all"]
    start_s = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([*command, "--format", "json", *options, *files], stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            sys.exit(f"merge ended with {child.returncode}")
        out.seek(0)
        told = json.load(out)["matching"]
    found = (told["n_matched"] + told["n_coalesced"]) / told["n_frames"]
    return usage.ru_maxrss * 1024 / 1e6, time.perf_counter() - start_s, found


def sizes(name: str, n: int) -> list[tuple[float, float, float]]:
    """What a case takes with so many packets a point, and with four times as many."""
    found = []
    for size in (n * CASES[name][2], 4 * n * CASES[name][2]):
        with tempfile.TemporaryDirectory(prefix="pcaplat-memory-") as folder:
            # by another process: a child's peak counts from its parent's size
            writer = [sys.executable, __file__, "--save", folder, name, str(size)]
            subprocess.run(writer, check=True)
            files = [f"{folder}/{point}.pcap" for point in POINTS]
            found.append(measured(files, CASES[name][1]))
    return found


def main() -> None:
    """Print a row a case; or its figures alone, for a process that is too large to ask for them."""
    if sys.argv[1:2] == ["--save"]:
        save(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
        return
    if sys.argv[1:2] == ["--sizes"]:
        print(json.dumps(sizes(sys.argv[2], int(sys.argv[3]))))
        return
    n = int((sys.argv[1:2] or ["250_000"])[0])
    print(f"{'case':34} {'packets a point':>20} {'max RSS MB':>13} {'s':>13} {'matched':>9}")
    for name in sys.argv[2:] or CASES:
        (small_mb, small_s, _), (large_mb, large_s, found) = sizes(name, n)
        least = n * CASES[name][2]
        sized = f"{least:>9,} {4 * least:>10,} {small_mb:>7.0f} {large_mb:>5.0f}"
        print(f"{name:34} {sized} {small_s:>7.1f} {large_s:>5.1f} {found:>9.3f}", flush=True)


if __name__ == "__main__":
    main()
