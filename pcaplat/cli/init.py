"""`pcaplat init`: a commented study file from what captures show."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from pcaplat.cli import OUTPUT, note
from pcaplat.cli.options import Quiet
from pcaplat.errors import OutputError
from pcaplat.outputs.folder import check_file, new_file

EXAMPLES = (
    "pcaplat init run1/*.pcap                   the captures of one run",
    "pcaplat init plain tunnel -o study.toml    a folder for each scenario",
)
Given = Annotated[
    list[str],
    Argument(
        metavar="CAPTURE...|FOLDER...",
        show_default=False,
        help="The captures of one run; or folders, each with the runs of one scenario.",
    ),
]
File = Annotated[
    Path,
    Option(
        "--output",
        "-o",
        metavar="FILE.toml",
        help="Write the study file here. It must not exist. Default: study.toml.",
        rich_help_panel=OUTPUT,
    ),
]


def command(
    given: Given,
    file: File = Path("study.toml"),
    quiet: Quiet = False,
) -> None:
    """Write a draft study file: points, order and clocks, as found in captures."""
    from pcaplat.study.draft import draft_study

    if file.exists() or file.is_symlink():
        raise OutputError(f"{file}: is there already; choose another name with --output")
    check_file(file)
    text = draft_study(given, file.parent)
    with new_file(file) as stream:
        stream.write(text.encode())
    note(f"{file}: written; read it, and name its scenarios", is_quiet=quiet)
