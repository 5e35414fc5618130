"""`pcaplat compare`: two scenarios → the difference, with its interval."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, Option

from pcaplat.cli import need_standard_output, note, standard_output
from pcaplat.cli.merge import Inner, Outer, Ports, accuracy, clock_groups, names, window_of
from pcaplat.outputs import check_directory
from pcaplat.units import parse_duration_ns

PathOrder = Annotated[
    str | None, Option("--path", metavar="A,B,C", help="The points in forward order.")
]
SameClock = Annotated[
    list[str] | None,
    Option("--same-clock", metavar="A,B", help="Points that share one clock, or: all. Repeatable."),
]
Accuracy = Annotated[
    list[str] | None,
    Option("--clock-accuracy", metavar="POINT=100ns", help="How far a clock may be off."),
]
Window = Annotated[
    str | None,
    Option("--window", metavar="DURATION", help="How far a packet may be from its usual time."),
]
ProfileName = Annotated[
    str | None, Option("--profile", metavar="NAME", help="A capture-point profile, or a file.")
]
WarmUp = Annotated[
    str | None,
    Option(
        "--warm-up",
        metavar="DURATION",
        help="Left out at either end of a run. Default: 1 s or 2 %, at most 5 %; 0s: nothing.",
    ),
]
OutputDir = Annotated[
    Path | None, Option("--output", "-o", metavar="DIR", help="Write the result's files there.")
]
Overwrite = Annotated[bool, Option("--overwrite", help="Replace an earlier result in DIR.")]
Quiet = Annotated[bool, Option("--quiet", help="Nothing on stderr but errors.")]
Strict = Annotated[bool, Option("--strict", help="Damage in a capture is an error.")]
SOURCE = (
    "A folder of captures (one run), a folder of such folders, a folder that merge -o wrote, or "
    "STUDY.toml:SCENARIO."
)


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
    path: PathOrder = None,
    same_clock: SameClock = None,
    clock_accuracy: Accuracy = None,
    bpf: Inner = None,
    bpf_outer: Outer = None,
    window: Window = None,
    vxlan_port: Ports = None,
    profile: ProfileName = None,
    strict: Strict = False,
    quiet: Quiet = False,
) -> None:
    """Take the difference of two scenarios, run by run where there are five runs or more."""
    prepare(output_dir, overwrite=overwrite)
    options = merge_options(
        path=path,
        same_clock=same_clock,
        clock_accuracy=clock_accuracy,
        bpf=bpf,
        bpf_outer=bpf_outer,
        window=window,
        vxlan_ports=vxlan_port,
        profile=profile,
        strict=strict,
    )
    from pcaplat.comparisons import compare
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


def merge_options(
    *,
    path: str | None,
    same_clock: Sequence[str] | None,
    clock_accuracy: Sequence[str] | None,
    window: str | None,
    **rest: object,
) -> dict[str, Any]:
    """Give what was asked for as arguments of `merge`; what was not, not at all."""
    given = {
        "path": names(path, "--path") if path is not None else None,
        "same_clock": clock_groups(same_clock or ()),
        "clock_accuracy": [accuracy(text) for text in clock_accuracy or ()],
        "window_ns": None if window is None else window_of(window),
        **rest,
    }
    return {name: value for name, value in given.items() if value}
