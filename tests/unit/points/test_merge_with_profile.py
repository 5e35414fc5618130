"""`--profile` on captures of the lab: the same numbers as when everything is said by hand."""

import struct
from pathlib import Path
from typing import Any

import pytest

from pcaplat import merge
from pcaplat.errors import PointError
from tests.conftest import ROOT

VXLAN = sorted((ROOT / "samples" / "vxlan").glob("*.pcap"))
PATH = ["host1-vm", "host1-up", "sw-a", "sw-b", "host2-up", "host2-vm"]
HEADER_BYTES, RECORD_BYTES, SOURCE = 24, 16, slice(6, 12)


def numbers(document: dict[str, Any]) -> list[list[Any]]:
    """Everything of the segments but the points' names."""
    names = ("near", "far")
    return [[v for k, v in row.items() if k not in names] for row in document["segments"]]


def split_by_sender(capture: Path, first: Path, second: Path) -> None:
    """Write what the first frame's sender sends, and everything else, as --dir would."""
    data = capture.read_bytes()
    halves: dict[bool, list[bytes]] = {True: [data[:HEADER_BYTES]], False: [data[:HEADER_BYTES]]}
    at, sender = HEADER_BYTES, data[HEADER_BYTES + RECORD_BYTES :][SOURCE]
    while at < len(data):
        (n_bytes,) = struct.unpack_from("<I", data, at + 8)
        record = data[at : at + RECORD_BYTES + n_bytes]
        halves[record[RECORD_BYTES:][SOURCE] == sender].append(record)
        at += len(record)
    first.write_bytes(b"".join(halves[True]))
    second.write_bytes(b"".join(halves[False]))


def test_the_lab_needs_nothing_else() -> None:
    by_hand = merge(VXLAN, path=PATH, same_clock=["all"], keep_rows=False).document
    document = merge(VXLAN[::-1], profile="lab", keep_rows=False).document
    assert document["path"] == PATH
    assert not document["path_inferred"]
    assert document["segments"] == by_hand["segments"]
    assert {clock["quality"] for clock in document["clocks"]} == {"same-clock"}
    assert document["warnings"] == by_hand["warnings"]


def test_what_the_user_says_comes_first() -> None:
    turned = merge(VXLAN, profile="lab", path=PATH[::-1], keep_rows=False).document
    assert turned["path"] == PATH[::-1]
    both = merge(VXLAN, profile="lab", same_clock=["all"], keep_rows=False).document
    assert both["path"] == PATH
    named = [f"there={VXLAN[0]}", *map(str, VXLAN[1:])]
    document = merge(named, profile="lab", keep_rows=False).document
    assert "there" in document["path"]


def test_halves_of_a_place_give_what_the_whole_gives(tmp_path: Path) -> None:
    vm, up = (ROOT / "samples" / "vxlan" / f"host1-{end}.pcap" for end in ("vm", "up"))
    split_by_sender(vm, tmp_path / "esx1-VnicTx.pcap", tmp_path / "esx1-VnicRx.pcap")
    split_by_sender(up, tmp_path / "esx1-UplinkSnd.pcap", tmp_path / "esx1-UplinkRcv.pcap")
    halves = merge(sorted(tmp_path.iterdir()), profile="esxi-nsx-v", keep_rows=False).document
    whole = merge([vm, up], path=["host1-vm", "host1-up"], same_clock=["all"]).document
    assert halves["path"] == ["esx1-vnic", "esx1-uplink"]
    assert [row["n"] for row in halves["segments"]] == [185, 143]
    assert numbers(halves) == numbers(whole)
    assert "profile" in {warning["code"] for warning in halves["warnings"]}


def test_a_capture_that_no_point_is_called_by_is_a_warning() -> None:
    document = merge(VXLAN, profile="linux-vxlan", keep_rows=False).document
    assert document["path_inferred"]
    said = [warning["text"] for warning in document["warnings"] if warning["code"] == "profile"]
    assert len([text for text in said if "no point of profile linux-vxlan" in text]) == len(VXLAN)


def test_an_unknown_profile_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(PointError, match=r"'labb' .*; did you mean lab\? There are: .*lab"):
        merge([tmp_path / "missing.pcap", tmp_path / "too.pcap"], profile="labb")
