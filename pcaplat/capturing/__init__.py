"""Live capture: interfaces of this host and streams of other hosts, one file a point.

The core captures with one thread a point; here is what is asked of it and what it has found.
docs/capture/live.md says what the files hold, docs/project/decisions/0031 how libpcap is reached.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from pcaplat import _native
from pcaplat.capturing.sources import LiveSource, check_points, parse_sources
from pcaplat.errors import InputError
from pcaplat.model.files.libpcap import packaged_libpcap
from pcaplat.model.files.live import PointCounts
from pcaplat.records import dataclass
from pcaplat.tables.columns import Row

SCHEMA = "pcaplat.capture/1"
BUFFER_BYTES = 32 << 20
WHOLE_BYTES = 262_144
"""As much as libpcap hands over of a packet."""
LARGEST_BUFFER_BYTES = LARGEST_SNAP_BYTES = 2**31 - 1
MOST_RING_FILES, LARGEST_FILE_BYTES = 1_000_000, 10**18


@dataclass(frozen=True)
class CaptureLimits:
    """What is captured, and when it ends; None: without a limit.

    Attributes:
        bpf: Only packets that pass, in libpcap's language; streams are taken as they come.
        duration_ns: All points end so long after they began.
        n_packets: All points end with the packet of this number at any one of them.
        ring: How many files of a point are kept, and how many bytes each may have.
        snap_bytes: At most so many bytes of each packet.
        buffer_bytes: The kernel's buffer of each interface.
        adapter_clock: Points whose interface only receives, and is stamped by its adapter.
    """

    bpf: str | None = None
    duration_ns: int | None = None
    n_packets: int | None = None
    ring: tuple[int, int] | None = None
    snap_bytes: int = WHOLE_BYTES
    buffer_bytes: int = BUFFER_BYTES
    adapter_clock: Collection[str] = ()

    def __post_init__(self) -> None:
        # what libpcap cannot take, and rings that no disk holds
        n_files, file_bytes = self.ring or (0, 0)
        if self.buffer_bytes > LARGEST_BUFFER_BYTES:
            raise InputError("--buffer: libpcap takes less than 2 GB an interface")
        if self.snap_bytes > LARGEST_SNAP_BYTES:
            raise InputError("--snaplen: libpcap takes less than 2 GB; leave it out to keep all")
        if n_files > MOST_RING_FILES or file_bytes > LARGEST_FILE_BYTES:
            raise InputError(
                f"--ring: at most {MOST_RING_FILES:,} files of less than 1 EB are kept; ask for "
                "fewer or smaller ones"
            )


class LiveCapture:
    """Points that are being captured, until `stop`, the end of a `with`, or a limit.

    Args:
        given: POINT=INTERFACE, POINT=netns:NAME/INTERFACE, POINT=- or POINT=PIPE, one a point.
        directory: Where POINT.pcapng is written; it exists.
        limits: What is captured, and when it ends.

    Raises:
        InputError: A point cannot be opened: the message names the missing interface, namespace or
            capability. No point is captured then.

    Assumes:
        Linux for network namespaces; all interfaces are stamped by one clock, the host's, but for
        those of `adapter_clock`.
    """

    def __init__(
        self, given: Sequence[str], directory: Path, limits: CaptureLimits | None = None
    ) -> None:
        limits = limits or CaptureLimits()
        self.sources = parse_sources(given)
        check_points("--adapter-clock", limits.adapter_clock, self.sources)
        self._directory = directory
        self._live = _native.LivePoints(
            [self._values(one, limits.adapter_clock) for one in self.sources],
            filter=limits.bpf,
            snap_bytes=limits.snap_bytes,
            buffer_bytes=limits.buffer_bytes,
            n_packets=limits.n_packets,
            duration_ns=limits.duration_ns,
            ring=limits.ring,
            libpcap=packaged_libpcap(),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def _values(
        self, one: LiveSource, adapter_clock: Collection[str]
    ) -> tuple[str, str, str | None, Path | None, bool, Path]:
        own_clock = one.point in adapter_clock
        file = self._directory / one.point
        return one.point, one.text, one.interface, one.place, own_clock, file

    def stop(self) -> None:
        """End all points, and return when their files are whole."""
        self._live.stop()
        self._live.finish()

    def counts(self) -> list[PointCounts]:
        """Return what each point has captured so far, in the order of `sources`."""
        return self._live.counts()

    def is_over(self) -> bool:
        """Whether every point has ended."""
        return all(one.is_over for one in self.counts())

    def captures(self) -> list[str]:
        """Return the files so far as `merge` takes them, POINT=PATH."""
        pairs = zip(self.sources, self.counts(), strict=True)
        return [f"{one.point}={file}" for one, counts in pairs for file in counts.files]

    def same_clock(self) -> list[list[str]]:
        """Return the points that the host's clock stamps, as `merge` takes them; none if one.

        A file without packets is no capture point for `merge`.
        """
        pairs = zip(self.sources, self.counts(), strict=True)
        with_packets = [(one, counts) for one, counts in pairs if counts.files and counts.n_packets]
        hosts = [one.point for one, counts in with_packets if counts.clock in {"host", "adapter"}]
        return [hosts] if len(hosts) > 1 else []

    def document(self) -> Row:
        """Return the document `pcaplat.capture/1`: counts and files of each point."""
        pairs = zip(self.sources, self.counts(), strict=True)
        rows = [_row(one, counts) for one, counts in pairs]
        return {"schema": SCHEMA, "points": rows, "findings": None}


def _row(one: LiveSource, counts: PointCounts) -> Row:
    is_stream = one.interface is None
    return {
        "point": one.point,
        "source": one.text,
        "clock": counts.clock,
        "n_packets": counts.n_packets,
        "n_bytes": counts.n_bytes,
        "n_received": None if is_stream else counts.n_received,
        "n_dropped": counts.n_dropped,
        "n_dropped_by_interface": counts.n_dropped_by_interface,
        "n_outside": counts.n_outside,
        "files": [str(file) for file in counts.files],
        "problem": counts.problem,
    }
