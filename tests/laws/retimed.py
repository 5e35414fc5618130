"""Captures of one true clock, with other stamps: what wrong clocks make of a real path."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tests.support.oracle_decode import read_frames

if TYPE_CHECKING:
    from pathlib import Path

    from pcaplat.model.arrays import Ints


@dataclass(frozen=True)
class SetClock:
    """A clock that is off, drifts, and is set at true times by so much."""

    offset_ns: int = 0
    drift_ppm: float = 0.0
    steps: tuple[tuple[int, int], ...] = ()

    def stamps_ns(self, true_ns: Ints) -> Ints:
        """What it says at true times."""
        since_ns = true_ns - true_ns.min()
        stamps_ns = true_ns + self.offset_ns
        stamps_ns += np.rint(since_ns * (self.drift_ppm * 1e-6)).astype(np.int64)
        for at_ns, size_ns in self.steps:
            stamps_ns += np.where(true_ns >= at_ns, size_ns, 0)
        return stamps_ns


def retimed(source: Path, target: Path, clock: SetClock) -> None:
    """Write a capture with the stamps of another clock, frame by frame, in the same order."""
    frames = read_frames(source)
    stamps_ns = clock.stamps_ns(np.array([frame.t_ns for frame in frames], np.int64)).tolist()
    with target.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, frames[0].link))
        for frame, stamp_ns in zip(frames, stamps_ns, strict=True):
            head = (*divmod(stamp_ns, 10**9), len(frame.data), frame.wire_bytes)
            file.write(struct.pack("<IIII", *head) + frame.data)
