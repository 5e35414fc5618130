"""Transactions: requests and responses that take turns on a connection, and of which kind they are.

A message is a run of payload in one direction; a turn is where the direction changes (methods of
netperf's manual §6.2: TCP_RR keeps one connection, TCP_CRR opens one for each transaction). Frames
come in batches; of every connection one row is kept.
"""

from dataclasses import dataclass, field

import polars as pl

CONTROL_PORT = 12865
"""Where netperf's control connection goes by default."""

LEAST_RR = 100
"""Transactions of the median connection from which on it is request/response on one connection."""

CONNECTION = ("point", "protocol", "a", "a_port", "b", "b_port")
SIDES = ("a", "b")
TCP, UDP = 6, 17


def _messages(frames: pl.DataFrame) -> pl.LazyFrame:
    """Frames with payload, and the SYNs (no acknowledgement, no payload), by connection."""
    is_syn = (pl.col("tcp_ack") == 0) & (pl.col("payload_bytes") == 0)
    is_message = pl.col("protocol").is_in([TCP, UDP]) & (pl.col("payload_bytes") > 0)
    of_ports = pl.col("src_port").is_not_null() & pl.col("dst_port").is_not_null()
    is_turned = (pl.col("src") > pl.col("dst")) | (
        (pl.col("src") == pl.col("dst")) & (pl.col("src_port") > pl.col("dst_port"))
    )

    def end(one: str, other: str) -> pl.Expr:
        return pl.when(is_turned).then(pl.col(other)).otherwise(pl.col(one))

    return (
        frames.lazy()
        .filter(of_ports & (is_message | is_syn.fill_null(value=False)))
        .select(
            "point",
            "protocol",
            a=end("src", "dst"),
            a_port=end("src_port", "dst_port"),
            b=end("dst", "src"),
            b_port=end("dst_port", "src_port"),
            is_a=~is_turned,
            is_syn=is_syn.fill_null(value=False),
            t_ns="at_ns",
            n_bytes="payload_bytes",
        )
    )


@dataclass
class Connections:
    """What passed on every connection at every point, as far as frames have come."""

    _rows: list[pl.DataFrame] = field(default_factory=list)
    _last: pl.DataFrame | None = None

    def add(self, frames: pl.DataFrame) -> None:
        """Take frames of one batch, in the order of their files."""
        batch = _messages(frames).with_columns(is_carried=pl.lit(value=False)).collect()
        if not len(batch):
            return
        if self._last is not None:
            batch = pl.concat([self._last.select(batch.columns), batch])
        batch = batch.sort(*CONNECTION, ~pl.col("is_carried"), "t_ns", maintain_order=True)
        data = batch.filter(~pl.col("is_syn")).with_columns(
            before_is_a=pl.col("is_a").shift(1).over(CONNECTION),
            before_ns=pl.col("t_ns").shift(1).over(CONNECTION),
        )
        fresh = data.filter(~pl.col("is_carried"))
        self._rows.append(pl.concat([_summed(fresh), _opened(batch)], how="diagonal").pipe(_added))
        last = data.group_by(CONNECTION, maintain_order=True).last()
        self._last = last.with_columns(is_carried=pl.lit(value=True)).select(
            *CONNECTION, "is_a", "is_syn", "t_ns", "n_bytes", "is_carried"
        )
        self._rows = [_added(pl.concat(self._rows, how="diagonal"))]

    def finish(self) -> pl.DataFrame:
        """One row per connection and point: who opened it, its turns, its bytes, its times."""
        if not self._rows:
            return pl.DataFrame()
        rows = self._rows[0]
        by_syn = pl.when(pl.col("n_syn_a") > 0).then(statement=True)
        by_syns = by_syn.when(pl.col("n_syn_b") > 0).then(statement=False)
        first_a = pl.col("first_a_ns") <= pl.col("first_b_ns")
        is_a = by_syns.otherwise(first_a.fill_null(pl.col("first_b_ns").is_null()))
        rows = rows.with_columns(opener_is_a=is_a)

        def of(name: str, *, is_client: bool) -> pl.Expr:
            one, other = ("a", "b") if is_client else ("b", "a")
            own, its = (pl.col(name.replace("@", side)) for side in (one, other))
            return pl.when(pl.col("opener_is_a")).then(own).otherwise(its)

        return rows.select(
            "point",
            "protocol",
            client=of("@", is_client=True),
            server=of("@", is_client=False),
            server_port=of("@_port", is_client=False),
            n_requests=of("n_turns_@", is_client=True),
            n_responses=of("n_turns_@", is_client=False),
            request_bytes=of("n_bytes_@", is_client=True),
            response_bytes=of("n_bytes_@", is_client=False),
            n_syn=of("n_syn_@", is_client=True),
            first_request_ns=of("first_@_ns", is_client=True),
            last_request_ns=of("last_turn_@_ns", is_client=True),
            idle_ns=of("gap_@_ns", is_client=True),
            first_ns=pl.min_horizontal("syn_ns", "first_a_ns", "first_b_ns"),
            last_ns=pl.max_horizontal("last_a_ns", "last_b_ns"),
        )


def _summed(data: pl.DataFrame) -> pl.DataFrame:
    """Add up what each side of each connection sent."""
    aggregates: dict[str, pl.Expr] = {}
    for side in SIDES:
        own = pl.col("is_a") if side == "a" else ~pl.col("is_a")
        turn = own & (pl.col("before_is_a").is_null() | (pl.col("before_is_a") != pl.col("is_a")))
        t_ns, gap_ns = pl.col("t_ns"), pl.col("t_ns") - pl.col("before_ns")
        aggregates |= {
            f"n_turns_{side}": turn.sum().cast(pl.Int64),
            f"n_bytes_{side}": pl.col("n_bytes").filter(own).sum(),
            f"gap_{side}_ns": gap_ns.filter(turn).sum(),
            f"first_{side}_ns": t_ns.filter(own).min(),
            f"last_{side}_ns": t_ns.filter(own).max(),
            f"last_turn_{side}_ns": t_ns.filter(turn).max(),
        }
    return data.group_by(CONNECTION).agg(**aggregates)


