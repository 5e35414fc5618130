"""`pcaplat rfc2544`: captures of a sender's and a receiver's point → loss and latency by rate."""

from typing import Annotated, Any

from typer import Argument, Option

from pcaplat.cli import Format, print_found
from pcaplat.cli.compare import prepare
from pcaplat.cli.options import OF_MEASURING, OutputDir, Overwrite, Quiet, offering
from pcaplat.errors import OptionError
from pcaplat.outputs import save

EXAMPLES = ("pcaplat rfc2544 sender=a.pcap receiver=b.pcap",)


Trials = Annotated[
    list[str],
    Argument(
        metavar="CAPTURE...",
        show_default=False,
        help="PATH or POINT=PATH; or a folder that merge -o wrote; or STUDY.toml[:SCENARIO], "
        "where each run is one trial.",
    ),
]


@offering(OF_MEASURING)
def command(
    captures: Trials,
    output_dir: OutputDir = None,
    overwrite: Overwrite = False,
    format_: Format = "table",
    tolerance: Annotated[
        str, Option(metavar="SHARE", help="Loss allowed at the rate called PDR, e.g. 0.01%.")
    ] = "0.01%",
    *,
    options: dict[str, Any],
    quiet: Quiet = False,
) -> None:
    """Evaluate RFC 2544 trials: loss and latency by frame size and rate, and missing evidence."""
    prepare(output_dir, overwrite=overwrite)
    share = tolerance_of(tolerance)
    if options.get("sample", 1) > 1:
        raise OptionError("--sample: a sample of the packets has no rate; leave it out")
    from pcaplat.benchmarking import rfc2544

    document = rfc2544(captures, tolerance=share, options=options)
    if output_dir:
        save("rfc2544", document, output_dir, overwrite=overwrite)
    print_found(format_, "rfc2544", document, () if quiet else document["warnings"])


def tolerance_of(text: str) -> float:
    """Read a share of frames.

    Example:
        >>> tolerance_of("0.01 %"), tolerance_of("0.005")
        (0.0001, 0.005)
    """
    number, percent, rest = text.partition("%")
    try:
        share = float(number) / (100 if percent else 1)
    except ValueError:
        share = -1.0
    if rest.strip() or not 0 <= share < 1:
        raise OptionError(
            f"--tolerance {text}: is no share of frames; write it like 0.01% or 0.0001"
        )
    return share
