"""Damage in a capture, format by format: what is read, what is said, and `--strict`."""

from __future__ import annotations

import io
import json
import re
import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from pcaplat import merge
from pcaplat.cli import run
from tests.recovery.simulator import files
from tests.unit.diagnostics.lint_by_hand import CLEAN, FAR, pcap

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.diagnostics.lint_by_hand import Records

N_FRAMES = 120
MIDDLE = 60
START_NS = 1_700_000_000_000_000_000
LOST = re.compile(r"byte (\d+): .*?(\d+) bytes (?:are lost|from there)")
PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    **files.PACKINGS,
    "zst": lambda data: pa.compress(data, "zstd", asbytes=True),
    "lz4": lambda data: pa.compress(data, "lz4", asbytes=True),
}
HEADER_BYTES = {"pcap": 16, "pcapng": 28, "snoop": 24, "erf": 18}
PLAIN = sorted(files.FORMATS)
PACKED = [f"pcap.{packing}" for packing in PACKINGS]


def frame(number: int) -> bytes:
    """UDP 10.0.0.1:number → 10.0.0.2:53, of a length of its own."""
    payload = struct.pack(">I", number) * (5 + number % 7)
    udp = struct.pack(">HHHH", 1000 + number, 53, 8 + len(payload), 0)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 28 + len(payload), number, 0, 64, 17, 0)
    addresses = bytes([10, 0, 0, 1, 10, 0, 0, 2])
    return bytes.fromhex("0200000000020200000000010800") + ip + addresses + udp + payload


FRAMES = [frame(number) for number in range(1, N_FRAMES + 1)]


def whole(folder: Path, kind: str) -> tuple[Path, bytes]:
    """A file that nothing is wrong with, and its bytes."""
    numbers = np.arange(N_FRAMES)
    n_bytes = np.array([len(data) for data in FRAMES])
    form, _, packing = kind.partition(".")
    stamps_ns = START_NS + numbers * 1_000_000
    recording = files.Recording(stamps_ns, FRAMES, n_bytes, 1, numbers * 0, ("eth0",))
    path = files.write(folder, "whole", form, recording)
    data = path.read_bytes()
    if packing:
        # in two members, so that one comes before what is cut in the other
        half = len(data) // 2
        data = PACKINGS[packing](data[:half]) + PACKINGS[packing](data[half:])
        path = path.with_name(f"{path.name}.{packing}")
        path.write_bytes(data)
    return path, data


def spoil_header(kind: str, data: bytes) -> bytes:
    """The record header before the frame in the middle."""
    at, n_bytes = data.index(FRAMES[MIDDLE]), HEADER_BYTES[kind.partition("-")[0]]
    return data[: at - n_bytes] + b"\xff" * n_bytes + data[at:]


def spoil_middle(data: bytes) -> bytes:
    at = len(data) // 2
    return data[:at] + bytes(octet ^ 0x55 for octet in data[at : at + 64]) + data[at + 64 :]


