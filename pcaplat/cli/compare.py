"""`pcaplat compare`: two scenarios → the difference, with its interval."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Exit, Option

from pcaplat.cli import OK, Format, need_standard_output, print_found
from pcaplat.cli.options import OF_MEASURING, OutputDir, Overwrite, Quiet, offering
from pcaplat.outputs import save
from pcaplat.outputs.folder import check_directory
from pcaplat.units import parse_duration_ns

EXAMPLES = (
    "pcaplat compare runs/without runs/with",
    "pcaplat compare study.toml:baseline study.toml:treatment",
    "pcaplat compare runs/before runs/tonight --history nights --fail-above 5%",
)

ABOVE, UNDECIDED = 1, 3

WarmUp = Annotated[
    str | None,
    Option(
        "--warm-up",
        metavar="DURATION",
        help="Time to leave out at each end of a run. Default: 1 s or 2 %, at most 5 %.",
    ),
]
AcceptOrder = Annotated[
    bool,
    Option(
        "--accept-order",
        help="Assume that nothing else changed between runs that are not interleaved.",
    ),
]
SOURCE = (
    "A folder of captures (one run), a folder of such folders, a folder that merge -o wrote, or "
    "STUDY.toml:SCENARIO."
)
Baseline = Annotated[
    str,
    Argument(
        metavar="BASELINE", show_default=False, help=f"The scenario to compare with. {SOURCE}"
    ),
]
Treatment = Annotated[
    str | None,
    Argument(
        metavar="[TREATMENT]",
        show_default=False,
        help="The other scenario, in the same forms. May be left out for a study of two scenarios.",
    ),
]

Confidence = Annotated[
    float, Option("--confidence", metavar="SHARE", help="Confidence level of every interval.")
]
FailAbove = Annotated[
    str | None,
    Option(
        "--fail-above",
        metavar="LIMIT",
        help="Exit with 1 if a segment is slower by more than this: 5% or 2us.",
    ),
]
HistoryDir = Annotated[
    Path | None,
    Option(
        "--history",
        metavar="DIR",
        help="Keep the comparison in DIR, and report since when a segment is slower or faster.",
    ),
]


@offering(OF_MEASURING)
def command(
    baseline: Baseline,
    treatment: Treatment = None,
    output_dir: OutputDir = None,
    overwrite: Overwrite = False,
    format_: Format = "table",
    confidence: Confidence = 0.95,
    warm_up: WarmUp = None,
    fail_above: FailAbove = None,
    history: HistoryDir = None,
    *,
    accept_order: AcceptOrder = False,
    options: dict[str, Any],
    quiet: Quiet = False,
) -> None:
    """Compare two scenarios: the difference of each figure, with its interval."""
    prepare(output_dir, overwrite=overwrite)
    from pcaplat.comparing import compare

    document = compare(
        baseline,
        treatment,
        confidence=confidence,
        accepts_order=accept_order,
        warm_up_ns=warm_up_of(warm_up),
        fail_above=fail_above,
        history=history,
        options=options,
    )
    if output_dir:
        save("compare", document, output_dir, overwrite=overwrite)
    print_found(format_, "compare", document, () if quiet else document["warnings"])
    raise Exit(status_of(document["limits"]))


def status_of(limits: Sequence[Mapping[str, Any]]) -> int:
    """Give the exit status that limits come to: above one, or the whole path undecided."""
    if any(row["verdict"] == "above" for row in limits):
        return ABOVE
    return UNDECIDED if limits and limits[-1]["verdict"] == "undecided" else OK


def prepare(output_dir: Path | None, *, overwrite: bool) -> None:
    """Refuse places that cannot be written to, before any work is done."""
    if output_dir:
        check_directory(output_dir, overwrite=overwrite)
    need_standard_output()


def warm_up_of(text: str | None) -> int | None:
    """Read --warm-up."""
    return None if text is None else parse_duration_ns(text)
