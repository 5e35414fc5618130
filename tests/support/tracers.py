"""Files of tracers on one host, written as their programs write them: pktmon, Retis, pktcap-uw.

No file was recorded: each is made from what was published of its format.

Layouts: microsoft/etl2pcapng (one interface a component, the packet's group in `epb_packetid`),
retis-org/retis (one interface a probe, the event as JSON in a custom option of PEN 70000; events as
JSON, one a line, by its docs/events and its own test data), docs.vmware.com (what `pktcap-uw
--trace` prints), learn.microsoft.com (`pktmon etl2txt --hex`, its lines as users showed them).
"""

from __future__ import annotations

import base64
import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tests.support.frames import UDP, ip, udp

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

START_NS = 1_700_000_000_000_000_000
COMPONENTS = ("vmnic-tx", "vswitch", "uplink")
RETIS_PEN = 70_000
RETIS_OPTION = 2_988
PACKET_ID = 5


@dataclass(frozen=True)
class Traced:
    """One packet at one component: when, which one, which packet, and its bytes."""

    t_ns: int
    component: int
    packet: int
    data: bytes


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def _block(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + length + body + length


def _pcapng(
    path: Path,
    program: str,
    names: Sequence[str],
    traced: Sequence[Traced],
    options: Sequence[bytes],
    first: bytes = b"",
) -> None:
    section = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1) + _option(4, program.encode()) + bytes(4)
    blocks = [_block(0x0A0D0D0A, section), first]
    for name in names:
        about = _option(2, name.encode()) + _option(9, b"\x09") + bytes(4)
        blocks.append(_block(1, struct.pack("<HHI", 1, 0, 0xFFFF) + about))
    for one, more in zip(traced, options, strict=True):
        n = len(one.data)
        head = struct.pack("<IIIII", one.component, one.t_ns >> 32, one.t_ns & 0xFFFFFFFF, n, n)
        blocks.append(_block(6, head + one.data + bytes(-n % 4) + more + bytes(4)))
    path.write_bytes(b"".join(blocks))


def write_pktmon(path: Path, names: Sequence[str], traced: Sequence[Traced]) -> None:
    """As etl2pcapng converts what pktmon logged."""
    options = [_option(PACKET_ID, struct.pack("<Q", one.packet)) for one in traced]
    _pcapng(path, "etl2pcapng", names, traced, options)


def write_retis(path: Path, names: Sequence[str], traced: Sequence[Traced]) -> None:
    """As `retis pcap` converts its events: a block with the schema comes first."""
    schema = _block(0xBAD, struct.pack("<I", RETIS_PEN) + b"{}  ")
    options = []
    for one in traced:
        skb = {"orig_head": 2**63 + one.packet, "skb": 2**62 + one.component, "timestamp": 77}
        event = {"kernel": {"symbol": names[one.component]}, "skb-tracking": skb}
        text = struct.pack("<I", RETIS_PEN) + json.dumps(event, separators=(",", ":")).encode()
        options.append(_option(1, b"what was shown\nof it") + _option(RETIS_OPTION, text))
    _pcapng(path, "", names, traced, options, schema)


