"""Every table: its columns, their types, units and meaning.

The names are public (docs/reference/tables.md is made of them); `check` compares a table with them.
"""

from collections.abc import Mapping
from typing import Any

from pcaplat.tables.columns import ColumnSchema, TableSchema


def _text(name: str, meaning: str, *, is_nullable: bool = False) -> ColumnSchema:
    return ColumnSchema(name, "String", meaning, is_nullable=is_nullable)


def _count(name: str, meaning: str) -> ColumnSchema:
    return ColumnSchema(name, "Int64", meaning)


def _duration(name: str, meaning: str) -> ColumnSchema:
    return ColumnSchema(name, "Float64", meaning, "ns", is_nullable=True)


def _intervals(*names: str) -> tuple[ColumnSchema, ...]:
    ends = [("lo", "lower end of its 95 % interval; null: interval_reason"), ("hi", "upper end")]
    return (
        *(_duration(f"{name}_{end}_ns", f"{name}: {of}") for name in names for end, of in ends),
        ColumnSchema(
            "n_effective",
            "Float64",
            "effective sample size: independent packets that would give the mean the same variance",
            is_nullable=True,
        ),
        _text("interval_reason", "why an interval is null", is_nullable=True),
        _text(
            "interval_note",
            "which intervals are approximate, and wider; loss ratios whose losses come in bursts",
            is_nullable=True,
        ),
    )


PACKETS = TableSchema(
    "packets",
    "one row per captured frame, of all points; --filter, --sample, --from and --to select; nothing else is dropped",
    (
        _text("point", "capture point"),
        _text("file", "capture file"),
        _count("frame", "number within the file, from 1, as Wireshark counts"),
        ColumnSchema("t_ns", "Int64", "the capture file's own time", "ns since 1970"),
        ColumnSchema("stamp_ns", "Int64", "time from inside the frame, used instead of t_ns", "ns since 1970", is_nullable=True),
        ColumnSchema("aligned_ns", "Int64", "time on the reference clock", "ns since 1970", is_nullable=True),
        ColumnSchema("trajectory_id", "Int64", "same number: the same packet; null: matched nowhere", is_nullable=True),
        _text("status", "matched, coalesced, duplicate, ambiguous, unmatched or undecoded"),
        _text("layers", "from the outermost to the innermost, e.g. ethernet/ipv4/udp"),
        _text("src", "innermost source address; null: not IP", is_nullable=True),
        _text("dst", "innermost destination address; null: not IP", is_nullable=True),
        ColumnSchema("src_port", "Int32", "innermost source port", is_nullable=True),
        ColumnSchema("dst_port", "Int32", "innermost destination port", is_nullable=True),
        ColumnSchema("protocol", "Int32", "innermost IP protocol number", is_nullable=True),
        ColumnSchema("tunnel_id", "Int64", "VNI, GRE key, TEID, ERSPAN session … of the innermost tunnel", is_nullable=True),
        ColumnSchema("wire_bytes", "Int64", "length of the frame on the wire", "bytes"),
        ColumnSchema("captured_bytes", "Int64", "length of the frame in the file", "bytes"),
    ),
)  # fmt: skip

DETAILS = TableSchema(
    "details",
    "further columns of packets, which `pcaplat read --details` gives; null: not known, or not there",
    (
        ColumnSchema("interface", "Int32", "number of the interface in the file, from 0", is_nullable=True),
        ColumnSchema("link", "Int32", "LINKTYPE number of the frame; null: no packet", is_nullable=True),
        _text("direction", "in or out, as recorded in the file", is_nullable=True),
        _text("checksum", "layer 4, as recorded in the file: not-ready (offloaded) or valid", is_nullable=True),
        ColumnSchema("is_segmented_later", "Boolean", "whether the network card was to segment it (TSO), as recorded in the file", is_nullable=True),
        ColumnSchema("packet_id", "Int64", "same number: the same packet, as recorded in the file (epb_packetid)", is_nullable=True),
        _text("verdict", "decision about the packet, as recorded in the file: hardware, tc:N or xdp:N", is_nullable=True),
        ColumnSchema("ip_id", "Int64", "innermost IP identification", is_nullable=True),
        ColumnSchema("ttl", "Int32", "innermost TTL or hop limit", is_nullable=True),
        ColumnSchema("dscp", "Int32", "innermost differentiated services codepoint, without ECN", is_nullable=True),
        ColumnSchema("tcp_seq", "Int64", "innermost TCP sequence number", is_nullable=True),
        ColumnSchema("tcp_ack", "Int64", "innermost TCP acknowledgement number", is_nullable=True),
        ColumnSchema("tcp_flags", "Int32", "innermost TCP flags: FIN 1, SYN 2, RST 4, PSH 8, ACK 16, URG 32", is_nullable=True),
        ColumnSchema("payload_bytes", "Int64", "innermost TCP payload, by the length in the IP header", "bytes", is_nullable=True),
        _text("undecoded_because", "which layer could not be read, where, and why", is_nullable=True),
    ),
)  # fmt: skip

