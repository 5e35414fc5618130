"""Transactions: requests and responses that take turns, and of which kind they are.

netperf's manual §6.2: TCP_RR keeps one connection, TCP_CRR opens one for each transaction. One of a
client at a time, they come at 1/rate; several under way, at as many times 1/rate.
"""

import polars as pl

TCP, UDP = 6, 17

CONTROL_PORT = 12865
"""Where netperf's control connection goes by default."""

LEAST_RR = 100
"""From so many transactions of the median connection on, it is request/response on one
connection."""

SERVICE = ("point", "client", "server", "server_port", "protocol", "kind")
MODES = {(TCP, "rr"): "TCP_RR", (UDP, "rr"): "UDP_RR", (TCP, "crr"): "TCP_CRR"}
"""What netperf calls transactions, by protocol and kind."""

UNTOLD = "unknown-client"
"""Of connections of which nobody knows which end asks: neither have they a rate, nor times."""

ONE = pl.lit(1, pl.Int64)
SUMS = ("n_connections", "n_transactions", "request_bytes", "response_bytes", "n_outstanding")
TIMES = ("rate_tps", "mean_ns", "gap_ns", "period_ns", "check_frac")


def transaction_rows(connections: pl.DataFrame) -> pl.DataFrame:
    """Sum up the connections of a client with a service, those of a kind together."""
    if not len(connections):
        return connections
    n_answered = pl.min_horizontal("n_requests", "n_responses")
    # a SYN that was sent again opened nothing more
    opened = pl.min_horizontal("n_syn", n_answered).clip(1)
    each = connections.with_columns(
        kind=_kind(n_answered / opened),
        n_answered=n_answered,
        n_opened=opened,
        is_even=pl.col("n_outstanding").is_not_null(),
    )
    # one connection of one transaction is none of either kind
    is_alone = (pl.col("kind") == "crr") & (pl.col("n_opened").sum().over(SERVICE) <= 1)
    kind = pl.when(is_alone).then(pl.lit("mixed")).otherwise("kind")
    kind = pl.when(pl.col("is_told") == 0).then(pl.lit(UNTOLD)).otherwise(kind)
    each = each.with_columns(kind=kind)
    is_opened = pl.col("kind") == "crr"
    is_told = pl.col("kind") != UNTOLD
    parts = [_of_turns(each.filter(~is_opened)), _of_openings(each.filter(is_opened))]
    rows = pl.concat([part.select(*SERVICE, "mode", *SUMS, *TIMES) for part in parts])
    return rows.with_columns(
        pl.col("server_port", "protocol").cast(pl.Int32),
        pl.when(is_told).then(pl.col("mode")).alias("mode"),
        *(pl.when(is_told).then(pl.col(name)).alias(name) for name in ("n_outstanding", *TIMES)),
    ).sort(SERVICE)


def _kind(per_connection: pl.Expr) -> pl.Expr:
    control = pl.when(pl.col("server_port") == CONTROL_PORT).then(pl.lit("control"))
    once = control.when(per_connection <= 1).then(pl.lit("crr"))
    return once.when(per_connection >= LEAST_RR).then(pl.lit("rr")).otherwise(pl.lit("mixed"))


def _of_turns(each: pl.DataFrame) -> pl.DataFrame:
    """Rate and times of transactions on connections that stay: from request to request."""
    span_ns = pl.col("last_request_ns") - pl.col("first_request_ns")
    n_more = pl.col("n_requests") - 1
    each = each.with_columns(span_ns=span_ns, n_more=n_more)
    some = each.filter((n_more > 0) & (span_ns > 0))
    # what the client took from a response to its next request
    gap_ns = pl.col("idle_ns") / (pl.col("n_turns") - 1)
    sums = some.group_by(SERVICE).agg(
        pl.col("n_more", "span_ns", "busy_ns", "idle_ns").sum(),
        n_gaps=(pl.col("n_turns") - 1).sum(),
        cycles_ns=(pl.col("n_outstanding") * pl.col("span_ns")).sum(),
        cycled_ns=(pl.col("busy_ns") + gap_ns * pl.col("n_more")).sum(),
    )
    asked = overlaps(some, "first_request_ns", "last_request_ns", ONE)
    at_once = overlaps(each, "first_request_ns", "last_ns", pl.col("n_outstanding"))
    mean_ns, period_ns = (pl.col(name) / pl.col("n_more") for name in ("busy_ns", "span_ns"))
    gap_ns = pl.when("is_even").then(pl.col("idle_ns") / pl.col("n_gaps"))
    return (
        _summed(each, at_once)
        .join(sums, SERVICE, "left")
        .join(asked.select(*SERVICE, "covered_ns"), SERVICE, "left")
        .with_columns(
            rate_tps=pl.col("n_more") * 1e9 / pl.col("covered_ns"),
            mean_ns=mean_ns,
            gap_ns=gap_ns.otherwise(period_ns - mean_ns),
            check_frac=pl.when("is_even").then(pl.col("cycled_ns") / pl.col("cycles_ns") - 1),
        )
        .with_columns(period_ns=pl.col("mean_ns") + pl.col("gap_ns"))
    )


