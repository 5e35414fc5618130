"""Captures for the benchmark: one path, three points, a million packets each, always the same.

`vm.pcap` has plain Ethernet, `uplink.pcap` the same packets inside VXLAN, `mirror.pcap` inside
VXLAN behind a VLAN tag: nanosecond pcap, about 500 MB in all. TCP and UDP flows in both directions,
every packet distinct, 0.1 % of them lost on each segment, delays of some µs with a tail, clocks
that are apart and drift. `truth.json` says how many packets cross each segment. Run as
`python bench/generate.py [FOLDER] [PACKETS]`.
"""

from __future__ import annotations

import itertools
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Numbers = int | npt.NDArray[np.integer]

START_NS = 1_760_000_000_000_000_000
MEAN_GAP_NS = 5_000
POINTS = ("vm", "uplink", "mirror")
N_FLOWS, N_UDP_FLOWS = 64, 16
FORWARD_SHARE = 0.55
PAYLOAD_BYTES = (0, 26, 60, 116)
SHARES = (0.2, 0.25, 0.35, 0.2)
LOST_SHARE = 0.001
SEGMENT_NS = (
    (2_000, 600),
    (7_000, 1_500),
)  # per segment: the floor, and the mean of what comes on top
CLOCKS = ((0, 0.0), (1_200_000, 3e-6), (-800_000, -2e-6))  # per point: offset in ns, drift
CHUNK = 1 << 15
UNDER_WAY = 3  # packets of a flow's other direction, so many of the latest, are not heard yet


@dataclass
class Traffic:
    """What was sent, one value a packet, in the order of sending; forward is from `vm`."""

    sent_ns: Ints
    flow: Ints
    forward: npt.NDArray[np.bool_]
    size_class: Ints
    turn: Ints  # the how-manieth packet of its flow and direction
    heard: Ints  # so many of the other direction had been heard


