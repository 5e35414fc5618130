"""What the stamps of a file say by themselves: resolution, order, stamps that repeat."""

from collections.abc import Iterator, Sequence

from pcaplat.diagnostics.catalogue import diagnose
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.files.captures import Capture, resolution_ns, stem
from pcaplat.model.files.late_stamps import n_in_batches
from pcaplat.model.sampled import FileFacts, InterfaceFacts
from pcaplat.units import format_count, format_ns, format_step

ENOUGH_STAMPS = 100
"""Few stamps may be round by chance."""

LONG_BEHIND = 20
"""As many frames in a row behind an earlier one were not written by queues of several cores."""

FEW_BACKWARD_FRAC = 0.001
"""Steps back of a clock that is set are rare; those of unsorted frames are not."""


def check_stamp_order(captures: Sequence[Capture], facts: Sequence[FileFacts]) -> list[Diagnostic]:
    """Say where stamps are coarser than declared, go back, or repeat.

    Args:
        captures: The files.
        facts: What the first reading found, by file.
    """
    return [
        diagnostic
        for capture, of_file in zip(captures, facts, strict=True)
        for one in of_file.interfaces
        for diagnostic in _of_interface(capture, one)
    ]


def _of_interface(capture: Capture, one: InterfaceFacts) -> Iterator[Diagnostic]:
    point, file = capture.point or stem(capture.name), capture.name
    declared, shown = one.declared_resolution_ns, one.observed_resolution_ns
    # times are whole nanoseconds here, so what declares finer ones shows 1 ns at best
    if shown > max(declared, 1.0) and one.n_frames >= ENOUGH_STAMPS:
        finer = "" if declared >= 1 else "less than "
        text = (
            f"{file}: declares timestamps of {finer}{format_step(max(declared, 1.0))}, but all "
            f"{format_count(one.n_frames)} are multiples of {format_step(shown)}"
        )
        yield diagnose("resolution-overstated", point, text, file=file)
    for code, text in (*_backward(one), *_bursts(one)):
        yield diagnose(code, point, f"{file}: {text}", file=file)


def check_sorting(captures: Sequence[Capture], facts: Sequence[FileFacts]) -> list[Diagnostic]:
    """Say which files are not in the order of their stamps, all in one, for it touches no figure.

    Args:
        captures: The files.
        facts: What the first reading found, by file.
    """
    texts = [
        f"{capture.name} {format_count(one.order.n_backward)} of "
        f"{format_count(one.n_frames)} frames, by up to {format_ns(one.disorder_ns)}"
        for capture, of_file in zip(captures, facts, strict=True)
        for one in of_file.interfaces
        if one.order.n_backward and not _is_set_back(one)
    ]
    text = f"timestamped before the previous frame: {'; '.join(texts)}"
    return [diagnose("unsorted-frames", None, text)] if texts else []


def _is_set_back(one: InterfaceFacts) -> bool:
    order = one.order
    is_rare: bool = order.n_backward <= max(1, FEW_BACKWARD_FRAC * one.n_frames)
    return is_rare and order.longest_behind >= LONG_BEHIND


def _backward(one: InterfaceFacts) -> Iterator[tuple[str, str]]:
    order = one.order
    if _is_set_back(one):
        text = (
            f"timestamps go back by {format_ns(order.behind_ns)} at frame {order.behind_from}, and "
            f"the next {format_count(order.longest_behind)} frames have timestamps before an "
            "earlier frame"
        )
        yield "backward-timestamps", text


def _bursts(one: InterfaceFacts) -> Iterator[tuple[str, str]]:
    order, step_ns, n = one.order, resolution_ns(one), n_in_batches(one)
    if n:
        text = (
            f"{format_count(n)} of {format_count(one.n_frames)} frames share their timestamp with "
            f"more than a port of 400 Gbit/s carries in {format_ns(step_ns)}, up to "
            f"{format_count(order.longest_burst)} of them one timestamp (from frame "
            f"{order.burst_from} on)"
        )
        yield "batched-timestamps", text
