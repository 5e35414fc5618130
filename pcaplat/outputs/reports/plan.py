"""A plan: a row for each claim, each place of the true value in it, and each scatter of runs."""

from pcaplat.outputs.report import Entries, Entry, Grid, Report, Title, fields_of, names_of
from pcaplat.tables.columns import Row
from pcaplat.units import format_bounds

LEFT = ("claim", "true value", "known from")
MANY = "more than 1,000"


def report(document: Row) -> Report:
    """Say how many runs decide each claim."""
    rows = document["claims"]
    texts = [_texts(row) for row in rows if row["reason"] is None]
    notes = {
        row["id"]: [row["claim"], _sentence(row["reason"]) or f"Order of the runs: {row['order']}."]
        for row in rows
    }
    sections = [
        Title("Runs of each scenario for a verdict in 80 % and in 95 % of studies"),
        *([Grid("", fields_of(texts, LEFT), [""] * len(texts))] if texts else []),
        Entries([Entry(name, lines) for name, lines in notes.items()], "apart"),
    ]
    return Report(document, names_of(rows), rows, sections)


def _sentence(reason: str | None) -> str:
    return f"{reason[0].upper()}{reason[1:]}." if reason else ""


def _texts(row: Row) -> dict[str, str]:
    value, sd = (format_bounds(row[name], row[name], row["unit"]) for name in ("value", "sd"))
    return {
        "claim": row["id"],
        "true value": f"{row['at']}, {value}",
        "runs differ by": sd,
        "known from": row["basis"],
        "80 %": MANY if row["runs_80"] is None else f"{row['runs_80']:,}",
        "95 %": MANY if row["runs_95"] is None else f"{row['runs_95']:,}",
        "packets a run": "–" if row["packets"] is None else f"{row['packets']:,}",
    }
