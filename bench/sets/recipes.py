"""The sets of captures that are measured, and what is in each."""

from __future__ import annotations

from dataclasses import dataclass, replace

PLAIN, VXLAN, TAGGED_VXLAN = "plain", "vxlan", "vlan+vxlan"
MSS = 1_448


@dataclass(frozen=True)
class Recipe:
    """One path and its traffic; a share is of the packets, at each point or on each segment."""

    about: str
    n_packets: int = 1_000_000
    points: tuple[str, ...] = ("vm", "uplink", "mirror")
    carriers: tuple[str, ...] = (PLAIN, VXLAN, TAGGED_VXLAN)  # in turn
    n_flows: int = 64
    payload_bytes: tuple[int, ...] = (0, 26, 60, 116)
    payload_shares: tuple[float, ...] = (0.2, 0.25, 0.35, 0.2)
    is_ipv6: bool = False
    lost_share: float = 0.001
    twice_share: float = 0.0  # recorded twice
    dropped_share: float = 0.0  # by the mirror of the second point, the packet goes on
    n_joined: int = 1  # TCP segments that the first point has as one frame
    is_translated: bool = False  # before the last point
    snap_bytes: int = 262_144
    n_files: int = 1  # a point
    suffix: str = ""  # of a compressed file

    def carrier(self, at: int) -> str:
        """What the frames at a point are inside of."""
        return self.carriers[at % len(self.carriers)]


plain = Recipe("three points: Ethernet, VXLAN, VLAN and VXLAN; 64 flows, 0.1 % lost")
eight = tuple(f"p{number}" for number in range(1, 9))

RECIPES = {
    "plain": plain,
    "loss": replace(plain, about="1 % lost on each segment", lost_share=0.01),
    "duplicates": replace(plain, about="1 % recorded twice at each point", twice_share=0.01),
    "offload": replace(
        plain,
        about="segments of 1,448 bytes, by seven in one frame at the first point; 128 bytes kept",
        payload_bytes=(0, MSS),
        payload_shares=(0.3, 0.7),
        n_joined=7,
        snap_bytes=128,
    ),
    "nat": replace(
        plain, about="addresses and ports change before the last point", is_translated=True
    ),
    "ipv6": replace(plain, about="IPv6 inside", is_ipv6=True),
    "mirror-drops": replace(plain, about="the second point's mirror drops 20 %", dropped_share=0.2),
    "flows": replace(plain, about="a million flows", n_flows=1_000_000),
    "mtu": replace(
        plain, about="frames of 1,514 bytes", payload_bytes=(MSS,), payload_shares=(1.0,)
    ),
    "zst": replace(plain, about="the plain set, as .zst", suffix=".zst"),
    "gz": replace(plain, about="the plain set, as .gz", suffix=".gz"),
    "eight": replace(plain, about="eight points", points=eight),
    "rotated": replace(plain, about="eight points of a hundred files", points=eight, n_files=100),
}
