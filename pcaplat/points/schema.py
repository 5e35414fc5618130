"""What a profile may say: its keys, their types, and the words they take."""

from collections.abc import Iterator, Mapping
from dataclasses import field

from pcaplat.model.files.stamping import CONVENTIONS
from pcaplat.records import dataclass

CHOICES: dict[str, tuple[str, ...]] = {
    "side": ("pre_vtep", "post_vtep", "mirror", "underlay", "inside_guest"),
    "dir_semantics": ("vswitch_relative", "host_relative", "none"),
    "direction_source": ("epb_flags", "sll_pkttype", "erspan_D", "filename", "mac_table", "none"),
    "encapsulated": ("no", "yes", "both", "unknown"),
    "segmentation": ("none", "tx_tso", "rx_gro", "both", "unknown"),
    "l4_checksum": ("valid", "partial", "unknown"),
    "vlan": ("in_bytes", "metadata_lost", "outer_only", "none", "unknown"),
    "rewrites": ("ttl", "macs", "vlan", "nat", "dscp"),
    "multiplicity": ("once", "per_component", "ingress+egress", "unknown"),
    "ts_unit_hint": ("us", "ns", "ps", "100ns"),
    "shell": ("sh", "powershell", "cli"),
    "confidence": ("confirmed", "inferred", "assumed"),
    "extent": ("host", "device", "path"),
    "domain": ("host", "phc", "switch"),
    "timescale": ("utc", "tai", "uptime", "ticks", "unknown"),
    "shared": ("host", "profile", "none"),
    "stamped_at": CONVENTIONS,
}
"""The words that a key takes, or each entry of it where it is a list."""

CARRIERS = ("record", "trailer", "tag", "carrier")
"""Where a clock's time stands: in the file's record, behind, inside or around the frame."""


@dataclass(frozen=True)
class Clock:
    """Where a point's time comes from, and with whom it is shared.

    `source` is `record`, or `trailer:NAME`, `tag:NAME`, `carrier:NAME` of an in-packet timestamp.
    `shared` tells which points have this clock: those of one `host` (or switch, or collector), all
    of the `profile`, or `none`. A counter wraps after `modulus_ns`, or after `modulus_ticks` at
    `freq_hz`.
    """

    domain: str
    timescale: str
    source: str
    shared: str = "host"
    modulus_ns: int | None = None
    modulus_ticks: int | None = None
    freq_hz: int | None = None


@dataclass(frozen=True)
class Encapsulation:
    """What a packet is wrapped in at a point."""

    kind: str
    udp_ports: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class ProfilePoint:
    """One place to capture at.

    `files` are patterns of file names, besides its `id` and `aliases`. `order_tx` and `order_rx`
    are null where it is not on that path; `place` is what two points have in common that see one
    direction each of the same place. What is not known is null or "unknown". `inferred` and
    `assumed` name the keys that are less certain than `confidence`.
    """

    id: str
    meaning: str
    side: str
    encapsulated: str
    segmentation: str
    l4_checksum: str
    vlan: str
    multiplicity: str
    clock: Clock
    stamp_position: str
    commands: list[str]
    confidence: str
    sources: list[str]
    aliases: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    place: str | None = None
    stamped_at: str | None = None
    link_rate_bps: int | None = None
    order_tx: int | None = None
    order_rx: int | None = None
    dir_semantics: str = "none"
    direction_source: str = "none"
    encaps: list[Encapsulation] = field(default_factory=list)
    rewrites: list[str] = field(default_factory=list)
    default_snaplen: int | None = None
    file_formats: list[str] = field(default_factory=list)
    ts_unit_hint: str | None = None
    shell: str = "sh"
    pitfalls: list[str] = field(default_factory=list)
    inferred: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)

    @property
    def patterns(self) -> list[str]:
        """What the point's files may be called."""
        return list(dict.fromkeys((self.id, *self.aliases, *self.files)))


@dataclass(frozen=True)
class Profile:
    """A platform's capture points.

    `extent` tells what the order runs along: a `host`, from the guest to the wire; a `device`, from
    its ingress to its egress; or a whole `path`. `sources` gives the full text of each source that
    a point names. `documented` are the layers, stamps and formats that the profile mentions for
    people; pcaplat need not know them.
    """

    name: str
    summary: str
    platform: str
    extent: str
    points: tuple[ProfilePoint, ...]
    sources: Mapping[str, str]
    version_range: str | None = None
    documented: list[str] = field(default_factory=list)
    pitfalls: list[str] = field(default_factory=list)

    def along(self, way: str) -> list[ProfilePoint]:
        """Give the points that packets pass, in order: out (`tx`) or back (`rx`).

        Example:
            >>> from pcaplat.points import load_profile
            >>> [point.id for point in load_profile("lab").along("rx")][:2]
            ['host2-vm', 'host2-up']
        """
        ranks = [(getattr(point, f"order_{way}"), point) for point in self.points]
        return [point for rank, point in sorted(_ranked(ranks), key=lambda pair: pair[0])]

    def places(self) -> dict[str, tuple[ProfilePoint, ...]]:
        """Give the points of each place that is seen in one direction by each."""
        names = dict.fromkeys(point.place for point in self.points if point.place)
        return {name: tuple(one for one in self.points if one.place == name) for name in names}

    def names_used(self) -> set[str]:
        """Give every layer, stamp and file format that the points mention."""
        kinds = {encap.kind for point in self.points for encap in point.encaps}
        formats = {name for point in self.points for name in point.file_formats}
        stamps = {point.clock.source.partition(":")[2] for point in self.points}
        return (kinds | formats | stamps) - {""}


def _ranked(ranks: list[tuple[int | None, ProfilePoint]]) -> Iterator[tuple[int, ProfilePoint]]:
    for rank, point in ranks:
        if rank is not None:
            yield rank, point
