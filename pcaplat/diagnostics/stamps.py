"""What is known of in-packet timestamps: their part of the captures' rows, and what is doubtful."""

from collections.abc import Iterator, Sequence
from typing import Any

from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.files.captures import Capture, stem
from pcaplat.model.sampled import FileFacts, StampFacts
from pcaplat.units import format_ns


def stamp_columns(stamps: StampFacts | None) -> dict[str, Any]:
    """Give what a row of the summary's captures says of the stamps that are used."""
    used = stamps if stamps and stamps.is_used else None
    return {
        "stamp": used and used.name,
        "stamp_resolution_ns": used and used.resolution_ns,
        "stamp_timescale": used and used.timescale,
        "n_stamped": used.n_stamped if used else 0,
        "n_bad_stamps": used.n_damaged if used else 0,
    }


def check_stamps(
    captures: Sequence[Capture],
    facts: Sequence[FileFacts],
    names: Sequence[str | None],
) -> list[Diagnostic]:
    """Say what is doubtful about the stamps in the frames.

    Args:
        captures: The files.
        facts: What the survey's reading found, by file.
        names: The stamp that a profile says is there, by file.
    """
    diagnostics = []
    for capture, of_file, name in zip(captures, facts, names, strict=True):
        point = capture.point or stem(capture.name)
        for one in of_file.interfaces:
            stamps = one.stamps
            for code, text in _signs(stamps) if stamps else ():
                diagnostics.append(
                    Diagnostic(code, point, f"{capture.name}: {text}", file=capture.name)
                )
            if name and (stamps is None or stamps.name != name):
                text = (
                    f"{capture.name}: the profile declares {name} timestamps in the frames, but "
                    "none were found; capture whole frames (tcpdump -s 0), and switch them on"
                )
                diagnostics.append(
                    Diagnostic("no-inner-timestamps", point, text, file=capture.name)
                )
    return diagnostics


def _signs(stamps: StampFacts) -> Iterator[tuple[str, str]]:
    name, n_stamped = stamps.name, stamps.n_stamped
    n_all = n_stamped + stamps.n_damaged + stamps.n_without
    if not stamps.is_used:
        text = (
            f"only {n_stamped:,} of {n_all:,} frames carry {name} timestamps, so the "
            "file's time is used for all frames; capture or filter only frames that carry them"
        )
        yield "timestamps-unused", text
        return
    if stamps.n_without:
        text = (
            f"{stamps.n_without:,} of {n_all:,} frames lack the {name} timestamp that the "
            "others carry; their time is unknown, so they are not matched; exclude frames that "
            "the capturing host itself sends by a filter"
        )
        yield "timestamps-missing", text
    if stamps.n_damaged:
        text = (
            f"{stamps.n_damaged:,} of {n_all:,} {name} timestamps are damaged, or far from "
            "the others; they are not used, and their frames are not matched"
        )
        yield "damaged-timestamps", text
    if stamps.timescale == "tai":
        text = (
            f"{name} timestamps are {format_ns(stamps.offset_ns)} ahead of the file's time, "
            "as TAI is ahead of UTC; they are used as they are, and the difference is part of "
            "the clock's offset"
        )
        yield "timestamps-tai", text
