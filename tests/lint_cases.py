"""For every code captures that make it, and the same without the cause."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.lint_by_hand import (
    CLEAN,
    FAR,
    HOUR_NS,
    MIDDLE,
    NEAR,
    START_NS,
    Packet,
    Place,
    Set,
    Simulated,
    crossing,
    cut_short,
    in_tunnel,
    pcap,
    pcapng,
    queued,
    requests,
    turns,
    two_links,
)
from tests.simulator.effects import EFFECTS, base
from tests.stamps_by_hand import metamako

if TYPE_CHECKING:
    from collections.abc import Callable

TAI_NS = 37_000_000_000
MIDDLE_FRAME = 300


@dataclass(frozen=True)
class Case:
    """Captures with the cause, and without; and who says it."""

    wrong: Set | Simulated
    right: Set | Simulated = CLEAN
    by: str = "lint"


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


THREE = Set({"near": NEAR, "middle": MIDDLE, "far": FAR})
ONE_WAY = Set(talk=requests())
LONG = turns(1_500, 50_021)


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


def sent_by_server(packet: Packet) -> int:
    """The far end's card stamps what it receives by TAI, and its host what it sends by UTC."""
    return TAI_NS if packet.is_forward else 0


CASES = {
    "direction-missing": Case(
        CLEAN.having(far=far(sees=lambda _, packet: packet.is_forward)), ONE_WAY
    ),
    "partial-time": Case(
        CLEAN.having(far=far(sees=lambda at, _: at < MIDDLE_FRAME)),
        CLEAN.having(far=far(sees=lambda at, _: at % 3 > 0)),
    ),
    "mirror-copies": Case(
        Simulated(EFFECTS["mirror copies"](base())), Simulated(EFFECTS["identical packets"](base()))
    ),
    "acked-unseen": Case(
        CLEAN.having(near=near(sees=lambda at, _: at != MIDDLE_FRAME)),
        CLEAN.having(near=near(sees=lambda at, _: at > MIDDLE_FRAME)),
    ),
    "resolution-overstated": Case(
        CLEAN.having(near=near(clock=lambda t_ns: t_ns // 1_000 * 1_000)),
        CLEAN.having(near=near(write=partial(pcap, unit_ns=1_000))),
    ),
    "backward-stamps": Case(
        replace(CLEAN, talk=LONG).having(near=near(clock=set_at(-2_000_000))),
        CLEAN.having(near=near(order=swapped)),
    ),
    "unsorted-frames": Case(CLEAN.having(near=near(order=swapped))),
    "equal-stamps": Case(
        CLEAN.having(near=near(clock=batch)),
        CLEAN.having(near=near(write=partial(pcap, unit_ns=1_000))),
    ),
    "tx-rx-split": Case(
        CLEAN.having(far=far(ahead_ns=sent_by_server)),
        CLEAN.having(far=far(clock=lambda t_ns: t_ns + TAI_NS)),
    ),
    "mirror-queue": Case(
        Set({"near": near(order=queued), "far": FAR}, crossing()),
        Set(talk=crossing()),
    ),
    "mixed-links": Case(CLEAN.having(near=near(write=two_links))),
    "unknown-tunnel": Case(
        CLEAN.having(far=far(frame=elsewhere)), CLEAN.having(far=far(frame=in_tunnel))
    ),
    "encrypted": Case(Simulated(EFFECTS["esp"](base())), Simulated(EFFECTS["vxlan"](base()))),
    "undecoded-frames": Case(CLEAN.having(near=near(stamped=broken))),
    "damaged-capture": Case(CLEAN.having(near=near(write=cut_short))),
    "empty-capture": Case(THREE.having(middle=replace(MIDDLE, sees=lambda *_: False)), THREE),
    "unknown-link": Case(CLEAN.having(third=near(write=partial(pcap, link=147)))),
    "capture-drops": Case(
        CLEAN.having(near=near(write=partial(pcapng, n_dropped=12))),
        CLEAN.having(near=near(write=pcapng)),
    ),
    "overlapping-files": Case(
        CLEAN.having(near=near(point="p"), again=near(point="p", clock=ahead(1_000))),
        CLEAN.having(
            near=near(point="p", sees=lambda at, _: at < MIDDLE_FRAME),
            again=near(point="p", sees=lambda at, _: at >= MIDDLE_FRAME),
        ),
    ),
    "outer-fragments": Case(
        Simulated(EFFECTS["outer fragments"](base())),
        Simulated(EFFECTS["vxlan"](base())),
    ),
    "short-identity": Case(
        CLEAN.having(near=near(write=partial(pcap, snap=40))),
        CLEAN.having(near=near(write=partial(pcap, snap=74))),
    ),
    "no-stamps": Case(
        Set({"tap-a": NEAR, "tap-b": FAR}, options={"profile": "arista-metawatch"}),
        Set({"tap-a": stamps(1), "tap-b": FAR}, options={"profile": "arista-metawatch"}).having(
            **{"tap-b": far(stamped=lambda _, t_ns, frame: metamako(frame, t_ns))}
        ),
    ),
    "stamps-unused": Case(CLEAN.having(near=stamps(3)), CLEAN.having(near=stamps(1))),
    "stamps-missing": Case(
        CLEAN.having(
            near=near(stamped=lambda at, t_ns, frame: metamako(frame, t_ns) if at % 9 else frame)
        ),
        CLEAN.having(near=stamps(1)),
    ),
    "bad-stamps": Case(
        CLEAN.having(
            near=near(
                stamped=lambda at, t_ns, frame: metamako(
                    frame, t_ns if at % 50 else t_ns + 10 * HOUR_NS
                )
            )
        ),
        CLEAN.having(near=stamps(1)),
    ),
    "stamps-tai": Case(
        CLEAN.having(near=near(stamped=lambda _, t_ns, frame: metamako(frame, t_ns + TAI_NS))),
        CLEAN.having(near=stamps(1)),
    ),
    "profile": Case(given(profile="linux-vxlan")),
    "unplaced-frames": Case(router(has_strangers=True), router(has_strangers=False)),
    "unrelated-point": Case(CLEAN.having(third=near(frame=other)), THREE),
    "nothing-in-common": Case(CLEAN.having(far=far(frame=other))),
    "no-overlap": Case(
        CLEAN.having(
            near=near(sees=lambda at, _: at < MIDDLE_FRAME - 1),
            far=far(sees=lambda at, _: at > MIDDLE_FRAME + 1),
        )
    ),
    "paths-apart": Case(
        CLEAN.having(
            third=near(frame=other),
            fourth=far(frame=other),
        ),
        THREE,
    ),
    "same-capture": Case(CLEAN.having(again=NEAR)),
    "order-assumed": Case(ONE_WAY, CLEAN),
    "few-turns": Case(Set(talk=turns(1)[3:])),
    "path-contradicted": Case(
        replace(THREE, options={"path": ["near", "far", "middle"]}),
        replace(THREE, options={"path": ["near", "middle", "far"]}),
    ),
    "segmentation-offload": Case(Simulated(EFFECTS["cut"](base())), Simulated(base())),
    "clock-offset": Case(
        CLEAN.having(far=far(clock=ahead(TAI_NS))), CLEAN.having(far=far(clock=ahead(999_999)))
    ),
    "clock-step": Case(
        replace(CLEAN, talk=LONG).having(far=far(clock=set_at(200_000))), replace(CLEAN, talk=LONG)
    ),
    "clock-contradiction": Case(
        replace(THREE, options={"same_clock": [["near", "far"]]}).having(
            far=far(clock=ahead(-300_000))
        ),
        replace(THREE, options={"same_clock": [["near", "far"]]}),
    ),
    "clock-accuracy-contradicted": Case(
        replace(
            CLEAN.having(far=far(clock=ahead(1_000_000))),
            options={"clock_accuracy": [("near", 100), ("far", 100)]},
        ),
        given(clock_accuracy=[("near", 100), ("far", 100)]),
    ),
    "clock-accuracy-alone": Case(
        given(clock_accuracy=[("near", 100)]),
        given(clock_accuracy=[("near", 100), ("far", 100)]),
    ),
    "raw-difference": Case(CLEAN, given(same_clock=["all"])),
    "negative-latency": Case(
        replace(
            CLEAN.having(far=far(clock=ahead(-300_000))),
            options={"same_clock": ["all"]},
        ),
        given(same_clock=["all"]),
        by="merge",
    ),
    "coarse-resolution": Case(
        CLEAN.having(far=far(write=partial(pcap, unit_ns=1_000))), CLEAN, by="merge"
    ),
}
