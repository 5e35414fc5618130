"""What is wrong in the captures of lint_cases: clocks, frames and places."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tests.recovery.simulate_nat import End, Traffic, Translator, legs_of, record
from tests.support.frames import UDP
from tests.support.stamped_frames import metamako
from tests.unit.diagnostics.lint_by_hand import (
    CLEAN,
    FAR,
    MIDDLE,
    NEAR,
    START_NS,
    Packet,
    Place,
    Set,
    in_tunnel,
    requests,
    turns,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TAI_NS = 37_000_000_000
MIDDLE_FRAME = 300


def near(**changes: Any) -> Place:  # noqa: ANN401 - fields of a place
    return replace(NEAR, **changes)


def far(**changes: Any) -> Place:  # noqa: ANN401 - fields of a place
    return replace(FAR, **changes)


def given(**options: Any) -> Set:  # noqa: ANN401 - options of lint
    return replace(CLEAN, options=options)


def ahead(by_ns: int) -> Callable[[int], int]:
    return lambda t_ns: t_ns + by_ns


def other(packet: Packet) -> bytes:
    """A TCP packet of another pair of hosts, which no translation makes of this one."""
    mixed = bytes(byte ^ 0x5A for byte in packet.frame)
    here = packet.frame.replace(bytes([10, 0, 0]), bytes([10, 0, 9]))
    return here[:18] + mixed[18:20] + here[20:34] + mixed[34:46] + here[46:54] + mixed[54:]


LINUX = {"profile": "linux-vxlan"}
THREE = Set({"near": NEAR, "middle": MIDDLE, "far": FAR})
ONE_WAY = Set(talk=requests())
LONG = turns(1_500, 50_021)


def tunnelled(link: int) -> Callable[[Packet], bytes]:
    """As a link sees a tunnel, whose two ends have addresses of their own there."""

    def frame(packet: Packet) -> bytes:
        ends = [bytes([2, 0, 0, 0, link, end]) for end in (1, 2)]
        return b"".join(ends[:: 1 if packet.is_forward else -1]) + in_tunnel(packet)[12:]

    return frame


def over_the_router(packet_frame: bytes) -> bytes:
    """Behind a router: other MAC addresses."""
    return bytes.fromhex("02000000001202000000001108") + packet_frame[13:]


def router(*, has_strangers: bool) -> Set:
    """One file with both sides of a router, and packets of hosts seen once."""

    def both(records: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
        found = []
        for t_ns, frame in records:
            found += [(t_ns, frame), (t_ns + 3_000, over_the_router(frame))]
        if has_strangers:
            strange = [stranger(number) for number in range(40)]
            found += [(START_NS + 500_000 * at, frame) for at, frame in enumerate(strange)]
        return sorted(found)

    return Set({"router": near(order=both)})


def stranger(number: int) -> bytes:
    packet = requests(number + 1)[-1].frame
    return (
        bytes.fromhex("02000000004202000000004108")
        + packet[13:26]
        + bytes([172, 31, 0, 1]) * 2
        + packet[34:]
    )


def set_at(step_ns: int) -> Callable[[int], int]:
    """A clock that is set in the middle."""
    return lambda t_ns: t_ns + step_ns * (t_ns > LONG[len(LONG) // 2].t_ns)


def early_once(packet: Packet) -> int:
    """A clock that is wrong for one packet."""
    return -40_000 * (packet is LONG[1_501])


def stamps(share: int, **changes: Any) -> Place:  # noqa: ANN401 - fields of a place
    """One frame in `share` carries a stamp."""
    return near(
        stamped=lambda at, t_ns, frame: frame if at % share else metamako(frame, t_ns), **changes
    )


def batch(t_ns: int) -> int:
    """A card that stamps what came within 300 us when it tells the host."""
    return t_ns // 300_007 * 300_007


def elsewhere(packet: Packet) -> bytes:
    """VXLAN on a port that nobody named."""
    frame = in_tunnel(packet)
    return frame[:36] + (4_799).to_bytes(2) + frame[38:]


def broken(at: int, _t_ns: int, frame: bytes) -> bytes:
    """Every twentieth IP header is shorter than one can be."""
    return frame if at % 20 else frame[:14] + b"\x41" + frame[15:]


def swapped(records: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """Every ninth frame behind the next."""
    found = list(records)
    for at in range(0, len(found) - 1, 9):
        found[at : at + 2] = found[at + 1], found[at]
    return found


def write_on(path: Path) -> None:
    """Another program still captures into the file."""
    with path.open("ab") as file:
        file.write(bytes(1))


def sent_by_server(packet: Packet) -> int:
    """The far end's card stamps what it receives by TAI, and its host what it sends by UTC."""
    return TAI_NS if packet.is_forward else 0


@dataclass(frozen=True)
class Translated:
    """Flows that a translator gives other ports, and queries that nobody answers, one each a flow.

    Of so many pairs of flows all is kept.
    """

    n_flows: int
    most_sessions: int = 2**20
    n_queries: int = 0
    options: dict[str, Any] = field(default_factory=dict)

    def save(self, folder: Path) -> list[str]:
        """Write the captures of both its sides."""
        packets = Traffic(n_flows=self.n_flows).packets()
        packets += Traffic(UDP, self.n_queries, n_each=1, seed=8).packets()
        packets.sort(key=lambda one: one[0].at_ns)
        translator = Translator(legs_of(packets, behind_one_address))
        return record(packets, [translator], offsets_ns=[0, 0]).save(folder)


def behind_one_address(n: int, _: End, server: End) -> tuple[End, End]:
    return ("198.51.100.7", 30_000 + n), server
