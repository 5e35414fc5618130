"""What frames say of the place they were captured at: in a tunnel or not, before or behind a card.

A profile says what to expect of tunnels; what no wire carries was captured inside a host.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pcaplat.diagnostics.catalogue import diagnose
from pcaplat.model.arrays import Ints
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.files.captures import Capture, stem
from pcaplat.model.sampled import FileFacts, SampleColumns
from pcaplat.units import format_count

if TYPE_CHECKING:
    from pcaplat.points.placing import Placing
    from pcaplat.points.schema import ProfilePoint

ENOUGH_PACKETS = 20
NEARLY_ALL_FRAC = 0.99

JUMBO_BYTES = 9_216
"""The longest frame that switches carry: longer segments of TCP are on no Ethernet."""

USUAL_TCP_BYTES = 1_480
"""TCP bytes of a full frame of the usual MTU, 1500."""

LEAST_SEGMENT_BYTES = 500
"""Segments that most data come in are no shorter."""

MULTIPLES_FRAC = 0.5
"""Where segments were joined, this share of the long ones are whole numbers of the usual one; jumbo
frames are not."""

FEWEST_LONG = 5


def check_tunnels(
    captures: Sequence[Capture], facts: Sequence[FileFacts], placing: "Placing | None"
) -> list[Diagnostic]:
    """Say which captures are in a tunnel, or are not, against what their profile says.

    Args:
        captures: The files.
        facts: What the first reading found, by file.
        placing: What the profile says of them, if there is one.
    """
    diagnostics = []
    for capture, of_file in zip(captures, facts, strict=True):
        known = placing.points.get(capture.point or "", ()) if placing else ()
        places = known[:1] if len({point.encapsulated for point in known}) == 1 else ()
        n = [one.n_by_depth for one in of_file.interfaces]
        for place in places:
            point, file = capture.point or stem(capture.name), capture.name
            signs = _against(place, sum(one[0] for one in n), sum(one[1] for one in n))
            diagnostics += [
                diagnose(code, point, f"{file}: {text}", file=file) for code, text in signs
            ]
    return diagnostics


def _against(place: "ProfilePoint", outside: int, inside: int) -> Iterator[tuple[str, str]]:
    n = outside + inside
    if n < ENOUGH_PACKETS:
        return
    text = f"{format_count(inside)} of {format_count(n)} packets are in tunnels, and the profile "
    if place.encapsulated == "no" and inside >= NEARLY_ALL_FRAC * n:
        text += f"expects none at {place.id}"
        yield "only-tunnel", text
    if place.encapsulated == "yes" and not inside:
        text += f"expects all to be at {place.id}"
        yield "only-inner", text


FEWEST_PARTIAL = 5
PARTIAL_FRAC = 0.01
"""One checksum in 65,536 is like one that is still to be computed, by chance."""


def check_offload_signs(
    captures: Sequence[Capture], facts: Sequence[FileFacts], packets: SampleColumns
) -> list[Diagnostic]:
    """Say which files were captured before, or behind, what a network card does for its host.

    Args:
        captures: The files.
        facts: What the first reading found, by file.
        packets: Packets of the survey's sample.
    """
    file, n_bytes = (packets[name] for name in ("file", "tcp_bytes"))
    return [
        diagnose("offload-signs", capture.point or stem(capture.name), text, file=capture.name)
        for at, capture in enumerate(captures)
        for text in _signs(capture.name, n_bytes[file == at])
    ] + _check_checksums(captures, facts)


def _check_checksums(captures: Sequence[Capture], facts: Sequence[FileFacts]) -> list[Diagnostic]:
    """Say in which files checksums are still to be computed, all in one: it touches no figure."""
    texts = [
        f"{capture.name} {text}"
        for capture, of_file in zip(captures, facts, strict=True)
        for one in of_file.interfaces
        for text in _partial(one.n_partial, one.n_checksums)
    ]
    if not texts:
        return []
    text = (
        "TCP and UDP checksums hold the sum of the pseudo-header alone, as hosts leave them to "
        f"their network card: {'; '.join(texts)}"
    )
    consequence = (
        "no figure: checksums recognise no packet; but these frames were timestamped in a host, "
        "before its network card, and Wireshark or tcpdump -v marks them as damaged"
    )
    remedy = (
        "none is needed; to have them whole, ethtool -K INTERFACE tx off, or capture on the wire"
    )
    return [diagnose("offload-signs", None, text, consequence=consequence, remedy=remedy)]


def _partial(n_partial: Sequence[int], n: Sequence[int]) -> Iterator[str]:
    if sum(n_partial) < max(FEWEST_PARTIAL, PARTIAL_FRAC * sum(n)):
        return
    text = f"{format_count(sum(n_partial))} of {format_count(sum(n))}"
    if 0 in n_partial and min(n) >= FEWEST_PARTIAL:
        text += ", all of one direction"
    yield text


def _signs(name: str, n_bytes: Ints) -> Iterator[str]:
    long = n_bytes[n_bytes > USUAL_TCP_BYTES]
    usual = n_bytes[(n_bytes >= LEAST_SEGMENT_BYTES) & (n_bytes <= USUAL_TCP_BYTES)]
    if len(long) < FEWEST_LONG:
        return
    segment = int(np.bincount(usual).argmax()) if len(usual) else 0
    n_whole = int(np.sum(long % segment == 0)) if segment else 0
    if int(long.max()) <= JUMBO_BYTES and n_whole < MULTIPLES_FRAC * len(long):
        return
    text = (
        f"{name}: {format_count(len(long))} of {format_count(int(np.sum(n_bytes > 0)))} sampled "
        f"TCP segments with data are longer than a frame of 1,500 bytes holds, up to "
        f"{format_count(int(long.max()))} bytes"
    )
    if n_whole:
        text += f"; {format_count(n_whole)} of them are whole numbers of {segment} bytes"
    yield text
