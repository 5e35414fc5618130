"""What limits the figures, by kind of error, and whether what was measured adds up."""

from collections.abc import Iterator

from pcaplat.outputs.report import Entries, Entry, Field, Grid, Paragraph, Section
from pcaplat.tables.columns import Row
from pcaplat.units import format_in, format_ns, unit_for

NAMES = {
    "statistical": "too few independent packets",
    "resolution": "low timestamp resolution, or batched timestamps",
    "clock": "clock uncertainty",
    "drift": "frequency offset of the clocks",
    "mirror_queue": "mirror-port queueing",
    "stamp_convention": "which bit of a frame timestamps mark, first or last",
    "ambiguity": "identical packets",
}


def budget_sections(document: Row) -> Iterator[Section]:
    """Say what limits the means, and whether the shares add up."""
    lines = list(lines_of_budget(document))
    if lines:
        yield Grid(
            "Uncertainty budget", [Field("largest source of uncertainty", lines)], only="paper"
        )
    checks = list(lines_of_checks(document))
    yield from (Paragraph(line, only="paper") for line in checks)
    yield from (Paragraph(line, only="budget") for line in checks)
    if lines:
        yield Entries([Entry("Largest source of uncertainty", lines)], only="budget")


def lines_of_budget(document: Row) -> Iterator[str]:
    """Say what is uncertain most: of one-way latencies, then of two-way contributions."""
    for title, is_one_way in (("one-way latency", True), ("round-trip contribution", False)):
        rows = [
            row
            for row in document.get("error_budget", [])
            if (row["direction"] is not None) == is_one_way
        ]
        for largest in dict.fromkeys(row["largest"] for row in rows):
            mine = [row for row in rows if row["largest"] == largest]
            sizes = [row[f"{largest}_ns"] for row in mine if row[f"{largest}_ns"] is not None]
            size = f", up to ± {format_ns(max(sizes))}" if sizes else ""
            if sizes and not max(sizes):
                continue
            yield (
                f"{title}, {len(mine)} of {len(rows)}: mostly {NAMES[largest]}{size}; "
                f"{mine[0]['remedy']}"
            )


def lines_of_checks(document: Row) -> Iterator[str]:
    """Say whether shares of the round trip add up: to the path's, and to what a client saw."""
    if check := document.get("sum_check"):
        sum_text, whole_text = _alike(check["sum_ns"], check["whole_ns"])
        text = f"the segments' contributions add up to {sum_text}, the whole path's is {whole_text}"
        if not check["agrees"]:
            yield (
                f"No check: {text}; a contribution rests on the packets captured whole at "
                "both ends of its segment; some were segmented, coalesced or not captured elsewhere"
            )
        else:
            yield f"Check: {text}, over the packets seen at both ends"
    if check := document.get("transaction_check"):
        shares_ns, beyond_ns = check["segments_ns"], check["beyond_ns"]
        texts = _alike(shares_ns, beyond_ns, shares_ns + beyond_ns, check["seen_ns"])
        yield (
            f"Check: of {check['kind']}, the segments' contributions {texts[0]} + {texts[1]} "
            f"behind {check['server']} = {texts[2]}; {check['client']} measured {texts[3]}"
        )


def _alike(*values_ns: float) -> list[str]:
    """Write durations in one unit, to be compared."""
    unit = unit_for(values_ns)
    return [f"{format_in(value_ns, unit)} {unit}" for value_ns in values_ns]
