"""The code of every finding: severity, meaning, consequence and remedy.

One row a code, for warnings of `merge` and findings of `lint`. docs/wrong/warnings.md is made from
this file.
"""

from pcaplat.model.diagnostic import Diagnostic
from pcaplat.records import dataclass
from pcaplat.tables.documents import Severity

SEVERITIES = ("error", "warning", "note")
"""error: a figure is missing, or wrong unless you act; warning: a figure is uncertain or its interval
wider; note: the figures hold, but the captures may confuse a person who reads them."""


@dataclass(frozen=True)
class Code:
    """What a code stands for; `consequence` and `remedy` hold where a finding has no own."""

    code: str
    severity: Severity
    meaning: str
    consequence: str
    remedy: str


CODES = (
    Code("damaged-capture", "warning", "bytes of a file are lost or wrong", "packets in the damaged part were not captured, so loss next to this point is too high", "copy or capture the file again; --strict refuses damaged files"),
    Code("changed-capture", "warning", "a file changed while pcaplat read it", "figures may rest on different frames", "run the command again when nothing writes to the file"),
    Code("empty-capture", "error", "a file holds no frame", "no figure includes this point. Likely causes: the capture stopped too soon, or its filter is too narrow", "capture this point again"),
    Code("unknown-link", "error", "the link type of a file is not decoded", "no figure includes this point", "capture on an interface with a supported link type (reference: Formats and layers)"),
    Code("capture-drops", "warning", "the capturing system reports that it dropped packets", "dropped packets are not counted as lost, except at the last point of the path", "give the capture a larger buffer (tcpdump -B) or a filter"),
    Code("acked-not-captured", "warning", "TCP bytes were acknowledged, but the capture does not hold them", "the capture, or the mirror port before it, dropped packets: loss next to this point is too high", "give the capture a larger buffer (tcpdump -B), a snap length (-s) or a filter; mirror all traffic of the flow"),
    Code("resolution-overstated", "warning", "the resolution of the timestamps is lower than the file declares", "latencies have the lower resolution, and their intervals are wider by it", "capture with nanoseconds from the start (tcpdump --time-stamp-precision=nano, or the adapter's clock)"),
    Code("backward-timestamps", "warning", "the timestamps of a file go back and stay behind", "latencies before and after differ by the size of the step; where it is a clock step, merge finds it. Likely causes: the clock was set, or the file holds two captures", "leave that time out with --from or --to"),
    Code("unsorted-frames", "note", "frames are not in the order of their timestamps", "no figure is affected: pcaplat sorts the frames. Inter-arrival times in other programs are wrong", "sort the file with reordercap where another program needs it"),
    Code("batched-timestamps", "warning", "several frames share one timestamp, faster than any link can carry them", "each of these latencies may be wrong by the duration of the batch. Likely cause: interrupt coalescing in the card or driver", "switch it off (ethtool -C INTERFACE rx-usecs 0), or timestamp in hardware"),
    Code("two-clocks-in-file", "error", "received and sent frames of one file have timestamps of different clocks", "one-way latency, round trips and path order at this point are unreliable; merge reports no latency and no round trip there", "use one clock for both (tcpdump -j host, not adapter_unsynced), capture at a tap, or leave this point out; give the order with --path"),
    Code("tunnel-interrupted", "error", "packets are in one tunnel before and behind a point, but in none at it", "the point is not there, so one-way latency, round trips and path order at it are unreliable; merge reports no latency and no round trip there. Likely cause: sent and received frames have timestamps of different clocks", "use one clock for both (tcpdump -j host, not adapter_unsynced), or leave this point out"),
    Code("tunnel-left", "warning", "packets leave a tunnel before a point and enter one of the same number behind it", "without a gateway on either side the point is not there, and latencies next to it are wrong", "check the place of the point, and that it uses one clock for sent and received frames; give the order with --path"),
    Code("mirror-queueing", "warning", "both directions of a link wait in one queue of the mirror port before they are captured", "latencies at this point include that wait: up to several frames' time, more under load", "mirror each direction to a port of its own or to a faster one, or use a tap"),
    Code("mirror-loss", "warning", "frames of a mirror session are missing, by its sequence numbers (ERSPAN)", "the mirror port, or the network behind it, dropped them; they are not counted as lost on the path", "mirror less (one direction, a filter), or give the mirror more rate, MTU and buffer"),
    Code("mixed-links", "note", "the interfaces of one file have different link types", "frame lengths, and rates computed from them, differ by the headers", "compare rates on layer 3"),
    Code("offload-signs", "note", "a file holds TCP segments larger than any frame on the link, or checksums that the card fills in later", "packet rates, frame sizes and latency by size describe these large segments, not packets on the wire; other points may hold them in pieces", "capture with offload off (ethtool -K INTERFACE tso off gso off gro off lro off), or on the wire"),
    Code("unknown-tunnel", "error", "packets look like a tunnel on a port that pcaplat does not decode as a tunnel", "the packets inside are not matched, so this point has few or no packets in common with the others", "declare the port with --decode udp.port=N:LAYER"),
    Code("only-tunnel", "warning", "all packets of a point are in tunnels, but its profile expects none", "the capture is from another place than its name: segments next to it are other parts of the path, and no segment includes the cost of encapsulation", "check which point this is, or capture before the tunnel begins (pcaplat points NAME shows the commands)"),
    Code("only-inner", "warning", "no packet of a point is in a tunnel, but its profile expects all to be", "the capture is from another place than its name, its filter keeps only inner packets, or this traffic uses no overlay: segments next to it are other parts of the path", "check which point this is, or capture behind the start of the tunnel (pcaplat points NAME shows the commands)"),
    Code("encrypted", "note", "the contents of tunnels are encrypted", "only points with the same tunnel packets can be compared, and flows inside cannot be distinguished", "capture before encryption and after decryption too"),
    Code("undecoded-frames", "warning", "frames could not be decoded to their innermost packet", "they match nothing and count as not captured", "list them with pcaplat read --details, which names the layer and the reason; declare unknown ports with --decode"),
    Code("overlapping-files", "warning", "two files of one point cover the same time", "frames that are in both files count as duplicates", "give the files different point names (POINT=PATH), or leave one out"),
    Code("outer-fragments", "note", "tunnel packets arrived in fragments", "a packet has the time of its last fragment; incomplete packets count as not captured", "raise the MTU of the underlay, or lower the MTU inside the tunnel"),
    Code("short-packet-id", "warning", "the snap length leaves too few bytes to distinguish packets", "packets that are equal so far are ambiguous at every point and have no latency", "capture more bytes there (tcpdump -s 128, or -s 256 inside tunnels)"),
    Code("translations-left-out", "warning", "more flows are translated (NAT) than pcaplat keeps: 2^20 pairs of flows between two points", "later flows are unmatched and count as lost behind the translator", "merge a part of the time (--from, --to) or of the flows (--filter), or fewer points at once"),
    Code("translations-not-followed", "warning", "packets seem to have passed a translator (NAT), and it does not show which flow they are of behind it", "those packets are unmatched, and may count as lost behind the translator", "leave their flows out (--filter), or capture for longer, or more bytes of each packet"),
    Code("no-inner-timestamps", "warning", "a profile expects timestamps inside the frames, but there are none", "pcaplat uses the file's timestamps, with their own resolution and clock", "capture whole frames (tcpdump -s 0), and check that timestamping is switched on"),
    Code("timestamps-unused", "warning", "most frames lack the timestamp that other frames carry inside", "pcaplat uses the file's timestamps for all frames", "capture or filter only the frames with timestamps inside"),
    Code("timestamps-missing", "warning", "some frames lack the timestamp that the other frames carry inside", "their time is unknown, so they match nothing and count as not captured", "filter out the frames that the capturing host itself sends"),
    Code("damaged-timestamps", "warning", "timestamps inside frames are damaged or far from the others", "these frames match nothing and count as not captured", "check that the trailer is complete and written only once"),
    Code("link-rate-unused", "warning", "the rate of a link is declared, but not which moment of a frame its timestamps mark", "timestamps are used as they are; the rate enters the error budget only", "declare --stamped-at POINT=first-bit, last-bit or host too; with last-bit, timestamps are moved to the first bit"),
    Code("timestamps-tai", "note", "timestamps inside frames are ahead by the difference between TAI and UTC", "the difference is part of the clock offset, and latencies account for it", "do not compare these timestamps by eye"),
    Code("profile", "warning", "a profile cannot assign a capture to one of its points", "order and clocks of that point come from the packets, or are unknown", "write POINT=PATH with a point of the profile"),
    Code("unplaced-frames", "note", "frames belong to none of the points into which pcaplat split a file", "these frames are in no figure", "capture the points into separate files where possible"),
    Code("unrelated-point", "error", "a point was excluded, because no packet was found at any other point", "no figure includes this point. Likely causes: other traffic or another time, a tunnel on an unknown port, or packets that are equal in several tenants", "list the decoded layers with pcaplat read"),
    Code("nothing-in-common", "error", "no packet was found at two points", "there is no latency, loss or round trip. Likely causes: other traffic or another time, or a tunnel on an unknown port", "list the decoded layers with pcaplat read"),
    Code("no-overlap", "error", "the captures were taken at different times", "there is no latency, loss or round trip. Likely causes: separate captures, or a clock that is wrong by that difference", "capture at all points at the same time"),
    Code("direction-missing", "warning", "a point captured only one direction of traffic that other points captured in both", "no round trip includes this point; its clock is limited by other points or from one side only", "capture both directions there (SPAN both, tap both fibres, no filter by address)"),
    Code("direction-unknown", "warning", "a tenth of the frames or more are matched, but nothing shows the direction of their packets", "these packets are in no segment: no latency, loss or reordering includes them. Likely cause: multicast, broadcast or ARP at points whose clocks differ, with little other traffic", "declare --same-clock if the points share a clock, or capture conversations between the same points too"),
    Code("partial-capture", "warning", "a capture begins late or ends early while the others continue", "a segment counts only packets of the time in which both its points captured, and the whole path those of the time in which all did, so their packets and losses differ. Likely causes: a full disk, a packet limit (tcpdump -c), or a link that failed, whose losses are in no figure", "start all captures before the traffic and stop them after it"),
    Code("end-not-captured", "warning", "a capture at an end of the path lacks packets that the next point has from its addresses", "the capture dropped them, or a filter left them out, or they left by another link. As many of the packets to it may be missing for the same reason, and those count as lost", "look for drops, filters and further links of this end, or add a point next to it"),
    Code("capture-paused", "warning", "a capture holds few frames or none of times in which other points captured packets that passed it", "it stopped, or dropped packets in bursts, or all packets took another link. At an end of the path, packets to it count as lost then, and nobody captured whether they arrived. Elsewhere, losses of these times are possible at the segments on both of its sides (n_maybe_lost)", "leave these times out (--from, --to), add the file that is missing, or give the capture a larger buffer (tcpdump -B)"),
    Code("flows-not-captured", "warning", "a point captured nothing of some flows, whose packets other points captured before it and after it", "they count as possibly not captured (n_maybe_missed), and their losses as possible at every segment past which they may have gone (n_maybe_lost). Likely causes: another link that nobody captures (a member of a LAG, an ECMP next hop), or a filter of this capture", "capture the other link too, or merge captures that have the same filter"),
    Code("mirror-duplicates", "warning", "a point captured packets twice that other points captured once, or nearly all of its packets", "latencies hold: they are those of the first observations, or of the second if a point has no first; packets that were sent twice count once; rates and sizes here count every duplicate", "mirror one direction of each port (SPAN rx), not both directions of all ports"),
    Code("hairpin", "note", "a point captured packets twice, and other points of its file captured them in between", "pcaplat measures the first passage; the rest of the way is in no segment", "capture the two passages as two interfaces or two files"),
    Code("paths-apart", "warning", "the points form groups that have no packet in common", "nothing between the groups is measured", "give the files of one point the same name (POINT=PATH), if each holds one direction"),
    Code("same-capture", "error", "two points hold the same packets with the same timestamps", "the latency between them is meaningless", "leave one of the two out"),
    Code("order-assumed", "warning", "the place of a point in the path is assumed, not measured", "near and far of its segments, and the sign of their latencies, may be exchanged", "give the order with --path"),
    Code("same-order-both-ways", "warning", "packets of both directions pass the points of a file in the same order", "all packets count as forward and there is no round trip, as with probes in a kernel or virtual switch. If the file combines captures of several hosts, their clocks differ and the latencies are meaningless", "give captures of several hosts as separate files; --filter keeps one direction"),
    Code("clock-not-stated", "note", "a file that combines captures does not state which clock timestamped which packets", "pcaplat treats each of its points as having a clock of its own, so one-way latencies between them are uncertain", "declare --same-clock if one host captured all of them"),
    Code("telemetry-unread", "warning", "times that nodes of the path wrote into packets are not used", "these nodes are no points of the path", "capture for longer, so that the unit of their times shows"),
    Code("ttl-contradicts-order", "error", "packets of both directions have more TTL where they come later, but routers lower it", "a point is not where the path has it: order, one-way latency and round trips there are unreliable; where it is clear which point, merge reports no latency and no round trip there. Likely causes: sent and received frames have timestamps of different clocks, or a device between the points sets the TTL", "use one clock for both (tcpdump -j host, not adapter_unsynced), or give the order with --path"),
    Code("few-direction-changes", "warning", "the order of the points rests on few direction changes", "near and far of segments may be exchanged", "give the order with --path"),
    Code("order-doubtful", "warning", "many direction changes contradict the order of two points", "near and far may be exchanged there, and with them → and ←. Likely cause: one interface captured twice (tcpdump -i any beside the interface itself)", "leave one of the two out, or give the order with --path"),
    Code("path-contradicted", "error", "the packets take another path than the one declared", "latencies have the wrong sign, or belong to other segments", "check which capture is which, or leave out --path"),
    Code("segmentation-offload", "warning", "TCP segments are split or coalesced on the way", "class packet holds only the small packets that stay whole", "read loss in bytes, or capture with offload off (ethtool -K INTERFACE tso off gso off gro off)"),
    Code("fragmented-on-the-way", "warning", "datagrams are fragmented or reassembled on the way, and some were lost", "class packet holds only those that stay whole, but counts each lost fragment as a packet: its loss ratio is too high", "read loss in bytes, or lower the MTU of the senders"),
    Code("clock-offset", "note", "clocks differ by TAI − UTC, by whole hours or by days", "latencies account for it", "do not compare these timestamps by eye"),
    Code("clock-step", "warning", "a clock was set during the capture", "latencies of packets near the step may be wrong by up to the size of the step, and some have none (n_undecided)", "leave that time out with --from or --to"),
    Code("single-packet-bound", "warning", "a single packet is much faster than all others", "pcaplat left its bound out, so the clock uncertainty is larger", "check the timestamps of these frames"),
    Code("clock-contradiction", "error", "no clock offset makes all delays non-negative", "pcaplat reports no latency and no round trip between these points. Likely causes: a clock step, or a wrong --same-clock or --path", "check the declarations, or leave the time of the step out with --from or --to"),
    Code("clock-accuracy-contradicted", "warning", "the packets contradict the declared accuracy of clocks", "pcaplat did not use it, so the clock uncertainty is larger", "check how these clocks are synchronised"),
    Code("clock-accuracy-alone", "warning", "the accuracy of only one clock was declared", "one accuracy relates no two clocks, so pcaplat did not use it", "declare the accuracy of another clock too"),
    Code("clocks-assumed-equal", "note", "equal clocks fit the packets, but are not declared", "one-way latencies in tables are differences of timestamps, and may be wrong by clock_half_width_ns", "declare --same-clock if the points share a clock"),
    Code("negative-latency", "error", "packets arrive before they left, at points with one declared clock", "latencies of the segment are wrong by at least that much", "remove --same-clock for these points, or check the order in --path"),
    Code("short-capture", "warning", "the captures of a segment are shorter than the waiting time of a lost packet", "the loss of the segment is not known, and none of its packets counts as lost", "capture for longer, or set a shorter waiting time (--lost-after)"),
    Code("late-packets", "warning", "packets took much longer than typical for their segment, and arrived", "they count in n, mean, maximum and quantiles; mean_without_late_ns (-o, --format json) leaves them out", "list them with --slowest N; --lost-after sets the waiting time after which a packet counts as lost"),
    Code("identical-packets", "warning", "identical packets could not be distinguished, and may be much slower or faster than the others", "these packets have no latency, and those that are in no segment are neither matched nor lost. The mean of all, if others have one, lies between mean_least_ns and mean_most_ns, and intervals allow for it", "leave out what repeats (--filter), or capture more bytes of each packet"),
    Code("branch-unknown", "warning", "packets were lost before a fork, and the other packets of their flow do not show one branch", "each branch has its share of them, in proportion to what arrived, and the interval of its loss ratio includes all and none of them: the figures do not show which branch loses packets", "capture at the beginning of each branch, before anything can be lost on it"),
    Code("losses-hidden", "note", "more packets may be lost than count as lost", "the interval of the loss ratio includes them (n_maybe_lost). Likely causes: identical packets, duplicates of a mirror, a capture that drops packets, or packets that may take another way", "capture more bytes of each packet, mirror one direction of each port, or give the capture a larger buffer"),
    Code("arrived-after-wait", "warning", "packets arrived after the waiting time of --lost-after", "they count as lost and have no latency", "raise --lost-after to count them as late"),
    Code("inconsistent-matches", "warning", "three points contradict each other: identical packets match other frames when the middle point is left out", "some matches of identical packets next to that point are false, and their latencies wrong", "leave that point out, or the identical packets (--filter)"),
    Code("transactions-not-reported", "warning", "more connections had answered requests than pcaplat sums up: 2^18 of all points together", "the table of transactions is empty; every other figure holds", "merge a part of the time (--from, --to) or of the flows (--filter, --sample), or fewer points at once"),
    Code("sums-disagree", "warning", "the round-trip contributions of the segments do not add up to that of the whole path", "they are means over other packets: a contribution rests on the packets that were captured whole at both ends of its segment. Likely causes: TCP segments that are split or coalesced on the way, or packets that some points did not capture", "compare segments by the packets that all points captured (--filter), or capture with offload off"),
    Code("slow-changes", "warning", "the latency of a segment changes slowly, and the capture is short for these changes", "the interval of the mean is wider and approximate, and another capture may have another mean", "capture for longer, or several times (compare uses each run as one value); --by window shows the changes"),
    Code("low-resolution", "warning", "the resolution of the timestamps is low compared with the latency", "quantiles are multiples of the resolution; means hold", "capture nanoseconds (tcpdump --time-stamp-precision=nano)"),
)  # fmt: skip
"""Every code, in the order of the pipeline."""