def _of_openings(each: pl.DataFrame) -> pl.DataFrame:
    """Rate and times of connections of one transaction each: from opening to opening.

    The last is left out of the mean, for nobody knows what came after it.
    """
    at_once = overlaps(each, "first_ns", "last_ns", ONE)
    opened = pl.col("first_ns").sort()
    # of n at a time, the one after the next n - 1 takes the place of one that is over
    gap_ns = opened.shift(-pl.col("n_at_once").first()) - pl.col("last_ns").sort()
    times = (
        each.join(at_once, SERVICE, "left")
        .group_by(SERVICE)
        .agg(
            span_ns=opened.last() - opened.first(),
            n_more=pl.len() - 1,
            mean_ns=(pl.col("last_ns") - pl.col("first_ns"))
            .filter(pl.col("first_ns") < pl.col("first_ns").max())
            .mean(),
            gap_ns=gap_ns.mean(),
        )
        .with_columns(period_ns=pl.col("span_ns") / pl.col("n_more"))
    )
    cycle_ns = pl.col("period_ns") * pl.col("n_outstanding")
    check_frac = (pl.col("mean_ns") + pl.col("gap_ns")) / cycle_ns - 1
    gap_ns = pl.when("is_even").then("gap_ns").otherwise(pl.col("period_ns") - pl.col("mean_ns"))
    return (
        _summed(each, at_once)
        .join(times, SERVICE, "left")
        .with_columns(rate_tps=1e9 / pl.col("period_ns"), gap_ns=gap_ns)
        .with_columns(
            check_frac=pl.when("is_even").then(check_frac),
            period_ns=pl.col("mean_ns") + pl.col("gap_ns"),
        )
    )


def _summed(each: pl.DataFrame, at_once: pl.DataFrame) -> pl.DataFrame:
    """Add up connections; those whose messages could all be counted are of a mode of netperf's."""
    sizes = [pl.col(f"{name}_bytes") / pl.col(f"n_{name}s") for name in ("request", "response")]
    is_same = [size.min() == size.max() for size in sizes]
    sums = each.group_by(SERVICE).agg(
        n_connections=pl.col("n_opened").sum().cast(pl.Int64),
        n_transactions=pl.col("n_answered").sum(),
        request_bytes=pl.col("request_bytes").sum() / pl.col("n_requests").sum(),
        response_bytes=pl.col("response_bytes").sum() / pl.col("n_responses").sum(),
        is_even=pl.col("is_even").all() & is_same[0] & is_same[1],
    )
    names = pl.concat_str("protocol", "kind")
    modes = {f"{protocol}{kind}": mode for (protocol, kind), mode in MODES.items()}
    mode = names.replace_strict(modes, default=None, return_dtype=pl.String)
    told = sums.with_columns(mode=pl.when("is_even").then(mode))
    n_outstanding = pl.when(pl.col("mode").is_not_null()).then("n_at_once")
    return (
        told.with_columns(is_even=pl.col("mode").is_not_null())
        .join(at_once.drop("covered_ns"), SERVICE, "left")
        .with_columns(n_outstanding=n_outstanding)
    )


def overlaps(spans: pl.DataFrame, first: str, last: str, weight: pl.Expr) -> pl.DataFrame:
    """Give of each service how much is at one time at most, and the time in which anything is."""
    each = spans.select(*SERVICE, first, last, weight=weight)
    starts = each.select(*SERVICE, t_ns=first, step="weight")
    ends = each.select(*SERVICE, t_ns=last, step=-pl.col("weight"))
    steps = pl.concat([starts, ends]).sort(
        *SERVICE, "t_ns", "step", descending=[*(False for _ in SERVICE), False, True]
    )
    steps = steps.with_columns(
        n=pl.col("step").cum_sum().over(SERVICE),
        until_ns=pl.col("t_ns").shift(-1).over(SERVICE),
    )
    passed_ns = (pl.col("until_ns") - pl.col("t_ns")).filter(pl.col("n") > 0)
    return steps.group_by(SERVICE).agg(n_at_once=pl.col("n").max(), covered_ns=passed_ns.sum())
