"""One packet's way along the path: its sightings, what each segment did to it, its end."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from pcaplat.errors import InputError
from pcaplat.records import dataclass
from pcaplat.tables.columns import Row
from pcaplat.tracing.captured_frames import headers_of
from pcaplat.tracing.headers import Header, changes_between
from pcaplat.tracing.stored_result import FrameName, StoredResult

COPIES_WITHIN_NS = 50_000_000
"""Copies come within 2 ms of each other (docs/method/match.md), by a file's times, which may be
rounded or given to frames in batches."""
MOST_PIECES = 1024
"""Frames that one packet is followed into where it was cut and joined."""

OF_A_SIGHTING = (
    *("point", "file", "frame", "t_ns", "aligned_ns", "status", "layers", "src", "src_port"),
    *("dst", "dst_port", "protocol", "tunnel_id", "wire_bytes", "captured_bytes"),
)
OF_A_CROSSING = (
    *("direction", "up_point", "up_file", "up_frame", "down_point", "down_file", "down_frame"),
    *("kind", "latency_ns", "latency_lo_ns", "latency_hi_ns", "matched_by", "probability"),
)
OF_A_LOSS = ("near", "far", "direction", "weight", "told_by")
ADDRESSES = {"source": "src", "destination": "dst"}
PORTS = {"source port": "src_port", "destination port": "dst_port"}


@dataclass(frozen=True)
class Journey:
    """The rows of one packet: its frames in the order in which they were passed, its matches."""

    start: Row
    sightings: Sequence[Row]
    crossings: Sequence[Row]
    losses: Sequence[Row]

    @property
    def direction(self) -> str | None:
        """Forward or reverse; None where nothing was matched and nothing was lost."""
        rows = [*self.crossings, *self.losses]
        return rows[0]["direction"] if rows else None

    @property
    def is_followed(self) -> bool:
        """Whether it is known which packet it is; if not, it may be a copy of another."""
        return self.direction is not None


def journeys_of(result: StoredResult, frames: Sequence[FrameName]) -> list[Journey]:
    """Follow the packets of some frames, each packet once.

    Raises:
        InputError: The result has no such frame.
    """
    starts = {_name(row): row for row in result.packets_at(frames)}
    for frame in frames:
        if frame not in starts:
            raise InputError(
                f"{frame.file}:{frame.frame}: the result has no such frame; frames count from 1, "
                "and those that were not asked for (--filter, --from, --to, --sample) have no row"
            )
    matches = _matches_around(result, [*starts.values()])
    ways = {frame: _crossings(row, matches) for frame, row in starts.items()}
    rows = _rows_on(result, ways.values(), starts)
    losses = result.losses_at(rows)
    journeys: list[Journey] = []
    seen: set[FrameName] = set()
    for frame in dict.fromkeys(frames):
        if frame not in seen:
            own = _own_rows(starts[frame], ways[frame], rows)
            names = {*map(_name, own)}
            lost = [row for row in losses if _name(row) in names]
            journeys.append(_in_order(result.path, starts[frame], own, ways[frame], lost))
            seen |= names
    return journeys


def _matches_around(result: StoredResult, starts: Sequence[Row]) -> list[Row]:
    """Give the matches of packets, and of frames that hold their bytes in other pieces."""
    wholes = {row["trajectory_id"] for row in starts} - {None}
    rows = result.matches_of(wholes)
    known = {*map(_name, starts)} | {end for row in rows for end in _ends(row)}
    for end in ("down", "up"):
        seen, reached = set(known), set(known)
        while reached and len(seen) < MOST_PIECES + len(known):
            more = result.matches_at(reached, end)
            rows += more
            reached = {_ends(row)[end == "up"] for row in more} - seen
            seen |= reached
    return [*{_ends(row): row for row in rows}.values()]


def _crossings(start: Row, matches: Sequence[Row]) -> list[Row]:
    """Give those matches that are of one trajectory, or lead to a frame and on from it."""
    whole = start["trajectory_id"]
    own = [row for row in matches if whole is not None and row["trajectory_id"] == whole]
    pieces = [row for row in matches if row["trajectory_id"] is None]
    known = {_name(start)} | {end for row in own for end in _ends(row)}
    for side in (1, 0):
        reached = set(known)
        while reached:
            more = [row for row in pieces if _ends(row)[side] in reached and row not in own]
            own += more
            reached = {_ends(row)[1 - side] for row in more}
    return own


def _rows_on(
    result: StoredResult, ways: Iterable[Sequence[Row]], starts: Mapping[FrameName, Row]
) -> dict[FrameName, Row]:
    """Give the rows of all frames in some matches, and of copies of them."""
    ends = {end for way in ways for row in way for end in _ends(row)}
    rows = [*starts.values(), *result.packets_at(ends - starts.keys())]
    originals = [row for row in rows if row["trajectory_id"] is not None]
    return {_name(row): row for row in [*rows, *result.copies_of(originals, COPIES_WITHIN_NS)]}


def _own_rows(start: Row, way: Sequence[Row], rows: Mapping[FrameName, Row]) -> list[Row]:
    whole = start["trajectory_id"]
    own = {_name(start)} | {end for row in way for end in _ends(row)}
    if whole is not None:
        own |= {name for name, row in rows.items() if row["trajectory_id"] == whole}
    return [rows[name] for name in own]


def _in_order(
    path: Sequence[str], start: Row, rows: list[Row], crossings: list[Row], losses: list[Row]
) -> Journey:
    is_reverse = any(row["direction"] == "reverse" for row in [*crossings[:1], *losses[:1]])
    place = {point: at for at, point in enumerate(path)}
    sign = -1 if is_reverse else 1
    rows.sort(key=lambda row: (sign * place.get(row["point"], len(place)), row["t_ns"]))
    order = {_name(row): at for at, row in enumerate(rows)}
    crossings.sort(key=lambda row: [order[end] for end in _ends(row)])
    return Journey(start, rows, crossings, losses)


def _name(row: Row) -> FrameName:
    return FrameName(row["file"], row["frame"])


def _ends(row: Row) -> tuple[FrameName, FrameName]:
    up, down = ((row[f"{end}_file"], row[f"{end}_frame"]) for end in ("up", "down"))
    return FrameName(*up), FrameName(*down)


def packets_of(result: StoredResult, journeys: Sequence[Journey]) -> tuple[list[Row], list[str]]:
    """Give each packet as a trace's document has it, and what of the captures cannot be read."""
    captured = headers_of(result, [row for each in journeys for row in each.sightings])
    packets = [
        {
            "trajectory_id": each.start["trajectory_id"],
            "direction": each.direction,
            "sightings": [{name: row[name] for name in OF_A_SIGHTING} for row in each.sightings],
            "segments": [_segment(each, row, captured.by_frame) for row in each.crossings],
            "lost": [{name: row[name] for name in OF_A_LOSS} for row in each.losses],
            **_gaps(result, each),
        }
        for each in journeys
    ]
    return packets, [*captured.problems]


