"""Telemetry whose headers lie about lengths, counts, bitmaps and formats breaks no law."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

import pcaplat
from tests.hostile.merging import check
from tests.laws.test_intervals import assert_within, rows_of
from tests.recovery.test_telemetry import DECODE, INT_PATHS, IOAM_PATHS
from tests.support.telemetry import ENDS_6, Seen, TracedPath

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PATHS = {
    **INT_PATHS,
    **{f"ioam, {kind}": TracedPath(write, ends=ENDS_6) for kind, (write, _) in IOAM_PATHS.items()},
}
VALUES = (0, 1, 2, 3, 0x0F, 0x10, 0x1F, 0x20, 0x7F, 0x80, 0xF0, 0xFF)
MAC_BYTES, MOST_DAMAGED = 14, 3


def damaged(
    write: Callable[[bytes, list[Seen]], bytes], chance: random.Random
) -> Callable[[bytes, list[Seen]], bytes]:
    """Write every other packet with a few octets changed behind its Ethernet header, or cut."""

    def write_damaged(frame: bytes, seen: list[Seen]) -> bytes:
        found = bytearray(write(frame, seen))
        if chance.random() < 1 / 2:
            return bytes(found)
        for _ in range(chance.randint(1, MOST_DAMAGED)):
            found[chance.randrange(MAC_BYTES, len(found))] = chance.choice(VALUES)
        if chance.random() < 1 / 4:
            del found[chance.randrange(MAC_BYTES, len(found)) :]
        return bytes(found)

    return write_damaged


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", PATHS)
def test_damaged_telemetry_breaks_no_law(kind: str, seed: int, tmp_path: Path) -> None:
    path = PATHS[kind]
    chance = random.Random(f"{kind}{seed}")  # noqa: S311 - no secret
    written = TracedPath(damaged(path.write, chance), path.ends, path.protocol, n=80, seed=seed)
    with pcaplat.merge(written.save(tmp_path), decode=DECODE) as result:
        # a node has a time in some frames of its file
        check(result, is_sample=True)
        rows = [*rows_of(result.document), *result.matches.collect().rows(named=True)]
    for row in rows:
        assert_within(row)
