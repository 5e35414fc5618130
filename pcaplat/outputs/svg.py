"""SVG: the ladder of a connection, as a picture that needs nothing else."""

from collections.abc import Iterator
from html import escape
from typing import TextIO

from pcaplat.errors import OptionError
from pcaplat.outputs.reports.trace.ladder import marks
from pcaplat.tables.columns import Row
from pcaplat.text import printable
from pcaplat.units import format_in, format_ns, unit_for

MARGIN, TIME_WIDTH, GAP, LABEL_WIDTH = 16, 96, 150, 300
HEAD, LINE_HEIGHT = 56, 26
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2430 }
.point { font-weight: 600; text-anchor: middle }
.time { text-anchor: end; fill: #5b6270; font-variant-numeric: tabular-nums }
.latency { text-anchor: middle; font-size: 10px; fill: #5b6270 }
.life { stroke: #c9ced6; stroke-width: 1 }
.way { stroke: #2a6fbb; stroke-width: 1.5; marker-end: url(#head) }
.again .way { stroke: #b45309 } .again .label { fill: #b45309 }
.lost .way { stroke: #b91c1c } .lost .label { fill: #b91c1c }
.seen { fill: #1f2430 } .cross { stroke: #b91c1c; stroke-width: 2 }
.unknown { stroke: #5b6270; stroke-width: 1.5; stroke-dasharray: 3 3 }
@media (prefers-color-scheme: dark) {
  svg { background: #14171c } text, .seen { fill: #e6e8ec }
  .time, .latency { fill: #a2a9b5 } .life { stroke: #3a404a } .way { stroke: #6ea8e6 }
}
"""


def show_trace(document: Row, stream: TextIO) -> None:
    """Draw the flow of a trace.

    Raises:
        OptionError: The trace was made without one.
    """
    if document["flow"] is None:
        raise OptionError("--format svg draws a connection; name a frame, --slowest or --lost")
    stream.writelines(f"{line}\n" for line in _lines(document["flow"]))


def _lines(flow: Row) -> Iterator[str]:
    points = flow["points"]
    places = {point: MARGIN + TIME_WIDTH + 40 + GAP * at for at, point in enumerate(points)}
    right = max(places.values(), default=0)
    width, height = right + 40 + LABEL_WIDTH, HEAD + LINE_HEIGHT * (len(flow["packets"]) + 1)
    title = _text(f"{flow['ends'][0]} to {flow['ends'][1]}")
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label="{title}">'
    )
    yield f"<title>{title}</title><style>{STYLE}</style>"
    yield (
        '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="context-stroke"/>'
        "</marker></defs>"
    )
    for point, x in places.items():
        yield f'<text class="point" x="{x}" y="{HEAD - 24}">{_text(point)}</text>'
        yield f'<line class="life" x1="{x}" y1="{HEAD - 14}" x2="{x}" y2="{height - MARGIN}"/>'
    if flow["packets"]:
        first_ns, last_ns = (flow["packets"][at]["t_ns"] for at in (0, -1))
        unit = unit_for([last_ns - first_ns])
        yield f'<text class="time" x="{MARGIN + TIME_WIDTH}" y="{HEAD - 24}">{unit}</text>'
        for at, packet in enumerate(flow["packets"]):
            y = HEAD + LINE_HEIGHT * at + 10
            time = format_in(packet["t_ns"] - first_ns, unit)
            yield from _packet(packet, places, y, time)
    yield "</svg>"


def _packet(packet: Row, places: dict[str, int], y: int, time: str) -> Iterator[str]:
    kind = "lost" if packet["lost"] else "again" if packet["is_retransmission"] else "packet"
    yield f'<g class="{kind}">'
    yield f'<text class="time" x="{MARGIN + TIME_WIDTH}" y="{y + 4}">{time}</text>'
    for segment in packet["segments"]:
        ends = [places[segment[f"{end}_point"]] for end in ("up", "down")]
        yield f'<line class="way" x1="{ends[0]}" y1="{y}" x2="{ends[1]}" y2="{y + 6}"/>'
        latency = format_ns(segment["latency_ns"])
        yield f'<text class="latency" x="{sum(ends) / 2:.0f}" y="{y - 2}">{_text(latency)}</text>'
    yield from _end(packet, places, y)
    for point in {row["point"]: None for row in packet["sightings"]}:
        if point in places:
            yield f'<circle class="seen" cx="{places[point]}" cy="{y + 3}" r="2.5"/>'
    x = max(places.values()) + 24
    label = ", ".join([packet["label"], *marks(packet)])
    yield f'<text class="label" x="{x}" y="{y + 4}">{_text(label)}</text></g>'


def _end(packet: Row, places: dict[str, int], y: int) -> Iterator[str]:
    """Mark where a packet was lost, or where it was seen last before the path's end."""
    known = [places[row["point"]] for row in packet["sightings"] if row["point"] in places]
    if not known or packet["direction"] is None:
        return
    is_forward = packet["direction"] == "forward"
    choose = max if is_forward else min
    last = choose(known)
    if packet["lost"] or last != choose(places.values()):
        x = last + (GAP // 2 if is_forward else -GAP // 2)
        yield f'<line class="unknown" x1="{last}" y1="{y}" x2="{x}" y2="{y + 3}"/>'
        if packet["lost"]:
            yield f'<path class="cross" d="M{x - 5} {y - 2}l10 10m0 -10l-10 10"/>'


def _text(text: str) -> str:
    return escape(printable(text))
