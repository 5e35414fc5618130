"""For every code captures that make it, and the same without the cause."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tests.recovery.networks.multicast import discovery, group_alone
from tests.recovery.networks.sampled import sampled
from tests.recovery.networks.spines import spines
from tests.recovery.simulate_twins import Twins, save
from tests.recovery.simulate_twins import capture as capture_twins
from tests.recovery.simulator.effects import (
    EFFECTS,
    LOSS,
    ROUTED,
    base,
    each,
    links,
    together,
)
from tests.support.mirrors import mirrored
from tests.support.slow_latency import changing
from tests.support.stamped_frames import metamako
from tests.support.steps import along_a_line, capture, in_one_order, twice
from tests.support.telemetry import TracedPath, in_geneve_2
from tests.support.tracers import COMPONENTS, trace, write_pktmon
from tests.support.triangles import TRAP, USUAL, triangle
from tests.unit.diagnostics.lint_by_hand import (
    CLEAN,
    FAR,
    HOUR_NS,
    MIDDLE,
    NEAR,
    Set,
    Simulated,
    Written,
    crossing,
    cut_short,
    in_tunnel,
    pcap,
    pcapng,
    queued,
    turns,
    two_links,
)
from tests.unit.diagnostics.lint_causes import (
    LINUX,
    LONG,
    MIDDLE_FRAME,
    ONE_WAY,
    TAI_NS,
    THREE,
    Translated,
    ahead,
    batch,
    broken,
    early_once,
    elsewhere,
    far,
    given,
    near,
    other,
    router,
    sent_by_server,
    set_at,
    stamps,
    swapped,
    tunnelled,
    write_on,
)


def traced_by(components: tuple[str, ...], folder: Path) -> list[str]:
    """What a tracer saw of 50 requests and responses at components of these names."""
    write_pktmon(folder / "trace.pcapng", components, trace(50)[0])
    return [str(folder / "trace.pcapng")]


@dataclass(frozen=True)
class Case:
    """Captures with the cause, and without; and who says it."""

    wrong: Set | Simulated | Written | Translated
    right: Set | Simulated | Written | Translated = CLEAN
    by: str = "lint"


def twins(folder: Path, burst_ns: int = 0, spacing_ns: int = 2_000) -> list[str]:
    """Captures of packets equal to the byte, which queues hold up for so long."""
    return save(capture_twins(Twins(spacing_ns, burst_ns=burst_ns, n=1_200)), folder)


HELD = links(held_share=0.01, held_ns=30_000_000)(base())
"""Every link holds one in a hundred packets for 30 ms."""

CASES = {
    "direction-missing": Case(
        CLEAN.having(far=far(sees=lambda _, packet: packet.is_forward)), ONE_WAY
    ),
    "direction-unknown": Case(
        Written(lambda folder: discovery(600, 1, has_own_clocks=True).save(folder)),
        Written(lambda folder: group_alone().network(600, 1, has_own_clocks=False).save(folder)),
        by="merge",
    ),
    "partial-capture": Case(
        CLEAN.having(far=far(sees=lambda at, _: at < MIDDLE_FRAME)),
        CLEAN.having(far=far(sees=lambda at, _: at % 3 > 0)),
    ),
    "end-not-captured": Case(
        Written(lambda folder: sampled(40, 4, 0.9, at_point="c").save(folder)),
        Written(lambda folder: sampled(40, 4, 0.9).save(folder)),
    ),
    "capture-paused": Case(
        CLEAN.having(far=far(sees=lambda at, _: not 0.3 < at / (2 * MIDDLE_FRAME) < 0.6)),
        CLEAN.having(far=far(sees=lambda at, _: at % 3 > 0)),
    ),
    "flows-not-captured": Case(
        Written(lambda folder: sampled(20, 1, 0.6, of="flows").save(folder)),
        Written(lambda folder: sampled(20, 1, 0.6).save(folder)),
        by="merge",
    ),
    "mirror-duplicates": Case(
        Simulated(EFFECTS["mirror copies"](base())), Simulated(EFFECTS["identical packets"](base()))
    ),
    "mirror-loss": Case(
        CLEAN.having(far=far(order=mirrored({40, 41, 90}))),
        CLEAN.having(far=far(order=mirrored(()))),
    ),
    "acked-not-captured": Case(
        CLEAN.having(near=near(sees=lambda at, _: at != MIDDLE_FRAME)),
        CLEAN.having(near=near(sees=lambda at, _: at > MIDDLE_FRAME)),
    ),
    "resolution-overstated": Case(
        CLEAN.having(near=near(clock=lambda t_ns: t_ns // 1_000 * 1_000)),
        CLEAN.having(near=near(write=partial(pcap, unit_ns=1_000))),
    ),
    "backward-timestamps": Case(
        replace(CLEAN, talk=LONG).having(near=near(clock=set_at(-2_000_000))),
        CLEAN.having(near=near(order=swapped)),
    ),
    "unsorted-frames": Case(CLEAN.having(near=near(order=swapped))),
    "batched-timestamps": Case(
        CLEAN.having(near=near(clock=batch)),
        CLEAN.having(near=near(write=partial(pcap, unit_ns=1_000))),
    ),
    "two-clocks-in-file": Case(
        CLEAN.having(far=far(ahead_ns=sent_by_server)),
        CLEAN.having(far=far(clock=lambda t_ns: t_ns + TAI_NS)),
    ),
    "tunnel-interrupted": Case(
        THREE.having(near=near(frame=tunnelled(1)), far=far(frame=tunnelled(1))),
        THREE.having(
            middle=replace(MIDDLE, frame=tunnelled(1)),
            far=far(frame=tunnelled(1)),
        ),
    ),
    "tunnel-left": Case(
        THREE.having(near=near(frame=tunnelled(1)), far=far(frame=tunnelled(2))),
        THREE.having(near=near(frame=tunnelled(1))),
    ),
    "mirror-queueing": Case(
        Set({"near": near(order=queued), "far": FAR}, crossing()),
        Set(talk=crossing()),
    ),
    "mixed-links": Case(CLEAN.having(near=near(write=two_links))),
    "unknown-tunnel": Case(
        CLEAN.having(far=far(frame=elsewhere)), CLEAN.having(far=far(frame=in_tunnel))
    ),
    "only-tunnel": Case(
        Set({"vnet0": near(frame=in_tunnel), "eth0": far(frame=in_tunnel)}, options=LINUX),
        Set({"vnet0": NEAR, "eth0": far(frame=in_tunnel)}, options=LINUX),
    ),
    "only-inner": Case(
        Set({"vnet0": NEAR, "eth0": FAR}, options=LINUX),
        Set({"vnet0": NEAR, "eth0": far(frame=in_tunnel)}, options=LINUX),
    ),
    "offload-signs": Case(
        Simulated(EFFECTS["cut"](base())), replace(CLEAN, talk=turns(n_bytes=8_948))
    ),
    "encrypted": Case(Simulated(EFFECTS["esp"](base())), Simulated(EFFECTS["vxlan"](base()))),
    "undecoded-frames": Case(CLEAN.having(near=near(stamped=broken))),
    "damaged-capture": Case(CLEAN.having(near=near(write=cut_short))),
    "changed-capture": Case(
        replace(CLEAN, meanwhile=write_on), replace(CLEAN, meanwhile=Path.read_bytes), by="merge"
    ),
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
    "short-packet-id": Case(
        CLEAN.having(near=near(write=partial(pcap, snap=40))),
        CLEAN.having(near=near(write=partial(pcap, snap=74))),
    ),
    "translations-left-out": Case(Translated(40, 25), Translated(40, 40)),
    "translations-not-followed": Case(Translated(10, n_queries=5), Translated(30, n_queries=5)),
    "no-inner-timestamps": Case(
        Set({"tap-a": NEAR, "tap-b": FAR}, options={"profile": "arista-metawatch"}),
        Set({"tap-a": stamps(1), "tap-b": FAR}, options={"profile": "arista-metawatch"}).having(
            **{"tap-b": far(stamped=lambda _, t_ns, frame: metamako(frame, t_ns))}
        ),
    ),
    "timestamps-unused": Case(CLEAN.having(near=stamps(3)), CLEAN.having(near=stamps(1))),
    "timestamps-missing": Case(
        CLEAN.having(
            near=near(stamped=lambda at, t_ns, frame: metamako(frame, t_ns) if at % 9 else frame)
        ),
        CLEAN.having(near=stamps(1)),
    ),
    "damaged-timestamps": Case(
        CLEAN.having(
            near=near(
                stamped=lambda at, t_ns, frame: metamako(
                    frame, t_ns if at % 50 else t_ns + 10 * HOUR_NS
                )
            )
        ),
        CLEAN.having(near=stamps(1)),
    ),
    "timestamps-tai": Case(
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
    "few-direction-changes": Case(Set(talk=turns(1)[3:])),
    # one interface captured twice
    "order-doubtful": Case(CLEAN.having(again=near(jitter=31)), THREE),
    "path-contradicted": Case(
        replace(THREE, options={"path": ["near", "far", "middle"]}),
        replace(THREE, options={"path": ["near", "middle", "far"]}),
    ),
    "ttl-contradicts-order": Case(
        Simulated(each("routers", 0, 0, -3, -3, -3)(base())), Simulated(ROUTED(base()))
    ),
    "segmentation-offload": Case(Simulated(EFFECTS["cut"](base())), Simulated(base())),
    "clock-offset": Case(
        CLEAN.having(far=far(clock=ahead(TAI_NS))), CLEAN.having(far=far(clock=ahead(999_999)))
    ),
    "clock-step": Case(
        replace(CLEAN, talk=LONG).having(far=far(clock=set_at(200_000))), replace(CLEAN, talk=LONG)
    ),
    "single-packet-bound": Case(
        replace(CLEAN, talk=LONG).having(far=far(ahead_ns=early_once, jitter=1_013)),
        replace(CLEAN, talk=LONG).having(far=far(jitter=1_013)),
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
    "clocks-assumed-equal": Case(CLEAN, given(same_clock=["all"])),
    "negative-latency": Case(
        replace(
            CLEAN.having(far=far(clock=ahead(-300_000))),
            options={"same_clock": ["all"]},
        ),
        given(same_clock=["all"]),
    ),
    "clock-not-stated": Case(
        # a program that captures several interfaces names them
        Written(partial(traced_by, ("", "", ""))),
        Written(partial(traced_by, COMPONENTS)),
    ),
    "telemetry-unread": Case(
        Written(TracedPath(in_geneve_2, n=1).save),
        Written(TracedPath(in_geneve_2, n=50).save),
    ),
    "same-order-both-ways": Case(
        Written(lambda folder: [capture(folder, in_one_order)]),
        Written(lambda folder: [capture(folder, along_a_line)]),
    ),
    "hairpin": Case(
        Written(lambda folder: [twice(folder)]),
        Written(lambda folder: [capture(folder, in_one_order)]),
    ),
    "sums-disagree": Case(
        Simulated(EFFECTS["cut"](base())), Simulated(EFFECTS["loss"](base())), by="merge"
    ),
    "link-rate-unused": Case(
        replace(CLEAN, options={"link_rate": {"near": "10Gbit/s"}}),
        replace(
            CLEAN,
            options={"link_rate": {"near": "10Gbit/s"}, "stamped_at": {"near": "last-bit"}},
        ),
    ),
    "late-packets": Case(Simulated(HELD), Simulated(base()), by="merge"),
    "identical-packets": Case(
        Written(partial(twins, burst_ns=60_000), {"same_clock": ["all"]}),
        Written(partial(twins, spacing_ns=100_000), {"same_clock": ["all"]}),
        by="merge",
    ),
    "branch-unknown": Case(
        Written(lambda folder: spines(900, 1, {("leaf", "s1"): 0.03}).save(folder)),
        Written(lambda folder: spines(900, 1, {("s1", "spine"): 0.03}).save(folder)),
        by="merge",
    ),
    "losses-hidden": Case(
        Simulated(together(EFFECTS["mirror copies"], LOSS)(base())),
        Simulated(EFFECTS["mirror copies"](base())),
        by="merge",
    ),
    "short-capture": Case(
        Simulated(EFFECTS["loss"](base()), {"lost_after": "100s"}),
        Simulated(EFFECTS["loss"](base())),
        by="merge",
    ),
    "fragmented-on-the-way": Case(
        Simulated(together(EFFECTS["fragments, cut on the way"], LOSS)(base())),
        Simulated(EFFECTS["fragments, cut on the way"](base())),
        by="merge",
    ),
    "arrived-after-wait": Case(
        Simulated(HELD, {"lost_after": "10ms"}), Simulated(HELD, {"lost_after": "1s"}), by="merge"
    ),
    "inconsistent-matches": Case(
        Written(partial(triangle, equal=TRAP)), Written(partial(triangle, equal=USUAL)), by="merge"
    ),
    "slow-changes": Case(
        Written(partial(changing, slow_ns=250), {"same_clock": ["all"]}),
        Written(partial(changing, slow_ns=0), {"same_clock": ["all"]}),
        by="merge",
    ),
    "low-resolution": Case(
        CLEAN.having(far=far(write=partial(pcap, unit_ns=1_000))), CLEAN, by="merge"
    ),
}
