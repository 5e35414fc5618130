"""`pcaplat lint`: what in these captures will mislead, before you measure."""

from collections.abc import Sequence
from typing import Any

from pcaplat.cli import Format, note, print_found
from pcaplat.cli.options import OF_LINT, Captures, EngineName, NoProgress, Quiet, is_study, offering
from pcaplat.cli.progress import progress_line

EXAMPLES = ("pcaplat lint *.pcap",)


@offering(OF_LINT)
def command(
    captures: Captures,
    format_: Format = "table",
    *,
    options: dict[str, Any],
    engine: EngineName = "local",
    quiet: Quiet = False,
    no_progress: NoProgress = False,
) -> None:
    """List problems in captures that affect the figures, before you measure."""
    from pcaplat.linting import lint

    for name, files, chosen in _jobs(captures, options):
        asked = {option: value for option, value in chosen.items() if option in OF_LINT}
        with progress_line(is_wanted=not (quiet or no_progress)) as line:
            document = lint(files, **asked, engine=engine, progress=line)
        if name:
            note(name, is_quiet=quiet)
        print_found(format_, "lint", document)


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
