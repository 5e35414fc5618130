"""The round trip as a waterfall: what each segment adds, and what lies behind the last point."""

from collections.abc import Sequence
from itertools import accumulate, pairwise

from pcaplat.plots.figure import (
    COLORS,
    INK,
    NEUTRAL,
    Figure,
    Measured,
    Spec,
    chart,
    layer,
    names,
    number,
    scaled,
    tooltip,
)
from pcaplat.tables.columns import Row
from pcaplat.units import format_count, format_frac, format_in, format_ns, unit_for

ROW_HEIGHT = 26
TOTAL, ARROW = "total", " ⇄ "
KINDS = {"segment": COLORS["forward"], "behind": COLORS["reverse"], "total": NEUTRAL}
COLOR: Spec = {"field": "kind", "type": "nominal", "legend": None}
COLOR |= {"scale": {"domain": [*KINDS], "range": [*KINDS.values()]}}
JOINED: Spec = {"type": "rule", "color": INK, "opacity": 0.3}
VALUE: Spec = {"type": "text", "align": "left", "dx": 6, "fontSize": 11}


def waterfall_figure(measured: Measured) -> Figure | None:
    """Draw what the segments add up to; None where packets went one way, or the path forks."""
    if not measured.is_chain:
        return None
    kind, parts = _of_transactions(measured)
    if not parts:
        kind, parts = "", _of_packets(measured)
    if not parts:
        return None
    total_ns = sum(ns for _, ns, _ in parts)
    unit = unit_for([total_ns])
    n = min(n for _, _, n in parts)
    what = f"transactions ({kind})" if kind else "packets of both directions"
    return Figure(
        "Where the time of a round trip goes",
        f"Mean of each segment, both directions together; clock offsets cancel. Over "
        f"{format_count(n)} {what}.",
        _spec(parts, total_ns, unit),
        ["segment", f"mean, {unit}", "of the total"],
        [
            [name, format_in(ns, unit), format_frac(ns / total_ns if total_ns else None)]
            for name, ns, _ in (*parts, (TOTAL, total_ns, n))
        ],
    )


def _of_transactions(measured: Measured) -> tuple[str, list[tuple[str, float, int]]]:
    """Give the parts of the transactions that the summary checks the segments by."""
    document = measured.document
    check = document.get("transaction_check")
    if not check:
        return "", []
    of_kind = [row for row in document["round_trips_by_kind"] if row["kind"] == check["kind"]]
    by_ends = {(row["near"], row["far"]): row for row in of_kind}
    rows = [by_ends[ends] for ends in pairwise(document["path"])]
    beyond = (f"behind {check['server']}", check["beyond_ns"], check["n"])
    return check["kind"], [*((_name(row), row["mean_ns"], row["n"]) for row in rows), beyond]


def _of_packets(measured: Measured) -> list[tuple[str, float, int]]:
    document = measured.document
    by_ends = {(row["near"], row["far"]): row for row in document["round_trips"]}
    rows = [by_ends.get(ends) for ends in pairwise(document["path"])]
    return [] if None in rows else [(_name(row), row["mean_ns"], row["n"]) for row in rows if row]


def _name(row: Row) -> str:
    return f"{row['near']}{ARROW}{row['far']}"


def _spec(parts: Sequence[tuple[str, float, int]], total_ns: float, unit: str) -> Spec:
    starts = [0.0, *accumulate(ns for _, ns, _ in parts)]
    bars = [_bar(name, starts[at], ns, unit, total_ns) for at, (name, ns, _) in enumerate(parts)]
    rows = [*bars, _bar(TOTAL, 0.0, total_ns, unit, total_ns)]
    scale = {"nice": False, "domainMax": 1.4 * max(bar["to"] for bar in rows)}
    x = number("start", f"mean, {unit}", scale=scale, axis={"tickCount": 6})
    at: Spec = {"x": x, "y": names("name", [bar["name"] for bar in rows])}
    about = tooltip(segment="name", mean="text", share="share")
    across = at | {"x2": {"field": "end"}, "tooltip": about, "color": COLOR}
    return chart(
        ROW_HEIGHT * len(rows),
        layer(bars, JOINED, at | {"x": x | {"field": "end"}}),
        layer(rows, {"type": "bar"}, across),
        layer(rows, VALUE, at | {"x": x | {"field": "to"}, "text": {"field": "label"}}),
    )


def _bar(name: str, start_ns: float, ns: float, unit: str, total_ns: float) -> Row:
    is_segment = ARROW in name
    return {
        "name": name,
        "kind": "segment" if is_segment else "total" if name == TOTAL else "behind",
        "start": scaled(start_ns, unit),
        "end": scaled(start_ns + ns, unit),
        "to": scaled(max(start_ns, start_ns + ns), unit),
        "label": f"{format_in(ns, unit)} {unit}",
        "text": format_ns(ns),
        "share": format_frac(ns / total_ns if total_ns else None),
    }
