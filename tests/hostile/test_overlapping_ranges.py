"""TCP segments that overlap many others and are cut on the way: bounded, and no figure is wrong."""

import random
import struct
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

import pcaplat
from tests.support.frames import TCP, UDP, ip, udp, write_pcap

START_NS, DELAY_NS, N_PLAIN, MOST_MB = 1_760_000_000 * 10**9, 5_000, 500, 600
HERE, THERE = "10.0.0.1", "10.0.0.2"
CONTENT = bytes(range(256)) * 300

PEAK = """
import sys
from pathlib import Path
import pcaplat
with pcaplat.merge(sys.argv[1:]):
    print(Path("/proc/self/status").read_text("ascii").partition("VmHWM:")[2].split()[0])
"""
"""Prints how many KiB a merge held at most: what a child's resources say counts from its parent."""

Span = tuple[int, int]


def about_one_place(n: int) -> list[Span]:
    """Any overlaps dozens of those before it."""
    chance = random.Random(5)  # noqa: S311 - no secret
    starts = [chance.randrange(4_000) + i // 1_000 * 3_000 for i in range(n)]
    return [(at, at + chance.randrange(400, 600, 2)) for at in starts]


def in_one_place(n: int) -> list[Span]:
    """Any may be part of any."""
    chance = random.Random(6)  # noqa: S311 - no secret
    starts = [chance.randrange(60_000) for _ in range(n)]
    return [(at, at + chance.randrange(40, 60, 2)) for at in starts]


def covered_by_one(n: int) -> list[Span]:
    """One holds the bytes of all others."""
    chance = random.Random(7)  # noqa: S311 - no secret
    starts = [chance.randrange(1_000, 50_000) for _ in range(n - 1)]
    return [(0, 60_000), *((at, at + 8) for at in starts)]


def in_stairs(n: int) -> list[Span]:
    """Each begins a byte after the one before."""
    return [(i, i + 1_400) for i in range(n)]


def segment(ident: int, span: Span) -> bytes:
    start, end = span
    header = struct.pack(">HHIIBBHHH", 443, 50_000, start, 1, 0x50, 0x10, 1_000, 0, 0)
    content = CONTENT[start % 256 :][: end - start]
    return ip(HERE, THERE, TCP, ident & 0xFFFF, 64, header + content)


def capture(folder: Path, spans: list[Span], gap_ns: int) -> tuple[list[Path], list[list[Span]]]:
    """Two points: each segment is cut into two between them, datagrams are not. And the spans of
    each frame, nothing for a datagram."""
    duration_ns = len(spans) * gap_ns
    sent = [
        (START_NS + i * duration_ns // N_PLAIN + 3, datagram(i), (0, 0)) for i in range(N_PLAIN)
    ]
    near, far = list(sent), list(sent)
    for i, (start, end) in enumerate(spans):
        at_ns, middle = START_NS + i * gap_ns, (start + end) // 2
        near.append((at_ns, segment(7 * i, (start, end)), (start, end)))
        for part, span in enumerate(pairwise((start, middle, end))):
            far.append((at_ns, segment(7 * i + part, span), span))
    files, carried = [folder / "near.pcap", folder / "far.pcap"], []
    for file, frames, delay_ns in zip(files, (near, far), (0, DELAY_NS), strict=True):
        frames.sort(key=lambda frame: frame[0])
        write_pcap(file, [(at_ns + delay_ns, data) for at_ns, data, _ in frames])
        carried.append([span for _, _, span in frames])
    return files, carried


def datagram(i: int) -> bytes:
    return ip(HERE, THERE, UDP, i + 1, 64, udp((5_000, 6_000), b"%08d" % i))


@pytest.mark.parametrize(
    ("spans", "gap_ns"),
    [
        pytest.param(about_one_place(5_000), 1_000, id="about one place"),
        pytest.param(about_one_place(5_000), 0, id="about one place, in one instant"),
        pytest.param(in_one_place(10_000), 0, id="in one place and instant"),
        pytest.param(covered_by_one(10_000), 0, id="covered by one"),
        pytest.param(in_stairs(10_000), 0, id="in stairs, in one instant"),
        pytest.param(in_stairs(10_000), 100, id="in stairs"),
    ],
)
def test_what_many_carry_is_never_paired_with_other_bytes(
    tmp_path: Path, spans: list[Span], gap_ns: int
) -> None:
    files, carried = capture(tmp_path, spans, gap_ns)
    with pcaplat.merge(files, same_clock=["all"]) as result:
        matching, segments = result.document["matching"], result.document["segments"]
        pairs = result.matches.collect()
    whole = [row for row in segments if row["class"] == "packet" and row["n"]]
    assert [(row["n"], row["min_ns"], row["max_ns"]) for row in whole] == [
        (N_PLAIN, DELAY_NS, DELAY_NS)
    ]
    assert not any(row["n_lost"] for row in segments)
    n_cut = len(spans)
    assert matching["n_coalesced"] + matching["n_ambiguous"] == 3 * n_cut
    for file, spans_of in zip(("up", "down"), carried, strict=True):
        ends = [spans_of[frame - 1] for frame in pairs[f"{file}_frame"]]
        pairs = pairs.with_columns(
            pl.Series(f"{file}_lo", [lo for lo, _ in ends]),
            pl.Series(f"{file}_hi", [hi for _, hi in ends]),
        )
    of_bytes = pairs.filter(pl.col("kind") != "packet")
    shared = pl.min_horizontal("up_hi", "down_hi") - pl.max_horizontal("up_lo", "down_lo")
    assert of_bytes.filter(shared <= 0).is_empty()


@pytest.mark.parametrize(("spans_of", "gap_ns"), [(about_one_place, 1_000), (in_one_place, 0)])
def test_memory_is_bounded_where_each_segment_overlaps_many(
    tmp_path: Path, spans_of: Callable[[int], list[Span]], gap_ns: int
) -> None:
    """With a list of rivals for each pair it was 680 and 1,240 MB."""
    files, _ = capture(tmp_path, spans_of(60_000), gap_ns)
    command = [sys.executable, "-c", PEAK, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) / 1024 <= MOST_MB
