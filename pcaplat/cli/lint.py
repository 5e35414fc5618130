"""`pcaplat lint`: what in these captures will mislead, before you measure."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from typer import Option

from pcaplat.cli import note, progress_bar, standard_output
from pcaplat.cli.options import OF_LINT, Captures, Engine, NoProgress, Quiet, is_study, offering


@offering(OF_LINT)
def command(
    captures: Captures,
    format_: Annotated[
        Literal["table", "json", "csv"], Option("--format", help="What stdout gets.")
    ] = "table",
    *,
    options: dict[str, Any],
    engine: Engine = "local",
    quiet: Quiet = False,
    no_progress: NoProgress = False,
) -> None:
    """Say what in captures will mislead, before you measure."""
    from pcaplat.linting import lint
    from pcaplat.outputs.lint import lint_output

    for name, files, chosen in _jobs(captures, options):
        asked = {option: value for option, value in chosen.items() if option in OF_LINT}
        with progress_bar(is_wanted=not (quiet or no_progress)) as bar:
            document = lint(files, **asked, engine=engine, progress=bar)
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
    from pcaplat.study.scenarios import runs_at

    return [
        (f"{scenario}/{run.name}", run.captures, own)
        for scenario, run, own in runs_at(captures[0], options)
    ]