def _opened(batch: pl.DataFrame) -> pl.DataFrame:
    """Count the SYNs of each side."""
    syns = batch.filter("is_syn")
    return syns.group_by(CONNECTION).agg(
        n_syn_a=pl.col("is_a").sum().cast(pl.Int64),
        n_syn_b=(~pl.col("is_a")).sum().cast(pl.Int64),
        syn_ns=pl.col("t_ns").min(),
    )


def _added(rows: pl.DataFrame) -> pl.DataFrame:
    sums = [name for name in rows.columns if name.startswith(("n_", "gap_"))]
    least = [name for name in rows.columns if name.startswith(("first_", "syn_"))]
    most = [name for name in rows.columns if name.startswith("last_")]
    return rows.group_by(CONNECTION).agg(
        pl.col(sums).sum(), pl.col(least).min(), pl.col(most).max()
    )


def transaction_rows(connections: pl.DataFrame) -> pl.DataFrame:
    """Sum up the connections of a client with a service, those of a kind together."""
    if not len(connections):
        return connections
    answered = connections.filter((pl.col("n_responses") > 0) & (pl.col("n_requests") > 0))
    n_answered = pl.min_horizontal("n_requests", "n_responses")
    # a SYN that was sent again opened nothing more
    opened = pl.min_horizontal("n_syn", n_answered).clip(1)
    each = answered.with_columns(kind=_kind(n_answered / opened), n_answered=n_answered)
    groups = each.group_by("point", "client", "server", "server_port", "protocol", "kind").agg(
        n_connections=opened.sum().cast(pl.Int64),
        n_transactions=pl.col("n_answered").sum(),
        request_bytes=pl.col("request_bytes").sum() / pl.col("n_requests").sum(),
        response_bytes=pl.col("response_bytes").sum() / pl.col("n_responses").sum(),
        **_of_turns(),
        **_of_openings(),
    )
    # one connection of one transaction is none of either kind
    is_opened = (pl.col("kind") == "crr") & (pl.col("n_connections") > 1)
    kind = pl.when((pl.col("kind") == "crr") & ~is_opened).then(pl.lit("mixed"))
    named = groups.with_columns(is_opened=is_opened, kind=kind.otherwise(pl.col("kind")))
    rated = named.with_columns(
        rate_tps=pl.when("is_opened").then("opened_tps").otherwise("turns_tps"),
        mean_ns=pl.when("is_opened").then("opened_ns").otherwise("turns_ns").fill_nan(None),
        period_ns=pl.when("is_opened").then("openings_ns").otherwise("periods_ns").fill_nan(None),
    ).with_columns(
        pl.col("server_port", "protocol").cast(pl.Int32),
        gap_ns=pl.col("period_ns") - pl.col("mean_ns"),
    )
    order = ("point", "client", "server", "server_port", "protocol", "kind")
    sums = ("n_connections", "n_transactions", "request_bytes", "response_bytes")
    times = ("rate_tps", "mean_ns", "gap_ns", "period_ns")
    return rated.select(*order, *sums, *times).sort(order)


def _kind(per_connection: pl.Expr) -> pl.Expr:
    control = pl.when(pl.col("server_port") == CONTROL_PORT).then(pl.lit("control"))
    once = control.when(per_connection <= 1).then(pl.lit("crr"))
    return once.when(per_connection >= LEAST_RR).then(pl.lit("rr")).otherwise(pl.lit("mixed"))


def _of_turns() -> dict[str, pl.Expr]:
    """Rate and mean time of transactions on connections that stay: from request to request."""
    span_ns = pl.col("last_request_ns") - pl.col("first_request_ns")
    n_more = pl.col("n_requests") - 1
    is_some = (n_more > 0) & (span_ns > 0)
    return {
        "turns_tps": (n_more * 1e9 / span_ns).filter(is_some).sum(),
        "turns_ns": (span_ns - pl.col("idle_ns")).filter(is_some).sum()
        / n_more.filter(is_some).sum(),
        "periods_ns": span_ns.filter(is_some).sum() / n_more.filter(is_some).sum(),
    }


def _of_openings() -> dict[str, pl.Expr]:
    """Rate and mean time of connections of one transaction each: from opening to opening.

    The last is left out of the mean, for nobody knows what came after it.
    """
    span_ns = pl.col("first_ns").max() - pl.col("first_ns").min()
    lasted_ns = pl.col("last_ns") - pl.col("first_ns")
    is_followed = pl.col("first_ns") < pl.col("first_ns").max()
    return {
        "opened_tps": pl.when(span_ns > 0).then((pl.len() - 1) * 1e9 / span_ns),
        "opened_ns": lasted_ns.filter(is_followed).mean(),
        "openings_ns": span_ns / (pl.len() - 1),
    }


def most_at_once(first_ns: pl.Series, last_ns: pl.Series) -> int:
    """Count the most connections that were open at one time, by first and last frame."""
    if not len(first_ns):
        return 0
    starts = pl.DataFrame({"t_ns": first_ns, "step": 1})
    ends = pl.DataFrame({"t_ns": last_ns, "step": -1})
    steps = pl.concat([starts, ends]).sort("t_ns", "step", descending=[False, True])
    return int(steps["step"].cum_sum().max() or 0)  # type: ignore[arg-type] # of integers