MATCHES = TableSchema(
    "matches",
    "one row per pair of frames that carry the same packet, at two points that captured it one after the other",
    (
        _text("up_point", "the point nearer the sender"),
        _text("up_file", "its file"),
        _count("up_frame", "its frame"),
        _text("down_point", "the point nearer the receiver"),
        _text("down_file", "its file"),
        _count("down_frame", "its frame"),
        _text("direction", "forward (as the path is written) or reverse"),
        _text("kind", "packet; for segmented or coalesced TCP: first-byte, last-byte or overlap"),
        _duration("latency_ns", "t(down) − t(up) on aligned clocks"),
        _duration("latency_lo_ns", "lower end of the latency, by resolution and clocks"),
        _duration("latency_hi_ns", "upper end of the latency, by resolution and clocks"),
        ColumnSchema("trajectory_id", "Int64", "same number: the same packet", is_nullable=True),
        _text("matched_by", "unique, usual-time, posterior, bytes or late (docs/method/match.md, evidence)"),
        ColumnSchema("probability", "Float64", "that the two are one packet, where matched_by is posterior or late", "0 to 1", is_nullable=True),
        _text("identity", "kind of packet ID that both have in common: whole, translated, short or short-translated"),
        ColumnSchema("up_t_ns", "Int64", "time of the upper frame by its own clock: its stamp_ns if it has one, else its t_ns", "ns since 1970"),
    ),
)  # fmt: skip

LOST = TableSchema(
    "lost",
    "one row per lost packet and segment that may have lost it; the weights of a segment add up to its n_lost, the weights of a packet to at most 1",
    (
        _text("point", "the last point that captured it"),
        _text("file", "the file there"),
        ColumnSchema("frame", "Int64", "the frame there; null: one of several identical packets, unknown which", is_nullable=True),
        ColumnSchema("t_ns", "Int64", "its time there, from the capture or from a timestamp inside the frame", "ns since 1970"),
        _text("near", "the segment's end nearer the path's first point"),
        _text("far", "the segment's end nearer the path's last point"),
        _text("direction", "forward (as the path is written) or reverse"),
        ColumnSchema("weight", "Float64", "its part in the segment's n_lost: below 1 if another segment may have lost it, or a capture dropped it", "0 to 1"),
        _text("told_by", "packet (no later point captured it) or equal-packets (fewer of several identical packets arrived)"),
    ),
)  # fmt: skip

CAPTURES = TableSchema(
    "captures",
    "one row per capture file",
    (
        _text("file", "capture file"),
        _text("point", "capture point"),
        _count("n_frames", "frames in it, also frames that options exclude"),
        _count("n_undecoded", "frames that could not be read to the innermost packet"),
        ColumnSchema("resolution_ns", "Float64", "the finest step of its timestamps", "ns", is_nullable=True),
        ColumnSchema("batch_ns", "Int64", "how much too late timestamps may be, if batches of frames share one; 0: no batches", "ns"),
        ColumnSchema("mirror_wait_ns", "Int64", "longest wait of a frame for frames of the other direction, as in a mirror; null: no wait found", "ns", is_nullable=True),
        _text("link", "link type"),
        _count("longest_bytes", "the longest frame on the wire, without its check sequence"),
        ColumnSchema("is_truncated", "Boolean", "whether a part of the file is missing: cut short, or lost to damage"),
        ColumnSchema("stamp", "String", "the in-packet timestamp whose time is used; null: the file's time is", is_nullable=True),
        ColumnSchema("stamp_resolution_ns", "Float64", "the finest step it can show", "ns", is_nullable=True),
        ColumnSchema("stamp_timescale", "String", "utc, tai (37 s ahead) or unknown, by its distance from the file's time", is_nullable=True),
        _count("n_stamped", "frames that carry it"),
        _count("n_bad_stamps", "frames whose timestamp is damaged, and not used"),
        ColumnSchema("stamped_at", "String", "declared meaning of timestamps: first-bit, last-bit or host; null: not declared", is_nullable=True),
        ColumnSchema("link_rate_bps", "Int64", "declared rate of the link; it moves timestamps of the last bit to the first", "bit/s", is_nullable=True),
    ),
)  # fmt: skip