OF_COMPARISONS = (
    Code("other-path", "warning", "the paths of two runs differ", "only segments that both paths have are compared", "give the points the same names in all runs, or give --path"),
    Code("outlier-run", "warning", "one run of a scenario differs from its other runs", "the interval of the difference is wider, or rests on this run", "look at this run first: its captures, its load, its clocks"),
    Code("warm-up", "warning", "latencies of a run have not settled for a large part of it", "means depend on how much of the start is measured", "leave more out with --warm-up, or capture for longer"),
)  # fmt: skip
"""Codes of what `compare` and `validate` find when they look at several runs."""

OF_TRIALS = (
    Code("ambiguous-frames", "warning", "frames of a trial cannot be distinguished from others, or were split or joined on the way", "their trials have no throughput", "give each frame a number in its payload"),
    Code("closed-loop", "warning", "most frames of the trials are TCP, which sends what the path lets through", "the offered rate is not that of a tester, so the trials are not those of RFC 2544", "send UDP at a constant rate"),
    Code("loss-at-slower-rate", "warning", "frames were lost at a rate below another that lost none", "the throughput is uncertain; the conditional throughput is beside it", "repeat the trials between the two rates"),
    Code("no-ethernet", "warning", "the point of a sender was not captured as Ethernet", "sizes are without FCS, and rates are in frames", "capture on an Ethernet interface"),
    Code("outside-capture", "warning", "frames were sent when the capture of the receiver had not begun or had ended", "they count neither as lost nor as received", "let the capture of the receiver run 2 s longer at either end"),
)  # fmt: skip
"""Codes of what `rfc2544` finds in trials."""

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
        >>> diagnose("few-direction-changes", None, "the order rests on 1 direction change").text
        'the order rests on 1 direction change; near and far of segments may be exchanged. Do: give the order with --path'
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
