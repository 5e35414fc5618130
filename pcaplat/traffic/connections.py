"""Connections: who opened each, its turns, its requests under way, its bytes, its times.

A turn is a run of payload in one direction. Where all messages of a side are of one size, they are
counted (pcaplat.traffic.messages); else each turn is one. Frames come in batches; of every
connection one row is kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from pcaplat.traffic.messages import SIDES, STATE_BEFORE, Groups, take

CONNECTION = ("point", "protocol", "a", "a_port", "b", "b_port")
TCP, UDP = 6, 17
PSH = 8


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
            is_early="is_early",
            is_pushed=(pl.col("tcp_flags") & PSH != 0).fill_null(value=False),
            t_ns="at_ns",
            seq="tcp_seq",
            n_bytes="payload_bytes",
        )
    )


@dataclass
class Connections:
    """What passed on every connection at every point, as far as frames have come."""

    _rows: list[pl.DataFrame] = field(default_factory=list)
    _state: pl.DataFrame | None = None

    def add(self, frames: pl.DataFrame) -> None:
        """Take frames of one batch, in the order of their files.

        Of those with `is_early`, before the time that is counted, only openings are counted.
        """
        batch = _messages(frames).sort(*CONNECTION, "t_ns", maintain_order=True).collect()
        if not len(batch):
            return
        fresh = self._moved(batch.filter(~pl.col("is_syn"), ~pl.col("is_early")))
        rows = [_summed(fresh), _opened(batch), _early(batch)]
        self._rows.append(pl.concat(rows, how="diagonal").pipe(_added))
        self._rows = [_added(pl.concat(self._rows, how="diagonal"))]

    def _moved(self, data: pl.DataFrame) -> pl.DataFrame:
        """Leave out what is nothing new, and keep where each connection is now."""
        each = data.select(CONNECTION).unique(maintain_order=True)
        of = data.join(each.with_row_index("of"), CONNECTION, "left", maintain_order="left")["of"]
        if self._state is None:
            none = {name: pl.lit(start, pl.Int64) for name, start in STATE_BEFORE.items()}
            self._state = each.clear().with_columns(**none)
        known = each.join(self._state, CONNECTION, "left", maintain_order="left")
        state = {
            name: known[name].fill_null(start).to_numpy().copy()
            for name, start in STATE_BEFORE.items()
        }
        fresh = take(data, state, Groups(of.cast(pl.Int64).to_numpy(), len(each)))
        rest = self._state.join(each, CONNECTION, "anti")
        self._state = pl.concat([rest, each.with_columns(**state)])
        return fresh

    def finish(self) -> pl.DataFrame:
        """One row per connection and point: who opened it, its turns, its bytes, its times."""
        if not self._rows:
            return pl.DataFrame()
        rows = self._rows[0]
        if self._state is not None:
            rows = rows.join(self._state, CONNECTION, "left")
        return _by_client(rows)


def _by_client(rows: pl.DataFrame) -> pl.DataFrame:
    """Tell who is the client of each connection, and what each of the two sent."""
    counted = _named(rows.with_columns(is_a=_is_client_a())).with_columns(is_even=_is_even())
    turns_ns = pl.col("last_turn_ns") - pl.col("first_request_ns") - pl.col("idle_ns")

    def either(messages: pl.Expr | str, turns: pl.Expr | str) -> pl.Expr:
        return pl.when("is_even").then(messages).otherwise(turns)

    return counted.with_columns(
        n_requests=either("begun", "n_turns"),
        n_responses=either(pl.col("begun") - pl.col("out"), "n_answers"),
        last_request_ns=either("asked_ns", "last_turn_ns"),
        busy_ns=either("until", turns_ns),
        n_outstanding=either("most", pl.lit(None)),
    ).drop("begun", "out", "most", "least", "until", "asked_ns", "n_odd", "n_early", "last_turn_ns")


def _is_client_a() -> pl.Expr:
    """Whoever sent a SYN is the client; else whoever was seen first."""
    by_syn = pl.when(pl.col("n_syn_a") > 0).then(statement=True)
    by_syns = by_syn.when(pl.col("n_syn_b") > 0).then(statement=False)
    first_a = pl.col("first_a_ns") <= pl.col("first_b_ns")
    return by_syns.otherwise(first_a.fill_null(pl.col("first_b_ns").is_null()))


def _named(rows: pl.DataFrame) -> pl.DataFrame:
    """Name the columns of both sides by what they are: the client's, or the server's."""

    def client(name: str, sides: Sequence[str] = SIDES) -> pl.Expr:
        if_a, if_b = (pl.col(name.replace("@", side)) for side in sides)
        return pl.when("is_a").then(if_a).otherwise(if_b)

    def server(name: str) -> pl.Expr:
        return client(name, SIDES[::-1])

    return rows.select(
        "point",
        "protocol",
        client=client("@"),
        server=server("@"),
        server_port=server("@_port"),
        n_turns=client("n_turns_@"),
        n_answers=server("n_turns_@"),
        request_bytes=client("n_bytes_@"),
        response_bytes=server("n_bytes_@"),
        n_early="n_early",
        n_syn=client("n_syn_@"),
        first_request_ns=client("first_@_ns"),
        last_turn_ns=client("last_turn_@_ns"),
        idle_ns=client("gap_@_ns"),
        first_ns=pl.min_horizontal("syn_ns", "first_a_ns", "first_b_ns"),
        last_ns=pl.max_horizontal("last_a_ns", "last_b_ns"),
        begun=client("begun_@"),
        out=client("out_@"),
        most=client("most_@"),
        least=client("least_@"),
        until=client("until_@"),
        asked_ns=client("asked_ns_@"),
        n_odd=pl.col("n_odd_a") + pl.col("n_odd_b"),
    )


def _is_even() -> pl.Expr:
    """Tell whether messages can be counted: all of one size, each response after its request.

    Nothing came before, and a TCP connection was seen from its SYN on. Of UDP, where a lost
    message looks like one more request under way, either there is never a second one, or all were
    answered in the end.
    """
    done = pl.col("begun") - pl.col("out")
    is_answered = (done > 0) & (2 * done >= pl.col("begun")) & (pl.col("least") >= 0)
    is_begun = (pl.col("protocol") == TCP) & (pl.col("n_syn") > 0)
    is_whole = (pl.col("protocol") == UDP) & ((pl.col("out") == 0) | (pl.col("most") == 1))
    is_even = (pl.col("n_odd") == 0) & (pl.col("n_early") == 0) & is_answered
    is_even &= is_begun | is_whole
    return is_even.fill_null(value=False)


def _summed(data: pl.DataFrame) -> pl.DataFrame:
    """Add up what each side of each connection sent."""
    aggregates: dict[str, pl.Expr] = {}
    for side in SIDES:
        is_own = pl.col("is_a") if side == "a" else ~pl.col("is_a")
        turn = is_own & (
            pl.col("before_is_a").is_null() | (pl.col("before_is_a") != pl.col("is_a"))
        )
        t_ns, gap_ns = pl.col("t_ns"), pl.col("t_ns") - pl.col("before_ns")
        aggregates |= {
            f"n_turns_{side}": turn.sum().cast(pl.Int64),
            f"n_bytes_{side}": pl.col("n_bytes").filter(is_own).sum(),
            f"gap_{side}_ns": gap_ns.filter(turn).sum(),
            f"first_{side}_ns": t_ns.filter(is_own).min(),
            f"last_{side}_ns": t_ns.filter(is_own).max(),
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


def _early(batch: pl.DataFrame) -> pl.DataFrame:
    """Count the messages that came before the time that is counted."""
    early = batch.filter(pl.col("is_early"), ~pl.col("is_syn"))
    return early.group_by(CONNECTION).agg(n_early=pl.len().cast(pl.Int64))


def _added(rows: pl.DataFrame) -> pl.DataFrame:
    sums = [name for name in rows.columns if name.startswith(("n_", "gap_"))]
    least = [name for name in rows.columns if name.startswith(("first_", "syn_"))]
    most = [name for name in rows.columns if name.startswith("last_")]
    return rows.group_by(CONNECTION).agg(
        pl.col(sums).sum(), pl.col(least).min(), pl.col(most).max()
    )
