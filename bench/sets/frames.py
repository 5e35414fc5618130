"""The bytes of the frames: TCP and UDP over IPv4 or IPv6, and what a tunnel puts before them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sets.recipes import MSS, PLAIN, TAGGED_VXLAN, Recipe
from sets.traffic import Flags, Ints, Traffic, is_udp

Bytes = npt.NDArray[np.uint8]
Numbers = int | npt.NDArray[np.integer]

ETHERNET, IPV4, IPV6, TCP, UDP, VXLAN = 14, 20, 40, 32, 8, 8
"""Lengths of headers; TCP's with timestamps (RFC 7323)."""
UDP_MORE = TCP - UDP
"""Random bytes of a datagram, so that it is as long as a segment of the same payload."""
NET4, NET6 = 0x0A00_0100, 0x2001_0DB8_0000_0001
TRANSLATED4, TRANSLATED6 = 0xC000_0201, 0x2001_0DB8_0000_00FF
SEQ_STRIDE = 200


@dataclass(frozen=True)
class Frames:
    """Frames of one length, as the first point has them, and which of the batch they are."""

    mine: Ints
    rows: Bytes
    ip: int  # where the IP header begins, ...
    l4: int  # ... and what it carries
    payload_bytes: int

    @property
    def wire_bytes(self) -> int:
        """How long each is on the wire."""
        return self.l4 + TCP + self.payload_bytes


def inner_frames(random: np.random.Generator, traffic: Traffic, recipe: Recipe) -> list[Frames]:
    """Give the frames of every length, cut to the snap length."""
    return [_frames_of(random, traffic, recipe, size) for size in range(len(recipe.payload_bytes))]


def _frames_of(random: np.random.Generator, traffic: Traffic, recipe: Recipe, size: int) -> Frames:
    mine = np.flatnonzero(traffic.size == size)
    payload_bytes, l4 = recipe.payload_bytes[size], ETHERNET + (IPV6 if recipe.is_ipv6 else IPV4)
    kept_bytes = min(payload_bytes, max(recipe.snap_bytes - l4 - TCP, 0))
    frames = Frames(
        mine, np.zeros((len(mine), l4 + TCP + kept_bytes), np.uint8), ETHERNET, l4, payload_bytes
    )
    rows, forward = frames.rows, traffic.forward[mine]
    put(rows, 0, np.where(forward, 0x020000000202, 0x020000000101) << 16, ">u8")
    put(rows, 6, np.where(forward, 0x020000000101, 0x020000000202) << 16, ">u8")
    put(rows, 12, 0x86DD if recipe.is_ipv6 else 0x0800, ">u2")
    rows[:, l4 + TCP :] = random.integers(0, 256, (len(mine), kept_bytes), np.uint8)
    _put_segments(frames, traffic, max(SEQ_STRIDE, payload_bytes))
    _put_datagrams(frames, is_udp(traffic.flow[mine], recipe), random)
    put_flows(frames, traffic, recipe, is_translated=False)
    return frames


def _put_segments(frames: Frames, traffic: Traffic, stride: int) -> None:
    rows, l4 = frames.rows, frames.l4
    turn, heard = traffic.turn[frames.mine], traffic.heard[frames.mine]
    put(rows, l4 + 4, (turn * stride + 1_000_000) & 0xFFFF_FFFF, ">u4")
    put(rows, l4 + 8, (heard * stride + 1_000_000) & 0xFFFF_FFFF, ">u4")
    put(rows, l4 + 12, 0x80, ">u1")
    opens = traffic.forward[frames.mine] & (turn == 0)
    put(rows, l4 + 13, np.where(opens, 0x02, 0x18 if frames.payload_bytes else 0x10), ">u1")
    put(rows, l4 + 14, 502, ">u2")
    put(rows, l4 + 20, 0x0101080A, ">u4")  # no-op, no-op, timestamps
    put(rows, l4 + 24, turn + 77_000, ">u4")
    put(rows, l4 + 28, heard + 77_000, ">u4")


def _put_datagrams(frames: Frames, is_datagram: Flags, random: np.random.Generator) -> None:
    rows, l4 = frames.rows[is_datagram], frames.l4
    put(rows, l4 + 4, TCP + frames.payload_bytes, ">u2")
    put(rows, l4 + 6, 0, ">u2")  # no checksum (RFC 768)
    rows[:, l4 + UDP : l4 + TCP] = random.integers(0, 256, (len(rows), UDP_MORE), np.uint8)
    frames.rows[is_datagram] = rows


