"""Merging captures the hard way: under random names, in random order, with no hint of the path."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pcaplat
from tests.support.oracle_decode import Frame, read_frames

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

POINTS = ("host1-vm", "host1-up", "sw-a", "sw-b", "host2-up", "host2-vm")


@dataclass
class Disguised:
    """A merge of renamed files, with the true names put back."""

    result: pcaplat.Result
    point_of: dict[str, str]

    @property
    def document(self) -> dict[str, Any]:
        """The summary as it came, with the disguised names."""
        found: dict[str, Any] = self.result.document
        return found

    @property
    def path(self) -> list[str]:
        """The path found, in true names."""
        return [self.point_of[name] for name in self.document["path"]]

    @property
    def segments(self) -> dict[tuple[str, str, str], dict[str, Any]]:
        """The segments of neighbours by near, far and direction, in true names."""
        rows = (
            (self.point_of[r["near"]], self.point_of[r["far"]], r["direction"], r)
            for r in self.document["segments"]
        )
        order = list(POINTS)
        return {
            (near, far, direction): row
            for near, far, direction, row in rows
            if row["class"] == "packet" and order.index(far) - order.index(near) in {1, -1}
        }


def merge_disguised(folder: Path, scratch: Path, same_clock: Sequence[str] = ()) -> Disguised:
    """Link the six captures under random names, shuffle them, merge."""
    chance = random.Random(folder.name)  # noqa: S311 - the same shuffle every time
    point_of: dict[str, str] = {}
    for point, file in captures_of(folder).items():
        name = f"c{chance.getrandbits(32):08x}"
        (scratch / (name + "".join(file.suffixes[-2:]))).symlink_to(file.resolve())
        point_of[name] = point
    files = sorted(str(file) for file in scratch.iterdir())
    chance.shuffle(files)
    return Disguised(pcaplat.merge(files, same_clock=list(same_clock)), point_of)


def captures_of(folder: Path) -> dict[str, Path]:
    """The captures of the six points, in path order."""
    return {point: next(folder.glob(f"{point}.pcap*")) for point in POINTS}


def frames_of(folder: Path) -> dict[str, dict[int, Frame]]:
    """Per point the frames by their number, read without the product."""
    return {
        point: {f.number: f for f in read_frames(file)}
        for point, file in captures_of(folder).items()
    }
