"""A trace: each packet's sightings, what every segment did to it, its end, and its connection."""

from collections.abc import Iterator
from pathlib import PurePath

from pcaplat.outputs.report import (
    Drawing,
    Entries,
    Entry,
    Field,
    Grid,
    Paragraph,
    Report,
    Section,
    Title,
    warnings_of,
)
from pcaplat.outputs.reports.trace.ladder import ladder_lines
from pcaplat.tables.columns import Row
from pcaplat.units import format_instant, format_ns

COLUMNS = (
    *("packet", "trajectory_id", "direction", "point", "file", "frame", "t_ns", "aligned_ns"),
    *("status", "latency_ns", "latency_lo_ns", "latency_hi_ns", "kind", "layers", "wire_bytes"),
    "end",
)
PROTOCOLS = {1: "ICMP", 6: "TCP", 17: "UDP", 58: "ICMPv6", 132: "SCTP"}
ENDS = {
    "arrived": "Captured at {last}, where the path ends",
    "unmatched": "Captured nowhere else, and which way it went is not known",
    "not-captured-further": "Not captured behind {last}: not at {ahead}",
}

AMBIGUOUS = "Ambiguous: equal packets were captured, and which of them this one is, is not known"


def report(document: Row) -> Report:
    """Say where each packet was seen; a row for each sighting."""
    return Report(document, COLUMNS, _rows(document), _sections(document))


def _rows(document: Row) -> Iterator[Row]:
    for number, packet in enumerate(document["packets"], 1):
        into = {(row["down_file"], row["down_frame"]): row for row in packet["segments"]}
        for seen in packet["sightings"]:
            segment = into.get((seen["file"], seen["frame"]), {})
            row = {"packet": number, **packet, **segment, **seen}
            yield {name: row.get(name) for name in COLUMNS}


def _sections(document: Row) -> Iterator[Section]:
    for packet in document["packets"]:
        yield Title(_title(packet), _source(packet))
        yield _sightings(packet)
        if changes := _changes(packet):
            yield Entries(changes, "behind")
        yield Paragraph(_end(packet), is_indented=True)
    if not document["packets"]:
        yield Paragraph(document["why_none"])
    if (left := document["n_chosen"] - len(document["packets"])) > 0 and document["flow"] is None:
        yield Paragraph(f"{left:,} more; --most N shows N")
    if flow := document["flow"]:
        yield from _flow(flow)
    for text in warnings_of(document):
        yield Paragraph(text)


def _title(packet: Row) -> str:
    seen = packet["sightings"][0]
    ends = [
        address if port is None else f"{address}:{port}"
        for address, port in ((seen["src"], seen["src_port"]), (seen["dst"], seen["dst_port"]))
    ]
    what = PROTOCOLS.get(seen["protocol"], f"protocol {seen['protocol']}")
    return f"{what} {ends[0]} → {ends[1]}" if seen["src"] else f"Packet {seen['layers']}"


def _source(packet: Row) -> str:
    seen = packet["sightings"][0]
    whole = packet["trajectory_id"]
    about = [
        format_instant(seen["t_ns"] if seen["aligned_ns"] is None else seen["aligned_ns"]),
        packet["direction"] or "direction unknown",
        "no trajectory" if whole is None else f"trajectory {whole}",
    ]
    return ", ".join(about)


def _sightings(packet: Row) -> Grid:
    rows = packet["sightings"]
    into = {(row["down_file"], row["down_frame"]): row for row in packet["segments"]}
    segments = [into.get((row["file"], row["frame"])) for row in rows]
    fields = [
        Field("point", [row["point"] for row in rows]),
        Field("frame", [f"{PurePath(row['file']).name}:{row['frame']}" for row in rows]),
        Field("latency", [format_ns(row["latency_ns"]) if row else "" for row in segments]),
        Field("between", [_interval(row) for row in segments], rank=2),
        Field("since first", _since_first(rows), rank=3),
        Field("bytes", [str(row["wire_bytes"]) for row in rows], rank=4),
        Field("status", [row["status"] for row in rows], rank=1, is_left=True),
    ]
    return Grid("", fields)


def _interval(segment: Row | None) -> str:
    if not segment or segment["latency_lo_ns"] is None:
        return ""
    return f"{format_ns(segment['latency_lo_ns'])} … {format_ns(segment['latency_hi_ns'])}"


def _since_first(rows: list[Row]) -> list[str]:
    first = rows[0]["aligned_ns"]
    return [
        "–" if first is None or row["aligned_ns"] is None else format_ns(row["aligned_ns"] - first)
        for row in rows
    ]


def _changes(packet: Row) -> list[Entry]:
    entries = []
    for segment in packet["segments"]:
        texts = [_change(change) for change in segment["changes"]]
        if segment["kind"] != "packet":
            texts.insert(0, f"cut or joined ({segment['kind']})")
        if texts:
            head = f"{segment['up_point']} → {segment['down_point']}"
            entries.append(Entry(head, ["; ".join(texts)]))
    return entries


def _change(change: Row) -> str:
    before, after = change["before"], change["after"]
    layer, field = change["layer"], change["field"]
    layer = f"outer {layer}" if change["is_outer"] else layer
    if before is None:
        return f"+ {layer}" + (f" ({after})" if after else "")
    if after is None:
        return f"− {layer}" + (f" ({before})" if before else "")
    return f"{layer} {field} {before} → {after}"


def _end(packet: Row) -> str:
    gaps = packet["not_captured_at"]
    missed = f"; not captured at {', '.join(gaps)} on the way" if gaps else ""
    if packet["lost"]:
        places = (f"{row['near']}–{row['far']}" + _weight(row) for row in packet["lost"])
        return f"Lost on {', '.join(places)}{missed}"
    last = packet["sightings"][-1]["point"]
    if packet["end"] == "unmatched" and packet["sightings"][0]["status"] == "ambiguous":
        return AMBIGUOUS
    text = ENDS[packet["end"]].format(last=last, ahead=", ".join(packet["next_points"]))
    return text + missed


def _weight(loss: Row) -> str:
    return "" if loss["weight"] == 1 else f" (with weight {loss['weight']:.2f})"


def _flow(flow: Row) -> Iterator[Section]:
    n_shown, n_packets = len(flow["packets"]), flow["n_packets"]
    what = PROTOCOLS.get(flow["protocol"], f"protocol {flow['protocol']}")
    shown = f"{n_shown:,} of {n_packets:,} packets within a second"
    yield Title(f"{what} {flow['ends'][0]} ⇄ {flow['ends'][1]}", shown)
    yield Drawing(lambda width: ladder_lines(flow, width))
