"""`pcaplat compare`: two scenarios → the difference, with its interval."""

from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, Option

from pcaplat.cli import need_standard_output, note, standard_output
from pcaplat.cli.options import OF_MEASURING, OutputDir, Overwrite, Quiet, offering
from pcaplat.outputs import check_directory
from pcaplat.units import parse_duration_ns

WarmUp = Annotated[
    str | None,
    Option(
        "--warm-up",
        metavar="DURATION",
        help="Left out at either end of a run. Default: 1 s or 2 %, at most 5 %; 0s: nothing.",
    ),
]
SOURCE = (
    "A folder of captures (one run), a folder of such folders, a folder that merge -o wrote, or "
    "STUDY.toml:SCENARIO."
)


@offering(OF_MEASURING)
def command(
    baseline: Annotated[
        str,
        Argument(metavar="BASELINE", show_default=False, help=f"What to compare with. {SOURCE}"),
    ],
    treatment: Annotated[
        str | None,
        Argument(
            metavar="[TREATMENT]",
            show_default=False,
            help="What to compare, likewise. May be left out for a study file of two scenarios.",
        ),
    ] = None,
    output_dir: OutputDir = None,
    overwrite: Overwrite = False,
    format_: Annotated[
        Literal["table", "json", "csv", "markdown"], Option("--format", help="What stdout gets.")
    ] = "table",
    confidence: Annotated[
        float, Option("--confidence", metavar="SHARE", help="Of every interval.")
    ] = 0.95,
    warm_up: WarmUp = None,
    *,
    options: dict[str, Any],
    quiet: Quiet = False,
) -> None:
    """Take the difference of two scenarios, run by run where there are five runs or more."""
    prepare(output_dir, overwrite=overwrite)
    from pcaplat.comparing import compare
    from pcaplat.outputs.comparison import comparison_output, save_comparison

    document = compare(
        baseline, treatment, confidence=confidence, warm_up_ns=warm_up_of(warm_up), options=options
    )
    if output_dir:
        save_comparison(document, output_dir, overwrite=overwrite)
    with standard_output() as stream:
        comparison_output(format_).show(document, stream)
    for warning in document["warnings"] if format_ == "csv" else ():
        note(f"{warning['code']}: {warning['text']}", is_quiet=quiet)


def prepare(output_dir: Path | None, *, overwrite: bool) -> None:
    """Refuse places that cannot be written to, before any work is done."""
    if output_dir:
        check_directory(output_dir, overwrite=overwrite)
    need_standard_output()


def warm_up_of(text: str | None) -> int | None:
    """Read --warm-up."""
    return None if text is None else parse_duration_ns(text)