def _segment(journey: Journey, crossing: Row, headers: Mapping[FrameName, list[Header]]) -> Row:
    near, far = ("down", "up") if crossing["direction"] == "reverse" else ("up", "down")
    rows = {_name(row): row for row in journey.sightings}
    before, after = (rows[name] for name in _ends(crossing))
    # headers of the one and columns of the other would differ in all that columns do not have
    has_bytes = all(name in headers for name in _ends(crossing))
    of_row = headers.get if has_bytes else None
    pair = [
        of_row(_name(row), []) if of_row else _headers_in_columns(row) for row in (before, after)
    ]
    return {
        "near": crossing[f"{near}_point"],
        "far": crossing[f"{far}_point"],
        **{name: crossing[name] for name in OF_A_CROSSING},
        "changes": [asdict(change) for change in changes_between(*pair)],
        "wire_bytes_before": before["wire_bytes"],
        "wire_bytes_after": after["wire_bytes"],
    }


def _headers_in_columns(row: Row) -> list[Header]:
    """Give what the table knows of the headers: layers, and the innermost addresses."""
    layers: list[Header] = [(name, {}) for name in row["layers"].split("/")]
    columns = {"ipv4": ADDRESSES, "ipv6": ADDRESSES, "tcp": PORTS, "udp": PORTS}
    for name, fields in reversed(layers):
        for field, column in columns.pop(name, {}).items():
            if row[column] is not None:
                fields[field] = str(row[column])
    return layers


def _gaps(result: StoredResult, journey: Journey) -> Row:
    """Say which points on the way have no frame of the packet, and how it ended."""
    passed = {row["point"] for row in journey.sightings}
    jumped = {
        point
        for row in journey.crossings
        for point in result.between(row["up_point"], row["down_point"])
    }
    ahead = result.behind(journey.sightings[-1]["point"], journey.direction)
    if journey.losses:
        end = "lost"
    elif journey.direction is None:
        end = "unmatched"
    else:
        end = "not-captured-further" if ahead else "arrived"
    not_captured = [point for point in result.path if point in jumped - passed]
    return {"not_captured_at": not_captured, "end": end, "next_points": ahead}
