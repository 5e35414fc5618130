"""`pcaplat points`: the capture-point profiles, and how to capture there."""

import re
import shutil
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

from typer import Argument

from pcaplat.cli import standard_output
from pcaplat.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pcaplat.points import Profile, ProfilePoint

EXAMPLES = ("pcaplat points", "pcaplat points esxi-nsx-t")


WIDTH_OF_A_PIPE = 100
NARROWEST, WIDE = 60, 110
LABEL = 10
WAYS = {"tx": "Out", "rx": "Back"}
EXTENTS = {
    "host": "from the guest to the wire",
    "device": "through the device",
    "path": "along the path",
}
SIDES = {
    "pre_vtep": "pre-VTEP",
    "post_vtep": "post-VTEP",
    "mirror": "mirror",
    "underlay": "underlay",
    "inside_guest": "inside the guest",
}
FRAMES = {
    "none": "as on the wire",
    "tx_tso": "larger than the wire's where segmentation is offloaded",
    "rx_gro": "joined where receive offload runs",
    "both": "larger than the wire's, or joined, where offloads run",
    "unknown": "offloads unknown",
}
TAGS = {
    "in_bytes": "VLAN tag in the bytes",
    "metadata_lost": "VLAN tag lost",
    "outer_only": "outer VLAN tag only",
    "none": "no VLAN tag",
    "unknown": "VLAN tag unknown",
}
TIMES_SEEN = {
    "once": "each packet once",
    "per_component": "each packet once for every component",
    "ingress+egress": "each packet twice, going in and coming out",
    "unknown": "how often a packet is seen is unknown",
}
DIRECTIONS = {
    "epb_flags": "from the file's packet flags",
    "sll_pkttype": "from the cooked header",
    "erspan_D": "from ERSPAN's D bit",
    "filename": "a file for each direction",
    "mac_table": "from MAC addresses",
    "none": "unknown",
}
RELATIVE = {
    "vswitch_relative": "; in and out are the virtual switch's",
    "host_relative": "; in and out are the host's",
    "none": "",
}
OWNERS = {"host": "the host's", "phc": "the network card's", "switch": "the switch's"}
SCALES = {"unknown": "time scale unknown", "ticks": "ticks", "uptime": "uptime"}
SHARED = {
    "host": "shared by the points of one host or switch",
    "profile": "shared by all points",
    "none": "shared with no other point",
}
CONTINUED = {"sh": " \\", "powershell": " `"}
"""What ends a line that goes on; other consoles know no such thing."""


def command(
    name: Annotated[
        str | None, Argument(metavar="[NAME]", help="A profile that ships with pcaplat, or a file.")
    ] = None,
) -> None:
    """List the capture-point profiles, or show one with the commands that capture there."""
    from pcaplat.points import load_profile

    width = max(shutil.get_terminal_size((WIDTH_OF_A_PIPE, 0)).columns, NARROWEST)
    lines = _list(width) if name is None else _show(load_profile(name), width)
    with standard_output() as stream:
        stream.writelines(f"{printable(line).rstrip()}\n" for line in lines)


def _list(width: int) -> "Iterator[str]":
    from pcaplat.points import load_profile, profile_names

    profiles = [load_profile(name) for name in profile_names()]
    widest = max(len(profile.name) for profile in profiles)
    platform = max(len(profile.platform) for profile in profiles)
    is_wide = width >= WIDE
    second = f"{'platform'.ljust(platform)}  what" if is_wide else "platform"
    yield f"{'profile'.ljust(widest)}  points  {second}"
    yield "─" * width
    for profile in profiles:
        head = f"{profile.name.ljust(widest)}  {len(profile.points):6}  "
        if is_wide:
            yield from _hang(f"{head}{profile.platform.ljust(platform)}  ", profile.summary, width)
        else:
            yield from _hang(head, profile.platform, width)
    yield ""
    yield "pcaplat points NAME shows one, with the commands that capture there."


def _show(profile: "Profile", width: int) -> "Iterator[str]":
    yield from _hang("", f"{profile.name}: {profile.summary}", width)
    versions = f" ({profile.version_range})" if profile.version_range else ""
    yield from _hang("", profile.platform + versions, width)
    yield from _paths(profile, width)
    facts = {point.id: _facts(point) for point in profile.points}
    first, *others = facts.values()
    common = {key: text for key, text in first.items() if all(o.get(key) == text for o in others)}
    if others and common:
        yield from ("", "Every point")
        yield from _labelled(common, width)
    for point in _in_order(profile):
        own = {
            key: text for key, text in facts[point.id].items() if not others or key not in common
        }
        yield from _point(point, own, width)
    if profile.pitfalls:
        yield from ("", "Beware")
        for text in profile.pitfalls:
            yield from _hang("  - ", text, width)
    yield from ("", "Sources")
    for name, text in profile.sources.items():
        yield from _hang(f"  {name}: ", text, width, indent=6)


