"""Console: shares of the round trip, and the time from request to response."""

from typing import TYPE_CHECKING, Any

from pcaplat.outputs.text.fields import KEPT, Field, optional, print_table
from pcaplat.outputs.text.path import ARROWS, whole_rows
from pcaplat.text import printable
from pcaplat.units import format_count, format_in, unit_for

if TYPE_CHECKING:
    from rich.console import Console

Row = dict[str, Any]
FIGURES = (
    ("mean", "mean_ns", KEPT),
    ("±", "mean_half_ns", KEPT),
    ("p50", "p50_ns", KEPT),
    ("±", "p50_half_ns", 3),
    ("p90", "p90_ns", 2),
    ("p99", "p99_ns", 1),
)

TURNS = ("tcp-turn", "tcp-syn", "udp-turn")
MANY_TURNS = 100
"""As many make a connection request/response (pcaplat/traffic/transactions.py)."""

MOST_UNLIKE = 3
"""Turns of a benchmark take about as long as each other: nine in ten, so many medians at most."""


def show_round_trips(console: "Console", document: Row) -> None:
    """Write each segment's share, and of what kinds of transactions its quantiles are."""
    rows = [row | _halves(row) for row in document["round_trips"]]
    if not rows:
        return
    unit = unit_for(row[name] for row in rows for name in ("mean_ns", "p99_ns"))
    names = [f"{printable(row['near'])} ⇄ {printable(row['far'])}" for row in rows]
    fields = [Field("segment", names), Field("n", [format_count(row["n"]) for row in rows])]
    for heading, name, rank in FIGURES:
        fields += optional(heading, [format_in(row[name], unit) for row in rows], "–", rank)
    fields += optional("pairs", [format_count(row["n_paired"]) for row in rows], "0", 4)
    title = f"Share of the round trip, {unit} (needs no common clock)"
    print_table(console, title, fields, whole_rows(rows, document["path"]))
    _show_transactions(console, document)


def _halves(row: Row) -> Row:
    """Half of an interval; None where it cannot be told."""
    ends = {name: (row[f"{name}_lo_ns"], row[f"{name}_hi_ns"]) for name in ("mean", "p50")}
    return {
        f"{name}_half_ns": None if lo is None else (hi - lo) / 2 for name, (lo, hi) in ends.items()
    }


def _show_transactions(console: "Console", document: Row) -> None:
    """Write what the client's end of the path saw, and what of it is the path's."""
    rows = document["transaction_times"]
    client = {(row["kind"], row["requests"]): row for row in rows if row["side"] == "client"}
    server = {(row["kind"], row["requests"]): row for row in rows if row["side"] == "server"}
    both = [(client[key], server[key]) for key in client if key in server]
    if not both:
        return
    unit = unit_for(row["mean_ns"] for row, _ in both)
    n_left_out = {row["kind"]: row["n"] for row in document["transactions_left_out"]}
    left_out = [format_count(n_left_out.get(row["kind"], 0)) for row, _ in both]
    shares = [{"mean_ns": row["mean_ns"] - beyond["mean_ns"]} for row, beyond in both]
    fields = [
        Field("kind", [f"{row['kind']} {ARROWS[row['requests']]}" for row, _ in both]),
        Field("n", [format_count(row["n"]) for row, _ in both]),
        *optional("left out", left_out, "0", 1),
        Field("p50", [format_in(row["p50_ns"], unit) for row, _ in both], 2),
        Field("p99", [format_in(row["p99_ns"], unit) for row, _ in both], 3),
        Field("mean", [format_in(row["mean_ns"], unit) for row, _ in both]),
        Field("= path", [format_in(row["mean_ns"], unit) for row in shares]),
        Field("+ beyond", [format_in(row["mean_ns"], unit) for _, row in both]),
    ]
    one_in = rows[0]["one_in"]
    some = "" if one_in == 1 else f"; one in {one_in} of them"
    title = f"Requests and responses, {unit}, as the client's end of the path saw them{some}"
    print_table(console, title, fields)
    _point_to_modes(console, document, list(client.values()))


def _point_to_modes(console: "Console", document: Row, rows: list[Row]) -> None:
    """Where turns are many and alike, say where a benchmark's mode and rate are told."""
    kinds = [row["kind"] for row in rows if row["kind"] in TURNS and _is_regular(row)]
    if kinds and "transactions" not in document:
        console.print(
            f"Many turns that are alike ({', '.join(dict.fromkeys(kinds))}), as in a benchmark: "
            "--traffic names netperf's mode (TCP_RR, TCP_CRR, UDP_RR), counts rate and requests "
            "under way, and checks 1/rate against the measured time\n"
        )


def _is_regular(row: Row) -> bool:
    is_many = row["n"] * row["one_in"] >= MANY_TURNS
    return bool(is_many and row["p90_ns"] <= MOST_UNLIKE * row["p50_ns"])