CLOCKS = TableSchema(
    "clocks",
    "one row per point, the reference too; offset = clock − reference, so subtract it",
    (
        _text("point", "capture point"),
        _text("domain", "points with the same domain share one clock"),
        _text("reference", "the point whose clock times are given in"),
        ColumnSchema("at_ns", "Int64", "when offset and half-width hold, on the reference clock", "ns since 1970", is_nullable=True),
        _duration("offset_ns", "clock − reference at at_ns"),
        _duration("half_width_ns", "how far the offset may be off"),
        ColumnSchema("drift_ppm", "Float64", "growth of the offset; null where packets bound it no closer than 10,000 ppm", "ppm", is_nullable=True),
        ColumnSchema("drift_half_width_ppm", "Float64", "how far the drift may be off", "ppm", is_nullable=True),
        ColumnSchema("n_support", "Int64", "packets that bound the offset within a tenth of its interval; the end with fewer packets", "1", is_nullable=True),
        _text("quality", "same-clock, bounded, one-way or none"),
        ColumnSchema("steps", "Steps", "clock steps: time and size of each"),
    ),
)  # fmt: skip

CLOCK_BANDS = TableSchema(
    "clock_bands",
    "the bounds of each clock over the run, without clock steps; linear between rows",
    (
        _text("point", "capture point"),
        ColumnSchema("t_ns", "Int64", "when, by the path's first clock", "ns since 1970"),
        ColumnSchema("offset_ns", "Int64", "clock − reference: the value that is used", "ns"),
        ColumnSchema("below_ns", "Float64", "how much less the offset may be", "ns"),
        ColumnSchema("above_ns", "Float64", "how much more it may be", "ns"),
    ),
)  # fmt: skip

SEGMENTS = TableSchema(
    "segments",
    "one row per segment, direction and class; the whole path is one more",
    (
        _text("near", "the end nearer the path's first point"),
        _text("far", "the end nearer the path's last point"),
        _text("direction", "forward (as the path is written) or reverse"),
        _text("class", "packet, first-byte or last-byte"),
        _count("n", "packets measured"),
        _count("n_lost", "packets captured before the segment and at no later point, less estimated packets that the capture dropped"),
        ColumnSchema("lost_frac", "Float64", "n_lost / (n + n_lost); a loss ratio is n_lost / (n_waited + n_lost)", "0 to 1", is_nullable=True),
        ColumnSchema("n_late", "Int64", "packets with more than 20 times the typical delay, within the waiting time; they count in n and in every latency", "1", is_nullable=True),
        _duration("loss_threshold_ns", "waiting time after which a packet is lost (RFC 7680)"),
        _count("n_duplicated", "packets that came out more than once"),
        _count("n_reordered", "packets that came out after a later one"),
        _duration("min_ns", "least latency, exact"),
        _duration("mean_ns", "mean latency, exact"),
        _duration("p50_ns", "median latency"),
        _duration("p90_ns", "90 % took no longer"),
        _duration("p99_ns", "99 % took no longer"),
        _duration("p999_ns", "99.9 % took no longer"),
        _duration("max_ns", "greatest latency, exact"),
        _duration("mean_without_late_ns", "mean latency of the packets that were not late"),
        _duration("clock_half_width_ns", "how far the clocks may shift all of these together"),
        ColumnSchema("matched_bytes", "Int64", "TCP payload, and IP payload of possible fragments, captured at both ends; the same for every class", "bytes"),
        ColumnSchema("lost_bytes", "Int64", "the same for bytes captured before the segment and at no later point", "bytes"),
        ColumnSchema("maybe_lost_bytes", "Int64", "bytes that may be lost in addition, because nothing shows which transmission of them arrived; null in results of earlier versions", "bytes", is_nullable=True),
        *(
            ColumnSchema(f"{name}_frac", "Float64", meaning, "0 to 1", is_nullable=True)
            for name, meaning in (
                ("duplicated", "n_duplicated / n (RFC 5560)"),
                ("reordered", "n_reordered / n (RFC 4737)"),
                ("lost_lo", "n_lost / (n_waited + n_lost): lower end of its 95 % interval, which holds lost_frac too"),
                ("lost_hi", "the same: upper end"),
            )
        ),
        *(
            _duration(f"{name}_ns", meaning)
            for name, meaning in (
                ("pdv_p50", "delay variation: median less least latency (RFC 5481 §4.2)"),
                ("pdv_p99", "delay variation: 99 % quantile less least latency"),
                ("pdv_p999", "delay variation: 99.9 % quantile less least latency"),
                ("ipdv_p50", "median size of the difference from the packet before in its flow (RFC 3393)"),
                ("ipdv_p99", "99 % of these sizes are no more"),
            )
        ),
        *_intervals("mean", "p50", "p90", "p99", "p999"),
        ColumnSchema("lost_spread", "Float64", "variance of n_lost over the variance of the same number of independent losses; 1 if no capture dropped packets", "1", is_nullable=True),
        ColumnSchema("n_lost_divided", "Int64", "packets of n_lost that were lost before a fork, if nothing shows the branch: each branch has its share of them; null in results of earlier versions", "1", is_nullable=True),
        ColumnSchema("n_undecided", "Int64", "identical packets that crossed and could not be distinguished: they have no latency, and intervals allow for them", "1", is_nullable=True),
        ColumnSchema("n_maybe_lost", "Int64", "packets that may be lost in addition to n_lost, hidden by copies, drops of a capture, an unknown direction, identical bytes of TCP, another way or another branch; null in results of earlier versions", "1", is_nullable=True),
        ColumnSchema("n_maybe_late", "Int64", "packets of n_lost that may be late, because identical ones came later, may have taken another way, or another branch; null in results of earlier versions", "1", is_nullable=True),
        _duration("mean_least_ns", "mean latency with these packets, if they were as fast as possible"),
        _duration("mean_most_ns", "mean latency with these packets, if they were as slow as possible"),
        _duration("undecided_min_ns", "least latency that one of these packets may have"),
        _duration("undecided_max_ns", "greatest latency that one of these packets may have"),
        _duration("clock_apart_ns", "how far apart the two clocks are at least, as packets show, also if declared equal; 0: equal clocks contradict no packet"),
        ColumnSchema("n_waited", "Int64", "packets of n, in segments of n_undecided too, that set out at least the waiting time before the capture at either end stopped: others would not count as lost; null in results of earlier versions", "1", is_nullable=True),
    ),
)  # fmt: skip

