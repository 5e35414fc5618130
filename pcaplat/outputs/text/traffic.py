"""Console: rates of each point, transactions, and what encapsulation adds."""

from typing import TYPE_CHECKING, Any

from pcaplat.outputs.text.fields import KEPT, Field, optional, print_table
from pcaplat.outputs.text.path import ARROWS
from pcaplat.text import printable
from pcaplat.units import format_amount, format_count, format_frac, format_ns, format_number

if TYPE_CHECKING:
    from rich.console import Console

Row = dict[str, Any]
UNKNOWN = "–"
PROTOCOLS = {6: "TCP", 17: "UDP"}
RATES = (
    ("L1", "l1_bps", 3),
    ("L2", "l2_bps", KEPT),
    ("L3", "l3_bps", 2),
    ("goodput", "goodput_bps", KEPT),
)


def show_traffic(console: "Console", document: Row) -> None:
    """Write the tables of traffic, where it was counted."""
    if document.get("traffic"):
        _show_rates(console, document["traffic"])
        _show_transactions(console, document["transactions"], document["path"][0])
        _show_overhead(
            console, [row for row in document["overhead"] if row["min_bytes"] or row["max_bytes"]]
        )


def _show_rates(console: "Console", rows: list[Row]) -> None:
    fields = [
        Field("point", [f"{printable(row['point'])} {_arrow(row)}" for row in rows]),
        Field("frames", [format_count(row["n_frames"]) for row in rows], 4),
        Field("rate", [format_amount(row["packet_rate_pps"], "pps") for row in rows]),
        *(
            Field(heading, [format_amount(row[name], "b/s") for row in rows], rank)
            for heading, name, rank in RATES
        ),
        Field("mean frame", [f"{format_number(row['mean_frame_bytes'], 1)} B" for row in rows], 1),
    ]
    span = format_ns(rows[0]["span_ns"])
    print_table(console, f"Traffic in the {span} that all points cover; frames without FCS", fields)


def _arrow(row: Row) -> str:
    return ARROWS.get(row["direction"], "?")


def _show_transactions(console: "Console", rows: list[Row], point: str) -> None:
    here = [row for row in rows if row["point"] == point]
    if not here:
        return
    fields = [
        Field("kind", [_kind(row) for row in here]),
        Field("client", [printable(row["client"]) for row in here], 2),
        Field("server", [f"{printable(row['server'])} {row['server_port']}" for row in here], 2),
        Field("connections", [format_count(row["n_connections"]) for row in here], 1),
        Field("n", [format_count(row["n_transactions"]) for row in here]),
        Field("rate", [format_amount(row["rate_tps"], "tps") for row in here]),
        *optional("at once", [_at_once(row) for row in here], UNKNOWN),
        Field("mean time", [format_ns(row["mean_ns"]) for row in here]),
        Field("+ gap", [format_ns(row["gap_ns"]) for row in here]),
        Field("= period", [format_ns(row["period_ns"]) for row in here]),
        *optional("at once/rate", [format_ns(_cycle_ns(row)) for row in here], UNKNOWN),
        *optional("off by", [format_frac(row["check_frac"]) for row in here], UNKNOWN, 1),
    ]
    print_table(console, f"Transactions, as seen at {printable(point)}", fields)


def _kind(row: Row) -> str:
    return row["mode"] or f"{PROTOCOLS[row['protocol']]} {row['kind']}"


def _at_once(row: Row) -> str:
    return UNKNOWN if row["n_outstanding"] is None else format_count(row["n_outstanding"])


def _cycle_ns(row: Row) -> float | None:
    """What 1/rate says that a transaction takes, the client's own time included."""
    if not row["n_outstanding"] or not row["rate_tps"]:
        return None
    return float(row["n_outstanding"] / row["rate_tps"] * 1e9)


def _show_overhead(console: "Console", rows: list[Row]) -> None:
    if not rows:
        return
    names = [f"{printable(r['near'])} {_arrow(r)} {printable(r['far'])}" for r in rows]
    fields = [
        Field("segment", names),
        Field("far − near", [f"{format_number(row['mean_bytes'], 1)} B" for row in rows]),
        Field("share of a full line", [format_frac(row["line_frac"]) for row in rows]),
    ]
    print_table(console, "Encapsulation, bytes a frame", fields)
