"""`pcaplat audit`: published tables → do they agree with their own raw numbers?"""

from typing import Annotated, Literal

from typer import Argument, Option

from pcaplat.cli import note, standard_output


def command(
    tables: Annotated[
        list[str] | None,
        Argument(
            metavar="[TABLE]...",
            show_default=False,
            help="A TOML file, a file that ships with pcaplat, or a table in one. Default: all.",
        ),
    ] = None,
    format_: Annotated[
        Literal["table", "json", "csv", "markdown"], Option("--format", help="What stdout gets.")
    ] = "table",
    quiet: Annotated[bool, Option("--quiet", help="Nothing on stderr but errors.")] = False,
) -> None:
    """Recompute published tables from their own raw numbers, cell by cell."""
    from pcaplat.auditing import audit
    from pcaplat.outputs.audit import audit_output

    document = audit(tables or ())
    if not document["tables"]:
        note("there is no table in what was given", is_quiet=quiet)
    with standard_output() as stream:
        audit_output(format_).show(document, stream)
