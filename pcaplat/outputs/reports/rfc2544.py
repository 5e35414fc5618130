"""RFC 2544's table of size and rate, the throughput, and what the RFC asks for."""

from collections.abc import Iterator

from pcaplat.outputs.report import (
    Grid,
    Remarks,
    Report,
    Section,
    Title,
    fields_of,
    names_of,
    warnings_of,
)
from pcaplat.tables.columns import Row
from pcaplat.units import (
    format_amount,
    format_count,
    format_frac,
    format_in,
    format_number,
    unit_for,
)

FILES = {"rfc2544.json": "json"}
LEFT = ("size", "requirement", "section", "verdict", "evidence")
ARROWS = {"forward": "→", "reverse": "←"}
UNKNOWN = "–"
TextRows = list[dict[str, str]]


def report(document: Row) -> Report:
    """Say what the trials showed; a row for each size and offered rate."""
    cells = document["cells"]
    return Report(document, names_of(cells), cells, _sections(document))


def _sections(document: Row) -> Iterator[Section]:
    yield Title(_title(document))
    yield from (Grid(heading, fields_of(rows, LEFT)) for heading, rows in _tables(document))
    yield Remarks("", warnings_of(document))


def _title(document: Row) -> str:
    """Say how many trials there are, and between which points."""
    first, n = document["trials"][0], len(document["trials"])
    ends = f"{first['sender']} {ARROWS['forward']} {first['receiver']}"
    if first["direction"] == "reverse":
        ends = f"{first['receiver']} {ARROWS['reverse']} {first['sender']}"
    return f"{n} trial{'s' if n != 1 else ''}, {ends}; sizes with FCS"


def _tables(document: Row) -> Iterator[tuple[str, TextRows]]:
    """Give headings and rows as a reader sees them."""
    cells, results = document["cells"], document["results"]
    unit = unit_for(row[name] for row in cells for name in ("mean_ns", "p99_ns"))
    yield "Loss by size and offered rate", [_loss(row) for row in cells]
    of_latency = f"Latency by size and offered rate, {unit} (± of 95 %)"
    yield of_latency, [_latency(row, unit) for row in cells]
    yield "Fastest rate without loss, and with little", [_result(row, unit) for row in results]
    bounds = [
        _bounds(row, name, goal)
        for row in results
        for name, goal in (("throughput", "no loss"), ("pdr", row["pdr_name"]))
    ]
    yield "Conditional throughput: bounds by MLRsearch", bounds
    yield (
        "What RFC 2544 asks for",
        [
            {
                "requirement": row["requirement"],
                "section": row["section"] or UNKNOWN,
                "verdict": row["verdict"],
                "evidence": row["evidence"],
            }
            for row in document["requirements"]
        ],
    )


def _place(row: Row) -> str:
    size = "mix" if row["frame_bytes"] is None else f"{row['frame_bytes']} B"
    return f"{size} {ARROWS[row['direction']]}"


def _bounds(row: Row, name: str, goal: str) -> dict[str, str]:
    """Show the loads between which the fastest one lies, where losses may invert."""
    loads = {
        "conditional": f"{name}_conditional_pps",
        "passes": f"{name}_lower_load",
        "fails": f"{name}_upper_load",
        "try next": f"{name}_next_load",
    }
    shown = {title: format_amount(row[column], "pps") for title, column in loads.items()}
    return {"size": _place(row), "goal": goal} | shown


def _load(row: Row) -> dict[str, str]:
    return {"size": _place(row), "offered": format_amount(row["offered_pps"], "pps")}


def _loss(row: Row) -> dict[str, str]:
    return _load(row) | {
        "on the line": format_amount(row["offered_l1_bps"], "b/s"),
        "trials": format_count(row["n_trials"]),
        "sent": format_count(row["n_sent"]),
        "lost": format_count(row["n_lost"]),
        "loss": format_frac(row["lost_frac"]),
    }


def _latency(row: Row, unit: str) -> dict[str, str]:
    return _load(row) | {name: _with_width(row, name, unit) for name in ("mean", "p50", "p99")}


def _with_width(row: Row, name: str, unit: str) -> str:
    if row[f"{name}_ns"] is None:
        return UNKNOWN
    half = row[f"{name}_half_width_ns"]
    within = "" if half is None else f" ± {format_in(half, unit)}"
    return format_in(row[f"{name}_ns"], unit) + within


def _result(row: Row, unit: str) -> dict[str, str]:
    lost, most = row["pdr_lost_frac"], row["pdr_lost_hi_frac"]
    # without loss at a faster rate nobody knows how much faster it goes
    least = "" if row["is_bracketed"] or row["throughput_pps"] is None else "≥ "
    share = (
        UNKNOWN if lost is None else f"{format_frac(lost)} (to {format_number(100 * most, 3)} %)"
    )
    return {
        "size": _place(row),
        "throughput": least + format_amount(row["throughput_pps"], "pps"),
        "on the line": format_amount(row["throughput_l1_bps"], "b/s"),
        f"latency there, {unit}": _with_width(row, "throughput_mean", unit),
        row["pdr_name"]: format_amount(row["pdr_pps"], "pps"),
        "loss there": share,
    }
