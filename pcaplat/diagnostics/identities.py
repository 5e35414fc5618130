"""What the captures leave of the packets to recognise them by, where that is not enough."""

from collections.abc import Sequence
from dataclasses import replace

from pcaplat.diagnostics.catalogue import diagnose
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.files.captures import Capture, stem
from pcaplat.model.matches.reasons import reason_rows
from pcaplat.model.sampled import FileFacts, FragmentCounts
from pcaplat.units import format_count, format_instant

ENOUGH_BYTES = {
    "TCP over IPv4": 12,
    "UDP over IPv4": 16,
    "ICMP": 8,
    "other protocols over IPv4": 8,
    "TCP over IPv6": 12,
    "UDP over IPv6": 16,
    "ICMPv6": 8,
    "other protocols over IPv6": 8,
    "frames without IP": 28,
}
"""Layer-4 bytes that tell packets apart, by class of packets in the core's order: TCP's sequence
and acknowledgment, some of UDP's payload, ICMP's and IPsec's sequence numbers, the addresses of
ARP."""

PORT_BYTES = 4
"""Bytes of both ports; frames without IP have none."""


def short_classes(prefixes: Sequence[int]) -> list[bool]:
    """Say by class of packets whether too little of it was captured everywhere."""
    return [left < enough for left, enough in zip(prefixes, ENOUGH_BYTES.values(), strict=True)]


MORE = "capture more there (tcpdump -s 128, -s 256 inside tunnels)"
LARGER = "a larger MTU underneath, or a smaller one inside, spares the network this"
SHORT = "short-packet-id"
ALIKE = "frames with equal captured bytes are ambiguous at every point"


def counted(
    diagnostics: Sequence[Diagnostic], reasons: Sequence[Sequence[int]]
) -> list[Diagnostic]:
    """Say how many frames could not be matched for it, in place of what is to be feared.

    Args:
        diagnostics: What was found before any packet was matched.
        reasons: Frames of each point by status and reason, in the core's order.
    """
    rows = [row for of_point in reasons for row in reason_rows(of_point)]
    n = sum(row["n"] for row in rows if row["reason"] == SHORT)
    what = "no frame" if not n else "1 frame" if n == 1 else f"{format_count(n)} frames"
    told = f"{what} of these captures stayed without a match for it"
    return [
        replace(one, consequence=told) if one.consequence == ALIKE else one for one in diagnostics
    ]


def check_packets(captures: Sequence[Capture], facts: Sequence[FileFacts]) -> list[Diagnostic]:
    """Say which packets could not be read, or not as far as they are recognised by."""
    return [*_check_fragments(captures, facts), *_check_short_identities(captures, facts)]


def check_translations(left_out: tuple[int, int] | None, n_not_followed: int) -> list[Diagnostic]:
    """Say that there were more translated flows than are kept, or some that could not be followed.

    Args:
        left_out: The packets of those beyond, and when the first was seen; None if there are none.
        n_not_followed: Packets of which it does not show which flow they are of elsewhere.
    """
    found = []
    if left_out is not None:
        n, from_ns = left_out
        text = (
            f"from {format_instant(from_ns)} on, {format_count(n)} packets were seen under other "
            "addresses or IP IDs elsewhere, of more pairs of flows than are kept"
        )
        found.append(diagnose("translations-left-out", None, text))
    if n_not_followed:
        several = f"some {format_count(n_not_followed)} packets seem"
        text = (
            f"{'1 packet seems' if n_not_followed == 1 else several} to have other addresses "
            "behind a translator, in flows of too few packets, or equal ones, to follow them there"
        )
        found.append(diagnose("translations-not-followed", None, text))
    return found


def _check_short_identities(
    captures: Sequence[Capture], facts: Sequence[FileFacts]
) -> list[Diagnostic]:
    """Say of which packets too little was captured at some point to be sure which is which."""
    diagnostics = []
    for at, (kind, enough) in enumerate(ENOUGH_BYTES.items()):
        left = min(of_file.prefixes[at] for of_file in facts)
        if left < enough:
            short = [
                capture
                for capture, of_file in zip(captures, facts, strict=True)
                if of_file.prefixes[at] == left
            ]
            points = list(dict.fromkeys(one.point or stem(one.name) for one in short))
            only = points[0] if len(points) == 1 else None
            file = short[0].name if len(short) == 1 else None
            text = _of_class(kind, left, ", ".join(points))
            remedy = f"{MORE}, or leave that point out"
            diagnostics.append(Diagnostic("short-packet-id", only, text, ALIKE, remedy, file))
    for capture, of_file in zip(captures, facts, strict=True):
        n_cut = sum(one.n_cut for one in of_file.interfaces)
        if n_cut:
            text = (
                f"{capture.name}: {format_count(n_cut)} frames are cut before their innermost IP "
                "header ends, so their content is unknown"
            )
            point = capture.point or stem(capture.name)
            diagnostics.append(Diagnostic("short-packet-id", point, text, "", MORE, capture.name))
    return diagnostics


def _of_class(kind: str, left: int, points: str) -> str:
    is_ip = kind != "frames without IP"
    what = "behind the IP header" if is_ip else "behind the link header"
    lost = ", not even the ports" if is_ip and left < PORT_BYTES else ""
    return f"{kind}: frames cut at {points} leave {left} bytes {what} to recognise packets by{lost}"


def _check_fragments(captures: Sequence[Capture], facts: Sequence[FileFacts]) -> list[Diagnostic]:
    """Say where tunnel packets came in fragments, and how many of them could not be read."""
    diagnostics = []
    for capture, of_file in zip(captures, facts, strict=True):
        point, seen = capture.point or stem(capture.name), of_file.fragments
        if seen.n_whole or seen.n_unfinished or seen.n_contradictory:
            text, remedy = f"{capture.name}: {_of_fragments(seen)}", LARGER
            diagnostics.append(Diagnostic("outer-fragments", point, text, "", remedy, capture.name))
    return diagnostics


def _of_fragments(seen: FragmentCounts) -> str:
    failed = [
        f"{format_count(n)} {why}"
        for n, why in (
            (seen.n_unfinished, "whose fragments are incomplete"),
            (seen.n_contradictory, "whose fragments contradict each other"),
        )
        if n
    ]
    text = (
        f"{format_count(seen.n_whole)} tunnel packets were put together from fragments, and "
        "have the time of the last one"
    )
    if failed:
        text += (
            f"; not read: {', '.join(failed)}, so the packets inside count as not captured there"
        )
    return text
