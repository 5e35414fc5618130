"""Shares of the round trip, and the time from request to response."""

from collections.abc import Iterator

from pcaplat.outputs.report import KEPT, Field, Grid, Paragraph, Section, optional
from pcaplat.outputs.reports.merge.figures import (
    ARROWS,
    UNKNOWN,
    counts,
    durations,
    every_figure,
    half,
    two_way,
    whole_rows,
)
from pcaplat.tables.columns import Row
from pcaplat.units import format_count, format_in, unit_for

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


def round_trip_sections(document: Row) -> Iterator[Section]:
    """Give each segment's share, and of what kinds of transactions its quantiles are."""
    halves = {f"{name}_half_ns": f"{name}_{{}}_ns" for name in ("mean", "p50")}
    rows = [
        row | {name: half(row, ends) for name, ends in halves.items()}
        for row in document["round_trips"]
    ]
    if not rows:
        return
    unit = unit_for(row[name] for row in rows for name in ("mean_ns", "p99_ns"))
    fields = [Field("segment", list(map(two_way, rows))), Field("n", counts(rows))]
    for heading, name, rank in FIGURES:
        fields += optional(heading, durations(rows, name, unit), UNKNOWN, rank)
    fields += optional("pairs", counts(rows, "n_paired"), "0", 4)
    title = f"Share of the round trip, {unit} (needs no common clock)"
    above = whole_rows(rows, document["path"])
    yield Grid(title, fields, rule_above=above, only="screen")
    yield from _transactions(document)
    yield from every_figure("Round trips", rows)


def _transactions(document: Row) -> Iterator[Section]:
    """Tell what the client's end of the path saw, and what of it is the path's."""
    rows = document["transaction_times"]
    client, server = (
        {(row["kind"], row["requests"]): row for row in rows if row["side"] == side}
        for side in ("client", "server")
    )
    near = [client[key] for key in client if key in server]
    beyond = [server[key] for key in client if key in server]
    if not near:
        return
    unit = unit_for(row["mean_ns"] for row in near)
    n_left_out = {row["kind"]: row["n"] for row in document["transactions_left_out"]}
    left_out = [format_count(n_left_out.get(row["kind"], 0)) for row in near]
    shares_ns = [row["mean_ns"] - far["mean_ns"] for row, far in zip(near, beyond, strict=True)]
    fields = [
        Field("kind", [f"{row['kind']} {ARROWS[row['requests']]}" for row in near]),
        Field("n", counts(near)),
        *optional("left out", left_out, "0", 1),
        Field("p50", durations(near, "p50_ns", unit), 2),
        Field("p99", durations(near, "p99_ns", unit), 3),
        Field("mean", durations(near, "mean_ns", unit)),
        Field("= path", [format_in(share_ns, unit) for share_ns in shares_ns]),
        Field("+ beyond", durations(beyond, "mean_ns", unit)),
    ]
    one_in = rows[0]["one_in"]
    some = "" if one_in == 1 else f"; one in {one_in} of them"
    title = f"Requests and responses, {unit}, as the client's end of the path saw them{some}"
    yield Grid(title, fields, only="screen")
    kinds = [row["kind"] for row in client.values() if row["kind"] in TURNS and _is_regular(row)]
    if kinds and "transactions" not in document:
        yield Paragraph(_modes(kinds), only="screen")


def _modes(kinds: list[str]) -> str:
    """Where turns are many and alike, say where a benchmark's mode and rate are told."""
    return (
        f"Many turns that are alike ({', '.join(dict.fromkeys(kinds))}), as in a benchmark: "
        "--traffic names netperf's mode (TCP_RR, TCP_CRR, UDP_RR), counts rate and requests "
        "under way, and checks 1/rate against the measured time"
    )


def _is_regular(row: Row) -> bool:
    is_many = row["n"] * row["one_in"] >= MANY_TURNS
    return bool(is_many and row["p90_ns"] <= MOST_UNLIKE * row["p50_ns"])
