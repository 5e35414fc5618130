"""Options on the command line: those of a merge, made of pcaplat.run.options, and shared ones.

Each that is given becomes an argument of `pcaplat.merge`, which the others are left to.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument

from pcaplat.cli import OUTPUT
from pcaplat.errors import OptionError
from pcaplat.run.options import (
    DecodingOptions,
    FilterOptions,
    LintOptions,
    MatchingOptions,
    MergeOptions,
    Option,
    PointOptions,
    ProfileOptions,
    ReferenceOptions,
    ReportOptions,
    options_of,
)
from pcaplat.run.values import MOST_SLICES

Captures = Annotated[
    list[str],
    Argument(
        metavar="CAPTURE...",
        show_default=False,
        help="PATH, POINT=PATH, - for stdin; or a study file, STUDY.toml or STUDY.toml:SCENARIO.",
    ),
]
OutputDir = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="Write all files of the result into DIR.",
        rich_help_panel=OUTPUT,
    ),
]
Overwrite = Annotated[
    bool,
    typer.Option("--overwrite", help="Replace an earlier result in DIR.", rich_help_panel=OUTPUT),
]
EngineName = Annotated[
    str,
    typer.Option(
        metavar="local|spark[:MASTER]",
        help=options_of(MergeOptions)["engine"].help,
    ),
]
Slices = Annotated[
    int | None,
    typer.Option(
        "--slices",
        metavar="N",
        min=1,
        max=MOST_SLICES,
        show_default=False,
        help=options_of(MergeOptions)["slices"].help,
    ),
]
Resume = Annotated[
    bool,
    typer.Option("--resume", help=options_of(MergeOptions)["resume"].help),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help=options_of(MergeOptions)["strict"].help),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", help="Print nothing on stderr but errors."),
]
NoProgress = Annotated[bool, typer.Option("--no-progress", help="Show no progress.")]

Options = dict[str, Option]
"""By the argument of `merge` that each becomes."""


def typed_options(*groups: type) -> Options:
    """Give the options of groups, but for those of Python alone."""
    every = {name: option for group in groups for name, option in options_of(group).items()}
    return {name: option for name, option in every.items() if option.name}


POINTS, PACKETS, REPORTED = "Points and clocks", "Packets and decoding", "What is reported"
PANELS: dict[type, str] = {
    PointOptions: POINTS,
    ProfileOptions: POINTS,
    ReferenceOptions: POINTS,
    FilterOptions: PACKETS,
    MatchingOptions: PACKETS,
    DecodingOptions: PACKETS,
    ReportOptions: REPORTED,
}
Panels = dict[str, str]
"""The group in the help that each option stands in."""


def panels_of(groups: Mapping[type, str]) -> Panels:
    """Give the options of each group the panel of it."""
    return {name: panel for group, panel in groups.items() for name in options_of(group)}


PANEL_OF = panels_of(PANELS)
OF_REPORT = typed_options(ReportOptions)
OF_MEASURING = {
    name: option for name, option in typed_options(MergeOptions).items() if name not in OF_REPORT
}
OF_MERGE = OF_MEASURING | OF_REPORT
OF_LINT = typed_options(LintOptions)
OF_READ = typed_options(FilterOptions, DecodingOptions)


def offering(
    options: Options, panel_of: Panels = PANEL_OF
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a subcommand options in place of its parameter `options`, as arguments of `merge`.

    Example:
        >>> @offering(OF_MEASURING)
        ... def show(*, options):
        ...     print(options)
        >>> show(path="vnic, uplink", sample="1/8")
        {'path': ['vnic', 'uplink'], 'sample': 8}
    """
    shared = {name: _parameter(name, option, panel_of) for name, option in options.items()}

    def with_parameters(command: Callable[..., None]) -> Callable[..., None]:
        own = signature(command, eval_str=True)

        @wraps(command)
        def with_options(*given: Any, **named: Any) -> None:  # noqa: ANN401 - whatever it takes
            asked = {name: named.pop(name) for name in shared if name in named}
            command(*given, **named, options=_read(options, asked))

        parameters = [
            each
            for parameter in own.parameters.values()
            for each in (shared.values() if parameter.name == "options" else [parameter])
        ]
        with_options.__annotations__ = {each.name: each.annotation for each in parameters}
        vars(with_options)["__signature__"] = own.replace(parameters=parameters)
        return with_options

    return with_parameters


def _parameter(name: str, option: Option, panel_of: Panels) -> Parameter:
    """Make what typer takes for an option."""
    kind = option.kind
    told = typer.Option(
        option.name,
        metavar=option.metavar,
        min=kind.least,
        max=kind.most,
        help=option.help,
        rich_help_panel=panel_of.get(name),
    )
    unset = {bool: False, int: 0}.get(kind.typed)
    annotation = Annotated[kind.typed, told]  # type: ignore[name-defined] # it is made here
    return Parameter(name, Parameter.KEYWORD_ONLY, default=unset, annotation=annotation)


def _read(options: Options, typed: Mapping[str, Any]) -> dict[str, Any]:
    """Give what is typed as arguments of `merge`; what is not, not at all."""
    return {
        name: _value(options[name], name, value)
        for name, value in typed.items()
        if value or value == ""
    }


def _value(option: Option, argument: str, typed: Any) -> Any:  # noqa: ANN401 - any option's
    """Read one; what is said of a mistake begins with the option."""
    name = option.name or argument
    try:
        return option.kind.parse(name, typed)
    except OptionError as problem:
        if str(problem).startswith(name):
            raise
        raise OptionError(f"{name}: {problem}") from None


def is_study(captures: Sequence[str]) -> bool:
    """Tell whether what was given is STUDY.toml or STUDY.toml:SCENARIO.

    Example:
        >>> is_study(["study.toml:baseline"]), is_study(["a.pcap", "b.pcap"])
        (True, False)
    """
    return len(captures) == 1 and (captures[0].endswith(".toml") or ".toml:" in captures[0])
