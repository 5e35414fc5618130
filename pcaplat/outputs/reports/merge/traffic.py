"""Rates of each point, transactions, and what encapsulation adds."""

from collections.abc import Iterator

from pcaplat.outputs.report import KEPT, Field, Grid, Section, optional
from pcaplat.outputs.reports.merge.figures import counts
from pcaplat.run.answer.view import ARROWS, UNKNOWN, one_way
from pcaplat.tables.columns import Row
from pcaplat.units import format_amount, format_count, format_frac, format_ns, format_number

PROTOCOLS = {6: "TCP", 17: "UDP"}
RATES = (
    ("L1", "l1_bps", 3),
    ("L2", "l2_bps", KEPT),
    ("L3", "l3_bps", 2),
    ("goodput", "goodput_bps", KEPT),
)


def traffic_sections(document: Row) -> Iterator[Section]:
    """Give the tables of traffic, where it was counted."""
    if document.get("traffic"):
        point = document["path"][0]
        yield _rates(document["traffic"])
        here = [row for row in document["transactions"] if row["point"] == point]
        if here:
            yield _transactions(here, point)
        added = [row for row in document["overhead"] if row["min_bytes"] or row["max_bytes"]]
        if added:
            yield _overhead(added)


def _rates(rows: list[Row]) -> Grid:
    fields = [
        Field("point", [f"{row['point']} {ARROWS.get(row['direction'], '?')}" for row in rows]),
        Field("frames", counts(rows, "n_frames"), 4, is_left=True),
        Field("rate", [format_amount(row["packet_rate_pps"], "pps") for row in rows]),
        *(
            Field(heading, [format_amount(row[name], "b/s") for row in rows], rank)
            for heading, name, rank in RATES
        ),
        Field("mean frame", [f"{format_number(row['mean_frame_bytes'], 1)} B" for row in rows], 1),
    ]
    span = format_ns(rows[0]["span_ns"])
    heading = f"Traffic in the {span} of the common capture interval; frames without FCS"
    return Grid(heading, fields, only="screen")


def _transactions(here: list[Row], point: str) -> Grid:
    fields = [
        Field("kind", [_kind(row) for row in here]),
        Field("client", [row["client"] for row in here], 2),
        Field("server", [f"{row['server']} {row['server_port']}" for row in here], 2),
        Field("connections", counts(here, "n_connections"), 1),
        Field("n", counts(here, "n_transactions")),
        Field("rate", [format_amount(row["rate_tps"], "tps") for row in here]),
        *optional("at once", [_at_once(row) for row in here], UNKNOWN),
        Field("mean time", [format_ns(row["mean_ns"]) for row in here]),
        Field("+ gap", [format_ns(row["gap_ns"]) for row in here]),
        Field("= period", [format_ns(row["period_ns"]) for row in here]),
        *optional("at once/rate", [format_ns(_cycle_ns(row)) for row in here], UNKNOWN),
        *optional("off by", [format_frac(row["check_frac"]) for row in here], UNKNOWN, 1),
    ]
    return Grid(f"Transactions, as seen at {point}", fields, only="screen")


def _kind(row: Row) -> str:
    return row["mode"] or f"{PROTOCOLS[row['protocol']]} {row['kind']}"


def _at_once(row: Row) -> str:
    return UNKNOWN if row["n_outstanding"] is None else format_count(row["n_outstanding"])


def _cycle_ns(row: Row) -> float | None:
    """What 1/rate says that a transaction takes, the client's own time included."""
    if not row["n_outstanding"] or not row["rate_tps"]:
        return None
    return float(row["n_outstanding"] / row["rate_tps"] * 1e9)


def _overhead(rows: list[Row]) -> Grid:
    fields = [
        Field("segment", list(map(one_way, rows))),
        Field("far − near", [f"{format_number(row['mean_bytes'], 1)} B" for row in rows]),
        Field("share of a full line", [format_frac(row["line_frac"]) for row in rows]),
    ]
    return Grid("Encapsulation, bytes a frame", fields, only="screen")
