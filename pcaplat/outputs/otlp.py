"""OTLP: a packet a trace, a segment a span, as OpenTelemetry's JSON, one request a line."""

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, TextIO

from pcaplat.tables.columns import Row
from pcaplat.text import printable

if TYPE_CHECKING:
    from pcaplat.run.result import Result

NEEDS_ROWS = True
SPANS_PER_LINE = 1000
SCOPE = "pcaplat"
INTERNAL = 1
"""SPAN_KIND_INTERNAL."""
CLAMPED = "pcaplat.latency_ns"
"""A span cannot end before it starts: the latency itself stands beside it."""


def show_merge(result: "Result", stream: TextIO) -> None:
    """Write the packets of a result as traces (opentelemetry.io, OTLP file exporter)."""
    from pcaplat.run.merged.crossings import crossings_of

    spans: list[Row] = []
    for span in _spans(crossings_of(result)):
        spans.append(span)
        if len(spans) == SPANS_PER_LINE:
            _write(spans, stream)
            spans = []
    if spans:
        _write(spans, stream)


def _write(spans: list[Row], stream: TextIO) -> None:
    service = {"attributes": [_attribute("service.name", SCOPE)]}
    scope = {"scope": {"name": SCOPE}, "spans": spans}
    line = {"resourceSpans": [{"resource": service, "scopeSpans": [scope]}]}
    json.dump(line, stream, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    stream.write("\n")


def _spans(crossings: Iterable[Row]) -> Iterator[Row]:
    """Give a span for each packet, and in it one for each segment that it crossed."""
    whole = [row for row in crossings if row["trajectory_id"] is not None]
    whole.sort(key=lambda row: (row["trajectory_id"], row["up_ns"]))
    n_spans = 0
    for trajectory_id, of_packet in groupby(whole, lambda row: row["trajectory_id"]):
        rows = list(of_packet)
        n_spans += 1
        trace, root = f"{trajectory_id + 1:032x}", f"{n_spans:016x}"
        ends_ns = [_end_ns(row) for row in rows]
        names = (rows[0]["up_point"], rows[-1]["down_point"])
        about = {"pcaplat.direction": rows[0]["direction"], "pcaplat.trajectory_id": trajectory_id}
        yield _span(trace, root, " → ".join(names), rows[0]["up_ns"], max(ends_ns), about)
        for row, end_ns in zip(rows, ends_ns, strict=True):
            n_spans += 1
            about = {CLAMPED: round(row["latency_ns"])}
            about |= {f"pcaplat.{end}.file": row[f"{end}_file"] for end in ("up", "down")}
            about |= {f"pcaplat.{end}.frame": row[f"{end}_frame"] for end in ("up", "down")}
            own = _span(trace, f"{n_spans:016x}", row["segment"], row["up_ns"], end_ns, about)
            yield own | {"parentSpanId": root}


def _end_ns(row: Row) -> int:
    end_ns: int = row["up_ns"] + max(round(row["latency_ns"]), 0)
    return end_ns


def _span(
    trace: str, span: str, name: str, start_ns: int, end_ns: int, about: dict[str, Any]
) -> Row:
    return {
        "traceId": trace,
        "spanId": span,
        "name": printable(name),
        "kind": INTERNAL,
        # 64-bit integers are texts in protobuf's JSON
        "startTimeUnixNano": str(start_ns),
        "endTimeUnixNano": str(end_ns),
        "attributes": [_attribute(key, value) for key, value in about.items()],
    }


def _attribute(key: str, value: int | str) -> Row:
    is_text = isinstance(value, str)
    told = {"stringValue": printable(str(value))} if is_text else {"intValue": str(value)}
    return {"key": key, "value": told}
