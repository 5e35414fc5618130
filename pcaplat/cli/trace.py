"""`pcaplat trace`: one packet at every point of the path, and its connection."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from pcaplat.cli import OUTPUT, Format, note, print_found, refuse_replacing
from pcaplat.cli.options import OF_MEASURING, NoProgress, Quiet, offering
from pcaplat.cli.progress import progress_line
from pcaplat.errors import OptionError
from pcaplat.outputs.folder import check_file

EXAMPLES = (
    "pcaplat trace out uplink.pcap:1234           out: a folder that merge -o wrote",
    "pcaplat trace *.pcap uplink:1234 --flow      its connection too, as a ladder",
    "pcaplat trace out --lost --plot ladder.svg",
)
FRAME = re.compile(r".+:\d+", re.DOTALL)
SHOWN = 40
"""Packets of a flow, or lost ones, unless another number is given."""

Given = Annotated[
    list[str],
    Argument(
        metavar="DIR|CAPTURE... [FILE:FRAME]",
        show_default=False,
        help="A folder that merge -o wrote, or captures; then the frame to follow.",
    ),
]
Slowest = Annotated[
    int | None,
    Option("--slowest", min=1, metavar="N", help="Follow the N slowest packets of each segment."),
]
Lost = Annotated[bool, Option("--lost", help="Follow the packets that were lost.")]
Flow = Annotated[
    bool, Option("--flow", help="Draw the connection around the first packet, as a ladder.")
]
Most = Annotated[
    int,
    Option(
        "--most", min=1, metavar="N", help="Show at most N packets of a flow, or N lost packets."
    ),
]
Plot = Annotated[
    Path | None,
    Option(
        "--plot",
        metavar="FILE.svg",
        help="Draw the ladder as a picture.",
        rich_help_panel=OUTPUT,
    ),
]


@offering(OF_MEASURING)
def command(
    given: Given,
    slowest: Slowest = None,
    lost: Lost = False,
    flow: Flow = False,
    most: Most = SHOWN,
    plot: Plot = None,
    format_: Format = "table",
    *,
    options: dict[str, Any],
    quiet: Quiet = False,
    no_progress: NoProgress = False,
) -> None:
    """Follow a packet along the path: each point, latency, changed headers, and its end."""
    from pcaplat.tracing import trace

    sources, frame = _told_apart(given, is_chosen=slowest is not None or lost)
    if plot:
        _check_plot(plot, sources)
    with _result_folder(sources, options, is_quiet=quiet or no_progress) as folder:
        document = trace(
            folder,
            frame,
            slowest=slowest or 0,
            lost=lost,
            flow=flow or plot is not None or format_ == "svg",
            most=most,
        )
    if plot:
        _write_plot(document, plot)
    print_found(format_, "trace", document, () if quiet else document["warnings"])


def _told_apart(given: Sequence[str], *, is_chosen: bool) -> tuple[Sequence[str], str | None]:
    """Tell captures, or a folder, from the frame behind them."""
    *sources, last = given
    if is_chosen:
        if FRAME.fullmatch(last) and not Path(last).exists():
            raise OptionError(f"{last}: name a frame, or --slowest or --lost, not both")
        return given, None
    if not sources:
        raise OptionError(
            f"{last}: name a frame behind the folder or the captures, like uplink.pcap:1234; or "
            "--slowest N, or --lost"
        )
    if named := [one for one in sources[1:] if FRAME.fullmatch(one) and not Path(one).exists()]:
        raise OptionError(f"{named[0]}, {last}: one frame can be followed at a time; name one")
    return sources, last


@contextmanager
def _result_folder(
    sources: Sequence[str], options: dict[str, Any], *, is_quiet: bool
) -> Iterator[Path]:
    """Give the folder that was named, or one of a merge of the captures, while it is needed."""
    [first, *more] = sources
    if not more and Path(first).is_dir():
        if options:
            raise OptionError(f"{first}: is measured already; options of a merge need captures")
        yield Path(first)
        return
    from tempfile import TemporaryDirectory

    from pcaplat.outputs import write
    from pcaplat.run.merge import merge

    with TemporaryDirectory(prefix="pcaplat-trace-") as scratch:
        folder = Path(scratch) / "result"
        with (
            progress_line(is_wanted=not is_quiet) as line,
            merge(list(sources), **options, keep_crossings=False, progress=line) as result,
        ):
            write(result, folder)
        yield folder


def _check_plot(plot: Path, sources: Sequence[str]) -> None:
    if plot.suffix.lower() != ".svg":
        raise OptionError(
            f"--plot {plot}: the ladder is drawn as SVG; name a file that ends in .svg"
        )
    refuse_replacing([plot], sources)
    check_file(plot)


def _write_plot(document: dict[str, Any], plot: Path) -> None:
    from io import StringIO

    from pcaplat.outputs import show
    from pcaplat.outputs.folder import new_file

    text = StringIO()
    show("svg", "trace", document, text)
    with new_file(plot) as stream:
        stream.write(text.getvalue().encode())
    note(f"{plot}: written", is_quiet=False)