def put_flows(frames: Frames, traffic: Traffic, recipe: Recipe, *, is_translated: bool) -> None:
    """Write addresses, ports and the IP header, as they are before or behind the translation."""
    rows, flow = frames.rows, traffic.flow[frames.mine]
    forward, turn = traffic.forward[frames.mine], traffic.turn[frames.mine]
    datagrams = is_udp(flow, recipe)
    length, protocol = TCP + frames.payload_bytes, np.where(datagrams, 17, 6)
    net = NET6 if recipe.is_ipv6 else NET4
    near, far = net + flow % 8, net + 256 + flow // 8
    client, server = 40_000 + flow % 25_000, np.where(datagrams, 9_000, 443)
    if is_translated:
        near = np.full_like(flow, TRANSLATED6 if recipe.is_ipv6 else TRANSLATED4)
        client = 10_000 + flow % 50_000
    ends = np.where(forward, near, far), np.where(forward, far, near)
    if recipe.is_ipv6:
        put_ipv6(rows, frames.ip, ends, length, protocol)
    else:
        put_ipv4(rows, frames.ip, ends, length, turn + flow, protocol)
    put(rows, frames.l4, np.where(forward, client, server), ">u2")
    put(rows, frames.l4 + 2, np.where(forward, server, client), ">u2")


def joined(frames: Frames, traffic: Traffic) -> Ints:
    """Make of segments over IPv4 the frames that hold the rest too; give by how many bytes each."""
    more = (traffic.n_pieces[frames.mine] - 1) * MSS
    if more.any():
        put(frames.rows, frames.ip + 2, IPV4 + TCP + frames.payload_bytes + more, ">u2")
        put_checksum(frames.rows, frames.ip)
    return more


def outer_headers(traffic: Traffic, mine: Ints, carrier: str, inner_bytes: Numbers) -> Bytes:
    """What the tunnel endpoint puts before each frame: [VLAN tag,] IPv4, UDP, VXLAN (RFC 7348)."""
    if carrier == PLAIN:
        return np.zeros((len(mine), 0), np.uint8)
    ip = ETHERNET + 4 * (carrier == TAGGED_VXLAN)
    l4, forward, flow = ip + IPV4, traffic.forward[mine], traffic.flow[mine]
    rows = np.zeros((len(mine), l4 + UDP + VXLAN), np.uint8)
    put(rows, 0, np.where(forward, 0x02AA00000002, 0x02AA00000001) << 16, ">u8")
    put(rows, 6, np.where(forward, 0x02AA00000001, 0x02AA00000002) << 16, ">u8")
    if carrier == TAGGED_VXLAN:
        put(rows, 12, 0x8100_0064, ">u4")
    put(rows, ip - 2, 0x0800, ">u2")
    length = UDP + VXLAN + np.asarray(inner_bytes)
    near, far = 0xAC10_0001, 0xAC10_0002
    ends = np.where(forward, near, far), np.where(forward, far, near)
    put_ipv4(rows, ip, ends, length, mine, 17)
    put(rows, l4, 49_152 + (flow * 2 + forward) % 16_384, ">u2")
    put(rows, l4 + 2, 4789, ">u2")
    put(rows, l4 + 4, length, ">u2")
    put(rows, l4 + 8, 0x0800_0000, ">u4")
    put(rows, l4 + 12, 5001 << 8, ">u4")
    return rows


def put(rows: Bytes, at: int, values: Numbers, kind: str) -> None:
    """Write numbers of a big-endian kind into a column of every row."""
    wide = np.ascontiguousarray(np.broadcast_to(np.asarray(values), len(rows)).astype(kind))
    rows[:, at : at + wide.itemsize] = wide.view(np.uint8).reshape(len(rows), wide.itemsize)


def put_ipv4(
    rows: Bytes,
    at: int,
    ends: tuple[Numbers, Numbers],
    length: Numbers,
    ident: Numbers,
    protocol: Numbers,
) -> None:
    """An IPv4 header (RFC 791) around so many bytes."""
    put(rows, at, 0x4500, ">u2")
    put(rows, at + 2, np.asarray(length) + IPV4, ">u2")
    put(rows, at + 4, np.asarray(ident) & 0xFFFF, ">u2")
    put(rows, at + 6, 0x4000, ">u2")
    put(rows, at + 8, 64, ">u1")
    put(rows, at + 9, protocol, ">u1")
    put(rows, at + 12, ends[0], ">u4")
    put(rows, at + 16, ends[1], ">u4")
    put_checksum(rows, at)


def put_checksum(rows: Bytes, at: int) -> None:
    """The checksum of an IPv4 header (RFC 1071)."""
    put(rows, at + 10, 0, ">u2")
    words = np.ascontiguousarray(rows[:, at : at + IPV4]).view(">u2").astype(np.int64).sum(axis=1)
    words = (words & 0xFFFF) + (words >> 16)
    put(rows, at + 10, ~((words & 0xFFFF) + (words >> 16)) & 0xFFFF, ">u2")


def put_ipv6(
    rows: Bytes, at: int, ends: tuple[Numbers, Numbers], length: Numbers, protocol: Numbers
) -> None:
    """An IPv6 header (RFC 8200) around so many bytes; addresses are their first 64 bits, then 1."""
    put(rows, at, 0x6000_0000, ">u4")
    put(rows, at + 4, length, ">u2")
    put(rows, at + 6, protocol, ">u1")
    put(rows, at + 7, 64, ">u1")
    put(rows, at + 8, ends[0], ">u8")
    put(rows, at + 16, 1, ">u8")
    put(rows, at + 24, ends[1], ">u8")
    put(rows, at + 32, 1, ">u8")
