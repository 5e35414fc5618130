"""Whether many packets are in no segment, because nothing shows which way they went."""

from collections.abc import Iterator

from pcaplat.diagnostics.catalogue import diagnose
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.units import format_count, format_frac

LEAST_FRAC = 0.1
"""Neighbour discovery and ARP are a few in a hundred frames, and nobody asks for their latency."""


def check_directions(n_without_direction: int, n_frames: int) -> Iterator[Diagnostic]:
    """Say how many frames were matched and are in no figure."""
    if n_without_direction and n_without_direction >= LEAST_FRAC * n_frames:
        frac = format_frac(n_without_direction / n_frames)
        text = (
            f"{format_count(n_without_direction)} of {format_count(n_frames)} frames ({frac}) are "
            "matched, but nothing shows the direction of their packets: no segment includes them"
        )
        yield diagnose("direction-unknown", None, text)
