"""A result in a notebook: the answer, the path and the table, as HTML that no name can change."""

from collections.abc import Iterable, Iterator
from html import escape

from pcaplat.run.answer.sentences import answer_lines
from pcaplat.run.answer.view import BOTH_WAYS, FIGURES, UNKNOWN, LatencyLine, LatencyView
from pcaplat.tables.columns import Row
from pcaplat.tables.results import loss_ratio
from pcaplat.text import printable
from pcaplat.units import format_count, format_frac

HEADINGS = {name: name for name in FIGURES} | {"p999": "p99.9"}
GRAVE = ("error", "warning")


def html_of(document: Row) -> str:
    """Write what a notebook shows of a summary."""
    latencies = LatencyView.of(document)
    return "".join(
        [
            '<div class="pcaplat">',
            *(f"<p>{_text(line)}</p>" for line in answer_lines(document, latencies)),
            f"<p>Path: {_text(' → '.join(document['path']))}</p>",
            *_warnings(document),
            *_table(latencies),
            "</div>",
        ]
    )


def _text(text: str) -> str:
    return escape(printable(text))


def _warnings(document: Row) -> Iterator[str]:
    grave = [row for row in document["warnings"] if row.get("severity", "warning") in GRAVE]
    if grave:
        items = "".join(
            f"<li><b>{_text(row['code'])}</b>: {_text(row['text'])}</li>" for row in grave
        )
        yield f"<ul>{items}</ul>"


def _table(latencies: LatencyView) -> Iterator[str]:
    lines = latencies.in_order()
    names = [name for name in FIGURES if any(line.figures[name] is not None for line in lines)]
    heads = [f"segment, {latencies.scale.unit}", "n", "lost", *(HEADINGS[name] for name in names)]
    yield f"<table><thead>{_row('th', [*heads, '± clock'])}</thead><tbody>"
    for line in lines:
        figures = [line.text(name, latencies.scale) for name in names]
        yield _row(
            "td", [line.label, format_count(line.n), _lost(line), *figures, _clock(line, latencies)]
        )
    yield "</tbody></table>"


def _row(cell: str, texts: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{cell}>{_text(text)}</{cell}>' for text in texts)}</tr>"


def _lost(line: LatencyLine) -> str:
    return "" if line.way == BOTH_WAYS else format_frac(loss_ratio(line.row))


def _clock(line: LatencyLine, latencies: LatencyView) -> str:
    is_known = line.way != BOTH_WAYS and line.clock_ns is not None
    return latencies.scale.text(line.clock_ns) if is_known else UNKNOWN