def main() -> None:
    """Write the three captures and their truth, unless they are there."""
    folder = Path((sys.argv[1:2] or [f"{Path(__file__).parent}/data"])[0])
    n_packets = int((sys.argv[2:3] or ["1_000_000"])[0])
    if not (folder / "truth.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        write(folder, n_packets)


def write(folder: Path, n_packets: int) -> None:
    """Send the packets along the path and record them at each point."""
    random = np.random.default_rng(20250917)
    traffic = send(random, n_packets)
    seen_ns, seen = travel(random, traffic)
    frames = inner_frames(random, traffic)
    prefixes = (
        np.zeros((n_packets, 0), np.uint8),
        outer_headers(traffic, vlan=False),
        outer_headers(traffic, vlan=True),
    )
    for at, name in enumerate(POINTS):
        offset_ns, drift = CLOCKS[at]
        stamps_ns = seen_ns[at] + offset_ns + ((seen_ns[at] - START_NS) * drift).astype(np.int64)
        save(folder / f"{name}.pcap", stamps_ns, seen[at], prefixes[at], frames, traffic.size_class)
    (folder / "truth.json").write_text(json.dumps(truth(traffic, seen), indent=1) + "\n")


def send(random: np.random.Generator, n_packets: int) -> Traffic:
    """Draw when packets leave, of which flow and direction; a flow's opener sends first."""
    flow = random.integers(0, N_FLOWS, n_packets)
    forward = random.random(n_packets) < FORWARD_SHARE
    forward[np.unique(flow, return_index=True)[1]] = True
    turn, heard = np.zeros(n_packets, np.int64), np.zeros(n_packets, np.int64)
    for number in range(N_FLOWS):
        mine = np.flatnonzero(flow == number)
        n_there, n_back = np.cumsum(forward[mine]), np.cumsum(~forward[mine])
        turn[mine] = np.where(forward[mine], n_there, n_back) - 1
        heard[mine] = np.maximum(np.where(forward[mine], n_back, n_there) - UNDER_WAY, 0)
    gaps_ns = random.exponential(MEAN_GAP_NS, n_packets).astype(np.int64) + 100
    return Traffic(
        START_NS + np.cumsum(gaps_ns),
        flow,
        forward,
        random.choice(len(SHARES), n_packets, p=SHARES),
        turn,
        heard,
    )


def travel(
    random: np.random.Generator, traffic: Traffic
) -> tuple[list[Ints], list[npt.NDArray[np.bool_]]]:
    """When each packet passes each point, in true time, and whether it got there."""
    n_packets = len(traffic.flow)
    seen_ns = [traffic.sent_ns.copy() for _ in range(3)]
    seen = [np.ones(n_packets, np.bool_) for _ in range(3)]
    for forward, order in ((True, (0, 1, 2)), (False, (2, 1, 0))):
        mine = traffic.forward == forward
        for up, down in itertools.pairwise(order):
            floor_ns, tail_ns = SEGMENT_NS[min(up, down)]
            took_ns = floor_ns + random.exponential(tail_ns, n_packets).astype(np.int64)
            arrived = seen[up] & (random.random(n_packets) >= LOST_SHARE)
            seen_ns[down][mine], seen[down][mine] = (seen_ns[up] + took_ns)[mine], arrived[mine]
    return seen_ns, seen


def truth(traffic: Traffic, seen: list[npt.NDArray[np.bool_]]) -> dict[str, Any]:
    """How many frames each file has, how many packets cross each segment and how many are lost."""
    rows: list[dict[str, Any]] = []
    for near in (0, 1):
        for forward in (True, False):
            mine = traffic.forward == forward
            up, down = (near, near + 1) if forward else (near + 1, near)
            rows.append(
                {
                    "near": POINTS[near],
                    "far": POINTS[near + 1],
                    "direction": "forward" if forward else "reverse",
                    "n": int((mine & seen[up] & seen[down]).sum()),
                    "n_lost": int((mine & seen[up] & ~seen[down]).sum()),
                }
            )
    n_frames = {name: int(there.sum()) for name, there in zip(POINTS, seen, strict=True)}
    return {"n_frames": n_frames, "segments": rows}


def put(rows: Bytes, at: int, values: Numbers, kind: str) -> None:
    """Write numbers of a big-endian kind into a column of every row."""
    wide = np.broadcast_to(np.asarray(values), len(rows)).astype(kind)
    rows[:, at : at + wide.itemsize] = wide.view(np.uint8).reshape(len(rows), wide.itemsize)


def put_ipv4(rows: Bytes, at: int, length: Numbers, ident: Numbers, protocol: Numbers) -> None:
    """An IPv4 header with its checksum (RFC 791, RFC 1071), around the addresses already there."""
    put(rows, at, 0x4500, ">u2")
    put(rows, at + 2, length, ">u2")
    put(rows, at + 4, np.asarray(ident) & 0xFFFF, ">u2")
    put(rows, at + 6, 0x4000, ">u2")
    put(rows, at + 8, 64, ">u1")
    put(rows, at + 9, protocol, ">u1")
    words = np.ascontiguousarray(rows[:, at : at + 20]).view(">u2").astype(np.int64).sum(axis=1)
    words = (words & 0xFFFF) + (words >> 16)
    put(rows, at + 10, ~((words & 0xFFFF) + (words >> 16)) & 0xFFFF, ">u2")


def inner_frames(random: np.random.Generator, traffic: Traffic) -> list[Bytes]:
    """Per size class, the Ethernet frames as the VM sends them, in the order of sending."""
    return [_class_frames(random, traffic, number) for number in range(len(PAYLOAD_BYTES))]


def _class_frames(random: np.random.Generator, traffic: Traffic, number: int) -> Bytes:
    mine = np.flatnonzero(traffic.size_class == number)
    flow, forward = traffic.flow[mine], traffic.forward[mine]
    turn, heard = traffic.turn[mine], traffic.heard[mine]
    payload_bytes = PAYLOAD_BYTES[number]
    rows = np.zeros((len(mine), 14 + 20 + 32 + payload_bytes), np.uint8)
    put(rows, 0, np.where(forward, 0x020000000202, 0x020000000101) << 16, ">u8")
    put(rows, 6, np.where(forward, 0x020000000101, 0x020000000202) << 16, ">u8")
    put(rows, 12, 0x0800, ">u2")
    near, far = 0x0A000100 + flow % 8, 0x0A000200 + flow // 8
    is_udp = flow < N_UDP_FLOWS
    put(rows, 26, np.where(forward, near, far), ">u4")
    put(rows, 30, np.where(forward, far, near), ">u4")
    put_ipv4(rows, 14, 52 + payload_bytes, turn + flow, np.where(is_udp, 17, 6))
    client, server = 40_000 + flow, np.where(is_udp, 9000, 443)
    put(rows, 34, np.where(forward, client, server), ">u2")
    put(rows, 36, np.where(forward, server, client), ">u2")
    rows[:, 66:] = random.integers(0, 256, (len(mine), payload_bytes), np.uint8)
    _put_tcp(rows, turn, heard, forward, payload_bytes)
    _put_udp(rows, is_udp, random)
    return rows


def _put_tcp(
    rows: Bytes, turn: Ints, heard: Ints, forward: npt.NDArray[np.bool_], payload_bytes: int
) -> None:
    put(rows, 38, turn * 200 + 1_000_000, ">u4")
    put(rows, 42, heard * 200 + 1_000_000, ">u4")
    put(rows, 46, 0x80, ">u1")
    opens = forward & (turn == 0)
    put(rows, 47, np.where(opens, 0x02, 0x18 if payload_bytes else 0x10), ">u1")
    put(rows, 48, 502, ">u2")
    put(rows, 54, 0x0101080A, ">u4")  # no-op, no-op, timestamps (RFC 7323)
    put(rows, 58, turn + 77_000, ">u4")
    put(rows, 62, heard + 77_000, ">u4")


def _put_udp(rows: Bytes, is_udp: npt.NDArray[np.bool_], random: np.random.Generator) -> None:
    datagram = rows[is_udp]
    put(datagram, 38, rows.shape[1] - 34, ">u2")
    put(datagram, 40, 0, ">u2")  # no checksum (RFC 768)
    datagram[:, 42:66] = random.integers(0, 256, (len(datagram), 24), np.uint8)
    rows[is_udp] = datagram


def outer_headers(traffic: Traffic, *, vlan: bool) -> Bytes:
    """What the tunnel endpoint puts before each frame: [VLAN tag,] IPv4, UDP, VXLAN (RFC 7348)."""
    n_packets, ip = len(traffic.flow), 18 if vlan else 14
    rows = np.zeros((n_packets, ip + 36), np.uint8)
    put(rows, 0, np.where(traffic.forward, 0x02AA00000002, 0x02AA00000001) << 16, ">u8")
    put(rows, 6, np.where(traffic.forward, 0x02AA00000001, 0x02AA00000002) << 16, ">u8")
    if vlan:
        put(rows, 12, 0x8100_0064, ">u4")
    put(rows, ip - 2, 0x0800, ">u2")
    length = 20 + 16 + 66 + np.asarray(PAYLOAD_BYTES)[traffic.size_class]
    near, far = 0xAC100001, 0xAC100002
    put(rows, ip + 12, np.where(traffic.forward, near, far), ">u4")
    put(rows, ip + 16, np.where(traffic.forward, far, near), ">u4")
    put_ipv4(rows, ip, length, np.arange(n_packets), 17)
    put(rows, ip + 20, 49_152 + traffic.flow * 2 + traffic.forward, ">u2")
    put(rows, ip + 22, 4789, ">u2")
    put(rows, ip + 24, length - 20, ">u2")
    put(rows, ip + 28, 0x0800_0000, ">u4")
    put(rows, ip + 32, 5001 << 8, ">u4")
    return rows


def save(
    path: Path,
    stamps_ns: Ints,
    seen: npt.NDArray[np.bool_],
    prefix: Bytes,
    frames: list[Bytes],
    size_class: Ints,
) -> None:
    """Write a nanosecond pcap file of the packets seen, in the order of their stamps."""
    order = np.argsort(stamps_ns, kind="stable")
    order = order[seen[order]]
    frame_bytes = np.asarray([rows.shape[1] for rows in frames])[size_class] + prefix.shape[1]
    starts = np.zeros(len(stamps_ns), np.int64)
    ends = np.cumsum(frame_bytes[order] + 16)
    starts[order] = ends - frame_bytes[order] - 16
    out = np.zeros(int(ends[-1]), np.uint8)
    for number, rows in enumerate(frames):
        mine = np.flatnonzero(size_class == number)
        for at in range(0, len(mine), CHUNK):
            part = mine[at : at + CHUNK]
            kept = seen[part]
            record = _records(stamps_ns[part], prefix[part], rows[at : at + CHUNK])[kept]
            out[starts[part][kept][:, None] + np.arange(record.shape[1])] = record
    with path.open("wb") as file:
        file.write(np.array([0xA1B23C4D, 0x00040002, 0, 0, 262_144, 1], "<u4").tobytes())
        file.write(out.tobytes())


def _records(stamps_ns: Ints, prefix: Bytes, frames: Bytes) -> Bytes:
    header = np.empty((len(frames), 4), "<u4")
    header[:, 0], header[:, 1] = stamps_ns // 10**9, stamps_ns % 10**9
    header[:, 2:] = prefix.shape[1] + frames.shape[1]
    return np.concatenate([header.view(np.uint8).reshape(len(frames), 16), prefix, frames], axis=1)


if __name__ == "__main__":
    main()