def _paths(profile: "Profile", width: int) -> "Iterator[str]":
    for way, title in WAYS.items():
        along = profile.along(way)
        if along:
            extent = f", {EXTENTS[profile.extent]}" if way == "tx" else ""
            yield from ("", f"{title}{extent}")
            yield from _joined([point.id for point in along], " → ", width)
    alone = [p.id for p in profile.points if p.order_tx is None and p.order_rx is None]
    if alone:
        yield from ("", "On neither path")
        yield from _joined(alone, ", ", width)


def _joined(names: "Sequence[str]", separator: str, width: int) -> "Iterator[str]":
    text = separator.join(name.replace(" ", "\0") for name in names)
    for line in wrap(text, width - 2, break_long_words=False, break_on_hyphens=False):
        yield "  " + line.replace("\0", " ")


def _in_order(profile: "Profile") -> "list[ProfilePoint]":
    """Points of the way out, then those of the way back only, then those on neither."""
    listed = [*profile.along("tx"), *profile.along("rx"), *profile.points]
    return list({point.id: point for point in listed}.values())


def _facts(point: "ProfilePoint") -> dict[str, str]:
    clock = point.clock
    scale = SCALES.get(clock.timescale, clock.timescale.upper())
    snap = "unknown" if point.default_snaplen is None else f"{point.default_snaplen} bytes"
    unit = f"; times in {point.ts_unit_hint}" if point.ts_unit_hint else ""
    facts = {
        "tunnel": _tunnel(point),
        "frames": f"{FRAMES[point.segmentation]}; L4 checksums {point.l4_checksum}; "
        f"{TAGS[point.vlan]}; {TIMES_SEEN[point.multiplicity]}",
        "direction": DIRECTIONS[point.direction_source] + RELATIVE[point.dir_semantics],
        "changes": ", ".join(point.rewrites),
        "clock": f"{OWNERS[clock.domain]}, {scale}, from the {clock.source}, {SHARED[clock.shared]}"
        + _wraps(point),
        "timestamp": point.stamp_position,
        "captures": f"{', '.join(point.file_formats)}; default snap length {snap}{unit}",
        "less sure": "; ".join(_unsure(point)),
    }
    return {key: text for key, text in facts.items() if text}


def _unsure(point: "ProfilePoint") -> "Iterator[str]":
    for word, keys in (("inferred", point.inferred), ("assumed", point.assumed)):
        if keys:
            yield f"{word}: {', '.join(sorted(set(keys))).replace('_', ' ')}"


def _tunnel(point: "ProfilePoint") -> str:
    kinds = [
        encap.kind + (f" on UDP {', '.join(map(str, encap.udp_ports))}" if encap.udp_ports else "")
        for encap in point.encaps
    ]
    words = {
        "no": "not encapsulated",
        "yes": "encapsulated",
        "both": "may be encapsulated",
        "unknown": "encapsulation unknown",
    }
    found = words[point.encapsulated]
    return f"{found} in {', '.join(kinds)}" if kinds else found


def _wraps(point: "ProfilePoint") -> str:
    clock = point.clock
    if clock.modulus_ticks is not None and clock.freq_hz:
        return f"; {clock.modulus_ticks} ticks of {clock.freq_hz} a second, then from 0 again"
    return f"; from 0 again every {clock.modulus_ns} ns" if clock.modulus_ns else ""


def _point(point: "ProfilePoint", facts: dict[str, str], width: int) -> "Iterator[str]":
    places = (point.place,) if point.place else ()
    yield ""
    yield f"{point.id}  ({SIDES[point.side]}, {_position(point)}; {point.confidence})"
    yield from _hang("  ", point.meaning, width)
    yield from _labelled(facts, width)
    yield from _hang("  " + "files".ljust(LABEL), ", ".join((*point.patterns, *places)), width)
    for line in point.commands:
        yield from _command(line, point.shell, width)
    for text in point.pitfalls:
        yield from _hang("  " + "beware".ljust(LABEL), text, width)
    yield from _hang("  " + "sources".ljust(LABEL), ", ".join(point.sources), width)


def _position(point: "ProfilePoint") -> str:
    ranks = [
        f"{rank} on the way {way}"
        for rank, way in ((point.order_tx, "out"), (point.order_rx, "back"))
        if rank is not None
    ]
    return ", ".join(ranks) or "on neither path"


def _labelled(facts: dict[str, str], width: int) -> "Iterator[str]":
    for label, text in facts.items():
        yield from _hang("  " + label.ljust(LABEL), text, width)


def _hang(head: str, text: str, width: int, indent: int | None = None) -> list[str]:
    later = " " * (len(head) if indent is None else indent)
    return wrap(text, width, initial_indent=head, subsequent_indent=later, break_on_hyphens=False)


def _command(text: str, shell: str, width: int) -> "Iterator[str]":
    """Fold a command where its shell lets a line go on, never inside quotes."""
    line, mark = "  $ ", CONTINUED.get(shell)
    for word in re.findall(r"'[^']*'|\"[^\"]*\"|\S+|^\s+", text):
        if mark and len(line) + len(word) + len(mark) > width and line.strip() != "$":
            yield line.rstrip() + mark
            line = " " * 6
        line += word if word.isspace() else f"{word} "
    yield line.rstrip()
