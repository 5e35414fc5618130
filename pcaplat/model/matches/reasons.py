"""Why frames were not matched: the reasons that the core counts, and what they mean."""

from collections.abc import Mapping, Sequence
from typing import Any

from pcaplat import _native

MEANINGS: Mapping[tuple[str, str], str] = {
    ("unmatched", "outside-common-time"): "seen while not all points captured",
    ("unmatched", "point-alone"): "its point shares no packet with any other",
    ("unmatched", "no-time"): "it lacks the stamp that the others of its interface have",
    ("unmatched", "flow-not-elsewhere"): "nothing between its addresses was matched anywhere",
    ("unmatched", "opaque"): "likewise, and it is encrypted: its inside may be elsewhere",
    ("unmatched", "fragment"): "a fragment of TCP, or of a datagram that nobody can tell",
    ("unmatched", "short-packet-id"): "too little of it was captured somewhere to recognise it",
    ("unmatched", "no-partner"): "others of its addresses were matched: it was lost or missed",
    ("ambiguous", "short-packet-id"): "too little was captured to tell it from another",
    ("ambiguous", "way-unknown"): "equal packets of which it is not known which way they go",
    ("ambiguous", "bytes-twice"): "its bytes may be those of more than one packet elsewhere",
    ("ambiguous", "equal-packets"): "equal packets too close together to tell apart",
    ("coalesced", "shared-bytes"): "TCP, or a datagram, cut or joined on the way",
    ("coalesced", "part-of-packet"): "a fragment that another frame completes, or should have",
    ("undecoded", "snap-length"): "cut before its innermost packet begins",
    ("undecoded", "truncated"): "shorter than its headers say",
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
