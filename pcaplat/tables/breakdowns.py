"""The tables of breakdowns: their columns, units and meaning."""

from pcaplat.tables import SEGMENTS
from pcaplat.tables.columns import ColumnSchema, TableSchema


def _known(name: str, kind: str, meaning: str, unit: str = "") -> ColumnSchema:
    return ColumnSchema(name, kind, meaning, unit, is_nullable=True)  # type: ignore[arg-type] # one of Type


def _by(kind: str, meaning: str, *keys: ColumnSchema) -> TableSchema:
    """Give the table of one breakdown: segment, direction and key, then the figures."""
    return TableSchema(
        f"by_{kind}",
        f"figures of each segment, and of the whole path, and direction {meaning}; whole packets",
        (
            *_ENDS,
            ColumnSchema("key", "String", "what the row is of, to be read"),
            *keys,
            *_FIGURES,
            *_COUNTS,
        ),
    )


_FIGURES = (
    ColumnSchema("n", "Int64", "packets measured"),
    *(
        _known(f"{name}_ns", "Float64", text, "ns")
        for name, text in (
            ("mean", "mean latency, exact"),
            ("p50", "median latency"),
            ("p99", "99 % took no longer"),
            ("max", "greatest latency, exact"),
            ("min", "least latency, exact"),
            ("pdv_p99", "p99 less the least: delay variation (RFC 5481)"),
            ("mean_lo", "mean: lower end of its 95 % interval; null: interval_reason"),
            ("mean_hi", "mean: upper end"),
        )
    ),
    _known("interval_reason", "String", "why figures or the interval are null"),
)

_COUNTED = (
    *("n_lost", "n_waited", "lost_frac", "lost_lo_frac", "lost_hi_frac"),
    *("n_duplicated", "duplicated_frac", "n_reordered", "reordered_frac"),
    *("ipdv_p50_ns", "ipdv_p99_ns"),
)
_COUNTS = tuple(column for column in SEGMENTS.columns if column.name in _COUNTED)

_ENDS = (
    ColumnSchema("near", "String", "the end nearer the path's first point"),
    ColumnSchema("far", "String", "the end nearer the path's last point"),
    ColumnSchema("direction", "String", "forward (as the path is written) or reverse"),
)

BY = {
    "flow": _by(
        "flow",
        "per flow",
        _known("protocol", "Int32", "innermost IP protocol number; null: not IP, or the rest"),
        _known("src", "String", "innermost address at near, of who sends forward"),
        _known("src_port", "Int32", "its port"),
        _known("dst", "String", "innermost address at near, of who sends in reverse"),
        _known("dst_port", "Int32", "its port"),
    ),
    "size": _by(
        "size",
        "per class of frame size at near, classes that double",
        ColumnSchema("least_bytes", "Int64", "shortest frame of the class", "bytes"),
        ColumnSchema("most_bytes", "Int64", "longest frame of the class", "bytes"),
    ),
    "dscp": _by(
        "dscp",
        "per differentiated services codepoint at near",
        _known("dscp", "Int32", "innermost codepoint; null: not IP"),
    ),
    "tunnel": _by(
        "tunnel",
        "per tunnel",
        _known("tunnel_id", "Int64", "of the innermost tunnel, at near or else at far; null: none"),
    ),
    "first": _by("first", "of the packets that are the first of their flow, and of the others"),
    "window": _by(
        "window",
        "per window of time",
        ColumnSchema(
            "start_ns", "Int64", "when it begins, by the path's first clock", "ns since 1970"
        ),
        ColumnSchema("length_ns", "Int64", "how long it is", "ns"),
    ),
}

ROUND_TRIPS_BY = tuple(
    TableSchema(
        f"round_trips_by_{kind}",
        f"a segment's share of the round trip per {kind}: mean forward plus mean reverse latency "
        "of whole packets; needs no common clock",
        (
            *_ENDS[:2],
            *BY[kind].columns[len(_ENDS) : -len(_FIGURES + _COUNTS)],
            ColumnSchema("n", "Int64", "packets measured, of the direction that has fewer"),
            _known("mean_ns", "Float64", "mean round-trip contribution", "ns"),
            *_FIGURES[-3:],
        ),
    )
    for kind in ("flow", "tunnel", "window")
)
"""Tables of round trips by keys that both directions have in common."""

SIZE_FITS = TableSchema(
    "size_fits",
    "latency against frame bytes at near, a line of least squares for each segment and direction",
    (
        *_ENDS,
        ColumnSchema("n", "Int64", "packets measured"),
        _known("min_bytes", "Int64", "shortest frame", "bytes"),
        _known("max_bytes", "Int64", "longest frame", "bytes"),
        *(
            _known(name, "Float64", text, unit)
            for name, unit, text in (
                ("slope_ns_per_byte", "ns/byte", "what a byte more costs"),
                ("slope_lo_ns_per_byte", "ns/byte", "its 95 % interval; null: interval_reason"),
                ("slope_hi_ns_per_byte", "ns/byte", "upper end"),
                ("fixed_ns", "ns", "what is left at 0 bytes"),
                ("fixed_lo_ns", "ns", "its 95 % interval; null: interval_reason"),
                ("fixed_hi_ns", "ns", "upper end"),
            )
        ),
        _known("interval_reason", "String", "why figures or intervals are null"),
    ),
)  # fmt: skip

BREAKDOWN_TABLES = (*BY.values(), *ROUND_TRIPS_BY, SIZE_FITS)
