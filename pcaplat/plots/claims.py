"""Claims: the interval that was measured against the range that is claimed."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pcaplat.plots.figure import (
    ALARM,
    DOT,
    INTERVAL,
    NEUTRAL,
    Figure,
    Spec,
    chart,
    layer,
    names,
    number,
    tooltip,
)
from pcaplat.plots.run_values import run_figure
from pcaplat.tables.columns import Row
from pcaplat.units import format_bounds

VERDICTS = {"held": "#2a8a4a", "refuted": ALARM, "undecided": "#b07d00"}
ROW_HEIGHT = 30
MOST_DRAWN, MOST_CLAIMS_OF_RUNS = 40, 12
SCALE: Spec = {"zero": False, "padding": 8}
"""A dot at the end of the axis keeps off the names."""
CLAIMED: Spec = {"type": "rule", "strokeWidth": 16, "opacity": 0.4, "color": NEUTRAL}


def claim_figures(document: Mapping[str, Any]) -> list[Figure]:
    """Draw the verdicts of `validate`, one drawing for each unit."""
    rows: list[Row] = document["verdicts"]
    signed = _differences(document.get("runs", ()))
    units = dict.fromkeys(row["unit"] for row in rows if row["estimate"] is not None)
    return [
        _table(rows),
        *(_drawing([r for r in rows if r["unit"] == unit], unit, signed) for unit in units),
    ]


def claimed_run_figures(document: Mapping[str, Any]) -> list[Figure]:
    """Draw what each run shows of each claim, in the order in which the runs were made."""
    about = {row["id"]: row.get("subject") or row["claim"] for row in document["verdicts"]}
    by_claim: dict[str, list[Row]] = {}
    for row in document.get("runs", ()):
        by_claim.setdefault(row["claim"], []).append(row)
    figures = (
        run_figure(f"{name}: {about[name]}", rows, rows[0]["unit"])
        for name, rows in by_claim.items()
    )
    return [each for each in figures if each][:MOST_CLAIMS_OF_RUNS]


def _differences(runs: Sequence[Row]) -> set[str]:
    """Name the claims about the difference of two scenarios: it may be below zero."""
    scenarios: dict[str, set[str]] = {}
    for row in runs:
        scenarios.setdefault(row["claim"], set()).add(row["scenario"])
    return {name for name, both in scenarios.items() if len(both) > 1}


def _table(rows: Sequence[Row]) -> Figure:
    words = [row["verdict"] for row in rows]
    counts = ", ".join(f"{words.count(word)} {word}" for word in VERDICTS if word in words)
    columns = ["claim", "verdict", "claimed", "measured", "interval", "runs", "because"]
    return Figure("Verdicts", f"{counts}.", None, columns, [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    unit, known, estimate = row["unit"], None not in (row["lo"], row["hi"]), row["estimate"]
    return [
        f"{row['id']}: {row['claim']}",
        row["verdict"],
        format_bounds(*_allowed(row), unit),
        "–" if estimate is None else format_bounds(estimate, estimate, unit),
        format_bounds(row["lo"], row["hi"], unit) if known else "–",
        str(row["n_runs"]),
        row["reason"],
    ]


def _drawing(rows: Sequence[Row], unit: str, signed: Collection[str]) -> Figure:
    shown = "µs" if unit == "us" else unit
    drawn = [
        _drawn(row, is_signed=row["id"] in signed) for row in rows if row["estimate"] is not None
    ][:MOST_DRAWN]
    return Figure(
        f"Claims in {shown}",
        "Grey: the range that is claimed. Dot and bar: what was measured, and its interval.",
        _spec(drawn, f"value, {shown}"),
    )


def _drawn(row: Row, *, is_signed: bool) -> Row:
    claim_lo, claim_hi = _allowed(row)
    ends = [row["lo"], row["hi"], claim_lo, claim_hi, row["estimate"]]
    known = [end for end in ends if end is not None]
    reach = max(known) - min(known) or abs(max(known)) or 1.0
    open_lo, open_hi = min(known) - 0.3 * reach, max(known) + 0.3 * reach
    if not is_signed and min(known) >= 0:  # neither latency nor loss nor a rate is below zero
        open_lo = 0.0
    return {
        "claim": row["id"],
        "verdict": row["verdict"],
        "estimate": row["estimate"],
        "lo": row["lo"],
        "hi": row["hi"],
        # an open range reaches beyond everything else
        "claim_lo": open_lo if claim_lo is None else claim_lo,
        "claim_hi": open_hi if claim_hi is None else claim_hi,
        "claimed": format_bounds(claim_lo, claim_hi, row["unit"]),
        "measured": format_bounds(row["estimate"], row["estimate"], row["unit"]),
    }


def _allowed(row: Row) -> tuple[float | None, float | None]:
    """Give what a claim allows, its tolerance included."""
    return row.get("allowed_lo", row["claim_lo"]), row.get("allowed_hi", row["claim_hi"])


def _spec(rows: Sequence[Row], title: str) -> Spec:
    x = number("claim_lo", title, scale=SCALE, axis={"tickCount": 6})
    scale = {"domain": [*VERDICTS], "range": [*VERDICTS.values()]}
    color = {"field": "verdict", "type": "nominal", "scale": scale, "legend": {"title": None}}
    about = tooltip(claim="claim", verdict="verdict", claimed="claimed", measured="measured")
    at: Spec = {"y": names("claim", [row["claim"] for row in rows]), "tooltip": about}
    known = [row for row in rows if None not in (row["lo"], row["hi"])]
    ends = {"x": x | {"field": "lo"}, "x2": {"field": "hi"}, "color": color}
    return chart(
        ROW_HEIGHT * len(rows),
        layer(rows, CLAIMED, at | {"x": x, "x2": {"field": "claim_hi"}}),
        layer(known, INTERVAL | {"opacity": 1, "strokeWidth": 4}, at | ends),
        layer(rows, DOT, at | {"x": x | {"field": "estimate"}, "color": color}),
    )
