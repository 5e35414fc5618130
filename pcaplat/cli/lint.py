"""`pcaplat lint`: what in these captures will mislead, before you measure."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from typer import Option

from pcaplat.cli import note, progress_bar, standard_output
from pcaplat.cli.merge import (
    Captures,
    Decode,
    Inner,
    Outer,
    Ports,
    accuracy,
    clock_groups,
    is_study,
    names,
)


def command(
    captures: Captures,
    format_: Annotated[
        Literal["table", "json", "csv"], Option("--format", help="What stdout gets.")
    ] = "table",
    path: Annotated[
        str | None,
        Option(metavar="A,B,C", help="The points in forward order. Default: found."),
    ] = None,
    same_clock: Annotated[
        list[str] | None,
        Option(metavar="A,B", help="Points that share one clock, or: all. Repeatable."),
    ] = None,
    clock_accuracy: Annotated[
        list[str] | None,
        Option(metavar="POINT=100ns", help="How far a clock may be off. Repeatable."),
    ] = None,
    bpf: Inner = None,
    bpf_outer: Outer = None,
    vxlan_port: Ports = None,
    decode: Decode = None,
    profile: Annotated[
        str | None, Option(metavar="NAME", help="A capture-point profile, or a file: see points.")
    ] = None,
    strict: Annotated[bool, Option("--strict", help="Damage in a capture is an error.")] = False,
    engine: Annotated[Literal["local"], Option(help="Where it runs.")] = "local",
    quiet: Annotated[bool, Option("--quiet", help="Nothing on stderr but errors.")] = False,
    no_progress: Annotated[bool, Option("--no-progress", help="No progress bar.")] = False,
) -> None:
    """Say what in captures will mislead, before you measure."""
    options = {
        "path": names(path, "--path") if path is not None else None,
        "same_clock": clock_groups(same_clock or ()),
        "clock_accuracy": [accuracy(text) for text in clock_accuracy or ()],
        "bpf": bpf,
        "bpf_outer": bpf_outer,
        "vxlan_ports": tuple(vxlan_port or ()),
        "decode": tuple(decode or ()),
        "profile": profile,
        "strict": strict,
        "engine": engine,
    }
    from pcaplat.lints import lint
    from pcaplat.outputs.lint import lint_output

    for name, files, chosen in _jobs(captures, options):
        with progress_bar(is_wanted=not (quiet or no_progress)) as bar:
            document = lint(files, **chosen, progress=bar)
        if name:
            note(name, is_quiet=quiet)
        with standard_output() as stream:
            lint_output(format_).show(document, stream)


def _jobs(
    captures: Sequence[str], options: dict[str, Any]
) -> list[tuple[str, Sequence[str], dict[str, Any]]]:
    """Give what to check: the captures, or each run of a study file, with its name."""
    if not is_study(captures):
        return [("", captures, options)]
    from pcaplat.studies import runs_at

    return [
        (f"{scenario}/{run.name}", run.captures, {name: own[name] for name in options})
        for scenario, run, own in runs_at(captures[0], options)
    ]
