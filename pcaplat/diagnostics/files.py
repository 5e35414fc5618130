"""What is known of the capture files themselves: their rows in the summary, and what is wrong."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from pcaplat.diagnostics.catalogue import diagnose
from pcaplat.diagnostics.stamps import check_stamps, stamp_columns
from pcaplat.errors import InputError
from pcaplat.model.clocks import RelationKind
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.files.captures import (
    Capture,
    FileState,
    is_decoded,
    resolution_ns,
    states_of,
    stem,
)
from pcaplat.model.files.files_to_points import FoundPoints
from pcaplat.model.files.late_stamps import late_ns, mirror_wait_ns
from pcaplat.model.files.stamping import Stamping
from pcaplat.model.points import Point, PointTree
from pcaplat.model.sampled import FileFacts, InterfaceFacts
from pcaplat.units import format_ns

LINKS = {
    0: "null",
    1: "ethernet",
    8: "slip",
    9: "ppp",
    12: "raw",
    14: "raw",
    50: "ppp-hdlc",
    51: "pppoe",
    101: "raw",
    104: "c-hdlc",
    107: "frame-relay",
    108: "loop",
    113: "linux-sll",
    149: "pktap",
    178: "juniper-ethernet",
    179: "juniper-ppp",
    180: "juniper-frame-relay",
    181: "juniper-c-hdlc",
    192: "ppi",
    197: "erf",
    228: "ipv4",
    229: "ipv6",
    239: "nflog",
    252: "upper-pdu",
    258: "pktap",
    274: "mpacket",
    276: "linux-sll2",
    281: "dsa-brcm",
    282: "dsa-brcm-prepend",
    284: "dsa",
    285: "edsa",
}
"""Names of the link types that are decoded, by LINKTYPE number (tcpdump.org/linktypes.html)."""


def capture_rows(
    captures: Sequence[Capture],
    facts: Sequence[FileFacts],
    found: FoundPoints,
    said: Sequence[Stamping],
) -> list[dict[str, Any]]:
    """One row per file and point, as in summary.json; `said` is of each file's stamps."""
    rows = []
    for file, (capture, of_file) in enumerate(zip(captures, facts, strict=True)):
        for name, one, (n_frames, n_undecoded) in found.rows(file, of_file.interfaces):
            row = {
                "file": capture.name,
                "point": name,
                "n_frames": n_frames,
                "n_undecoded": n_undecoded,
                "resolution_ns": resolution_ns(one),
                "batch_ns": late_ns(one),
                "mirror_wait_ns": mirror_wait_ns(one),
                "link": LINKS.get(one.link, f"link type {one.link}"),
                "longest_bytes": one.longest_bytes,
                "is_truncated": of_file.is_truncated,
            }
            rows.append(row | said[file].columns | stamp_columns(one.stamps))
        if not of_file.interfaces:
            rows.append(_empty_row(capture, of_file) | said[file].columns | stamp_columns(None))
    return rows


def _empty_row(capture: Capture, of_file: FileFacts) -> dict[str, Any]:
    return {
        "file": capture.name,
        "point": capture.point or stem(capture.name),
        "n_frames": 0,
        "n_undecoded": 0,
        "resolution_ns": None,
        "batch_ns": 0,
        "mirror_wait_ns": None,
        "link": "unknown",
        "longest_bytes": 0,
        "is_truncated": of_file.is_truncated,
    }


