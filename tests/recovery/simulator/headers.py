"""Headers of many packets at once: a row a packet, a column a byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.recovery.simulator.pieces import Flags
    from tests.recovery.simulator.scenario import Numbers

    Bytes = NDArray[np.uint8]

DONT_FRAGMENT, MORE_FRAGMENTS = 0x4000, 0x2000


def header(layout: str, *values: Numbers | int, n: int) -> Bytes:
    """Columns from numbers: `layout` has the width in bytes of each, such as "1122"."""
    widths = [int(width) for width in layout]
    made = np.zeros((n, sum(widths)), np.uint8)
    column = 0
    for width, value in zip(widths, values, strict=True):
        put(made, column, width, value)
        column += width
    return made


def put(made: Bytes, column: int, width: int, value: Numbers | int) -> None:
    """Write big-endian numbers into columns."""
    for place in range(width):
        made[:, column + place] = (value >> (8 * (width - 1 - place))) & 0xFF


def word_sum(made: Bytes) -> Numbers:
    """The sum of each row's 16-bit words."""
    wide = made.astype(np.int64)
    return np.asarray((wide[:, 0::2] << 8).sum(1) + wide[:, 1::2].sum(1))


def folded(total: Numbers) -> Numbers:
    """A sum in ones' complement arithmetic (RFC 1071), not yet inverted."""
    for _ in range(3):
        total = (total & 0xFFFF) + (total >> 16)
    return total


def ipv4(  # noqa: PLR0913 - a header has fields
    length: Numbers,
    protocol: int,
    ends: tuple[Bytes, Bytes],
    *,
    ident: Numbers | int,
    fragment: Numbers | int = DONT_FRAGMENT,
    ttl: Numbers | int = 64,
    tos: int = 0,
) -> Bytes:
    """IPv4 headers without options (RFC 791)."""
    n = len(length)
    made = header("112221120", 0x45, tos, length, ident, fragment, ttl, protocol, 0, 0, n=n)
    made = np.hstack([made, ends[0][:, 12:], ends[1][:, 12:]])
    put(made, 10, 2, ~folded(word_sum(made)) & 0xFFFF)
    return made


def ipv6(
    length: Numbers,
    protocol: int,
    ends: tuple[Bytes, Bytes],
    *,
    hops: Numbers | int = 64,
    tos: int = 0,
) -> Bytes:
    """IPv6 headers (RFC 8200)."""
    made = header("4211", (6 << 28) | (tos << 20), length, protocol, hops, n=len(length))
    return np.hstack([made, *ends])


def ipv6_fragment(protocol: int, offset: Numbers, more: Flags, ident: Numbers) -> Bytes:
    """Fragment headers (RFC 8200, section 4.5)."""
    return header("1124", protocol, 0, offset | more, ident, n=len(offset))


def tcp(
    ports: tuple[Numbers, Numbers],
    number: Numbers,
    ack: Numbers,
    flags: Numbers,
    options: Bytes,
) -> Bytes:
    """TCP headers with options (RFC 9293), the checksum still 0."""
    n = len(number)
    words = (20 + options.shape[1]) // 4
    made = header("224411222", *ports, number, ack, words << 4, flags, 8192, 0, 0, n=n)
    return np.hstack([made, options])


def tcp_options(value: Numbers, echo: Numbers, mss: int, *, has_stamps: bool, opens: bool) -> Bytes:
    """Segment size where a connection opens, and time stamps (RFC 7323)."""
    n = len(value)
    parts = [header("112", 2, 4, mss, n=n)] if opens else []
    if has_stamps:
        parts.append(header("111144", 1, 1, 8, 10, value, echo, n=n))
    return np.hstack(parts) if parts else np.zeros((n, 0), np.uint8)


def udp(ports: tuple[Numbers, Numbers], length: Numbers) -> Bytes:
    """UDP headers (RFC 768), the checksum still 0."""
    return header("2222", *ports, length, 0, n=len(length))


def echo(kind: Numbers, ident: Numbers, turn: Numbers) -> Bytes:
    """ICMP and ICMPv6 echo (RFC 792, RFC 4443), the checksum still 0."""
    return header("11222", kind, 0, 0, ident, turn, n=len(kind))


def pseudo_sum(ends: tuple[Bytes, Bytes], protocol: int, length: Numbers) -> Numbers:
    """What transport checksums cover besides their segment (RFC 9293, RFC 8200, section 8.1)."""
    return word_sum(ends[0]) + word_sum(ends[1]) + protocol + length
