"""The packets of one connection around one of them, in the order of time: a sequence diagram."""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import and_

from pcaplat.errors import InputError
from pcaplat.records import dataclass
from pcaplat.tables.columns import Row
from pcaplat.tracing.captured_frames import headers_of
from pcaplat.tracing.headers import Header
from pcaplat.tracing.journey import Journey, journeys_of
from pcaplat.tracing.stored_result import Expression, FrameName, StoredResult

AROUND_NS = 1_000_000_000
"""The connection's packets are looked for so long before and behind the one that is named."""
ENDS = (("src", "src_port"), ("dst", "dst_port"))
OF_A_STATION = ("point", "file", "frame", "t_ns", "aligned_ns", "status")
OF_AN_ARROW = ("up_point", "down_point", "latency_ns")


def flow_around(result: StoredResult, frame: FrameName, n_most: int) -> tuple[Row, list[str]]:
    """Give the packets of a frame's connection that are nearest to it.

    Returns:
        The flow as a trace's document has it, and what of the captures could not be read.

    Raises:
        InputError: There is no such frame, or it is no IP.
    """
    [journey] = journeys_of(result, [frame])
    named = journey.start
    if named["src"] is None:
        raise InputError(f"{frame.file}:{frame.frame}: is no IP packet, so of no flow")
    rows = _rows_near(result, named)
    firsts = _first_seen(rows, _clock_of(named))
    at = next((n for n, row in enumerate(firsts) if _key(row) == _key(named)), 0)
    start = max(0, min(at - n_most // 2, len(firsts) - n_most))
    shown = firsts[start : start + n_most]
    journeys = journeys_of(result, [FrameName(row["file"], row["frame"]) for row in shown])
    captured = headers_of(result, [each.sightings[0] for each in journeys])
    packets = _with_directions([*_packets(journeys, captured.by_frame)])
    ends = [_end(named, *names) for names in ENDS]
    flow = {
        "ends": ends,
        "protocol": named["protocol"],
        "points": result.path,
        "n_packets": len(firsts),
        "packets": packets,
    }
    return flow, [*captured.problems]


def _rows_near(result: StoredResult, named: Row) -> list[Row]:
    """Give the rows of both directions of a connection, near in time."""
    import pyarrow.compute as pc  # noqa: PLC0415 - slow to import, seldom needed

    there = [name for end in ENDS for name in end]
    is_of = _equal(there, named, there) | _equal(there, named, [*there[2:], *there[:2]])
    clock = _clock_of(named)
    time = pc.field(clock)
    is_near = (time >= named[clock] - AROUND_NS) & (time <= named[clock] + AROUND_NS)
    is_same = pc.field("protocol") == named["protocol"]
    kept = ["point", "file", "frame", "t_ns", "aligned_ns", "trajectory_id", "status"]
    return result.rows("packets", is_near & is_same & is_of, kept)


def _equal(columns: Sequence[str], named: Row, others: Sequence[str]) -> Expression:
    import pyarrow.compute as pc  # noqa: PLC0415 - likewise

    pairs = zip(columns, others, strict=True)
    each = [pc.field(one) == named[other] for one, other in pairs if named[other] is not None]
    return reduce(and_, each)


def _clock_of(row: Row) -> str:
    """Times of several points compare on the reference clock alone."""
    return "t_ns" if row["aligned_ns"] is None else "aligned_ns"


def _key(row: Row) -> tuple[object, ...]:
    whole = row["trajectory_id"]
    return (row["file"], row["frame"]) if whole is None else (whole,)


def _first_seen(rows: Sequence[Row], clock: str) -> list[Row]:
    """Give of each packet the frame that was seen first, in the order of time."""
    timed = [row for row in rows if row[clock] is not None and row["status"] != "duplicate"]
    firsts: dict[tuple[object, ...], Row] = {}
    for row in sorted(timed, key=lambda row: (row[clock], row["file"], row["frame"])):
        firsts.setdefault(_key(row), row)
    return [*firsts.values()]


def _packets(
    journeys: Sequence[Journey], headers: Mapping[FrameName, list[Header]]
) -> Iterator[Row]:
    sent: dict[str, int] = {}
    for journey in journeys:
        first = journey.sightings[0]
        own = headers.get(FrameName(first["file"], first["frame"]), [])
        segment = _tcp_segment(own)
        source = _end(first, *ENDS[0])
        yield {
            "t_ns": first[_clock_of(first)],
            "trajectory_id": first["trajectory_id"],
            "direction": journey.direction,
            "source": source,
            "label": segment.label if segment else f"{first['wire_bytes']} bytes",
            "is_retransmission": bool(
                segment and journey.is_followed and segment.was_sent(sent.get(source))
            ),
            "sightings": [{name: row[name] for name in OF_A_STATION} for row in journey.sightings],
            "segments": [{name: row[name] for name in OF_AN_ARROW} for row in journey.crossings],
            "lost": [{name: row[name] for name in ("near", "far")} for row in journey.losses],
        }
        if segment and segment.n_numbers and not segment.was_sent(sent.get(source)):
            sent[source] = segment.end


@dataclass(frozen=True)
class TcpSegment:
    """What a TCP header says of the stream."""

    flags: str
    sequence: int
    n_bytes: int
    """Of payload."""

    @property
    def n_numbers(self) -> int:
        """How many sequence numbers it takes: SYN and FIN take one each (RFC 9293 §3.4)."""
        return self.n_bytes + sum(flag in self.flags for flag in ("SYN", "FIN"))

    @property
    def end(self) -> int:
        """The number behind its last byte."""
        return (self.sequence + self.n_numbers) % 2**32

    def was_sent(self, sent: int | None) -> bool:
        """Tell whether all of it lies before the number that was sent up to."""
        return sent is not None and self.n_numbers > 0 and (sent - self.end) % 2**32 < 2**31

    @property
    def label(self) -> str:
        """The header in short."""
        unit = "byte" if self.n_bytes == 1 else "bytes"
        return f"{self.flags} seq {self.sequence}, {self.n_bytes} {unit}"


def _tcp_segment(headers: Sequence[Header]) -> TcpSegment | None:
    """Read the innermost TCP header; None where it is none, or was not captured whole."""
    if len(headers) < 2 or headers[-1][0] != "tcp":  # noqa: PLR2004 - TCP, and IP around it
        return None
    (network, around), (_, fields) = headers[-2:]
    try:
        n_bytes = int(around["length"]) - int(fields["header length"])
        n_bytes -= int(around["header length"]) if network == "ipv4" else 0
        return TcpSegment(fields["flags"], int(fields["sequence number"]), n_bytes)
    except KeyError:
        return None


def _end(row: Row, address: str, port: str) -> str:
    if row[port] is None:
        return str(row[address])
    host = f"[{row[address]}]" if ":" in row[address] else row[address]
    return f"{host}:{row[port]}"


def _with_directions(packets: Sequence[Row]) -> list[Row]:
    """Let what was matched nowhere go the way that other packets of its sender go."""
    known = {row["source"]: row["direction"] for row in packets if row["direction"]}
    return [{**row, "direction": known.get(row["source"])} for row in packets]
