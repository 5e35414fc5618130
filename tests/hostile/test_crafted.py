"""Packets that are made to be taken for others: what is looked up by a digest is no other packet.

The digests here are those of rust/src/base/hash.rs with the constants that everybody can read. Each
kind gives packets that are different, and that would be equal if these constants were all there is.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

import pcaplat
from tests.support.frames import TCP, UDP, ethernet, ip, udp, write_pcap

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Craft = Callable[[int], bytes]
    """Gives the frame of a number."""

START_NS, DELAY_NS, GAP_NS = 1_760_000_000 * 10**9, 5_000, 100_000
N_PLAIN, N_CRAFTED = 300, 200
IPV6 = 0x86DD
MASK, TURNED, WORD = 0xA076_1D64_78BD_642F, 0xE703_7ED1_A0B4_28DB, 2**64 - 1
PREFIX = 0x2001_0DB8_0000_0000
BEYOND = 0x2001_0DB8_FFFF_0000
HERE, THERE = "10.0.0.1", "10.0.0.2"


def product(one: int, other: int) -> int:
    both = one * other
    return both & WORD ^ both >> 64


def fold(digest: int, part: int) -> int:
    turned = (digest << 32 | digest >> 32) & WORD
    return product(digest ^ part ^ MASK, turned ^ TURNED)


def between_addresses(i: int) -> bytes:
    """Each between two others: a part that equals the digest before it makes a factor 0."""
    near = (PREFIX, i + 1)
    far = (BEYOND, fold(fold(0, near[1]), near[0]) ^ MASK)
    payload = udp((5000, 6000), b"the same")
    head = struct.pack(">IHBB4Q", 6 << 28, len(payload), UDP, 64, *near, *far)
    return ethernet(1, 2, IPV6, head + payload)


def with_a_word_that_is_a_factor(i: int) -> bytes:
    """The first of two words of a block makes the factor 0, and what was before it nothing."""
    block = TURNED.to_bytes(8, "little")
    body = struct.pack(">QQ", i, ~i & WORD) + block + b"the same"
    return ip(HERE, THERE, UDP, 7, 64, udp((5000, 6000), body))


def with_options(i: int) -> bytes:
    """TCP options of one unknown kind, whose second word undoes the first."""
    first = int.from_bytes(struct.pack(">BBHI", 0xFD, 16, 0, i), "big")
    options = struct.pack(">QQ", first, fold(0, first) ^ MASK)
    head = struct.pack(">HHIIBBHHH", 5000, 6000, 1, 1, (20 + len(options)) // 4 << 4, 16, 9, 0, 0)
    return ip(HERE, THERE, TCP, 7, 64, head + options + b"the same")


def plain(i: int) -> bytes:
    return ip(HERE, THERE, UDP, i + 1, 64, udp((7000, 8000), b"%08d" % i))


@pytest.mark.parametrize(
    "craft",
    [between_addresses, with_a_word_that_is_a_factor, with_options],
    ids=lambda one: one.__name__,
)
def test_crafted_packets_are_not_taken_for_each_other(tmp_path: Path, craft: Craft) -> None:
    """Each crafted packet is lost, and another comes from nowhere when it should arrive."""
    paths = [tmp_path / "near.pcap", tmp_path / "far.pcap"]
    for at, path in enumerate(paths):
        frames = [(START_NS + i * GAP_NS + at * DELAY_NS, plain(i)) for i in range(N_PLAIN)] + [
            (START_NS + i * GAP_NS + GAP_NS // 2 + at * DELAY_NS, craft(2 * i + at))
            for i in range(N_CRAFTED)
        ]
        write_pcap(path, sorted(frames))
    with pcaplat.merge(paths, same_clock=["all"]) as result:
        assert result.document["matching"]["n_matched"] == 2 * N_PLAIN
        [segment] = [one for one in result.document["segments"] if one["n"]]
    assert segment["n"] == N_PLAIN


@pytest.mark.parametrize(
    "craft",
    [between_addresses, with_a_word_that_is_a_factor, with_options],
    ids=lambda one: one.__name__,
)
def test_crafted_packets_that_pass_are_matched(tmp_path: Path, craft: Craft) -> None:
    """They are packets as others are."""
    paths = [tmp_path / "near.pcap", tmp_path / "far.pcap"]
    for at, path in enumerate(paths):
        frames = [(START_NS + i * GAP_NS + at * DELAY_NS, plain(i)) for i in range(N_PLAIN)]
        frames += [
            (START_NS + i * GAP_NS + GAP_NS // 2 + at * DELAY_NS, craft(i))
            for i in range(N_CRAFTED)
        ]
        write_pcap(path, sorted(frames))
    with pcaplat.merge(paths, same_clock=["all"]) as result:
        assert result.document["matching"]["n_matched"] == 2 * (N_PLAIN + N_CRAFTED)
