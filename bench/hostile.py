"""What hostile captures cost beside plain ones: CPU time a packet, and memory.

Two points, one clock. Every kind is merged with 20,000 and with 320,000 packets a point, between
two merges of plain traffic: `python bench/hostile.py [--output] [KIND ...]` prints the CPU time a
packet beyond a start, as a multiple of plain traffic's in the same run, and peak resident memory.
Each is the least of several merges. It fails where a kind costs more than 5 times as much, or takes
more than 600 MB.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Frames = npt.NDArray[np.void]
Captured = tuple[Ints, Frames, Ints, Frames]
"""Stamps and frames of the near point, and of the far one."""

SIZES = (20_000, 320_000)
FEW = 500
RUNS, MANY = {320_000: 3}, 9
"""Other programs only add to what a merge takes, and to few packets as much as these cost."""
MOST_TIMES, MOST_MB = 5.0, 600
REFUSED = {"equal packets"}
"""Kinds of which no packet can be followed, as the answer says."""
START_NS, GAP_NS, DELAY_NS, SECOND_NS = 1_760_000_000 * 10**9, 10_000, 5_000, 10**9
HEAD = bytes.fromhex("4d3cb2a1020004000000000000000000ffff000001000000")
N_BYTES = 98
FRAME = np.dtype(
    [
        *(("seconds", "<u4"), ("ns", "<u4"), ("kept", "<u4"), ("length", "<u4")),
        *(("ethernet", "S12"), ("type", ">u2"), ("version", ">u2"), ("total", ">u2")),
        *(("ident", ">u2"), ("fragment", ">u2"), ("ttl", "u1"), ("protocol", "u1")),
        *(("checksum", ">u2"), ("src", ">u4"), ("dst", ">u4")),
        *(("src_port", ">u2"), ("dst_port", ">u2"), ("word", ">u4"), ("number", ">u8")),
        ("rest", "V48"),
    ]
)
TCP, UDP, IPIP = 6, 17, 4
DIGEST_MASK, TURNED_MASK = 0xA076_1D64_78BD_642F, 0xE703_7ED1_A0B4_28DB
LOW = np.uint64(0xFFFF_FFFF)
HALF = np.uint64(32)


def plain(n: int, n_flows: int = 100) -> Frames:
    """UDP datagrams of so many flows, each with its own number."""
    number = np.arange(n)
    frames, flow = np.zeros(n, FRAME), number % n_flows
    frames["ethernet"], frames["type"] = bytes(range(1, 13)), 0x0800
    frames["version"], frames["total"] = 0x4500, N_BYTES - 14
    frames["ident"], frames["ttl"], frames["protocol"] = number % 65_536, 64, UDP
    frames["src"], frames["dst"] = 0x0A000000 + flow // 50_000, 0x0B000000
    frames["src_port"], frames["dst_port"] = 10_000 + flow % 50_000, 53
    frames["word"], frames["number"] = (N_BYTES - 34) << 16, number
    return frames


def times(n: int) -> Ints:
    """A packet every 10 µs."""
    return START_NS + GAP_NS * np.arange(n)


def as_sent(frames: Frames, stamps_ns: Ints | None = None) -> Captured:
    """Both points see all, in this order."""
    stamps_ns = times(len(frames)) if stamps_ns is None else stamps_ns
    return stamps_ns, frames, stamps_ns + DELAY_NS, frames


def two_addresses_a_packet(n: int) -> Captured:
    """Every packet is of a pair of addresses of its own."""
    frames, random = plain(n), np.random.default_rng(1)
    frames["src"], frames["dst"] = 1, random.integers(2**24, 2**32, n)
    return as_sent(frames)


def crafted_addresses(n: int) -> Captured:
    """Pairs of addresses that a public hash puts into one of 256 places."""
    frames, found, n_found = plain(n), [], 0
    for start in range(2**24, 2**32, 2**22):
        far = np.arange(start, start + 2**22, dtype=np.uint64)
        is_alike = pair_hash(np.uint64(1) << HALF | far) & np.uint64(0xFF) == 0
        found.append(far[is_alike])
        n_found += len(found[-1])
        if n_found >= n:
            break
    frames["src"], frames["dst"] = 1, np.concatenate(found)[:n]
    return as_sent(frames)


def pair_hash(addresses: Words) -> Words:
    """Give the hash of a pair of IPv4 addresses, as rust/src/identity/mod.rs does."""
    one, other = addresses ^ np.uint64(DIGEST_MASK), np.uint64(TURNED_MASK)
    (a, b), (c, d) = ((word >> HALF, word & LOW) for word in (one, other))
    middle = a * d + (b * d >> HALF)
    inner = b * c + (middle & LOW)
    high = a * c + (middle >> HALF) + (inner >> HALF)
    return np.asarray(one * other ^ high)


def answered(n: int) -> Captured:
    """Each request is a flow, and is answered."""
    frames, turn = plain(n, n), np.arange(n) % 2
    for one, other in (("src", "dst"), ("src_port", "dst_port")):
        frames[one][1::2], frames[other][1::2] = (
            frames[other][: n - 1 : 2].copy(),
            frames[one][: n - 1 : 2].copy(),
        )
    stamps_ns = times(n)
    return stamps_ns, frames, stamps_ns + np.where(turn, -DELAY_NS, DELAY_NS), frames


def equal(n: int, share: float) -> Frames:
    """So many of the packets are equal."""
    frames = plain(n)
    is_equal = np.random.default_rng(2).random(n) < share
    for name in ("number", "ident", "src_port"):
        frames[name][is_equal] = 7
    return frames


def overlapping(n: int) -> Captured:
    """TCP segments that overlap many others and are cut on the way, and one in 20 plain."""
    near, random = plain(n, 4), np.random.default_rng(3)
    is_cut = np.arange(n) % 20 > 0
    near["protocol"][is_cut] = TCP
    near["word"][is_cut] = (random.integers(0, 4_000, n) + np.arange(n) // 1_000 * 3_000)[is_cut]
    near["number"][is_cut] = 1 << 32 | 0x5018 << 16 | 0x0400
    far = near.copy()
    far["total"][is_cut] = N_BYTES - 24
    return times(n), near, times(n) + DELAY_NS, far


def overlapping_at_once(n: int) -> Captured:
    """The same in one instant, so that any may be part of any."""
    _, near, _, far = overlapping(n)
    is_cut = near["protocol"] == TCP
    near["word"][is_cut] = np.random.default_rng(3).integers(0, 60_000, n)[is_cut]
    far["word"][is_cut] = near["word"][is_cut]
    at_once = np.full(n, START_NS)
    return at_once, near, at_once + DELAY_NS, far


def fragments(n: int) -> Captured:
    """First fragments, whose rest never comes."""
    frames = plain(n)
    frames["fragment"] = 0x2000
    return as_sent(frames)


def nested(n: int) -> Captured:
    """IP in IP in IP."""
    frames = plain(n)
    frames["protocol"] = IPIP
    raw = frames.view(np.uint8).reshape(n, -1)
    for at, protocol in ((50, IPIP), (70, UDP)):
        inner = (0x45, 0, 0, 114 - at, *range(4), 64, protocol, 0, 0, *(10, 0, 0, 1, 10, 0, 0, 2))
        raw[:, at : at + 20] = inner
    raw[:, 98:106] = np.arange(n).astype(">u8")[:, None].view(np.uint8)
    return as_sent(frames)


def garbage(n: int) -> Captured:
    """Nothing behind the addresses means anything."""
    frames = plain(n)
    raw = frames.view(np.uint8).reshape(n, -1)
    raw[:, 16:] = np.random.default_rng(4).integers(0, 256, raw[:, 16:].shape, np.uint8)
    return as_sent(frames)


def copied(n: int) -> Captured:
    """Every packet comes twice at the far point."""
    frames = plain(n // 2)
    stamps_ns = np.repeat(times(n // 2), 2) + np.tile([0, 700], n // 2)
    return times(n // 2), frames, stamps_ns + DELAY_NS, np.repeat(frames, 2)


def lost(n: int) -> Captured:
    """Every other packet is lost, each of a flow of its own."""
    frames, stamps_ns = plain(n, n), times(n)
    is_seen = np.random.default_rng(5).random(n) < 1 / 2
    return stamps_ns, frames, stamps_ns[is_seen] + DELAY_NS, frames[is_seen]


def late(n: int) -> Captured:
    """One in fifty takes a second."""
    frames, stamps_ns = plain(n), times(n)
    arrived_ns = stamps_ns + DELAY_NS + SECOND_NS * (np.arange(n) % 50 == 1)
    order = np.argsort(arrived_ns, kind="stable")
    return stamps_ns, frames, arrived_ns[order], frames[order]


def alternating(n: int) -> Ints:
    """Every other stamp is near the epoch."""
    return np.where(np.arange(n) % 2, times(n), GAP_NS * np.arange(n))


KINDS: dict[str, Callable[[int], Captured]] = {
    "plain": lambda n: as_sent(plain(n)),
    "a flow a packet": lambda n: as_sent(plain(n, n)),
    "a flow a request": answered,
    "two addresses a packet": two_addresses_a_packet,
    "crafted addresses": crafted_addresses,
    "equal packets": lambda n: as_sent(equal(n, 1)),
    "equal packets, 9 in 10": lambda n: as_sent(equal(n, 0.9)),
    "equal in one instant": lambda n: as_sent(equal(n, 0.9), np.full(n, START_NS)),
    "overlapping TCP ranges": overlapping,
    "TCP ranges of one instant": overlapping_at_once,
    "fragments without rest": fragments,
    "tunnels in tunnels": nested,
    "random octets": garbage,
    "every packet twice": copied,
    "every other lost": lost,
    "late by a second": late,
    "timestamps reversed": lambda n: as_sent(plain(n), times(n)[::-1].copy()),
    "timestamps equal": lambda n: as_sent(plain(n), np.full(n, START_NS)),
    "timestamps and the epoch": lambda n: as_sent(plain(n), alternating(n)),
}


def save(kind: str, n: int, folder: Path) -> list[Path]:
    """Write the captures of a kind."""
    near_ns, near, far_ns, far = KINDS[kind](n)
    files = [folder / "near.pcap", folder / "far.pcap"]
    for file, stamps_ns, frames in zip(files, (near_ns, far_ns), (near, far), strict=True):
        kept = frames.copy()
        kept["seconds"], kept["ns"] = stamps_ns // SECOND_NS, stamps_ns % SECOND_NS
        kept["kept"] = kept["length"] = N_BYTES
        file.write_bytes(HEAD + kept.tobytes())
    return files


def used(kind: str, n: int, options: list[str]) -> tuple[float, float]:
    """CPU time in seconds, and peak resident memory in MB, of a merge: the least of several."""
    with tempfile.TemporaryDirectory(prefix="pcaplat-hostile-") as name:
        # by another process: a child's peak counts from its parent's size
        subprocess.run([sys.executable, __file__, "--save", kind, str(n), name], check=True)
        files = [f"{name}/near.pcap", f"{name}/far.pcap"]
        many = [merged(kind, files, options, f"{name}/out{at}") for at in range(RUNS.get(n, MANY))]
    return min(cpu_s for cpu_s, _ in many), min(mb for _, mb in many)


def merged(kind: str, files: list[str], options: list[str], folder: str) -> tuple[float, float]:
    """CPU time in seconds, and peak resident memory in MB, of one merge."""
    output = [*options, folder] if options else []
    command = [sys.executable, "-m", "pcaplat", "merge", "--quiet", *files, *output]
    limits = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0))}
    child = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **limits
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != (2 if kind in REFUSED else 0):
        sys.exit(f"{kind}: merge ended with {child.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def rows(kinds: list[str], options: list[str]) -> Iterator[tuple[str, list[str], bool]]:
    """Give a row of each kind, and whether it is within what is promised."""
    start_s, _ = used("plain", FEW, options)
    for kind in kinds:
        cells, is_kept = [], True
        for n in SIZES:
            before, (cpu_s, mb), after = (used(k, n, options) for k in ("plain", kind, "plain"))
            usual_s = (before[0] + after[0]) / 2 - start_s
            cost_s = max(cpu_s - start_s, 0)
            ratio = cost_s / usual_s
            cells += [f"{cost_s / n * 1e6:.2f}", f"{ratio:.1f}", f"{mb:.0f}"]
            is_kept &= ratio <= MOST_TIMES and mb <= MOST_MB
        yield kind, cells, is_kept


def main(arguments: list[str]) -> None:
    """Print the table."""
    if arguments[:1] == ["--save"]:
        kind, n, folder = arguments[1:]
        save(kind, int(n), Path(folder))
        return
    options = ["-o"] if "--output" in arguments else []
    kinds = [one for one in arguments if one != "--output"] or [*KINDS]
    heads = [f"{head}, {n:,}" for n in SIZES for head in ("µs a packet", "× plain", "MB")]
    print(f"| kind | {' | '.join(heads)} |\n|{' --- |' * (1 + len(heads))}")
    is_kept = True
    for kind, cells, is_good in rows(kinds, options):
        is_kept &= is_good
        print(f"| {kind} | {' | '.join(cells)} |", flush=True)
    sys.exit(0 if is_kept else 1)


if __name__ == "__main__":
    main(sys.argv[1:])
