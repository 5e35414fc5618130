"""The tables of paired requests and responses: their columns, units and meaning."""

from pcaplat.tables.columns import ColumnSchema, TableSchema


def _known(name: str, meaning: str, unit: str = "ns") -> ColumnSchema:
    return ColumnSchema(name, "Float64", meaning, unit, is_nullable=True)


def _text(name: str, meaning: str, *, is_nullable: bool = False) -> ColumnSchema:
    return ColumnSchema(name, "String", meaning, is_nullable=is_nullable)


def _figures(mean: str = "mean") -> tuple[ColumnSchema, ...]:
    what = {
        mean: "mean, exact",
        "p50": "median",
        "p90": "90 % took no longer",
        "p95": "95 % took no longer",
        "p99": "99 % took no longer",
    }
    ends = {"lo": "lower end of its 95 % interval; null: interval_reason", "hi": "upper end"}
    return (
        *(_known(f"{name}_ns", text) for name, text in what.items()),
        *(_known(f"{name}_{end}_ns", f"{name}: {text}") for name in what for end, text in ends.items()),
        _text("interval_reason", "why an interval is null", is_nullable=True),
        _text("interval_note", "which intervals are approximate, and wider for it", is_nullable=True),
    )  # fmt: skip


_KIND = _text(
    "kind",
    "tcp-transaction, tcp-handshake, tcp-ack, icmp-echo, dns, udp-transaction or tcp-timestamp",
)


def _counted(meaning: str) -> tuple[ColumnSchema, ...]:
    one_in = "pairs were sampled: one in this many requests, the same at every point"
    return ColumnSchema("n", "Int64", meaning), ColumnSchema("one_in", "Int64", one_in)


def _paired(meaning: str) -> tuple[ColumnSchema, ...]:
    return (*_counted(meaning), *_figures())


ROUND_TRIPS_BY_KIND = TableSchema(
    "round_trips_by_kind",
    "one row per segment and kind of transaction: its share of the time from request to response, pair by pair; needs no common clock",
    (
        _text("near", "the end nearer the path's first point"),
        _text("far", "the end nearer the path's last point"),
        _KIND,
        *_paired("requests whose response was found, both seen at both ends"),
    ),
)  # fmt: skip

TRANSACTION_TIMES = TableSchema(
    "transaction_times",
    "one row per kind of transaction, direction of its requests, and end of the path: the time from request to response as that point saw it; pairs that both ends saw",
    (
        _KIND,
        _text("requests", "direction of the requests: forward (as the path is written) or reverse"),
        _text("point", "the path's first point or its last"),
        _text("side", "client: requests come from here; server: this is the time behind the path"),
        *_paired("requests whose response was found"),
    ),
)  # fmt: skip

LEFT_OUT = TableSchema(
    "transactions_left_out",
    "requests with a response that are in no round trip, by kind",
    (
        _KIND,
        *_counted("pairs where one half was sent again, or may belong to another packet"),
    ),
)

TRIP_TABLES = (ROUND_TRIPS_BY_KIND, TRANSACTION_TIMES, LEFT_OUT)