def cut(data: bytes) -> bytes:
    return data[: len(data) * 3 // 5]


def cut_in_record(data: bytes) -> bytes:
    return data[: data.index(FRAMES[MIDDLE]) + 9]


def ports(rows: str) -> list[int]:
    return pl.read_csv(io.StringIO(rows))["src_port"].drop_nulls().to_list()


def read(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = run(["read", *arguments])
    said = capsys.readouterr()
    return status, said.out, said.err


def truncated(captures: list[dict[str, Any]]) -> list[str]:
    return [one["file"] for one in captures if one["is_truncated"]]


def captures_of(capsys: pytest.CaptureFixture[str], *paths: Path) -> list[dict[str, Any]]:
    run(["merge", "--format", "json", "--quiet", *map(str, paths)])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["captures"]
    return found


@pytest.mark.parametrize("kind", [*PLAIN, *PACKED])
def test_a_cut_file_gives_what_is_before_the_cut(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, data = whole(tmp_path, kind)
    assert ports(read(capsys, str(good), "--strict")[1]) == list(range(1001, 1001 + N_FRAMES))
    bad = good.with_name(f"bad.{good.name.partition('.')[2]}")
    bad.write_bytes(cut(data) if "." in kind else cut_in_record(data))
    status, rows, said = read(capsys, str(bad))
    assert status == 0
    n_rows = len(ports(rows))
    assert ports(rows) == list(range(1001, 1001 + n_rows))
    assert n_rows == MIDDLE if "." not in kind else n_rows < N_FRAMES
    assert re.search(rf"damaged-capture: {bad}: byte \d+: .*cut.*what came before is used", said)
    status, _, said = read(capsys, str(bad), "--strict")
    assert status == 2
    assert f"{bad}: byte " in said
    assert "cut" in said
    assert truncated(captures_of(capsys, good, bad)) == [str(bad)]


@pytest.mark.parametrize("kind", PLAIN)
def test_behind_damage_reading_goes_on(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, data = whole(tmp_path, kind)
    bad = good.with_name(f"bad{good.suffix}")
    bad.write_bytes(spoil_header(kind, data))
    status, rows, said = read(capsys, str(bad))
    assert status == 0
    found = ports(rows)
    assert found[:MIDDLE] == list(range(1001, 1001 + MIDDLE))
    assert found[-1] == 1000 + N_FRAMES
    assert len(found) >= N_FRAMES - 5

    [(at_byte, n_lost)] = LOST.findall(said)
    at = data.index(FRAMES[MIDDLE])
    assert at - 40 <= int(at_byte) <= at < int(at_byte) + int(n_lost)
    status, _, said = read(capsys, str(bad), "--strict")
    assert status == 2
    assert f"{bad}: byte {at_byte}" in said
    assert run(["merge", "--strict", str(good), str(bad)]) == 2
    assert f"byte {at_byte}" in capsys.readouterr().err
    assert truncated(captures_of(capsys, good, bad)) == [str(bad)]


@pytest.mark.parametrize("kind", PACKED)
def test_what_was_packed_is_read_up_to_the_damage(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, data = whole(tmp_path, kind)
    bad = good.with_name(f"bad{''.join(good.suffixes)}")
    bad.write_bytes(spoil_middle(data))
    status, _, said = read(capsys, str(bad), "--strict")
    assert status == 2
    assert f"{bad}: byte " in said


def test_a_block_that_claims_more_than_it_holds_is_lost_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The captured length lies (draft-ietf-opsawg-pcapng §4.3), the lengths of the block do not."""
    good, data = whole(tmp_path, "pcapng")
    at = data.index(FRAMES[MIDDLE])
    block_at, captured_at = at - 28, at - 8
    [block_bytes] = struct.unpack_from("<I", data, block_at + 4)
    claim = block_bytes - 32 + 1
    bad = good.with_name("bad.pcapng")
    bad.write_bytes(data[:captured_at] + struct.pack("<I", claim) + data[captured_at + 4 :])
    status, rows, said = read(capsys, str(bad))
    assert status == 0
    assert ports(rows) == [1001 + at for at in range(N_FRAMES) if at != MIDDLE]
    assert f"claims {claim} bytes and holds {claim - 1}" in said
    assert LOST.findall(said) == [(str(block_at), str(block_bytes))]
    assert f"reading goes on at byte {block_at + block_bytes}" in said
    assert read(capsys, str(bad), "--strict")[0] == 2
    run(["merge", "--format", "json", "--quiet", str(good), str(bad)])
    summary = json.loads(capsys.readouterr().out)
    assert truncated(summary["captures"]) == [str(bad)]
    [text] = [one["text"] for one in summary["warnings"] if one["code"] == "damaged-capture"]
    assert f"{block_bytes} bytes are lost" in text


def test_records_of_zeros_move_no_time_that_all_points_cover(tmp_path: Path) -> None:
    """A file system gives room in advance: records of 1970 say nothing of when a capture ran."""

    def unfinished(path: Path, records: Records) -> None:
        pcap(path, records)
        path.write_bytes(path.read_bytes() + bytes(16 * 30))

    clean = CLEAN.save(tmp_path)
    whole_file = merge(clean).document
    padded = CLEAN.having(far=replace(FAR, write=unfinished)).save(tmp_path)
    document = merge(padded).document
    (more,) = (
        row["n_frames"] - other["n_frames"]
        for row, other in zip(document["captures"], whole_file["captures"], strict=True)
        if row["point"] == "far"
    )
    assert more == 30
    for name in ("clocks", "segments", "round_trips"):
        assert document[name] == whole_file[name]
