"""What a collector of mirrors writes: one file that saw packets at several places of a path."""

from __future__ import annotations

import struct
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

import pcaplat
from pcaplat.errors import InputError
from tests.support.split_captures import Look, Sent, Written, ether, mac, plain, routed, write

if TYPE_CHECKING:
    from pathlib import Path

GRE, ERSPAN_II = 47, 0x88BE
PUBLIC, PRIVATE = "198.51.100.7", "10.0.2.1"
COLLECTOR = "192.0.2.9"


def in_erspan(session: int, switch: str, inner: bytes, number: int) -> bytes:
    """A frame as a switch sends it to the collector, with the mirror's own number (type II)."""
    head = struct.pack(">HHI", 0x1000, ERSPAN_II, number)
    head += struct.pack(">HHI", 0x1000 | 10, session, 0)
    ends = b"".join(bytes(map(int, end.split("."))) for end in (switch, COLLECTOR))
    length = 20 + len(head) + len(inner)
    outer = struct.pack(">BBHHHBBH", 0x45, 0, length, number, 0, 60, GRE, 0) + ends
    return ether(mac(switch), mac(COLLECTOR), outer + head + inner)


def mirrored(
    side: int, sent: Sent, *, switches: tuple[str, str], sessions: tuple[int, int]
) -> bytes:
    """Before a router and after, each by a mirror session of its own."""
    return in_erspan(sessions[side], switches[side], routed(side, sent), sent.number)


def behind_nat(side: int, sent: Sent) -> bytes:
    """The servers have a public address on the clients' side of the router."""
    if side == 0:
        shown = {"10.0.2.1": "198.51.100.1", "10.0.2.2": "198.51.100.2"}
        sent = replace(sent, src=shown.get(sent.src, sent.src), dst=shown.get(sent.dst, sent.dst))
    return mirrored(side, sent, switches=("192.0.2.1", "192.0.2.2"), sessions=(6, 2))


TWO = partial(mirrored, switches=("192.0.2.1", "192.0.2.2"), sessions=(6, 2))
ONE_SWITCH = partial(mirrored, switches=("192.0.2.1", "192.0.2.1"), sessions=(6, 2))
ONE_SESSION = partial(mirrored, switches=("192.0.2.1", "192.0.2.1"), sessions=(6, 6))
KINDS: dict[str, list[Look]] = {
    "two switches": [partial(TWO, 0), partial(TWO, 1)],
    "two sessions of one switch": [partial(ONE_SWITCH, 0), partial(ONE_SWITCH, 1)],
    "one session of two ports": [partial(ONE_SESSION, 0), partial(ONE_SESSION, 1)],
    "a router that translates": [partial(behind_nat, 0), partial(behind_nat, 1)],
    "its own port and a mirror": [
        plain,
        lambda sent: in_erspan(6, "192.0.2.1", plain(sent), sent.number),
    ],
}


def pairs_of(written: Written) -> set[tuple[int, int]]:
    """Frames of the same packet, from 1."""
    frames: dict[int, list[int]] = {}
    for at, number in enumerate(written.numbers):
        frames.setdefault(number, []).append(at + 1)
    return {(first, then) for first, then in frames.values()}


@pytest.mark.parametrize("kind", KINDS)
def test_the_places_are_told_apart_and_all_packets_matched(kind: str, tmp_path: Path) -> None:
    written = write(tmp_path / "collector.pcap", KINDS[kind])
    with pcaplat.merge([written.path]) as result:
        rows = result.matches.select("up_frame", "down_frame").collect().rows()
        of_frame = result.packets.select("point").collect()["point"].to_list()
        document = result.document
    assert {(min(row), max(row)) for row in rows} == pairs_of(written)
    assert len(rows) == 120
    near, far = document["path"]
    assert of_frame == [(near, far)[place] for place in written.places]
    assert {row["direction"]: row["n"] for row in document["segments"]} == {
        "forward": 60,
        "reverse": 60,
    }
    assert {row["quality"] for row in document["clocks"]} == {"same-clock"}


@pytest.mark.parametrize("gap_ns", [0, 2_000, 107_000])
def test_every_frame_twice_is_one_place(gap_ns: int, tmp_path: Path) -> None:
    """SPAN of both directions, as in many public captures: a file like that has no path."""
    written = write(tmp_path / "span.pcap", [plain, plain], gap_ns=gap_ns)
    with pytest.raises(InputError, match="one capture point alone"):
        pcaplat.merge([written.path])


def numbered(sent: Sent) -> bytes:
    """With an IP identification, so that equal frames are one frame."""
    ident = struct.pack(">H", 1 + sent.number)
    frame = plain(sent)
    return frame[:18] + ident + frame[20:]


@pytest.mark.parametrize(("looks", "n_told"), [([numbered] * 2, 1), ([numbered], 0)])
def test_lint_says_of_one_file_that_it_has_every_frame_twice(
    looks: list[Look], n_told: int, tmp_path: Path
) -> None:
    written = write(tmp_path / "span.pcap", looks)
    findings = pcaplat.lint([written.path])["findings"]
    told = [one["evidence"] for one in findings if one["code"] == "mirror-duplicates"]
    assert len(told) == n_told
    assert all("120 of 240 sampled frames" in evidence for evidence in told)
