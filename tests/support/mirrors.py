"""Frames that a switch mirrors in ERSPAN, some of which get lost behind it."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from tests.support.frames import ip

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from tests.unit.diagnostics.lint_by_hand import Records

GRE = 47
SEQUENCE = 0x1000
TYPE_2 = 0x88BE


def erspan(frame: bytes, number: int, session: int = 7, switch: str = "192.0.2.1") -> bytes:
    """A mirrored frame (draft-foschiano-erspan §4.2, RFC 2890)."""
    gre = struct.pack(">HHI", SEQUENCE, TYPE_2, number % 2**32)
    header = struct.pack(">HHI", 1 << 12, session, 0)
    return ip(switch, "192.0.2.9", GRE, 0, 62, gre + header + frame)


def mirrored(
    lost: Container[int],
    first: int = 2**32 - 50,
    session_of: Callable[[int], int] = lambda _: 7,
) -> Callable[[Records], Records]:
    """Number all frames by their session, and lose some behind the mirror, by their place."""

    def carry(records: Records) -> Records:
        numbers: dict[int, int] = {}
        found = []
        for at, (t_ns, frame) in enumerate(records):
            session = session_of(at)
            number = numbers[session] = numbers.get(session, first + 1_000 * session) + 1
            if at not in lost:
                found.append((t_ns, erspan(frame, number, session)))
        return found

    return carry
