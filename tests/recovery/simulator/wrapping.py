"""What stands around packets at a point: Ethernet, VLAN tags, SLL2, tunnels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.recovery.simulator.headers import header, ipv4, udp

if TYPE_CHECKING:
    from tests.recovery.simulator.headers import Bytes
    from tests.recovery.simulator.pieces import Flags
    from tests.recovery.simulator.scenario import Numbers, Point, Tunnel

IPV4, IPV6, OTHER = 0x0800, 0x86DD, 0x88B5
UDP_PROTOCOL, GRE_PROTOCOL, ESP_PROTOCOL = 17, 47, 50
OUTGOING = 4
PORTS = {"vxlan": 4789, "geneve": 6081, "wireguard": 51_820}
OPAQUE = {"esp", "wireguard"}


def ethernet(ethertype: int, forward: Flags, *, place: int, vlan: int = 0) -> Bytes:
    """Ethernet headers: MAC addresses tell the stretch between routers, and the direction."""
    n, side = len(forward), forward.astype(np.int64)
    place = 0 if ethertype == OTHER else place  # which no router lets through
    target, source = 0x0200_0000_0000 + 4 * place + side, 0x0200_0000_0001 + 4 * place - side
    if not vlan:
        return header("662", target, source, ethertype, n=n)
    return header("66222", target, source, 0x8100, vlan, ethertype, n=n)


def cooked(ethertype: int, forward: Flags, interface: int) -> Bytes:
    """Headers of LINKTYPE_LINUX_SLL2."""
    kind = np.where(forward, 0, OUTGOING)
    values = (ethertype, 0, interface, 1, kind, 6, 0x0200_0000_0001 << 16)
    return header("2242118", *values, n=len(forward))


def outermost(point: Point, ethertype: int, forward: Flags) -> Bytes:
    """The link header that a capture at this point starts with."""
    if point.is_cooked:
        return cooked(ethertype, forward, point.interface)
    return ethernet(ethertype, forward, place=point.routers, vlan=point.vlan)


def tunnelled(
    tunnel: Tunnel, inner: Bytes, size: Numbers, forward: Flags, by: Numbers, flow: Numbers
) -> tuple[Bytes, Bytes]:
    """The outer IP header (its length not cut yet) and what follows it, up to the payload.

    `size` is the payload behind `inner`; `by` numbers packets: it is the outer IP ID and
    the tunnel's own sequence number. A flow has an outer source port of its own.
    """
    between = _between(tunnel, forward, by)
    n_bytes = between.shape[1] + inner.shape[1] + size
    protocol = _protocol(tunnel)
    if protocol == UDP_PROTOCOL:
        port = np.full(len(forward), tunnel.port or PORTS[tunnel.kind])
        source = np.where(forward, 49_152, 53_000) + flow % 3_000
        source = port if tunnel.kind == "wireguard" else source
        between = np.hstack([udp((source, port), n_bytes + 8), between])
        n_bytes = n_bytes + 8
    ends = _ends(forward)
    outer = ipv4(n_bytes + 20, protocol, ends, ident=by & 0xFFFF, fragment=0)
    return outer, np.hstack([between, inner])


def _protocol(tunnel: Tunnel) -> int:
    if tunnel.kind.startswith("erspan"):
        return GRE_PROTOCOL
    return ESP_PROTOCOL if tunnel.kind == "esp" else UDP_PROTOCOL


def _ends(forward: Flags) -> tuple[Bytes, Bytes]:
    pair = np.zeros((2, 16), np.uint8)
    pair[:, 12:] = (172, 16, 0, 1), (172, 16, 0, 2)
    side = forward.astype(int)
    return pair[1 - side], pair[side]


def _between(tunnel: Tunnel, forward: Flags, by: Numbers) -> Bytes:
    n = len(forward)
    number = np.where(forward, tunnel.number, tunnel.number_back)
    if tunnel.kind == "vxlan":  # RFC 7348
        return header("44", 0x0800_0000, number << 8, n=n)
    if tunnel.kind == "geneve":  # RFC 8926; one option of one word
        return header("112312114", 2, 0, 0x6558, number, 0, 0x0107, 1, 1, 0xABCD, n=n)
    if tunnel.kind == "erspan2":  # draft-foschiano-erspan: GRE with a sequence number
        return header("224224", 0x1000, 0x88BE, by, 0x1000, number & 0x3FF, 0, n=n)
    if tunnel.kind == "erspan3":
        return header("22422422", 0x1000, 0x22EB, by, 0x2000, number & 0x3FF, 0, 0, 0, n=n)
    if tunnel.kind == "esp":  # RFC 4303
        return header("44", number, by, n=n)
    made = header("444", 0x0400_0000, number, 0, n=n)  # WireGuard transport data
    counter = header("8", by, n=n)[:, ::-1]
    return np.hstack([made[:, :8], counter])