def write_pktcap(path: Path, names: Sequence[str], traced: Sequence[Traced]) -> None:
    """What `pktcap-uw --trace` prints: each packet once, with its way; µs of the day."""

    def time(t_ns: int) -> str:
        seconds, us = divmod(t_ns // 1_000 % 86_400_000_000, 1_000_000)
        return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{us:06}"

    lines = ["The session trace is enabled.", "No server port specifed, select 41243 as the port."]
    by_packet: dict[int, list[Traced]] = {}
    for one in sorted(traced, key=lambda one: one.t_ns):
        by_packet.setdefault(one.packet, []).append(one)
    for number, way in enumerate(sorted(by_packet.values(), key=lambda way: way[-1].t_ns)):
        data = way[-1].data
        lines.append(
            f"{time(way[-1].t_ns)}[{number + 1}] Captured at PktFree point, TSO not enabled, "
            f"Checksum offloaded and not verified, length {len(data)}."
        )
        lines.append("        PATH:")
        lines += [
            f"          +- [{time(one.t_ns)}] | {50331650:12} | {names[one.component]:>24} |"
            for one in way
        ]
        lines.append(f"        Segment[0] ---- {len(data)} bytes:")
        for at in range(0, len(data), 16):
            part = data[at : at + 16].hex()
            groups = " ".join(part[i : i + 4] for i in range(0, len(part), 4))
            lines.append(f"        0x{at:04x}:  {groups} ")
    path.write_text("\n".join(lines) + "\n")


def _event(one: Traced, names: Sequence[str], started_ns: int) -> dict[str, object]:
    since_start_ns = one.t_ns - started_ns
    skb = {"orig_head": 2**63 + one.packet, "skb": 2**62 + one.component, "timestamp": 77}
    packet = {"len": len(one.data), "capture_len": len(one.data)}
    return {
        "common": {"timestamp": since_start_ns, "smp_id": 1, "task": {"pid": 1, "comm": '"}{['}},
        "kernel": {"symbol": names[one.component], "probe_type": "kprobe"},
        "skb-tracking": skb,
        "dev": {"name": f"eth{one.component}", "ifindex": 2},
        "packet": packet | {"data": base64.b64encode(one.data).decode()},
    }


def write_retis_events(
    path: Path, names: Sequence[str], traced: Sequence[Traced], *, is_sorted: bool = False
) -> None:
    """As `retis collect -o` writes its events, or `retis sort` those of each packet as an array."""
    started_ns = START_NS - 30_415_793_489_711
    seconds, ns = divmod(started_ns, 1_000_000_000)
    startup = {"retis_version": "v1.6.0", "clock_monotonic_offset": {"sec": seconds, "nsec": ns}}
    lines: list[object] = [{"common": {"timestamp": 1}, "startup": startup}]
    by_packet: dict[int, list[object]] = {}
    for one in traced:
        event = _event(one, names, started_ns)
        by_packet.setdefault(one.packet, []).append(event)
        lines += [] if is_sorted else [event]
    lines += by_packet.values() if is_sorted else []
    texts = (json.dumps(line, separators=(",", ":")) for line in lines)
    path.write_text("\n".join(texts) + "\n")


def write_retis_sorted(path: Path, names: Sequence[str], traced: Sequence[Traced]) -> None:
    """As `retis sort -o` writes them."""
    write_retis_events(path, names, traced, is_sorted=True)


def write_pktmon_text(path: Path, names: Sequence[str], traced: Sequence[Traced]) -> None:
    """As `pktmon etl2txt --hex` converts its log; steps of 100 ns, components by their number."""
    lines = []
    for one in traced:
        seconds, ns = divmod(one.t_ns, 1_000_000_000)
        time = np.datetime64(seconds, "s").item()
        lines.append(
            f"[00]1264.1240::{time:%Y-%m-%d %H:%M:%S}.{ns // 100 * 100:09} "
            f"[Microsoft-Windows-PktMon] PktGroupId {one.packet}, PktNumber 1, "
            "Appearance 1, Direction Tx , Type Ethernet , "
            f"Component {names[one.component]}, Edge 1, Filter 1, OriginalSize {len(one.data)}, "
            f"LoggedSize {len(one.data)} "
        )
        lines.append(f"\t02-00 > 02-00, ethertype IPv4 (0x0800), length {len(one.data)}: …")
        for at in range(0, len(one.data), 16):
            part = one.data[at : at + 16].hex()
            groups = " ".join(part[i : i + 4] for i in range(0, len(part), 4))
            lines.append(f"\t0x{at:04x}:  {groups}")
    path.write_text("\r\n".join(lines) + "\r\n", encoding="utf-16")


def request(number: int) -> bytes:
    body = struct.pack(">I", number) * 8
    return ip("10.0.0.1", "10.0.0.2", UDP, number, 64, udp((40_000, 9_000), body))


def response(number: int) -> bytes:
    body = struct.pack(">I", number) * 4
    return ip("10.0.0.2", "10.0.0.1", UDP, number, 64, udp((9_000, 40_000), body))


def trace(n: int, seed: int = 1) -> tuple[list[Traced], list[tuple[int, bytes]], np.ndarray]:
    """Requests that pass three components and a wire, and their responses the other way."""
    chance = np.random.default_rng(seed)
    traced, wire, gaps = [], [], []
    t_ns = START_NS
    for number in range(n):
        t_ns += int(chance.exponential(1_000_000)) + 500_000
        for is_back, frame in ((0, request(number)), (1, response(number))):
            there = chance.integers(3_000, 40_000, 3)
            times = t_ns + is_back * 300_000 + np.concatenate(([0], np.cumsum(there)))
            order = (0, 1, 2, 3) if not is_back else (3, 2, 1, 0)
            at = dict(zip(order, times.tolist(), strict=True))
            traced += [Traced(at[part], part, 2 * number + is_back + 1, frame) for part in range(3)]
            wire.append((at[3], frame))
            gaps.append([abs(at[part + 1] - at[part]) for part in range(3)])
    return sorted(traced, key=lambda one: one.t_ns), sorted(wire), np.array(gaps)
