"""Traffic of which nothing can be followed, because every packet equals two others beside it."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np
import pytest

import pcaplat
from pcaplat.errors import EvidenceError

if TYPE_CHECKING:
    from pathlib import Path

START_NS, APART_NS, TWIN_NS = 1_760_000_000_000_000_000, 100_000, 3_000
N_TRIPLETS = 700


def _frame(number: int) -> bytes:
    """UDP without identification."""
    datagram = struct.pack(">HHHH", 1000, 2000, 48, 0) + struct.pack(">I", number) * 10
    source, target = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
    header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 68, 0, 0, 64, 17, 0, source, target)
    return bytes.fromhex("02000000000b02000000000a0800") + header + datagram


def _save(path: Path, frames: list[tuple[int, bytes]]) -> str:
    rows = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)]
    for t_ns, frame in sorted(frames):
        rows += [struct.pack("<4I", *divmod(t_ns, 10**9), len(frame), len(frame)), frame]
    path.write_bytes(b"".join(rows))
    return str(path)


def test_equal_frames_are_said_to_be_why_nothing_is_followed(tmp_path: Path) -> None:
    chance = np.random.default_rng(1)
    here, there = [], []
    # two of each would be what a mirror of both directions makes of one
    for number in range(3 * N_TRIPLETS):
        t_ns = START_NS + number // 3 * APART_NS + number % 3 * TWIN_NS
        here.append((t_ns, _frame(number // 3)))
        if chance.random() > 0.35:
            there.append((t_ns + 20_000 + int(chance.integers(1_000)), _frame(number // 3)))
    files = [_save(tmp_path / "a.pcap", here), _save(tmp_path / "b.pcap", there)]
    n_frames = len(here) + len(there)
    with pytest.raises(EvidenceError, match=r"frames equal others .*; capture whole") as caught:
        pcaplat.merge(files, same_clock=["all"])
    assert f"of {n_frames:,} frames" in str(caught.value)


def test_where_few_are_equal_a_larger_window_is_advised() -> None:
    error = EvidenceError.nothing_matched(["a", "b"], {"ambiguous": 1, "unmatched": 9})
    assert "points (a, b); try a larger --window" in str(error)


def test_most_frames_without_a_match_are_told_beside_the_others(tmp_path: Path) -> None:
    """What is matched is no sample of them: half of the equal ones are lost, and no other."""
    chance = np.random.default_rng(1)
    here, there = [], []
    for number in range(3 * N_TRIPLETS):
        t_ns = START_NS + number // 3 * APART_NS + number % 3 * TWIN_NS
        here.append((t_ns, _frame(number // 3)))
        if chance.random() > 0.5:
            there.append((t_ns + 20_000 + int(chance.integers(1_000)), _frame(number // 3)))
    for number in range(N_TRIPLETS):
        t_ns = START_NS + number * APART_NS + APART_NS // 2
        here.append((t_ns, _frame(1_000_000 + number)))
        there.append((t_ns + 20_000 + int(chance.integers(1_000)), _frame(1_000_000 + number)))
    files = [_save(tmp_path / "a.pcap", here), _save(tmp_path / "b.pcap", there)]
    with pcaplat.merge(files, same_clock=["all"]) as result:
        codes = {row["code"] for row in result.document["warnings"]}
        row = result.document["segments"][0]
    assert row["lost_hi_frac"] >= 0.5 or "identical-packets" in codes
