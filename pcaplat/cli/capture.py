"""`pcaplat capture`: live capture at several points at once, one file a point."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from pcaplat.cli import OUTPUT, Format, note, print_found
from pcaplat.cli.options import NoProgress, Overwrite, Quiet
from pcaplat.cli.progress import CLEAR
from pcaplat.errors import OptionError, PcaplatError
from pcaplat.outputs import show, write
from pcaplat.outputs.folder import check_directory
from pcaplat.units import format_count, parse_bytes, parse_duration_ns

if TYPE_CHECKING:
    from pcaplat.capturing import CaptureLimits, LiveCapture

EXAMPLES = (
    "pcaplat capture vnic=vnet0 uplink=eth0 -o run1     until Ctrl-C",
    "pcaplat capture vnic=vnet0 uplink=eth0 -o run1 --duration 30s --merge",
    "pcaplat capture web=netns:pod1/eth0 node=eth0 -o run1 --live 1s",
    "ssh host2 tcpdump -U -w - -i eth0 | pcaplat capture near=eth0 far=- -o run1",
)
LOOKS_UP_S = 0.1
"""Between two looks at whether the points have ended."""
STATUS_S = 1.0
"""Between two lines of status."""
SETTLED_NS = 500_000_000
"""After so long a packet stands in its file."""
GROWING = {"changed-capture", "damaged-capture"}
"""Warnings that every capture that is still being written gives."""
RING_FORM = "5x100MB"
MOST_DIGITS = 18
HOME = "\x1b[H\x1b[2J"
WHAT, WHEN = "Which packets", "How long"

Points = Annotated[
    list[str],
    Argument(
        metavar="POINT=INTERFACE...",
        show_default=False,
        help="POINT=INTERFACE, POINT=netns:NAME/INTERFACE, POINT=PIPE, or POINT=- for stdin.",
    ),
]
Directory = Annotated[
    Path,
    Option(
        "--output",
        "-o",
        metavar="DIR",
        help="Write POINT.pcapng into DIR.",
        rich_help_panel=OUTPUT,
    ),
]
Bpf = Annotated[
    str | None,
    Option(
        "--filter",
        metavar="BPF",
        help="Only these packets, in libpcap's filter language. Pipes are not filtered.",
        rich_help_panel=WHAT,
    ),
]
SnapLength = Annotated[
    str | None,
    Option(
        "--snaplen",
        metavar="SIZE",
        help="Keep at most SIZE of each packet, e.g. 192B. Default: all of it.",
        rich_help_panel=WHAT,
    ),
]
Buffer = Annotated[
    str,
    Option(
        "--buffer",
        metavar="SIZE",
        help="Size of the kernel's buffer for each interface.",
        rich_help_panel=WHAT,
    ),
]
AdapterClock = Annotated[
    list[str],
    Option(
        "--adapter-clock",
        metavar="POINT",
        help="POINT's interface only receives, e.g. from a mirror: its adapter timestamps packets.",
        rich_help_panel=WHAT,
    ),
]
Duration = Annotated[
    str | None,
    Option(
        "--duration",
        metavar="DURATION",
        help="End after this time. Default: until Ctrl-C.",
        rich_help_panel=WHEN,
    ),
]
Packets = Annotated[
    int | None,
    Option(
        "--packets",
        metavar="N",
        min=1,
        help="End all points with packet N of any point.",
        rich_help_panel=WHEN,
    ),
]
Ring = Annotated[
    str | None,
    Option(
        "--ring",
        metavar="NxSIZE",
        help=f"Keep the last N files of SIZE at each point, e.g. {RING_FORM}.",
        rich_help_panel=WHEN,
    ),
]
Live = Annotated[
    str | None,
    Option(
        "--live",
        metavar="DURATION",
        help="Show the table of segments on stderr, anew after each DURATION.",
        rich_help_panel=OUTPUT,
    ),
]
Merge = Annotated[
    bool,
    Option(
        "--merge",
        help="Merge at the end: stdout gets the result, DIR/result its files.",
        rich_help_panel=OUTPUT,
    ),
]


def command(
    points: Points,
    output_dir: Directory,
    overwrite: Overwrite = False,
    format_: Format = "table",
    bpf: Bpf = None,
    snaplen: SnapLength = None,
    buffer: Buffer = "32MB",
    adapter_clock: AdapterClock = [],  # noqa: B006 - typer copies it
    duration: Duration = None,
    packets: Packets = None,
    ring: Ring = None,
    live: Live = None,
    merge: Merge = False,
    quiet: Quiet = False,
    no_progress: NoProgress = False,
) -> None:
    """Capture at several points at once, one pcapng file per point, until Ctrl-C or a limit."""
    from pcaplat.capturing import LiveCapture

    sizes = {"snap_bytes": parse_bytes("--snaplen", snaplen)} if snaplen else {}
    sizes["buffer_bytes"] = parse_bytes("--buffer", buffer)
    limits = _limits(
        duration, ring, n_packets=packets, bpf=bpf, adapter_clock=adapter_clock, **sizes
    )
    is_shown = not (quiet or no_progress)
    look = LiveView(_duration_ns("--live", live) / 1e9) if live else _status(is_wanted=is_shown)
    check_directory(output_dir, overwrite=overwrite)
    with _made(output_dir), LiveCapture(points, output_dir, limits) as capturing:
        note(f"capturing at {len(points)} point(s); Ctrl-C ends it", is_quiet=quiet)
        _watch(capturing, look)
    document = capturing.document() | {"findings": _findings(capturing)}
    if not merge:
        print_found(format_, "capture", document)
        return
    _print_aside(document, is_quiet=quiet)
    _merge(capturing, output_dir / "result", format_, overwrite=overwrite)


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make a folder, which does not stay empty where nothing could be captured."""
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except PcaplatError:
        if is_new and not any(folder.iterdir()):
            folder.rmdir()
        raise