ROUND_TRIPS = TableSchema(
    "round_trips",
    "one row per segment: its share of the round trip, which needs no common clock",
    (
        _text("near", "the end nearer the path's first point"),
        _text("far", "the end nearer the path's last point"),
        _count("n", "round trips measured"),
        _duration("mean_ns", "mean round-trip contribution"),
        _duration("p50_ns", "median round-trip contribution of paired requests and responses"),
        _duration("p90_ns", "90 % took no longer"),
        _duration("p95_ns", "95 % took no longer"),
        _duration("p99_ns", "99 % took no longer"),
        _duration("mean_half_width_ns", "how far the mean may be off; where mean_lo_ns is null, a guess"),
        *_intervals("mean"),
        _count("n_paired", "requests whose response was found, both seen at both ends: what the quantiles are over"),
        _duration("paired_mean_ns", "mean round-trip contribution of these pairs"),
        *(_duration(f"{name}_{end}_ns", f"{name}: {of}") for name in ("paired_mean", "p50", "p90", "p95", "p99") for end, of in (("lo", "lower end of its 95 % interval; null: paired_interval_reason"), ("hi", "upper end"))),
        _text("paired_interval_reason", "why an interval of these is null", is_nullable=True),
        _text("paired_interval_note", "which of them are approximate, and wider for it", is_nullable=True),
    ),
)  # fmt: skip

ERROR_BUDGET = TableSchema(
    "error_budget",
    "one row per mean of a segment and direction, and of a round trip: what it is uncertain by, term by term",
    (
        _text("near", "the end nearer the path's first point"),
        _text("far", "the end nearer the path's last point"),
        _text("direction", "forward or reverse; null: the round-trip contribution", is_nullable=True),
        _duration("statistical_ns", "half of the resampled interval; null: no interval; where interval_reason is set, a guess"),
        _duration("resolution_ns", "effect of low-resolution and batched timestamps on the mean"),
        _duration("clock_ns", "how far the clocks may shift it; 0 where they cancel"),
        _duration("drift_ns", "effect of unknown frequency offset where forward and reverse packets were at different times"),
        _duration("ambiguity_ns", "change that identical packets without a latency could make, at most"),
        _duration("stamp_convention_ns", "effect of timestamps that mark another bit than the first; null: unknown, see stamp_convention"),
        _text("stamp_convention", "moment that the timestamps of both ends mark, and what was corrected"),
        _duration("mirror_queue_ns", "how long mirrors kept frames at most, where they queued both directions; null: not seen, not that there is none"),
        _text("largest", "the largest of the known terms"),
        _text("remedy", "what to do about it"),
    ),
)  # fmt: skip

