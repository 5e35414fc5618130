"""Every code of what may mislead: how grave it is, what it means, which figure it touches.

One row a code, for warnings of `merge` and findings of `lint` alike; docs/reference/lint_codes.md
is made from this file.
"""

from pcaplat.model.diagnostic import Diagnostic
from pcaplat.records import dataclass
from pcaplat.tables.documents import Severity

SEVERITIES = ("error", "warning", "note")
"""error: a figure is missing, or wrong if the finding is passed over; warning: a figure is wider,
or doubtful; note: nothing is wrong, but somebody who reads the captures by eye will stumble."""


@dataclass(frozen=True)
class Code:
    """What a code stands for; `consequence` and `remedy` hold where a finding has no own."""

    code: str
    severity: Severity
    meaning: str
    consequence: str
    remedy: str


CODES = (
    Code("damaged-capture", "warning", "bytes of a file are lost, or not what they should be", "packets in the damaged part count as not seen there: loss is too high", "copy the file again, or capture again; --strict refuses such files"),
    Code("changed-capture", "warning", "a file changed while it was read", "figures may rest on different frames", "read it again when nobody writes to it"),
    Code("empty-capture", "error", "a file holds no frame", "no figure has this point", "was the capture stopped too soon, or its filter too narrow?"),
    Code("unknown-link", "error", "the link type of a file is not decoded", "no figure has this point", "capture on an interface with a link type of docs/reference/formats.md"),
    Code("capture-drops", "warning", "the capturing system says that it dropped packets", "they count as not seen there, not as lost", "give it a larger buffer (tcpdump -B) or a filter"),
    Code("acked-unseen", "warning", "TCP bytes were acknowledged that the capture never saw", "the capture, or the mirror before it, dropped packets: they count as not seen there, and loss next to this point is too high", "give the capture a larger buffer (tcpdump -B), a snap length (-s), or a filter; is all traffic of the flow mirrored?"),
    Code("resolution-overstated", "warning", "stamps are coarser than the file declares", "latencies carry the coarser step, and are widened by it", "capture with nanoseconds from the start (tcpdump --time-stamp-precision=nano, an adapter's clock)"),
    Code("backward-stamps", "warning", "the stamps of a file go back, and stay behind", "latencies before and after differ by as much; where the clock was set, merge finds the step", "was the clock set, or are two captures in one file? Leave that time out with --from or --to"),
    Code("unsorted-frames", "note", "frames are not in the order of their stamps", "no figure: frames are put in order; inter-arrival times read by eye are wrong", "reordercap sorts, where another program needs it"),
    Code("equal-stamps", "warning", "frames share a stamp that no wire carries at once", "each of these latencies is off by up to what the burst took: the card or the driver stamped batches", "switch off interrupt coalescing (ethtool -C INTERFACE rx-usecs 0), or stamp in hardware"),
    Code("tx-rx-split", "error", "received and sent frames of one file have stamps of different clocks", "latencies next to this point are off by the difference in one direction, and so are its round trips and its place in the path: merge gives null latencies and no round trips there", "stamp both by one clock (tcpdump -j host, not adapter_unsynced), capture at a tap, or leave this point out; give the order with --path"),
    Code("mirror-queue", "warning", "both directions of a link wait in one queue before they are captured", "latencies at this point include the wait in the mirror, up to several frames' time, more under load", "mirror each direction to a port of its own, or to a faster one; use a tap"),
    Code("mirror-gaps", "warning", "frames of a mirror session are missing, by the numbers that the mirror gave them (ERSPAN)", "the mirror, or what carries it, lost them: they count as not seen there, and not as loss of the path", "give the mirror less (one direction, a filter), and what carries it more room: rate, MTU, the capture's buffer"),
    Code("mixed-links", "note", "the interfaces of one file are of different link types", "lengths of frames, and rates by them, differ by the headers", "compare rates on layer 3"),
    Code("offload-signs", "note", "a file has TCP segments that no wire carries, which the host cuts behind the capture or joined before it, or checksums that its card is to compute", "rates in packets, frame sizes and latency by size are those of these segments, not of packets on the wire; other points may have them in pieces", "capture with offload off (ethtool -K INTERFACE tso off gso off gro off lro off), or on the wire"),
    Code("unknown-tunnel", "error", "packets look like a tunnel that is not looked for on their port", "what is inside is not matched: this point shares nothing, or little, with the others", "say --decode udp.port=N:LAYER"),
    Code("only-tunnel", "warning", "all packets of a point are in tunnels where its profile says that none is", "the capture is of another place than its name says: segments next to it are other parts of the path, and what encapsulation costs is in none of them", "check which point this is, or capture before the tunnel begins (pcaplat points NAME has the commands)"),
    Code("only-inner", "warning", "no packet of a point is in a tunnel where its profile says that all are", "the capture is of another place than its name says, or this traffic is in no overlay: segments next to it are other parts of the path, or no tunnel is in them", "check which point this is, or capture behind the tunnel's beginning (pcaplat points NAME has the commands); does a filter see the inside only?"),
    Code("encrypted", "note", "the inside of tunnels is encrypted", "only points that see the same tunnel packets can be compared; flows inside are not told apart", "capture before encryption and behind decryption too"),
    Code("undecoded-frames", "warning", "frames could not be read to their innermost packet", "they are matched with none and count as not seen", "pcaplat read --details says which layer stopped it, and why; --decode names what is not looked for"),
    Code("overlapping-files", "warning", "two files of one point cover the same time", "what stands in both counts as duplicates", "give them different names (POINT=PATH), or leave one out"),
    Code("outer-fragments", "note", "tunnel packets came in fragments", "a packet has the time of its last fragment; what could not be put together counts as not seen", "a larger MTU underneath, or a smaller one inside, spares the network this"),
    Code("short-identity", "warning", "a snap length leaves too little to tell packets apart", "packets that look alike so far are ambiguous at every point, and in no latency", "capture more there (tcpdump -s 128, -s 256 inside tunnels)"),
    Code("translations-left-out", "warning", "more flows are translated than are kept (2^20 pairs of flows, of every two points)", "later ones are unmatched, and count as lost behind their translator", "merge a part of the time (--from, --to), of the flows (--filter), or fewer points at once"),
    Code("no-stamps", "warning", "a profile names stamps inside the frames, and there are none", "the file's time is used, with its own resolution and clock", "are the frames whole (tcpdump -s 0), and is stamping switched on?"),
    Code("stamps-unused", "warning", "most frames lack the stamp that others carry", "the file's time is used for all of them", "capture, or filter, the stamped ones alone"),
    Code("stamps-missing", "warning", "some frames lack the stamp that the others carry", "their time is not known, so they are matched with none and count as not seen", "what the capturing host itself sends is kept away by a filter"),
    Code("bad-stamps", "warning", "stamps inside frames are damaged, or far from the others", "their frames are matched with none and count as not seen", "is the trailer cut, or written twice?"),
    Code("stamps-tai", "note", "stamps inside frames are ahead as TAI is of UTC", "the difference is part of the clock's offset; latencies allow for it", "compare no times by eye"),
    Code("profile", "warning", "a profile cannot place a capture", "order and clocks of that point are found, or not known", "write POINT=PATH with a point of the profile"),
    Code("unplaced-frames", "note", "frames are of none of the points that a file was divided into", "they are compared with nothing", "name the points' files apart where they can be captured apart"),
    Code("unrelated-point", "error", "a point shares no packet with any other", "no figure has this point", "is it of the same traffic and time, and is every tunnel decoded (pcaplat read shows layers)?"),
    Code("nothing-in-common", "error", "no packet was found at two points", "there is no latency, no loss and no round trip", "are the captures of the same traffic and time, and is every tunnel decoded?"),
    Code("no-overlap", "error", "the captures were not taken at the same time", "there is no latency, no loss and no round trip", "capture at all points at once; is a clock off by as much?"),
    Code("direction-missing", "warning", "a point saw one direction of what goes both ways elsewhere", "no round trip has this point, and its clock is bounded by the way over other points or from one side only", "capture both directions there (SPAN both, tap both fibres, no filter by address)"),
    Code("partial-time", "warning", "a capture begins late or ends early while the others go on", "nothing is measured outside the time that all points cover, and losses there are not counted", "start all captures before the traffic and stop them behind it; was the disk full, or a packet limit (tcpdump -c) reached?"),
    Code("mirror-copies", "warning", "a point saw packets twice that others saw once", "each packet's first copy is used, so latencies hold; rates and sizes there count all copies", "mirror one direction of each port (SPAN rx), not both of all"),
    Code("second-passage", "note", "a point saw packets twice, and other points of its file saw them in between", "the first passage is measured; the second is no copy, and what follows it is in no segment", "capture what packets pass twice as two interfaces, or as two files"),
    Code("paths-apart", "warning", "the points fall into groups that share no packet", "nothing between the groups is measured", "if one point was captured in two files by direction, name both alike (POINT=PATH)"),
    Code("same-capture", "error", "two points have the same packets with the same stamps", "the latency between them means nothing", "leave one out"),
    Code("order-assumed", "warning", "the place of a point in the path is not measured", "near and far of its segments, and their signs, may be exchanged", "give the order with --path"),
    Code("one-order", "warning", "packets of both directions pass the points of a file in the same order", "the points are steps that every packet goes through, as probes of a kernel or a virtual switch are: all packets count as forward, and there is no round trip; if the file was put together from captures of several hosts, their clocks are apart, and the latencies mean nothing", "give captures of several hosts one by one; --filter leaves one direction"),
    Code("few-turns", "warning", "the order of the points rests on few changes of direction", "near and far of segments may be exchanged", "give it with --path"),
    Code("path-contradicted", "error", "the declared path is not the one packets take", "latencies have the wrong sign, or belong to other segments", "check which capture is which, or leave out --path"),
    Code("segmentation-offload", "warning", "TCP is cut or joined on the way", "class packet has the small packets left whole; read loss in bytes", "capture with offload off (ethtool -K INTERFACE tso off gso off gro off)"),
    Code("clock-offset", "note", "clocks are apart by TAI − UTC, by whole hours, or by days", "latencies allow for it", "compare no times by eye"),
    Code("clock-step", "warning", "a clock was set while it captured", "packets near the step may be off by as much", "leave that time out with --from or --to"),
    Code("single-packet-bound", "warning", "a single packet is far quicker than all others", "its bound was left out, so the interval of these clocks is wider", "look at the frames: one of their timestamps may be wrong"),
    Code("clock-contradiction", "error", "packets would arrive before they left, by any clock", "no latency and no round trip is given between these points", "did a clock step, or is --same-clock or --path wrong?"),
    Code("clock-accuracy-contradicted", "warning", "the declared accuracy of clocks is contradicted by the packets", "it was not used, so latencies are wider", "check how these clocks were set"),
    Code("clock-accuracy-alone", "warning", "the accuracy of one clock alone was declared", "it relates no two clocks and was not used", "declare that of another clock too"),
    Code("raw-difference", "note", "equal clocks fit, but are not declared", "latencies there rest on equal clocks, which nothing but the packets says", "declare --same-clock if it is so"),
    Code("negative-latency", "error", "packets arrive before they left, at points that share a clock", "latencies of the segment are wrong by as much", "take back --same-clock for these points, or check the order with --path"),
    Code("late-packets", "warning", "packets took far longer than is usual on their segment, and arrived", "they are in n, mean, maximum and quantiles; mean_without_late_ns is the mean without them", "list them with --slowest; --lost-after sets the waiting time after which a packet counts as lost"),
    Code("arrived-after-wait", "warning", "packets arrived after the waiting time of --lost-after", "they count as lost, and are in no latency", "give a longer --lost-after to count them as late"),
    Code("open-triangle", "warning", "three points contradict each other: equal packets join other frames when the point in the middle is left out", "of the equal packets next to that point some pairs are false, and their latencies wrong", "leave that point out, or the packets that are equal to each other (--filter)"),
    Code("coarse-resolution", "warning", "stamps are coarse beside the latency", "quantiles are those of the digit; means hold", "capture nanoseconds (tcpdump --time-stamp-precision=nano)"),
)  # fmt: skip
"""Every code, in the order of the pipeline."""

BY_CODE = {code.code: code for code in CODES}


def diagnose(
    code: str,
    point: str | None,
    evidence: str,
    *,
    file: str | None = None,
    consequence: str | None = None,
    remedy: str | None = None,
) -> Diagnostic:
    """Make a warning; consequence and remedy are those of its code unless given.

    Example:
        >>> diagnose("few-turns", None, "the order rests on 1 change of direction").text
        'the order rests on 1 change of direction; near and far of segments may be exchanged; give it with --path'
    """
    of = BY_CODE[code]
    return Diagnostic(
        code,
        point,
        evidence,
        of.consequence if consequence is None else consequence,
        of.remedy if remedy is None else remedy,
        file,
    )
