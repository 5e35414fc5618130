"""The tables of traffic: their columns, units and meaning."""

from pcaplat.tables.columns import ColumnSchema, TableSchema, Type

SIZES = {
    "n_to_64_bytes": 64,
    "n_to_127_bytes": 127,
    "n_to_255_bytes": 255,
    "n_to_511_bytes": 511,
    "n_to_1023_bytes": 1023,
    "n_to_1518_bytes": 1518,
}
"""Classes of frame sizes with FCS, each from the one before it up to this many bytes: those of RMON
(RFC 2819)."""


def _text(name: str, meaning: str) -> ColumnSchema:
    return ColumnSchema(name, "String", meaning)


def _count(name: str, meaning: str, unit: str = "") -> ColumnSchema:
    return ColumnSchema(name, "Int64", meaning, unit)


def _known(name: str, meaning: str, unit: str, kind: Type = "Float64") -> ColumnSchema:
    return ColumnSchema(name, kind, meaning, unit, is_nullable=True)


_POINT = _text("point", "capture point")
_WAY = _text("direction", "forward (as the path is written), reverse, or unknown")

TRAFFIC = TableSchema(
    "traffic",
    "rates of each point and direction, in the time that all points of the path cover; later copies of a packet at one point left out",
    (
        _POINT,
        _WAY,
        _count("span_ns", "the common capture interval, in which every point was capturing", "ns"),
        _count("n_frames", "frames in it"),
        _count("frame_bytes", "their bytes as captured, that is without FCS", "bytes"),
        _known("packet_rate_pps", "frames a second", "1/s"),
        _known("l1_bps", "on the line: with FCS, preamble and least gap (24 bytes a frame more than captured); null: not Ethernet", "b/s"),
        _known("l2_bps", "frames with their FCS; null: not Ethernet", "b/s"),
        _known("l2_no_fcs_bps", "frames without FCS, as captured", "b/s"),
        _known("l3_bps", "outermost IP packets; the padding of short frames is in it", "b/s"),
        _known("goodput_bps", "payload of the innermost TCP or UDP; what is sent again counts again", "b/s"),
        _count("n_l3_unknown", "frames whose IP length is unknown, not in l3_bps; ARP and other frames without IP do not count"),
        _count("n_payload_unknown", "frames whose payload is not known, which goodput_bps lacks"),
        _count("min_frame_bytes", "shortest frame, without FCS", "bytes"),
        ColumnSchema("mean_frame_bytes", "Float64", "mean frame, without FCS", "bytes"),
        _count("p50_frame_bytes", "median frame, without FCS", "bytes"),
        _count("max_frame_bytes", "longest frame, without FCS", "bytes"),
        _count("n_connections_max", "most connections at one time, from first to last message; of both directions"),
    ),
)  # fmt: skip

TRANSACTIONS = TableSchema(
    "transactions",
    "requests and responses that take turns, by client, service and kind, at each point",
    (
        _POINT,
        _text("client", "address that opened the connections; of unknown-client the one that sent first"),
        _text("server", "address that answered"),
        ColumnSchema("server_port", "Int32", "its port"),
        ColumnSchema("protocol", "Int32", "IP protocol number"),
        _text("kind", "rr (100 or more on a connection), crr (one each, on several), mixed, control (netperf's own, port 12865), or unknown-client (neither SYN nor ports show which end asks, and the captures began in the middle)"),
        _known("mode", "TCP_RR, TCP_CRR or UDP_RR, as netperf calls them: rr or crr whose messages are all of one size, each way, and were seen from the connection's opening on", "", "String"),
        _count("n_connections", "connections"),
        _count("n_transactions", "requests that were answered"),
        ColumnSchema("request_bytes", "Float64", "mean request", "bytes"),
        ColumnSchema("response_bytes", "Float64", "mean response", "bytes"),
        _known("n_outstanding", "of a mode: most requests under way at one time, of all connections together; of crr connections", "", "Int64"),
        _known("rate_tps", "transactions a second, while any connection asks: from request to request, of all connections together; of crr from opening to opening", "1/s"),
        _known("mean_ns", "mean time of a transaction, from the request's first frame to the response's last; of crr from the SYN on, connecting included, closing not", "ns"),
        _known("gap_ns", "mean time from a response's last frame to the next request's first (of crr: to the SYN that takes its place); of no mode negative where connections overlap", "ns"),
        _known("period_ns", "mean_ns + gap_ns: from request to request, of crr from opening to opening; 1/rate where one goes on at a time", "ns"),
        _known("check_frac", "of a mode: period_ns against n_outstanding / rate_tps, less 1; 0 where every transaction was captured and the requests under way are always as many", "1"),
    ),
)  # fmt: skip

OVERHEAD = TableSchema(
    "overhead",
    "how much longer the same packets' frames are at the far end of a segment; whole packets only",
    (
        _text("near", "the end nearer the path's first point"),
        _text("far", "the end nearer the path's last point"),
        _WAY,
        _count("n", "packets compared"),
        ColumnSchema("mean_bytes", "Float64", "mean of frame at far − frame at near", "bytes"),
        _count("min_bytes", "least difference", "bytes"),
        _count("max_bytes", "greatest difference", "bytes"),
        _count("usual_bytes", "most frequent difference", "bytes"),
        ColumnSchema("near_frame_bytes", "Float64", "mean frame at near, without FCS", "bytes"),
        ColumnSchema("far_frame_bytes", "Float64", "mean frame at far, without FCS", "bytes"),
        ColumnSchema("line_frac", "Float64", "share of a line, full with the longer frames, that goes into the difference", "0 to 1"),
    ),
)  # fmt: skip

FRAME_SIZES = TableSchema(
    "frame_sizes",
    "the frame-size mix: frames of each length",
    (
        _POINT,
        _WAY,
        _count("frame_bytes", "length without FCS", "bytes"),
        _count("n_frames", "frames of it"),
    ),
)

TRAFFIC_BLOCKS = TableSchema(
    "traffic_blocks",
    "frames and bytes of each point and direction, one row per block of time: what rates of scenarios are compared by",
    (
        _POINT,
        _WAY,
        _count("block", "number of the block, from 0; the whole time has 256"),
        _count("start_ns", "when it begins, by the path's first clock", "ns since 1970"),
        _count("length_ns", "how long it is", "ns"),
        _count("n_frames", "frames in it"),
        _count("frame_bytes", "their bytes without FCS", "bytes"),
        _count("l3_bytes", "bytes of the outermost IP packets", "bytes"),
        _count("payload_bytes", "payload of the innermost TCP or UDP", "bytes"),
        *(_count(name, f"frames of at most {size} bytes with FCS, and longer than the class before; the rest is longer") for name, size in SIZES.items()),
        _count("n_connections", "connections open in it, from first to last message; of both directions"),
    ),
)  # fmt: skip

TRAFFIC_TABLES = (TRAFFIC, TRANSACTIONS, OVERHEAD, FRAME_SIZES, TRAFFIC_BLOCKS)