WARNINGS = TableSchema(
    "warnings",
    "problems that affect these results, each with an action",
    (
        _text("code", "its name, for scripts"),
        _text("point", "capture point; null: none in particular", is_nullable=True),
        _text("text", "what, where, the evidence, the remedy"),
        _text("severity", "error: a figure is missing or wrong; warning: wider, or doubtful; note"),
        _text("evidence", "what was found"),
        _text("consequence", "which figure it touches; may be empty"),
        _text("remedy", "what to do about it; may be empty"),
    ),
)

SLOWEST = TableSchema(
    "slowest",
    "the slowest packets of each segment, one row per point that saw them",
    (
        _text("near", "the segment's end nearer the path's first point"),
        _text("far", "the segment's end nearer the path's last point"),
        _text("direction", "forward (as the path is written) or reverse"),
        _count("rank", "1: the slowest"),
        _duration("latency_ns", "how long the packet took in this segment"),
        ColumnSchema("trajectory_id", "Int64", "same number: the same packet", is_nullable=True),
        _text("point", "a point that saw it"),
        _text("file", "the file there"),
        _count("frame", "the frame there"),
        ColumnSchema("t_ns", "Int64", "the time there, by the file", "ns since 1970"),
    ),
)  # fmt: skip

TRANSLATIONS = TableSchema(
    "translations",
    "one row per flow that is known by other addresses, ports or sequence numbers beyond a segment; as packets go forward",
    (
        _text("near", "the point nearer the path's first that saw the one"),
        _text("far", "the point nearer the path's last that saw the other"),
        ColumnSchema("protocol", "Int32", "IP protocol number at near"),
        *(
            column
            for side in ("near", "far")
            for column in (
                _text(f"{side}_src", f"source address at {side}"),
                ColumnSchema(f"{side}_src_port", "Int32", "its port, or an echo's identifier", is_nullable=True),
                _text(f"{side}_dst", f"destination address at {side}"),
                ColumnSchema(f"{side}_dst_port", "Int32", "its port, or an echo's identifier", is_nullable=True),
            )
        ),
        ColumnSchema("first_t_ns", "Int64", "first packet with this translation, by near's own time", "ns since 1970"),
        ColumnSchema("last_t_ns", "Int64", "last packet with this translation, by near's own time", "ns since 1970"),
        _count("n", "packets with this translation"),
        ColumnSchema("seq_shift", "Int64", "sequence number at far less that at near, forward, modulo 2³²; null: no TCP", is_nullable=True),
        ColumnSchema("ack_shift", "Int64", "the same of reverse packets", is_nullable=True),
    ),
)  # fmt: skip

TABLES = (
    PACKETS,
    DETAILS,
    MATCHES,
    LOST,
    CAPTURES,
    CLOCKS,
    CLOCK_BANDS,
    SEGMENTS,
    ROUND_TRIPS,
    TRANSLATIONS,
    ERROR_BUDGET,
    WARNINGS,
    SLOWEST,
)


def n_judged(row: Mapping[str, Any]) -> int:
    """Packets of a row of `segments` of which it is known whether they were lost."""
    # results that an earlier version wrote have no other number
    n_waited = row.get("n_waited")
    n: int = (row["n"] if n_waited is None else n_waited) + row["n_lost"]
    return n


def loss_ratio(row: Mapping[str, Any]) -> float | None:
    """Share of them that was lost; None if there are none."""
    n = n_judged(row)
    return row["n_lost"] / n if n else None


def lost_bytes_fracs(row: Mapping[str, Any]) -> tuple[float, float] | None:
    """Share of the TCP bytes that was lost, and what it is at most; None if there are none.

    Nor is there a share where packets arrived, and no point has as much of them as tells their bytes.

    Example:
        >>> lost_bytes_fracs({"matched_bytes": 80, "lost_bytes": 10, "maybe_lost_bytes": 10})
        (0.1111111111111111, 0.2)
    """
    matched, lost = row["matched_bytes"], row["lost_bytes"]
    # results of earlier versions have no such
    most = lost + (row.get("maybe_lost_bytes") or 0)
    is_told = matched or (lost and not row.get("n"))
    return (lost / (matched + lost), most / (matched + most)) if is_told else None


def holding(interval: tuple[float, float], frac: float) -> tuple[float, float]:
    """Widen the interval of a loss ratio until it holds the share of all packets, too.

    Example:
        >>> holding((0.09, 0.11), 0.04)
        (0.04, 0.11)
    """
    lo, hi = interval
    return min(lo, frac), max(hi, frac)