def _duration_ns(option: str, text: str) -> int:
    try:
        return parse_duration_ns(text)
    except OptionError as problem:
        raise OptionError(f"{option}: {problem}") from None


def _limits(duration: str | None, ring: str | None, **others: Any) -> "CaptureLimits":  # noqa: ANN401 - its fields
    from pcaplat.capturing import CaptureLimits

    duration_ns = _duration_ns("--duration", duration) if duration else None
    return CaptureLimits(duration_ns=duration_ns, ring=_ring(ring), **others)


def _ring(text: str | None) -> tuple[int, int] | None:
    """Read N x SIZE."""
    if text is None:
        return None
    n_files, _, size = text.partition("x")
    # no more digits than any number of files has
    if not n_files.isdecimal() or len(n_files) > MOST_DIGITS or not int(n_files):
        raise OptionError.unreadable("ring", text, RING_FORM)
    return int(n_files), parse_bytes("--ring", size)


def _watch(capturing: "LiveCapture", look: Callable[["LiveCapture"], None]) -> None:
    """Wait until all points have ended; an interrupt is how people end a capture."""
    try:
        while not capturing.is_over():
            time.sleep(LOOKS_UP_S)
            look(capturing)
    except KeyboardInterrupt:
        pass
    finally:
        if sys.stderr.isatty():
            sys.stderr.write(CLEAR)


def _status(*, is_wanted: bool) -> Callable[["LiveCapture"], None]:
    """Make what shows packets and drops of each point where a person watches."""
    shown_s = time.monotonic()

    def look(capturing: "LiveCapture") -> None:
        nonlocal shown_s
        if not is_wanted or not sys.stderr.isatty() or time.monotonic() - shown_s < STATUS_S:
            return
        shown_s = time.monotonic()
        pairs = zip(capturing.sources, capturing.counts(), strict=True)
        texts = [
            f"{one.point} {format_count(counts.n_packets)} packets, "
            f"{format_count(counts.n_dropped + counts.n_dropped_by_interface)} dropped"
            for one, counts in pairs
        ]
        sys.stderr.write(CLEAR + "; ".join(texts))
        sys.stderr.flush()

    return look


class LiveView:
    """The table of segments over what was captured so far, on standard error.

    A merge of more takes longer; between two of them at least as long a pause is made, so that
    capturing has the machine for half of the time.
    """

    def __init__(self, every_s: float) -> None:
        self._every_s = every_s
        self._next_s = time.monotonic() + every_s

    def __call__(self, capturing: "LiveCapture") -> None:
        """Show it, if it is time."""
        began_s = time.monotonic()
        if began_s < self._next_s:
            return
        text = self._table(capturing) + _drops(capturing)
        sys.stderr.write((HOME if sys.stderr.isatty() else "") + text)
        sys.stderr.flush()
        ended_s = time.monotonic()
        self._next_s = max(began_s + self._every_s, ended_s + (ended_s - began_s))

    @staticmethod
    def _table(capturing: "LiveCapture") -> str:
        text = StringIO()
        try:
            with _merged(capturing, is_live=True) as result:
                warnings = result.document["warnings"]
                kept = [one for one in warnings if one["code"] not in GROWING]
                result.document["warnings"] = kept
                show("table", "merge", result, text)
        except PcaplatError as problem:
            return f"nothing to show yet: {problem}\n"
        return text.getvalue()


def _drops(capturing: "LiveCapture") -> str:
    """Say what each point has so far, below a table."""
    pairs = zip(capturing.sources, capturing.counts(), strict=True)
    return "".join(
        f"{one.point}: {format_count(counts.n_packets)} packets, "
        f"{format_count(counts.n_dropped)} dropped\n"
        for one, counts in pairs
    )


def _merged(capturing: "LiveCapture", *, is_live: bool = False, keep_rows: bool = False) -> Any:  # noqa: ANN401 - a Result, whose import takes time
    from pcaplat.run.merge import merge

    same_clock = capturing.same_clock()
    options: dict[str, Any] = {"same_clock": same_clock} if same_clock else {}
    if is_live and all(one.clock == "host" for one in capturing.counts()):
        # both passes see the same packets, and of each packet all sightings
        settled_ns = time.time_ns() - SETTLED_NS
        options["end"] = f"{settled_ns // 10**9}.{settled_ns % 10**9:09}"
    return merge(capturing.captures(), keep_rows=keep_rows, keep_crossings=False, **options)


def _findings(capturing: "LiveCapture") -> Sequence[Any] | None:
    """Ask lint about the files; None, and why on standard error, where it cannot look at them."""
    from pcaplat.linting import lint

    captures = capturing.captures()
    same_clock = capturing.same_clock()
    options: dict[str, Any] = {"same_clock": same_clock} if same_clock else {}
    try:
        return lint(captures, **options)["findings"] if captures else None
    except PcaplatError as problem:
        note(f"lint: {problem}", is_quiet=False)
        return None


def _print_aside(document: dict[str, Any], *, is_quiet: bool) -> None:
    """Print what was captured beside the result."""
    if not is_quiet:
        show("table", "capture", document, sys.stderr)


def _merge(capturing: "LiveCapture", directory: Path, format_: str, *, overwrite: bool) -> None:
    """Merge what was captured, as `pcaplat merge -o` would."""
    with _merged(capturing, keep_rows=True) as result:
        write(result, directory, overwrite=overwrite)
        print_found(format_, "merge", result, result.document["warnings"])
