"""Makes docs/reference/ from the code: tables, errors, outputs, the command line, claims.

`python docs/reference.py` writes the pages; with `--check` it says which are stale, and fails.
"""

import sys
from collections.abc import Iterator
from importlib import import_module
from inspect import getdoc
from pathlib import Path

from typer.main import get_command

from pcaplat import errors
from pcaplat.cli import COMMANDS, application
from pcaplat.outputs import OUTPUTS
from pcaplat.published.quantities import METRICS, units_of
from pcaplat.published.schema import claims_schema
from pcaplat.tables import TABLES

FOLDER = Path(__file__).parent / "reference"


def tables() -> Iterator[str]:
    """Describe every column of every table."""
    yield "# Tables\n"
    yield "A column that may be null says so; every other always has a value."
    for table in TABLES:
        yield f"\n## {table.name}\n\n{table.meaning.capitalize()}.\n"
        yield "| column | type | unit | meaning |\n| --- | --- | --- | --- |"
        for column in table.columns:
            kind = f"{column.type}, null" if column.is_nullable else column.type
            yield f"| {column.name} | {kind} | {column.unit} | {column.meaning} |"


def exceptions() -> Iterator[str]:
    """Give the tree of exceptions."""
    yield "# Errors\n"
    yield getdoc(errors) or ""


def outputs() -> Iterator[str]:
    """Give the first line of every output."""
    yield "# Outputs\n"
    for name, module in OUTPUTS.items():
        said = getdoc(import_module(f"pcaplat.outputs.{module}")) or ""
        yield f"- `{name}`: {said.splitlines()[0].partition(': ')[2]}"


def command_line() -> Iterator[str]:
    """Give every subcommand's options."""
    yield "# Command line"
    for name in COMMANDS:
        command = get_command(application()).commands[name]  # type: ignore[attr-defined] # a group has them
        yield f"\n## pcaplat {name}\n\n{command.help}\n"
        yield "| option | meaning |\n| --- | --- |"
        for item in command.params:
            words = ", ".join(item.opts) if item.param_type_name == "option" else item.metavar
            yield f"| `{words}` | {item.help} |"


def metrics() -> Iterator[str]:
    """List what a claim may be about, and in which units."""
    yield "# Metrics and units of claims\n"
    yield "| metric | units |\n| --- | --- |"
    for metric in METRICS:
        yield f"| `{metric}` | {', '.join(units_of(metric))} |"
    yield f"\nThe relative change of any of them: {', '.join(units_of('rtt', is_relative=True))}."


def schema() -> Iterator[str]:
    """Give the JSON Schema of a claims file."""
    yield claims_schema().rstrip()


PAGES = {
    "tables.md": tables,
    "errors.md": exceptions,
    "outputs.md": outputs,
    "command_line.md": command_line,
    "metrics.md": metrics,
    "claims.schema.json": schema,
}


def main() -> int:
    """Write the pages, or compare them."""
    texts = {FOLDER / name: "\n".join(page()) + "\n" for name, page in PAGES.items()}
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path.name} is stale: run `make docs`")
        return len(stale)
    FOLDER.mkdir(exist_ok=True)
    for path in stale:
        path.write_text(texts[path])
        print(f"wrote {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
