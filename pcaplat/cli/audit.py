"""`pcaplat audit`: published tables → do they agree with their own raw numbers?"""

from typing import Annotated

from typer import Argument, Option

from pcaplat.cli import Format, note, print_found

EXAMPLES = ("pcaplat audit", "pcaplat audit tables.toml")


def command(
    tables: Annotated[
        list[str] | None,
        Argument(
            metavar="[TABLE]...",
            show_default=False,
            help="A TOML file, a file that ships with pcaplat, or a table in one. Default: all.",
        ),
    ] = None,
    format_: Format = "table",
    quiet: Annotated[bool, Option("--quiet", help="Print nothing on stderr but errors.")] = False,
) -> None:
    """Recompute published tables from their own raw numbers, cell by cell."""
    from pcaplat.auditing import audit

    document = audit(tables or ())
    if not document["tables"]:
        note("there is no table in what was given", is_quiet=quiet)
    print_found(format_, "audit", document)
