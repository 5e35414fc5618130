"""What is to happen: points, links, traffic, clocks, and what stands in the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

START_NS = 1_760_000_000_000_000_000


@dataclass(frozen=True)
class Clock:
    """How wrong a clock is: offset, drift, one step, one slew, and what it rounds down to."""

    offset_ns: int = 0
    drift_ppm: float = 0.0
    step_ns: int = 0
    step_after_ns: int = 0
    resolution_ns: int = 1
    slew_ppm: float = 0.0
    slew_after_ns: int = 0
    slew_for_ns: int = 0

    def stamps_ns(self, true_ns: Numbers) -> Numbers:
        """What this clock says at true times."""
        since_ns = true_ns - START_NS
        drifted_ns = np.rint(since_ns * (self.drift_ppm * 1e-6)).astype(np.int64)
        stepped_ns = np.where(since_ns >= self.step_after_ns, self.step_ns, 0)
        slewing_ns = np.clip(since_ns - self.slew_after_ns, 0, self.slew_for_ns)
        slewed_ns = np.rint(slewing_ns * (self.slew_ppm * 1e-6)).astype(np.int64)
        stamps = true_ns + self.offset_ns + drifted_ns + stepped_ns + slewed_ns
        return np.asarray(stamps // self.resolution_ns * self.resolution_ns)


@dataclass(frozen=True)
class Tunnel:
    """What stands around the packets: vxlan, geneve, erspan2, erspan3, esp or wireguard."""

    kind: str
    port: int = 0  # 0: the one assigned
    number: int = 5001
    number_back: int = 5001
    mtu: int = 0  # longer outer packets travel in fragments


@dataclass(frozen=True)
class Point:
    """Where packets are recorded, what they look like there, and how they are written down."""

    name: str
    clock: Clock = field(default_factory=Clock)
    forward_ahead_ns: int = 0  # of what goes forward, stamped by another clock, against the rest
    hop: int | None = None  # where on the path; None: where it stands in the scenario
    branch: int | None = None  # which of the parallel ways; None: all of them
    tunnel: Tunnel | None = None
    routers: int = 0  # that a forward packet has passed
    vlan: int = 0
    dscp: int = 0
    mss: int = 1460
    is_partial: bool = False  # checksums are left to a card that comes later
    is_zero_length: bool = False  # and so are lengths of what that card is to cut
    is_padded: bool = False  # to 60 bytes
    missed_share: float = 0.0
    copied_share: float = 0.0
    copy_after_ns: int = 4_000
    file: str = ""  # points with one file name share it
    interface: int = 0  # its number in that file
    is_cooked: bool = False  # SLL2, as `tcpdump -i any` writes
    kind: str = "pcap"
    snap: int = 262_144
    order: str = "sorted"  # as they were stamped; `wobbling` by some us, `shuffled` altogether


@dataclass(frozen=True)
class Link:
    """How long packets take between two neighbouring hops, and what happens to them."""

    forward_ns: int = 3_000
    reverse_ns: int = 3_000
    tail_ns: int = 500
    ns_a_byte: float = 0.08
    branch_ns: int = 0  # how much longer each further parallel way is
    lost_share: float = 0.0
    held_share: float = 0.0
    held_ns: int = 12_000
    held_until_ns: int = 0  # after the start: none is held later; 0: to the end
    doubled_share: float = 0.0
    doubled_after_ns: int = 2_000


@dataclass(frozen=True)
class Translation:
    """Addresses change before this hop: snat, dnat, nat64; `seq` shifts sequence numbers too."""

    hop: int
    kinds: frozenset[str]
    reuses_ports: bool = False


@dataclass(frozen=True)
class Traffic:
    """Who talks to whom, and in what manner; shares are of transactions."""

    n_packets: int = 2_000  # about so many at each point
    gap_ns: int = 40_000  # between transactions
    n_at_once: int = 20  # flows that are open at one time
    n_turns: int = 40  # transactions of a flow
    shares: tuple[tuple[str, float], ...] = (
        ("tcp", 0.4),
        ("bulk", 0.2),
        ("udp", 0.25),
        ("icmp", 0.1),
        ("ether", 0.05),
    )
    ip6_share: float = 0.4
    constant_share: float = 0.0  # of UDP flows: each of their packets has the same payload
    is_regular: bool = False  # transactions come like clockwork
    idents: str = "flow"  # IP ID: counts by `flow`, by `host`, `wraps` fast, is `zero` or `random`
    n_idents: int = 65_536  # how many values it has where it is random
    has_tcp_stamps: bool = True
    super_bytes: int = 0  # longest super-segment of bulk data; 0: the card cuts nothing
    joined_bytes: int = 0  # longest joined segment
    near_hosts: int = 1  # hops at either end that see supers when sent and joined when received
    far_hosts: int = 1
    datagram_bytes: int = 0  # length of bulk UDP datagrams that are cut in IP fragments
    fragments: str = ""  # hops see them `everywhere`, `cut` on the way, `joined` at the end, `both`
    reply_share: float = 1.0
    retransmit_ns: int = 200_000_000
    errors_share: float = 0.0  # of UDP requests answered by an ICMP error


@dataclass(frozen=True)
class Scenario:
    """A path and its traffic."""

    points: tuple[Point, ...]
    links: tuple[Link, ...]
    traffic: Traffic = field(default_factory=Traffic)
    translation: Translation | None = None
    n_branches: int = 1
    branches_by: str = "flow"  # or by `packet`
    is_one_way: bool = False  # points see only what goes forward
    seed: int = 1

    @cached_property
    def hop_of(self) -> list[int]:
        """Per point its place on the path."""
        return [at if p.hop is None else p.hop for at, p in enumerate(self.points)]

    @property
    def n_hops(self) -> int:
        """How many places there are."""
        return len(self.links) + 1

    def along(self, *, forward: bool) -> list[int]:
        """The hops as a packet meets them."""
        return list(range(self.n_hops))[:: 1 if forward else -1]

    def zone(self, hop: int, *, forward: bool) -> str:
        """What one frame holds there: `whole` as sent, `wire`, or `joined`."""
        traffic = self.traffic
        is_near, is_far = hop < traffic.near_hosts, hop >= self.n_hops - traffic.far_hosts
        is_sender, is_receiver = (is_near, is_far) if forward else (is_far, is_near)
        if is_sender and self.cuts:
            return "whole"
        return "joined" if is_receiver and self.joins else "wire"

    @property
    def cuts(self) -> bool:
        """Whether senders leave it to something on the way to cut what they send."""
        return bool(self.traffic.super_bytes) or self.traffic.fragments in {"cut", "both"}

    @property
    def joins(self) -> bool:
        """Whether something on the way joins what was cut."""
        return bool(self.traffic.joined_bytes) or self.traffic.fragments in {"joined", "both"}

    @property
    def n_routers(self) -> int:
        """Routers on the whole path."""
        return max(p.routers for p in self.points)

    def chance(self, *purpose: Any) -> np.random.Generator:  # noqa: ANN401 - whatever names a purpose
        """Draws that depend on the seed and on what they are for, not on the order of calls."""
        words = [self.seed, *(int.from_bytes(str(p).encode()[-7:]) for p in purpose)]
        return np.random.default_rng(words)
