"""Flows whose addresses change on the way, as the core learned them (rust/src/py/translated.rs)."""

from collections.abc import Sequence

from pcaplat.records import dataclass


@dataclass(frozen=True)
class SessionSide:
    """A translated flow at one of the two points.

    Attributes:
        file: Index of the file of the first packet.
        interface: Its interface there.
        place: The point, among those that were known when translations were learned.
        leg: A hash of the addresses and ports there.
        src: Sender of the first packet.
        src_port: Its port or echo identifier; -1: it has none.
        dst: Receiver.
        dst_port: Its port; -1: it has none.
        protocol: IP protocol.
        is_forward_pair: A hash of the address pair, and whether the sender is the smaller address.
        first_t_ns: Earliest evidence, by the point's own clock.
        last_t_ns: Latest.
    """

    file: int
    interface: int
    place: int
    leg: int
    src: str
    src_port: int
    dst: str
    dst_port: int
    protocol: int
    is_forward_pair: tuple[int, bool]
    first_t_ns: int
    last_t_ns: int


@dataclass(frozen=True)
class TranslatedSession:
    """A flow that is known by other addresses at another point.

    Attributes:
        sides: Here, and there.
        n: Packets that say so.
        ahead: How far TCP's numbers there are ahead, modulo 2^32: those that the first packet's
            sender sends, and those that it acknowledges; None: not known.
    """

    sides: Sequence[SessionSide]
    n: int
    ahead: tuple[int | None, int | None]
