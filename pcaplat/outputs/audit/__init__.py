"""Outputs of an audit: one module per format, each with `show(document, stream)`."""

import importlib
from typing import Any, Protocol, TextIO, cast

from pcaplat.units import format_frac, format_number

AUDIT_OUTPUTS = {"table": "console", "json": "json", "csv": "csv", "markdown": "markdown"}
N_MORE_DIGITS = 2
"""Digits that a recomputed number gets beyond those that are printed."""


class AuditOutput(Protocol):
    """What a module of this folder offers."""

    def show(self, document: dict[str, Any], stream: TextIO) -> None:
        """Write the audit as text."""


def audit_output(name: str) -> AuditOutput:
    """Import the output of that name."""
    return cast(
        "AuditOutput", importlib.import_module(f"pcaplat.outputs.audit.{AUDIT_OUTPUTS[name]}")
    )


def cell_texts(cell: dict[str, Any]) -> dict[str, str]:
    """Give what a reader sees of a cell, under its headings."""
    return {
        "row": cell["row"],
        "column": cell["column"],
        "unit": "" if cell["unit"] == "1" else cell["unit"],
        "published": _published(cell),
        "recomputed": format_number(cell["recomputed"], cell["n_decimals"] + N_MORE_DIGITS),
        "agrees": _agreement(cell),
        "deviation": _deviation(cell["deviation_frac"]),
    }


def tried_texts(table: dict[str, Any]) -> list[str]:
    """Say, for each column on which several conventions were tried, which one fits and how well."""
    rows = table["conventions"]
    keys = dict.fromkeys((row["column"], row["is_total"]) for row in rows)
    groups = [[row for row in rows if (row["column"], row["is_total"]) == key] for key in keys]
    return [_tried(group) for group in groups if len(group) > 1]


def _tried(group: list[dict[str, Any]]) -> str:
    used = next(row for row in group if row["is_used"])
    others = "; ".join(f"{row['convention']}: {_fit(row)}" for row in group if not row["is_used"])
    what = "" if used["n_within_rounding"] else "; none fits, the first listed is shown"
    place = f"{used['column']} (totals)" if used["is_total"] else used["column"]
    fit = f"{_fit(used)} of {used['n_cells']} agree{what}"
    return f"{place}: {used['convention']}: {fit} (also tried: {others})"


def _fit(row: dict[str, Any]) -> str:
    n_more = row["n_within_rounding"] - row["n_agree"]
    return f"{row['n_agree']} (and {n_more} but for rounding)" if n_more else f"{row['n_agree']}"


def _agreement(cell: dict[str, Any]) -> str:
    if cell["agrees"] is None:
        return "–"
    if cell["agrees"]:
        return "yes"
    return "no (rounding)" if cell["is_within_rounding"] else "no"


def _published(cell: dict[str, Any]) -> str:
    ends = dict.fromkeys(
        format_number(cell[key], cell["n_decimals"]) for key in ("published_lo", "published_hi")
    )
    return " to ".join(ends)


def _deviation(value_frac: float | None) -> str:
    text = format_frac(value_frac)
    return f"+{text}" if value_frac is not None and value_frac > 0 else text
