"""Checksums that a host leaves to its card, told from all others; and stamps' resolutions."""

from __future__ import annotations

import struct
from dataclasses import replace
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat import lint
from pcaplat.diagnostics.placement import check_offload_signs
from pcaplat.diagnostics.stamp_order import check_stamp_order
from pcaplat.model.files.captures import Capture
from tests.recovery.simulator import START_NS
from tests.support.capture_facts import facts, interface
from tests.support.frames import TCP, UDP, checksum, ip
from tests.unit.diagnostics.lint_by_hand import FAR, NEAR, Packet, Set, in_tunnel, pcap

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pcaplat.tables.documents import Finding

    Filled = Callable[[int, bool], str]

IPV4, IPV6 = ("10.0.0.1", "10.0.0.2"), ("2001:db8::1", "2001:db8::2")
CARD, WHOLE, ZERO, DAMAGED = "card", "whole", "zero", "damaged"


def transport(ends: tuple[str, str], protocol: int, body: bytes, filled: str) -> bytes:
    """A segment or datagram with its checksum: whole (RFC 1071), or left to the card, or other."""
    at = 16 if protocol == TCP else 6
    addresses = b"".join(ip_address(one).packed for one in ends)
    pseudo = addresses + struct.pack(">II", len(body), protocol)
    whole = checksum(pseudo + body + bytes(len(body) % 2))
    value = {
        CARD: ~checksum(pseudo) & 0xFFFF,
        WHOLE: whole,
        ZERO: 0,
        DAMAGED: whole ^ 0x0421,
    }[filled]
    return body[:at] + value.to_bytes(2) + body[at + 2 :]


def talk(family: tuple[str, str], protocol: int, filled: Filled, n: int = 400) -> list[Packet]:
    """Packets by turns; `filled` says of packet and direction what is done with its checksum."""
    chance = np.random.default_rng(23)
    found = []
    for at in range(n):
        is_forward = at % 2 == 0
        ends, ports = (family, (40_000, 443)) if is_forward else (family[::-1], (443, 40_000))
        payload = chance.bytes(int(chance.integers(20, 1_300)))
        head = struct.pack(">HHHH", *ports, 8 + len(payload), 0)
        if protocol == TCP:
            head = struct.pack(">HHIIBBHHH", *ports, at * 2_000, at, 0x50, 0x18, 8192, 0, 0)
        body = transport(ends, protocol, head + payload, filled(at, is_forward))
        frame = ip(*ends, protocol, at + 1, 64, body)
        found.append(Packet(START_NS + at * 101_009, frame, is_forward=is_forward))
    return found


def signs(captures: Set, folder: Path) -> list[Finding]:
    found = lint(captures.save(folder), same_clock=["all"])["findings"]
    return [row for row in found if row["code"] == "offload-signs"]


def by_card_forward(at: int, is_forward: bool) -> str:  # noqa: ARG001, FBT001 - as it is called
    return CARD if is_forward else WHOLE


@pytest.mark.parametrize("snap", [262_144, 74])
@pytest.mark.parametrize("protocol", [TCP, UDP])
@pytest.mark.parametrize("family", [IPV4, IPV6], ids=["IPv4", "IPv6"])
def test_what_a_host_sends_is_told(
    family: tuple[str, str], protocol: int, snap: int, tmp_path: Path
) -> None:
    host = replace(NEAR, write=partial(pcap, snap=snap))
    (row,) = signs(Set({"host": host}, talk(family, protocol, by_card_forward)), tmp_path)
    assert "host.pcap 200 of 400, all of one direction" in row["evidence"]
    assert row["consequence"].startswith("no figure")


def test_both_ends_of_virtual_machines_are_told(tmp_path: Path) -> None:
    (row,) = signs(Set(talk=talk(IPV4, TCP, lambda *_: CARD)), tmp_path)
    assert "near.pcap 400 of 400" in row["evidence"]
    assert "far.pcap 400 of 400" in row["evidence"]
    assert "direction" not in row["evidence"]


