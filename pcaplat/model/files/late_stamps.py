"""What makes stamps of a whole file late: batches that share one, and the queue of a mirror."""

from math import ceil, log10

from pcaplat.model.files.captures import resolution_ns
from pcaplat.model.sampled import InterfaceFacts

FASTEST_BYTES_NS = 50
"""Bytes that a port of 400 Gbit/s, the fastest there is, takes in a nanosecond."""

ENOUGH_BEHIND = 100
"""Frames behind one of the other direction, short and long ones each, that tell a queue."""

PILED_FRAC, SOONER_FRAC = 0.5, 0.02
"""In a queue, the former share of frames come after exactly what the frame before takes, and hardly
any, the latter share, sooner."""

FEWEST_IN_BATCHES = 10
BATCHES_FRAC = 0.01


def n_in_batches(interface: InterfaceFacts) -> int:
    """Frames that share a stamp though no wire carries them in one step of it; 0 if they are few.

    Args:
        interface: One of a file, as its reading found it.
    """
    first = max(0, ceil(log10(max(resolution_ns(interface), 1.0) * FASTEST_BYTES_NS)) - 2)
    n = sum(interface.order.n_in_bursts[first:])
    return n if n >= max(FEWEST_IN_BATCHES, BATCHES_FRAC * interface.n_frames) else 0


def late_ns(interface: InterfaceFacts) -> int:
    """How much too late a stamp may be: of batches that share one, the least time between two.

    A timer that holds interrupts back keeps its time, however much traffic there is.

    Args:
        interface: One of a file, as its reading found it.
    """
    return interface.order.least_wait_ns or 0 if n_in_batches(interface) else 0


def queue_of(interface: InterfaceFacts) -> tuple[int, list[int], int] | None:
    """Rate in Gbit/s of the port that sent both directions of a link, if one did.

    Beside counts of frames (behind the other direction, exactly, sooner), and the longest wait, ns.
    """
    for rate_gbps, n, n_at, n_sooner, busy_ns in interface.queue:
        rows = list(zip(n, n_at, n_sooner, strict=True))
        if all(
            n >= ENOUGH_BEHIND and at >= PILED_FRAC * n and sooner <= SOONER_FRAC * n
            for n, at, sooner in rows
        ):
            return rate_gbps, [sum(n), sum(n_at), sum(n_sooner)], busy_ns
    return None


def mirror_wait_ns(interface: InterfaceFacts) -> int | None:
    """How long frames waited at most for those of the other direction; None: not seen."""
    queue = queue_of(interface)
    return None if queue is None else queue[2]
