"""How flows of a run begin and end: what tells that those of another one go on with them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pcaplat.records import dataclass

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

FLOW = ("src", "dst", "src_port", "dst_port", "protocol")
COLUMNS = ["point", "t_ns", *FLOW]
NUMBERS = ["ip_id", "tcp_seq", "payload_bytes"]
"""Of the further columns of packets; what `merge -o` wrote has none of them."""

MOST_FLOWS = 1024
"""So many flows of a point are kept: those of most packets."""

MAIN_SHARE = 0.5
"""Flows that make up so much of both runs are what they are of."""

LEAST_FLOWS = 2
"""In so many flows, which may be both ways of one, numbers go on; of one they may by chance."""

MOST_IDS = 64
"""IP identifications that may be missing between two runs: by chance they are so near in one of
1,000."""

MOST_BYTES = 1 << 16
"""Bytes of a TCP stream that may be missing between two runs, or be there again."""

TCP, UDP = 6, 17
AGAIN = "_of_next"


@dataclass(frozen=True)
class FlowEnds:
    """Flows of one point, a row each way; its first and its last frame, and its longest pause."""

    flows: "pl.DataFrame"
    first_ns: int
    last_ns: int
    pause_ns: int

    def same_run_as(self, other: "FlowEnds") -> str | None:
        """Say what tells that both are of one run; None where nothing does."""
        earlier, later = sorted((self, other), key=lambda one: one.first_ns)
        return earlier.has_bytes_of(later) or earlier.goes_on_as(later) or earlier.is_beside(later)

    def has_bytes_of(self, other: "FlowEnds") -> str | None:
        """Say that streams of TCP are the same: whatever was done to the stamps."""
        both = self.flows.join(other.flows, FLOW, suffix=AGAIN).filter(_overlaps())
        if len(both) >= LEAST_FLOWS and _are_main(both, self, other):
            return "the same bytes of the same TCP connections"
        return None

    def is_beside(self, other: "FlowEnds") -> str | None:
        """Say that flows of one capture were given apart."""
        together_ns = min(self.last_ns, other.last_ns) - max(self.first_ns, other.first_ns)
        shorter_ns = min(one.last_ns - one.first_ns for one in (self, other))
        if not len(self.flows) or together_ns <= MAIN_SHARE * shorter_ns:
            return None
        hosts = self.flows.select("src", "dst").unique()
        is_of_them = len(other.flows.join(hosts, ("src", "dst"), "semi")) == len(other.flows) > 0
        if is_of_them and not len(self.flows.join(other.flows, FLOW, "semi")):
            return "other flows between the same hosts, at the same time"
        return None

    def goes_on_as(self, later: "FlowEnds") -> str | None:
        """Say what tells that a later capture is of the same run; None where nothing does."""
        both = self.flows.join(later.flows, FLOW, suffix=AGAIN)
        # control and background flows may outlive a run
        if not _are_main(both, self, later):
            return None
        if self.last_ns <= later.first_ns <= self.last_ns + max(self.pause_ns, later.pause_ns):
            return "the same flows, with no longer a pause between them than within them"
        on = both.filter(_goes_on())
        if len(on) >= LEAST_FLOWS and _are_main(on, self, later):
            return "the same flows, whose IP identifications or sequence numbers go on"
        return None


def _are_main(both: "pl.DataFrame", one: FlowEnds, other: FlowEnds) -> bool:
    counts = (both["n"], one.flows["n"]), (both[f"n{AGAIN}"], other.flows["n"])
    parts = ((int(some.sum()), int(all_of.sum())) for some, all_of in counts)
    return len(both) > 0 and all(n >= MAIN_SHARE * n_all for n, n_all in parts)


def _overlaps() -> "pl.Expr":
    """Initial sequence numbers are random: two connections hardly ever have bytes in common."""
    import polars as pl  # noqa: PLC0415 - slow to import, seldom needed

    ahead = (pl.col(f"first_seq{AGAIN}") - pl.col("first_seq")) % 2**32
    behind = (pl.col("first_seq") - pl.col(f"first_seq{AGAIN}")) % 2**32
    length, length_again = (
        (pl.col(f"last_seq{of}") - pl.col(f"first_seq{of}")) % 2**32 for of in ("", AGAIN)
    )
    has_common = (ahead < length) | (behind < length_again)
    is_short = (length < 2**31) & (length_again < 2**31)
    return (pl.col("protocol") == TCP) & (has_common & is_short).fill_null(value=False)


def _goes_on() -> "pl.Expr":
    import polars as pl  # noqa: PLC0415 - slow to import, seldom needed

    ids = (pl.col(f"first_id{AGAIN}") - pl.col("last_id")) % 2**16
    missing = (pl.col(f"first_seq{AGAIN}") - pl.col("last_seq") + MOST_BYTES) % 2**32
    by_bytes = (pl.col("protocol") == TCP) & (missing <= 2 * MOST_BYTES)
    return (ids.is_between(1, MOST_IDS) | by_bytes).fill_null(value=False)


class FlowEndsTable:
    """Gathers the flows of all points, batch by batch."""

    def __init__(self) -> None:
        self._of: dict[str, FlowEnds] = {}

    def take(self, batch: "pa.RecordBatch | pa.Table") -> None:
        """Take frames in the order of time, as far as each point has it."""
        import polars as pl  # noqa: PLC0415 - slow to import, seldom needed

        names = [name for name in (*COLUMNS, *NUMBERS) if name in batch.schema.names]
        if not set(names) >= set(COLUMNS):
            return
        frame = pl.DataFrame(batch.select(names))
        missing = [pl.lit(None, pl.Int64).alias(name) for name in NUMBERS if name not in names]
        parts = frame.with_columns(missing).partition_by("point", as_dict=True)
        for (point,), part in parts.items():
            known = self._of.get(str(point))
            self._of[str(point)] = _joined(known, _ends(part))

    def ends(self) -> Mapping[str, FlowEnds]:
        """Flows by point."""
        return self._of


def _ends(part: "pl.DataFrame") -> FlowEnds:
    import polars as pl  # noqa: PLC0415 - slow to import, seldom needed

    has_flow = pl.col("protocol").is_in([TCP, UDP]) & (pl.col("src_port") >= 0)
    seq = pl.col("tcp_seq")
    flows = (
        part.lazy()
        .filter(has_flow)
        .group_by(FLOW, maintain_order=True)
        .agg(
            n=pl.len().cast(pl.Int64),
            first_id=pl.col("ip_id").first(),
            last_id=pl.col("ip_id").last(),
            first_seq=seq.first(),
            last_seq=(seq + pl.col("payload_bytes").fill_null(0)).last(),
        )
        .collect()
    )
    times = part["t_ns"]
    pause_ns = times.diff().max()
    first_ns, last_ns = (int(t) for t in (times.min() or 0, times.max() or 0))  # type: ignore[arg-type]
    return FlowEnds(_most(flows), first_ns, last_ns, max(int(pause_ns or 0), 0))  # type: ignore[arg-type]


def _joined(one: FlowEnds | None, other: FlowEnds) -> FlowEnds:
    import polars as pl  # noqa: PLC0415 - slow to import, seldom needed

    if one is None:
        return other
    flows = (
        pl.concat([one.flows, other.flows])
        .group_by(FLOW, maintain_order=True)
        .agg(
            pl.col("n").sum(),
            pl.col("first_id", "first_seq").first(),
            pl.col("last_id", "last_seq").last(),
        )
        .select(one.flows.columns)
    )
    pause_ns = max(one.pause_ns, other.pause_ns, other.first_ns - one.last_ns)
    first_ns, last_ns = min(one.first_ns, other.first_ns), max(one.last_ns, other.last_ns)
    return FlowEnds(_most(flows), first_ns, last_ns, pause_ns)


def _most(flows: "pl.DataFrame") -> "pl.DataFrame":
    return flows if len(flows) <= MOST_FLOWS else flows.top_k(MOST_FLOWS, by="n")
