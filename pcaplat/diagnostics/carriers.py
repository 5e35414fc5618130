"""What the frames of a file say of what carried them: mirrors, tunnels, links."""

from collections.abc import Iterator, Sequence

from pcaplat.diagnostics.catalogue import diagnose
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.files.captures import Capture, is_decoded, stem
from pcaplat.model.files.late_stamps import queue_of
from pcaplat.model.sampled import FileFacts, InterfaceFacts
from pcaplat.units import format_count, format_frac, format_ns

MOST_FRAC = 0.25
MANY_FRAC = 0.01
"""Packets of a kind below this share of all are strays."""

FEWEST = 3
NO_LINK = 65_535
"""Link type of records that are no packets (rust/src/file/frame.rs)."""


def check_carriers(captures: Sequence[Capture], facts: Sequence[FileFacts]) -> list[Diagnostic]:
    """Say which files come from a mirror that queues, or hold tunnels that were not looked for.

    Args:
        captures: The files.
        facts: What the first reading found, by file.
    """
    diagnostics = []
    for capture, of_file in zip(captures, facts, strict=True):
        point, file = capture.point or stem(capture.name), capture.name
        for one in of_file.interfaces:
            signs = (*_queue(one), *_mirrors(one), *_hidden(one), *_undecoded(one))
            diagnostics += [
                diagnose(code, point, f"{file}: {text}", file=file) for code, text in signs
            ]
    return diagnostics


def check_link_types(captures: Sequence[Capture], facts: Sequence[FileFacts]) -> list[Diagnostic]:
    """Say which files have interfaces of several link types.

    Args:
        captures: The files.
        facts: What the first reading found, by file.
    """
    diagnostics = []
    for capture, of_file in zip(captures, facts, strict=True):
        point, file = capture.point or stem(capture.name), capture.name
        links = {one.link for one in of_file.interfaces} - {NO_LINK}
        if len(links) > 1:
            numbers = ", ".join(map(str, sorted(links)))
            text = f"{file}: its interfaces are of {len(links)} link types (LINKTYPE {numbers})"
            diagnostics.append(diagnose("mixed-links", point, text, file=file))
    return diagnostics


def _queue(one: InterfaceFacts) -> Iterator[tuple[str, str]]:
    queue = queue_of(one)
    if queue:
        rate_gbps, (n, n_at, n_sooner), busy_ns = queue
        text = (
            f"of {format_count(n)} frames that follow one of the other direction "
            f"{format_count(n_at)} come after exactly the time that one takes at {rate_gbps} "
            f"Gbit/s, and {format_count(n_sooner)} sooner: both directions wait in one queue, up "
            f"to {format_ns(busy_ns)}"
        )
        yield "mirror-queueing", text


def _mirrors(one: InterfaceFacts) -> Iterator[tuple[str, str]]:
    lost = [(session, n, n_missing) for session, n, n_missing, _ in one.mirrors if n_missing]
    if lost:
        rows = ", ".join(
            f"session {session} {format_count(n_missing)} of {format_count(n + n_missing)} "
            f"({format_frac(n_missing / (n + n_missing))})"
            for session, n, n_missing in lost
        )
        yield "mirror-loss", f"by the mirror's own numbers, frames are missing: {rows}"


def _hidden(one: InterfaceFacts) -> Iterator[tuple[str, str]]:
    least = max(FEWEST, MANY_FRAC * one.n_frames)
    for port, kind, n in one.hidden_ports:
        if n >= least:
            text = (
                f"{format_count(n)} packets to UDP port {port} look like {kind}, which is not "
                f"looked for there (--decode udp.port={port}:{kind})"
            )
            yield "unknown-tunnel", text
    # a few of few are all that the capture is about
    if one.n_encrypted >= min(least, max(1, MOST_FRAC * one.n_frames)):
        share = format_frac(one.n_encrypted / one.n_frames)
        text = f"{format_count(one.n_encrypted)} packets ({share}) are encrypted tunnels"
        yield "encrypted", text


def _undecoded(one: InterfaceFacts) -> Iterator[tuple[str, str]]:
    n = one.n_undecoded - one.n_cut
    if is_decoded(one) and n >= max(FEWEST, MANY_FRAC * one.n_frames):
        text = (
            f"{format_count(n)} of {format_count(one.n_frames)} frames could not be read to "
            "their innermost packet"
        )
        yield "undecoded-frames", text
