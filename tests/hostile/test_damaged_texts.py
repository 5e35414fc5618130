"""Texts of tracers with damage: what can be read is, and the rest is counted."""

from __future__ import annotations

import gzip
import re
from typing import TYPE_CHECKING

import polars as pl
import pytest

import pcaplat
from pcaplat.cli import run
from tests.support.tracers import (
    START_NS,
    Traced,
    request,
    write_pktcap,
    write_pktmon_text,
    write_retis_events,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

N = 200
NAMES = ("78", "31", "15", "7") * (N // 4)
MIDDLE = 100
TEXTS: dict[str, tuple[Callable[..., None], bytes]] = {
    "retis events": (write_retis_events, b'"timestamp":'),
    "pktmon text": (write_pktmon_text, "PktGroupId ".encode("utf-16-le")),
    "pktcap-uw trace": (write_pktcap, b"] Captured at "),
}
"""Who writes a text, and what every packet in it begins with, or nearly."""
LEFT_OUT = re.compile(r"packets left out .*: (\d+);")


def written(kind: str, folder: Path, names: tuple[str, ...] = NAMES) -> Path:
    """Each packet at the next component."""
    path = folder / "trace.txt"
    parts = sorted({*names})
    traced = [
        Traced(START_NS + number * 1_000_000, parts.index(name), number, request(number))
        for number, name in enumerate(names)
    ]
    TEXTS[kind][0](path, parts, traced)
    return path


def read(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Give how many frames were read, and what was said of the rest."""
    assert run(["read", str(path), "--format", "csv"]) == 0
    return len(pl.DataFrame(pcaplat.read(path))), capsys.readouterr().err


@pytest.mark.parametrize("kind", TEXTS)
def test_a_damaged_packet_is_counted_and_the_next_is_read(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(kind, tmp_path)
    assert read(path, capsys) == (N, "")
    sign = TEXTS[kind][1]
    parts = path.read_bytes().split(b"\n")
    at = [number for number, line in enumerate(parts) if sign in line][MIDDLE]
    # of a number or a time, the first digits
    parts[at] = re.sub(rb"[0-9]", b"x", parts[at], count=30)
    path.write_bytes(b"\n".join(parts))
    n_frames, said = read(path, capsys)
    assert n_frames == N - 1
    assert LEFT_OUT.findall(said) == ["1"]
    assert run(["read", str(path), "--strict"]) == 2


@pytest.mark.parametrize("kind", TEXTS)
def test_compression_that_is_cut_is_told(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(kind, tmp_path)
    packed = gzip.compress(path.read_bytes())
    path.write_bytes(packed[: len(packed) // 2])
    n_frames, said = read(path, capsys)
    assert 0 < n_frames < N
    assert "the compressed file is cut short" in said


@pytest.mark.parametrize("kind", TEXTS)
def test_components_beyond_the_most_are_counted(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = tuple(map(str, range(3 * N)))
    n_frames, said = read(written(kind, tmp_path, names), capsys)
    assert n_frames == 512
    assert LEFT_OUT.findall(said) == [str(3 * N - 512)]
