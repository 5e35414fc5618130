"""Stamps of the public captures that carry some, against a reading by hand; and of no other."""

import struct
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pcaplat
from pcaplat import _native
from tests.support.oracle_decode import read_frames
from tests.support.shelf import CAPTURES

SECOND = 10**9


def public(*parts: str) -> Path:
    path = CAPTURES.joinpath("public", *parts)
    if not path.exists():
        pytest.skip("the public captures are not here")
    return path


def by_hand(path: Path) -> dict[int, int]:
    """Stamps of a capture with key frames, by the documents alone: frame number → ns.

    A frame's ticks are taken from the key frame before it (else the first), at the rate of that one
    and the one before; the reference decoder of Cisco does so too.
    """
    keys: list[tuple[int, int, int]] = []
    frames = read_frames(path)
    for frame in frames:
        keys += [(frame.number, *key)] if (key := key_of(frame.data)) else []
    kind = key_kind(frames)
    found = {}
    for frame in frames:
        if key_of(frame.data):
            continue
        before = [key for key in keys if key[0] < frame.number] or keys[:1]
        _, ticks, utc_ns = before[-1]
        rate = 20 / 7
        if len(keys) > 1:
            one, two = before[-2:] if len(before) > 1 else keys[:2]
            rate = (two[2] - one[2]) / (two[1] - one[1])
        behind = 8 if has_fcs(frame.data) else 4
        word = int.from_bytes(frame.data[len(frame.data) - behind :][:4], "big")
        bits = 31 if kind == "arista" else 32
        field = ((word & 0xFFFFFF00) >> 1 | word & 0x7F) if kind == "arista" else word
        ahead = (field - ticks + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
        found[frame.number] = utc_ns + round(ahead * rate)
    return found


def key_kind(frames: Iterable[Any]) -> str:
    return "exablaze" if any(is_exablaze(one.data) for one in frames) else "arista"


def has_fcs(data: bytes) -> bool:
    return zlib.crc32(data[:-4]) == int.from_bytes(data[-4:], "little")


def is_exablaze(data: bytes) -> bool:
    is_ip = data[12:14] == b"\x08\0" and data[23] == 253 and data[16:18] == b"\0\x3c"
    return is_ip or data[12:18] == b"\x88\xb5EXKF"


def key_of(data: bytes) -> tuple[int, int] | None:
    """Ticks and UTC of a key frame."""
    if is_exablaze(data):
        utc_ns, ticks = struct.unpack_from(">QQ", data, 22 if data[12] == 0x88 else 42)
        return ticks, utc_ns
    if data[12:14] == b"\x08\0" and data[23] == 253 and data[16:18] == b"\0\x52":
        order = ">" if struct.unpack_from(">Q", data, 42)[0] >> 56 == 0x14 else "<"
        ticks, utc_ns = struct.unpack_from(f"{order}QQ", data, 34)
        return ticks, utc_ns
    return None


def stamps_of(path: Path) -> dict[int, int]:
    """What pcaplat says: frame number → ns."""
    table = pl.DataFrame(pcaplat.read(path)).filter(pl.col("stamp_ns").is_not_null())
    return dict(zip(table["frame"], table["stamp_ns"], strict=True))


TICKS = ["exa.mode.append", "exa.mode.fcs-compat", "exa.mode.fcs", "exnic-fcsu"]


@pytest.mark.parametrize("name", TICKS)
def test_public_captures_with_ticks(name: str) -> None:
    path = public("CiscoDevNet+n3550-timestamp-decoder", "test", f"{name}.pcap")
    wanted = by_hand(path)
    assert stamps_of(path) == pytest.approx(wanted, abs=1)
    assert len(wanted) == {"exnic-fcsu": 18}.get(name, 3)


def test_public_capture_of_a_7150() -> None:
    path = public("alohr+wireshark-dissectors", "private_plugins", "arista", "test-arista.pcap")
    assert stamps_of(path) == pytest.approx(by_hand(path), abs=1)
    assert len(stamps_of(path)) == 12


def test_public_capture_of_a_7280() -> None:
    path = public("the-tcpdump-group+tcpdump", "tests", "arista_ether.pcap")
    table = pl.DataFrame(pcaplat.read(path))
    for frame, stamp_ns in zip(read_frames(path), table["stamp_ns"], strict=True):
        version = frame.data[17]
        if version >> 4 == 1:
            seconds, ns = struct.unpack_from(">II", frame.data, 18)
        else:
            low, ns = struct.unpack_from(">HI", frame.data, 18)
            at_s = frame.t_ns // SECOND
            seconds = at_s + (low - at_s + 0x8000) % 0x10000 - 0x8000
        assert stamp_ns == seconds * SECOND + ns


STAMPED = {
    "exa.mode.append.pcap", "exa.mode.fcs-compat.pcap", "exa.mode.fcs.pcap", "exnic-fcsu.pcap",
    "test-arista.pcap", "arista_ether.pcap", "erspanIII.pcap", "erspan-type-iii-pb-1.pcap",
}  # fmt: skip


def test_no_other_capture_has_stamps() -> None:
    if not CAPTURES.exists():
        pytest.skip("the captures are not here")
    suffixes = (".pcap", ".pcapng", ".cap", ".zst", ".gz")
    files = [one for one in CAPTURES.rglob("*") if one.name.endswith(suffixes) and one.is_file()]
    wrong = []
    for path in files:
        if path.stat().st_size > 4_000_000:
            continue
        try:
            sample = _native.sample([path], _native.Settings(), 16)
        except pcaplat.InputError:
            continue
        of = sample.facts[0].interfaces
        if any(one.stamps for one in of) != (path.name in STAMPED):
            wrong.append(path.name)
    assert not wrong
