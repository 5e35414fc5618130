"""The answer in a few sentences, for the first lines of a page, and what makes it doubtful."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pcaplat.outputs.reports.merge.doubts import doubts_of
from pcaplat.run.answer.sentences import answer_lines
from pcaplat.run.answer.view import LatencyView
from pcaplat.tables.columns import Row
from pcaplat.units import format_frac, format_ns

MOST_DOUBTS, MOST_TEXT = 2, 1_000
"""On the first screen, and characters of each; all stand below."""
SEVERITIES = ("error", "warning", "note")


def answer(document: Row) -> list[str]:
    """Say what the console says, and where the time of requests goes."""
    lines = answer_lines(document, LatencyView.of(document))
    return [*lines, *_behind(document.get("transaction_check"))]


def doubts(document: Row) -> list[str]:
    """Say what makes the answer doubtful, as the console says it; else the first of the notes."""
    entries = doubts_of(document, LatencyView.of(document))[:MOST_DOUBTS]
    found = [f"{entry.head}: {' '.join(entry.texts)}" for entry in entries]
    found = found or [warning_text(row) for row in document["warnings"][:1]]
    return [text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}…" for text in found]


def warning_text(row: Row) -> str:
    """Write a warning with the point that it is of."""
    return f"{row['point']}: {row['text']}" if row["point"] else str(row["text"])


def _behind(check: Mapping[str, Any] | None) -> Iterator[str]:
    if check and check["seen_ns"] > 0:
        share = format_frac(round(check["beyond_ns"] / check["seen_ns"], 2))
        yield (
            f"Requests ({check['kind']}) are answered after {format_ns(check['seen_ns'])} on "
            f"average: {share} of it behind {check['server']}"
        )


def gravest_first(warnings: Sequence[Row]) -> list[Row]:
    """Sort warnings by severity; those of an earlier version have none."""
    return sorted(warnings, key=lambda row: SEVERITIES.index(row.get("severity", "warning")))


def counted(warnings: Sequence[Row]) -> str:
    """Count them by severity.

    Example:
        >>> counted([{"severity": "note"}, {"severity": "error"}, {"severity": "note"}])
        '1 error, 2 notes'
    """
    found = [row.get("severity", "warning") for row in warnings]
    counts = ((found.count(name), name) for name in SEVERITIES)
    return ", ".join(f"{n} {name}{'' if n == 1 else 's'}" for n, name in counts if n)
