"""Why frames were not matched: the reasons that the core counts, and what they mean."""

from collections.abc import Mapping, Sequence
from typing import Any

from pcaplat import _native

MEANINGS: Mapping[tuple[str, str], str] = {
    ("unmatched", "outside-common-time"): "captured while not all points were capturing",
    ("unmatched", "point-alone"): "its point shares no packet with any other",
    ("unmatched", "no-time"): "it lacks the timestamp that other frames of its interface carry",
    ("unmatched", "flow-not-elsewhere"): "no packet between its addresses was matched anywhere",
    (
        "unmatched",
        "opaque",
    ): "as flow-not-elsewhere, and encrypted: its content may be at other points",
    ("unmatched", "fragment"): "a fragment of TCP, or of an unknown datagram",
    ("unmatched", "short-packet-id"): "too little of it was captured somewhere to recognise it",
    (
        "unmatched",
        "no-partner",
    ): "other packets between its addresses were matched: lost, or not captured",
    (
        "ambiguous",
        "short-packet-id",
    ): "too few bytes were captured to distinguish it from another packet",
    ("ambiguous", "way-unknown"): "identical packets whose direction is unknown",
    ("ambiguous", "bytes-twice"): "its bytes may be those of more than one packet elsewhere",
    ("ambiguous", "equal-packets"): "identical packets too close together to be distinguished",
    ("coalesced", "shared-bytes"): "TCP or a datagram, segmented or coalesced on the way",
    ("coalesced", "part-of-packet"): "a fragment that another frame completes, or should have",
    ("undecoded", "snap-length"): "cut off before its innermost packet begins",
    ("undecoded", "truncated"): "shorter than the length in its headers",
    ("undecoded", "malformed"): "a header has a value that its specification forbids",
    ("undecoded", "unknown-layer"): "a link type or version that is not known",
    ("undecoded", "too-deep"): "more layers than are followed",
    ("undecoded", "no-time"): "the file gives it no time",
}
"""What each status and reason means, in the order of the core."""


def reason_rows(counts: Sequence[int]) -> list[dict[str, Any]]:
    """Say how many frames of a point have which status for which reason, those that occur."""
    return [
        {"status": status, "reason": reason, "n": n}
        for (status, reason), n in zip(_native.REASONS, counts, strict=True)
        if n
    ]
