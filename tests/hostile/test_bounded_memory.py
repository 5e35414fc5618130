"""Memory stays bounded, whatever flows and stamps are like: 320,000 packets a point in 600 MB."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

N, MOST_MB = 320_000, 600
START_NS, DELAY_NS, GAP_NS = 1_760_000_000 * 10**9, 5_000, 10_000
FRAME = np.dtype(
    [
        ("seconds", "<u4"),
        ("ns", "<u4"),
        ("kept", "<u4"),
        ("length", "<u4"),
        ("ethernet", "S14"),
        ("version", ">u2"),
        ("total", ">u2"),
        ("ident", ">u2"),
        ("fragment", ">u2"),
        ("ttl", "u1"),
        ("protocol", "u1"),
        ("checksum", ">u2"),
        ("src", ">u4"),
        ("dst", ">u4"),
        ("src_port", ">u2"),
        ("dst_port", ">u2"),
        ("udp_length", ">u2"),
        ("udp_checksum", ">u2"),
        ("number", ">u8"),
        ("rest", "V24"),
    ]
)
FRAME_BYTES = FRAME.itemsize - 16
# a process has held no less than the one that started it, which of these tests may hold a gigabyte
SMALL_PARENT = """
import os, sys
silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=silent)
_, status, used = os.wait4(pid, 0)
print(os.waitstatus_to_exitcode(status), used.ru_maxrss)
"""
HEAD = bytes.fromhex("4d3cb2a1020004000000000000000000ffff000001000000")


def write(path: Path, stamps_ns: Numbers, n_flows: int) -> None:
    """UDP datagrams of so many flows, each with its own number."""
    number = np.arange(len(stamps_ns))
    frames = np.zeros(len(stamps_ns), FRAME)
    frames["seconds"], frames["ns"] = stamps_ns // 10**9, stamps_ns % 10**9
    frames["kept"] = frames["length"] = FRAME_BYTES
    frames["ethernet"] = bytes(range(1, 13)) + b"\x08\x00"
    frames["version"], frames["total"] = 0x4500, FRAME_BYTES - 14
    frames["ident"], frames["ttl"], frames["protocol"] = number % 65_536, 64, 17
    flow = number % n_flows
    frames["src"], frames["dst"] = 0x0A00_0000 + flow // 50_000, 0x0B00_0000
    frames["src_port"], frames["dst_port"] = 10_000 + flow % 50_000, 53
    frames["udp_length"], frames["number"] = FRAME_BYTES - 34, number
    path.write_bytes(HEAD + frames.tobytes())


def answer(path: Path) -> None:
    """Turn every other datagram into the answer to the one before it, each pair a flow."""
    frames = np.frombuffer(path.read_bytes()[len(HEAD) :], FRAME).copy()
    asked, answered = frames[::2], frames[1::2]
    for one, other in (("src", "dst"), ("src_port", "dst_port")):
        answered[one], answered[other] = asked[other], asked[one]
    path.write_bytes(HEAD + frames.tobytes())


def plain(n: int) -> Numbers:
    return START_NS + GAP_NS * np.arange(n)


def reversed_(n: int) -> Numbers:
    return plain(n)[::-1].copy()


def equal(n: int) -> Numbers:
    return np.full(n, START_NS)


def alternating(n: int) -> Numbers:
    return np.where(np.arange(n) % 2, plain(n), GAP_NS * np.arange(n))


def peak_mb(*arguments: object) -> float:
    """Run a merge; how much it held at most."""
    command = [sys.executable, "-m", "pcaplat", "merge", "--quiet", *map(str, arguments)]
    told = subprocess.check_output([sys.executable, "-c", SMALL_PARENT, *command])
    status, peak_kib = map(int, told.split())
    assert status in {0, 2}
    return peak_kib / 1024


def captures(folder: Path, stamps_ns: Numbers, n_flows: int) -> list[Path]:
    files = [folder / "near.pcap", folder / "far.pcap"]
    for file, delay_ns in zip(files, (0, DELAY_NS), strict=True):
        write(file, stamps_ns + delay_ns, n_flows)
    return files


KINDS = [
    pytest.param(plain, 100, id="plain"),
    pytest.param(plain, N, id="one flow a packet"),
    pytest.param(reversed_, 100, id="reversed"),
    pytest.param(equal, 100, id="equal"),
    pytest.param(alternating, 100, id="alternating with the epoch"),
]


@pytest.mark.slow
@pytest.mark.parametrize("option", [[], ["-o"]], ids=["", "-o"])
@pytest.mark.parametrize(("stamps", "n_flows"), KINDS)
def test_memory_is_bounded(
    tmp_path: Path, stamps: Callable[[int], Numbers], n_flows: int, option: list[str]
) -> None:
    files = captures(tmp_path, stamps(N), n_flows)
    output = [*option, tmp_path / "out"] if option else []
    assert peak_mb(*files, *output) <= MOST_MB


@pytest.mark.slow
def test_memory_is_bounded_where_packets_of_one_instant_are_equal(tmp_path: Path) -> None:
    files = captures(tmp_path, equal(N), 100)
    is_equal = np.random.default_rng(2).random(N) < 9 / 10
    for file in files:
        frames = np.frombuffer(file.read_bytes()[len(HEAD) :], FRAME).copy()
        for name in ("number", "ident", "src_port"):
            frames[name][is_equal] = 7
        file.write_bytes(HEAD + frames.tobytes())
    assert peak_mb(*files) <= MOST_MB


@pytest.mark.slow
def test_memory_is_bounded_where_each_request_is_a_flow(tmp_path: Path) -> None:
    """With 200,000 flows it was 610 MB, with 400,000 958: what grew with flows had no bound."""
    stamps_ns = plain(5 * N // 2)
    is_answer = np.arange(len(stamps_ns)) % 2
    files = captures(tmp_path, stamps_ns, len(stamps_ns))
    write(files[1], stamps_ns + np.where(is_answer, -DELAY_NS, DELAY_NS), len(stamps_ns))
    for file in files:
        answer(file)
    assert peak_mb(*files, "-o", tmp_path / "out") <= MOST_MB
    document = json.loads((tmp_path / "out" / "summary.json").read_text())
    [told] = [row for row in document["warnings"] if row["code"] == "transactions-not-reported"]
    assert "799,999 connections" in told["evidence"]