@pytest.mark.parametrize("family", [IPV4, IPV6], ids=["IPv4", "IPv6"])
@pytest.mark.parametrize("protocol", [TCP, UDP])
@pytest.mark.parametrize("filled", [WHOLE, ZERO, DAMAGED])
def test_no_other_checksum_is_taken_for_one(
    family: tuple[str, str], protocol: int, filled: str, tmp_path: Path
) -> None:
    assert not signs(Set(talk=talk(family, protocol, lambda *_: filled)), tmp_path)


def test_a_tunnel_without_checksums_is_none(tmp_path: Path) -> None:
    whole = talk(IPV4, TCP, lambda *_: WHOLE)
    far = replace(FAR, frame=in_tunnel)
    assert not signs(Set({"near": NEAR, "far": far}, whole), tmp_path)
    # and one around packets that a host did not finish hides nothing
    unfinished = Set({"near": NEAR, "far": far}, talk(IPV4, TCP, by_card_forward))
    (row,) = signs(unfinished, tmp_path)
    assert "far.pcap 200 of 400" in row["evidence"]


def test_few_are_chance(tmp_path: Path) -> None:
    rare = talk(IPV4, UDP, lambda at, _: CARD if at % 100 == 7 else WHOLE)
    assert not signs(Set(talk=rare), tmp_path)


@pytest.mark.parametrize(
    ("n_partial", "n_checksums", "text"),
    [
        ([8, 0], [2_000, 2_000], None),
        ([40, 0], [2_000, 2_000], "40 of 4,000, all of one direction"),
        ([40, 0], [40, 4], "40 of 44"),
        ([20, 20], [40, 40], "40 of 80"),
        ([4, 0], [4, 5], None),
    ],
)
def test_as_few_as_may_be_chance_are_not_told_nor_is_a_direction_of_few(
    n_partial: list[int], n_checksums: list[int], text: str | None
) -> None:
    of_file = facts(interface(n_partial=n_partial, n_checksums=n_checksums))
    none = {name: np.zeros(0, np.int64) for name in ("file", "tcp_bytes")}
    found = check_offload_signs([Capture("a", "a", "p")], [of_file], none)
    assert [diagnostic.evidence.split("card: ")[1] for diagnostic in found] == (
        [f"a {text}"] if text else []
    )


def test_few_stamps_may_be_round_by_chance() -> None:
    for n_frames, n_found in ((99, 0), (100, 1)):
        one = interface(observed_resolution_ns=1_000, n_frames=n_frames)
        assert len(check_stamp_order([Capture("a", "a", "p")], [facts(one)])) == n_found


@pytest.mark.parametrize(
    ("declared_ns", "shown_ns", "text"),
    [
        (1e9 / 2**32, 1, None),
        (0.001, 1, None),
        (1.0, 1, None),
        (100.0, 100, None),
        (1e9 / 2**20, 100, None),
        (
            1e9 / 2**32,
            1_000,
            "declares timestamps of less than 1 ns, but all 500 are multiples of 1 µs",
        ),
        (1.0, 1_000, "declares timestamps of 1 ns, but all 500 are multiples of 1 µs"),
        (1_000.0, 10_000, "declares timestamps of 1 µs, but all 500 are multiples of 10 µs"),
    ],
)
def test_stamps_are_overstated_only_if_they_are_coarser(
    declared_ns: float, shown_ns: int, text: str | None
) -> None:
    """Times are read as whole nanoseconds: what is finer shows 1 ns, and is not overstated."""
    one = interface(
        declared_resolution_ns=declared_ns, observed_resolution_ns=shown_ns, n_frames=500
    )
    found = check_stamp_order([Capture("a", "a", "p")], [facts(one)])
    assert [diagnostic.evidence for diagnostic in found] == ([] if text is None else [f"a: {text}"])