def unseen_clock_rows(
    captures: Sequence[Mapping[str, Any]], clocks: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Give the rows of clocks that nothing is known of, because no frame was captured by them.

    Args:
        captures: The summary's captures.
        clocks: Its clocks so far, at least one.
    """
    known = {row["point"] for row in clocks}
    names = dict.fromkeys(row["point"] for row in captures if row["point"] not in known)
    unknown = dict.fromkeys(clocks[0]) | {
        "reference": clocks[0]["reference"],
        "quality": RelationKind.NONE.value,
    }
    return [unknown | {"point": name, "domain": name, "steps": []} for name in names]


def refuse_damage(captures: Sequence[Capture], facts: Sequence[FileFacts]) -> None:
    """Take damage for an error.

    Raises:
        InputError: A capture is damaged; the first damage is named.
    """
    for capture, of_file in zip(captures, facts, strict=True):
        for at_byte, text in of_file.damage:
            raise InputError.damaged(f"{capture.name}: byte {at_byte}", text)


def refuse_other_keys(captures: Sequence[Capture], facts: Sequence[FileFacts]) -> None:
    """Refuse digests of different keys, and digests beside captures: nothing in them is alike.

    Raises:
        InputError: A file of each of two kinds is named.
    """
    first_of: dict[int | None, str] = {}
    for capture, of_file in zip(captures, facts, strict=True):
        first_of.setdefault(of_file.digest_key, capture.name)
    if len(first_of) > 1:
        captured = first_of.pop(None, None)
        raise InputError.other_key(captured, list(first_of.values()))


def check_clocks(
    captures: Sequence[Capture], points: Sequence[Point], domains: Sequence[int]
) -> list[Diagnostic]:
    """Note the files that do not tell which clock is whose, where it matters."""
    points_of: dict[int, list[int]] = {}
    for i, point in enumerate(points):
        for file in {file for file, _ in point.sources}:
            points_of.setdefault(file, []).append(i)
    found = []
    for file, capture in enumerate(captures):
        if capture.clock is not None:
            continue
        own = points_of.get(file, [])
        unstated = [i for i in own if not any(at == str(file) for at, _ in points[i].clocks)]
        if unstated and len({domains[i] for i in own}) > 1:
            names = ", ".join(points[i].name for i in unstated)
            text = f"{capture.name}: combines captures; no clock is stated of {names}"
            found.append(diagnose("clock-not-stated", None, text))
    return found


def check_change(
    captures: Sequence[Capture], before: Sequence[FileState | None], *, is_strict: bool
) -> list[Diagnostic]:
    """Say which files were written to while they were read: once for the survey, once to match.

    Raises:
        InputError: One was, and damage is to be an error.
    """
    diagnostics = []
    for one, was, state in zip(captures, before, states_of(captures), strict=True):
        if state == was:
            continue
        sizes = [f"{known[0]:,} bytes" if known else "not there" for known in (was, state)]
        text = (
            f"changed while it was read (first {sizes[0]}, then {sizes[1]}), so that figures may "
            "rest on different frames; merge again when nobody writes to it"
        )
        if is_strict:
            raise InputError.damaged(one.name, text)
        diagnostics.append(
            Diagnostic("changed-capture", one.point or stem(one.name), f"{one.name}: {text}")
        )
    return diagnostics


def check_files(
    captures: Sequence[Capture],
    facts: Sequence[FileFacts],
    stamp_names: Sequence[str | None] = (),
) -> list[Diagnostic]:
    """Say what is wrong with the files themselves, and with the stamps that a profile names."""
    found = check_stamps(captures, facts, stamp_names or [None] * len(captures))
    for capture, of_file in zip(captures, facts, strict=True):
        point = capture.point or stem(capture.name)
        for at_byte, text in of_file.damage:
            message = f"{capture.name}: byte {at_byte}: {text}"
            found.append(Diagnostic("damaged-capture", point, message, file=capture.name))
        if not of_file.interfaces and not of_file.damage:
            message = f"{capture.name}: holds no frame, so no figure includes this point"
            remedy = "capture again: it may have stopped too soon, or its filter is too narrow"
            found.append(Diagnostic("empty-capture", point, message, "", remedy, capture.name))
        for one in of_file.interfaces:
            found += _check_interface(capture.name, point, one)
    return found


def _check_interface(name: str, point: str, one: InterfaceFacts) -> list[Diagnostic]:
    found = []
    if not is_decoded(one):
        found.append(Diagnostic("unknown-link", point, f"{name}: {one.why_unread}", file=name))
    if one.n_dropped:
        text = (
            f"{name}: the capture itself dropped {one.n_dropped:,} packets; they count as not "
            "captured, not as lost, except at the last point of the path"
        )
        remedy = "give it a larger buffer (tcpdump -B) or a filter"
        found.append(Diagnostic("capture-drops", point, text, "", remedy, name))
    return found


def check_overlap(
    captures: Sequence[Capture],
    facts: Sequence[FileFacts],
    points: Sequence[Point],
    divisions: Sequence[PointTree | None],
) -> list[Diagnostic]:
    """Say where files of one point are not one after the other, as those of a rotation are."""
    diagnostics = []
    seen = [{one.interface: one for one in of_file.interfaces} for of_file in facts]
    for point in points:
        sources = [(file, interface_of(divisions[file], part)) for file, part in point.sources]
        files = sorted(
            (one.first_t_ns, one.last_t_ns, one.disorder_ns, captures[file].name)
            for file, interface in sources
            if (one := seen[file].get(interface))
        )
        for (_, last_ns, disorder_ns, before), (first_ns, _, _, after) in pairwise(files):
            if first_ns < last_ns - disorder_ns:
                consequence = (
                    "if one is a copy of the other, or they are of two places, what stands in "
                    "both counts as duplicates"
                )
                text = f"{before} and {after} cover the same time: {consequence}"
                remedy = "give them different names (POINT=PATH), or leave one out"
                diagnostics.append(
                    Diagnostic("overlapping-files", point.name, text, "", remedy, after)
                )
    return diagnostics


def check_common_time(points: Sequence[Point]) -> list[Diagnostic]:
    """Say whether the files' times explain that no packet was seen at two points.

    Args:
        points: The capture points, of which no two share a packet.
    """
    first_to_end = min(points, key=lambda point: point.last_t_ns)
    last_to_start = max(points, key=lambda point: point.first_t_ns)
    gap_ns = last_to_start.first_t_ns - first_to_end.last_t_ns
    if gap_ns <= 0:
        return []
    text = (
        f"by the files' own times {first_to_end.name} ended {format_ns(gap_ns)} before "
        f"{last_to_start.name} began"
    )
    return [diagnose("no-overlap", None, text)]


def interface_of(division: PointTree | None, part: int) -> int:
    """Give the interface that a part of a file is of."""
    interface, _ = division.parts.get(part, (part, "")) if division else (part, "")
    return interface
