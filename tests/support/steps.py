"""One file of several interfaces: probes that are passed in one order, or places on a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.recovery.simulator.files import Recording, write
from tests.unit.diagnostics.lint_by_hand import turns

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.diagnostics.lint_by_hand import Packet

STEP_NS = 4_000
NAMES = ("sent", "received", "switched")
TALK = turns(60, gap_ns=100_003)


def interfaces(path: Path, found: list[tuple[int, int, bytes]]) -> str:
    """A pcapng file of several interfaces: stamp, interface and frame of each record."""
    found.sort(key=lambda record: record[0])
    frames = [frame for _, _, frame in found]
    n_bytes = np.array([len(frame) for frame in frames])
    at = np.array([interface for _, interface, _ in found])
    stamps_ns = np.array([stamp_ns for stamp_ns, _, _ in found], np.int64)
    recording = Recording(stamps_ns, frames, n_bytes, 1, at, NAMES)
    return str(write(path, "probes", "pcapng", recording))


def capture(folder: Path, later_ns: Callable[[Packet, int], int]) -> str:
    """What the interfaces see of a talk, each at its own time."""
    found = [
        (packet.t_ns + later_ns(packet, at) + number * (at + 3) % 97, at, packet.frame)
        for number, packet in enumerate(TALK)
        for at in range(len(NAMES))
    ]
    return interfaces(folder, found)


def in_one_order(_: Packet, at: int) -> int:
    return at * STEP_NS


def along_a_line(packet: Packet, at: int) -> int:
    return at * STEP_NS if packet.is_forward else (2 - at) * STEP_NS


def on_two_hosts(packet: Packet, at: int) -> int:
    """The clock of all but the first is a second ahead."""
    return along_a_line(packet, at) + (at > 0) * 10**9


def on_three_hosts(packet: Packet, at: int) -> int:
    """The clock of each is half a second ahead of the one before."""
    return along_a_line(packet, at) + at * 5 * 10**8


def partly(packet: Packet, at: int) -> int:
    """The first two are passed in one order; the third is at the other end of a line."""
    return at * STEP_NS if packet.is_forward or at < 2 else -STEP_NS


def backwards(_: Packet, at: int) -> int:
    return (2 - at) * STEP_NS


def twice(folder: Path) -> str:
    """What passes the first two of three probes once more, behind the third."""
    found = []
    for packet in TALK:
        for number, at in enumerate((0, 1, 2, 0, 1)):
            found.append((packet.t_ns + number * STEP_NS, at, packet.frame))
    return interfaces(folder, found)
