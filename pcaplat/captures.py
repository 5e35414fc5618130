"""Captures as the user names them, and the capture points in them."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from pcaplat.errors import InputError
from pcaplat.path import Point, Warn

COMPRESSED = (".gz", ".zst", ".lz4", ".xz", ".bz2")
CAPTURE = (".pcap", ".pcapng", ".cap", ".ntar", ".dmp")

LINKS = {
    0: "null",
    1: "ethernet",
    12: "raw",
    14: "raw",
    101: "raw",
    108: "loop",
    113: "linux-sll",
    228: "ipv4",
    229: "ipv6",
    276: "linux-sll2",
}
"""Link types that are decoded, by LINKTYPE number (tcpdump.org/linktypes.html)."""


NO_LINK = 0xFFFF
"""Records that Wireshark counts as frames but that are no packets (rust/src/file/mod.rs)."""


@dataclass(frozen=True)
class Capture:
    """One file: its path, its name in results, the point it was given for (None: its stem)."""

    path: str
    name: str
    point: str | None


def parse_captures(given: Sequence[str | PathLike[str]], spool: Path) -> list[Capture]:
    """Read PATH, POINT=PATH and `-`; what comes through a pipe is spooled into `spool`.

    Raises:
        InputError: A file is given twice.
    """
    captures = [_parse(fspath(text), spool) for text in given]
    seen: set[str] = set()
    for one in captures:
        if one.path in seen:
            raise InputError.given_twice(one.name)
        seen.add(one.path)
    return captures


def _parse(text: str, spool: Path) -> Capture:
    point, equals, path = text.partition("=")
    is_named = bool(equals and point and path) and "/" not in point and not Path(text).exists()
    name = path if is_named else text
    place = name
    if name == "-":
        place = str(spool / "stdin")
        with Path(place).open("wb") as copy:
            shutil.copyfileobj(sys.stdin.buffer, copy, 1 << 20)
        name = "stdin"
    return Capture(place, name, point if is_named else None)


def stem(name: str) -> str:
    """Name of a file without folders, compression and format.

    Example:
        >>> stem("/captures/uplink.pcap.zst"), stem("a.b.pcapng"), stem("trace")
        ('uplink', 'a.b', 'trace')
    """
    path = Path(name)
    path = path.with_suffix("") if path.suffix in COMPRESSED else path
    path = path.with_suffix("") if path.suffix in CAPTURE else path
    return path.name


def find_points(
    captures: Sequence[Capture], facts: Sequence[Mapping[str, Any]]
) -> tuple[list[Point], list[list[int | None]]]:
    """Tell which points there are, and for each file and interface which one it is of.

    A file with one interface is one point; one with several is several, `STEM/INTERFACE`. Several
    files given for one point are consecutive files of one capture. Files with equal stems are told
    apart by their folders.
    """
    names = _point_names(captures)
    sources: dict[str, list[tuple[int, int]]] = {}
    seen: dict[str, list[Mapping[str, Any]]] = {}
    for file, (name, of_file) in enumerate(zip(names, facts, strict=True)):
        interfaces = of_file["interfaces"]
        for one in interfaces:
            label = one["name"] or f"if{one['interface']}"
            full = name if len(interfaces) == 1 else f"{name}/{label}"
            sources.setdefault(full, []).append((file, one["interface"]))
            seen.setdefault(full, []).append(one)
    points = [_point(name, tuple(sources[name]), seen[name]) for name in sources]
    point_of: list[list[int | None]] = [
        [None] * (1 + max((one["interface"] for one in of_file["interfaces"]), default=-1))
        for of_file in facts
    ]
    for i, point in enumerate(points):
        for file, interface in point.sources:
            point_of[file][interface] = i
    return points, point_of


def _point_names(captures: Sequence[Capture]) -> list[str]:
    stems = [one.point or stem(one.name) for one in captures]
    return [
        f"{Path(one.name).parent.name}/{name}"
        if one.point is None and stems.count(name) > 1 and Path(one.name).parent.name
        else name
        for one, name in zip(captures, stems, strict=True)
    ]


def _point(
    name: str, sources: tuple[tuple[int, int], ...], interfaces: Sequence[Mapping[str, Any]]
) -> Point:
    return Point(
        name=name,
        sources=sources,
        resolution_ns=max(resolution_ns(one) for one in interfaces),
        first_t_ns=min(one["first_t_ns"] for one in interfaces),
        last_t_ns=max(one["last_t_ns"] for one in interfaces),
        disorder_ns=max(one["disorder_ns"] for one in interfaces),
    )


def resolution_ns(interface: Mapping[str, Any]) -> float:
    """Give the coarser of what the file declares and what its stamps show, ns.

    Few stamps may be round by chance: they show nothing.
    """
    enough = 100
    shown = interface["observed_resolution_ns"] if interface["n_frames"] >= enough else 0
    return float(max(interface["declared_resolution_ns"], shown))


def capture_rows(
    captures: Sequence[Capture],
    facts: Sequence[Mapping[str, Any]],
    points: Sequence[Point],
    point_of: Sequence[Sequence[int | None]],
) -> list[dict[str, Any]]:
    """One row per file and interface, as in summary.json."""
    rows = []
    for capture, of_file, points_here in zip(captures, facts, point_of, strict=True):
        for one in of_file["interfaces"]:
            point = points_here[one["interface"]]
            row = {
                "file": capture.name,
                "point": points[point].name if point is not None else stem(capture.name),
                "n_frames": one["n_frames"],
                "n_undecoded": one["n_undecoded"],
                "resolution_ns": resolution_ns(one),
                "link": LINKS.get(one["link"], f"link type {one['link']}"),
                "is_truncated": of_file["is_truncated"],
            }
            rows.append(row)
        if not of_file["interfaces"]:
            rows.append(_empty_row(capture, of_file))
    return rows


def _empty_row(capture: Capture, of_file: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "file": capture.name,
        "point": capture.point or stem(capture.name),
        "n_frames": 0,
        "n_undecoded": 0,
        "resolution_ns": None,
        "link": "unknown",
        "is_truncated": of_file["is_truncated"],
    }


def warn_of_files(captures: Sequence[Capture], facts: Sequence[Mapping[str, Any]]) -> list[Warn]:
    """Say what is wrong with the files themselves."""
    found = []
    for capture, of_file in zip(captures, facts, strict=True):
        point = capture.point or stem(capture.name)
        for at_byte, text in of_file["damage"]:
            message = f"{capture.name}: byte {at_byte}: {text}; what came before is used"
            found.append(Warn("damaged-capture", point, message))
        if not of_file["interfaces"] and not of_file["damage"]:
            message = f"{capture.name}: holds no frame; was the filter too narrow, or the capture stopped too soon?"
            found.append(Warn("empty-capture", point, message))
        for one in of_file["interfaces"]:
            found += _warn_of_interface(capture.name, point, one)
    return found


def _warn_of_interface(name: str, point: str, one: Mapping[str, Any]) -> list[Warn]:
    found = []
    if one["link"] not in LINKS and one["link"] != NO_LINK:
        text = f"{name}: link type {one['link']} is not decoded; capture on an interface with Ethernet, IP or Linux cooked frames"
        found.append(Warn("unknown-link", point, text))
    if one["n_dropped"]:
        text = f"{name}: the capture itself dropped {one['n_dropped']} packets; they count as not seen there, not as lost"
        found.append(Warn("capture-drops", point, text))
    return found
