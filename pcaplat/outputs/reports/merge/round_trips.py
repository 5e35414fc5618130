"""Shares of the round trip, and the time from request to response."""

from collections.abc import Iterator, Sequence
from typing import cast

from pcaplat.outputs.report import KEPT, Field, Grid, Medium, Paragraph, Section, optional
from pcaplat.outputs.reports.merge.figures import (
    INTERVAL,
    counts,
    durations,
    every_figure,
    figure_fields,
)
from pcaplat.run.answer.view import ARROWS, HALF, UNKNOWN, LatencyLine, LatencyView, half, kind_line
from pcaplat.tables.columns import Row
from pcaplat.units import Scale, format_count, format_in, unit_for

HEADINGS = (
    ("p50", "p50", KEPT),
    ("p90", "p90", 3),
    ("p99", "p99", 2),
    ("mean", "mean", KEPT),
    ("±", HALF, KEPT),
)

TURNS = ("tcp-transaction", "tcp-handshake", "udp-transaction")
MANY_TURNS = 100
"""As many make a connection request/response (pcaplat/traffic/transactions.py)."""

MOST_UNLIKE = 3
"""Turns of a benchmark take about as long as each other: nine in ten, so many medians at most."""


def round_trip_sections(document: Row, latencies: LatencyView) -> Iterator[Section]:
    """Give each segment's contribution, and of what kinds of transactions its quantiles are."""
    lines = latencies.both_ways
    if not lines:
        return
    scale = latencies.scale
    title = f"Round-trip contribution of each segment, {scale.unit} (needs no common clock)"
    above = [at for at, line in enumerate(lines) if latencies.is_whole(line)][:1]
    yield Grid(title, _fields(lines, scale), rule_above=above, only="requests")
    yield from _kinds(document, latencies)
    yield from _transactions(document)
    rows = [row | {"mean_half_ns": half(row)} for row in document["round_trips"]]
    yield from every_figure("Round trips", rows)


def _fields(lines: Sequence[LatencyLine], scale: Scale, *more: Field) -> list[Field]:
    medians_ns = [half(line.row, "p50_{}_ns") for line in lines]
    return [
        Field("segment", [line.label for line in lines]),
        *more,
        Field("n", [format_count(line.n) for line in lines]),
        *figure_fields(HEADINGS[:1], lines, scale),
        *optional("± p50", [scale.text(value_ns) for value_ns in medians_ns], UNKNOWN, 4),
        *figure_fields(HEADINGS[1:], lines, scale),
    ]


def _kinds(document: Row, latencies: LatencyView) -> Iterator[Section]:
    """Give the kinds of requests apart: at once where only mixing them hides an interval."""
    rows = document.get("round_trips_by_kind", ())
    lines = [kind_line(row) for row in rows]
    whole = latencies.together(latencies.ends)
    mine = [line for line in lines if line.ends == latencies.ends and line.half_ns is not None]
    is_hidden = whole is not None and whole.half_ns is None
    for these, of, only in (
        (mine if is_hidden else [], " of the whole path", "screen"),
        (lines, "", "requests"),
    ):
        if these:
            kinds = Field("kind", [line.row["kind"] for line in these], is_left=True)
            title = f"Round trips{of} by kind of transaction, {latencies.scale.unit}"
            yield Grid(title, _fields(these, latencies.scale, kinds), only=cast("Medium", only))
            yield Paragraph(_legend(only), is_indented=True, style="dim", only=cast("Medium", only))


def _legend(only: str) -> str:
    """Say what the columns of kinds mean, and where there is more of them."""
    told = f"{INTERVAL}, ± p50 of the median. {UNKNOWN}: too few independent transactions"
    return (
        f"{told}. Other packets than above, hence other figures; all kinds: --requests"
        if (only == "screen")
        else told
    )


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
        Field("+ behind last point", durations(beyond, "mean_ns", unit)),
    ]
    one_in = rows[0]["one_in"]
    some = "" if one_in == 1 else f"; one in {one_in} of them"
    title = f"Transactions, {unit}, as the client's end of the path saw them{some}"
    yield Grid(title, fields, only="requests")
    kinds = [row["kind"] for row in client.values() if row["kind"] in TURNS and _is_regular(row)]
    if kinds and "transactions" not in document:
        yield Paragraph(_modes(kinds), only="requests")


def _modes(kinds: list[str]) -> str:
    """Point to --traffic if transactions are many and of one size, as in a benchmark."""
    return (
        f"Many transactions of one size ({', '.join(dict.fromkeys(kinds))}), as in a benchmark: "
        "--traffic names netperf's mode (TCP_RR, TCP_CRR, UDP_RR), counts rate and requests "
        "under way, and checks 1/rate against the measured time"
    )


def _is_regular(row: Row) -> bool:
    is_many = row["n"] * row["one_in"] >= MANY_TURNS
    return bool(is_many and row["p90_ns"] <= MOST_UNLIKE * row["p50_ns"])
