"""`pcaplat report`: report.html of a folder that `merge -o` wrote."""

from pathlib import Path
from typing import Annotated

from typer import Argument

from pcaplat.cli import note
from pcaplat.cli.options import Quiet

EXAMPLES = ("pcaplat report out    out: a folder that merge, validate or compare wrote with -o",)


def command(
    folder: Annotated[
        Path,
        Argument(
            metavar="DIR",
            show_default=False,
            help="A folder that merge, validate or compare wrote with -o.",
        ),
    ],
    quiet: Quiet = False,
) -> None:
    """Write report.html again from the other files of a folder: for any browser, offline."""
    from pcaplat.outputs.page.saved import write_report

    note(f"{write_report(folder)}: written", is_quiet=quiet)
