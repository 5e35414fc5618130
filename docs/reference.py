"""Makes docs/reference/ from the code: tables, errors, outputs, commands, points, formats, API.

`python docs/reference.py` writes the pages; with `--check` it says which are stale, and fails.
"""

import sys
from collections.abc import Iterator
from importlib import import_module
from inspect import getdoc
from pathlib import Path

from python_api import python_api
from typer.main import get_command

from pcaplat import _native, errors
from pcaplat.cli import COMMANDS, application
from pcaplat.cli.help import option_texts
from pcaplat.diagnostics.catalogue import CODES, OF_COMPARISONS, OF_TRIALS
from pcaplat.metrics.registry import METRICS, metric_named, units_of
from pcaplat.model.blocks import BLOCKS
from pcaplat.outputs import OUTPUTS
from pcaplat.points import Profile, load_profile, profile_names
from pcaplat.published.schema import claims_schema
from pcaplat.tables import TABLES
from pcaplat.tables.breakdowns import BREAKDOWN_TABLES
from pcaplat.tables.exchanges import TRIP_TABLES
from pcaplat.tables.traffic import TRAFFIC_TABLES

FOLDER = Path(__file__).parent / "reference"


def tables() -> Iterator[str]:
    """Describe every column of every table."""
    yield "# Tables\n"
    yield "A column is null only where its type reads *null*."
    for table in (*TABLES, BLOCKS, *TRIP_TABLES, *TRAFFIC_TABLES, *BREAKDOWN_TABLES):
        yield f"\n## {table.name}\n\n{table.meaning.capitalize()}.\n"
        yield "| column | type | unit | meaning |\n| --- | --- | --- | --- |"
        for column in table.columns:
            kind = f"{column.type}, null" if column.is_nullable else column.type
            yield f"| `{column.name}` | {kind} | {column.unit} | {column.meaning} |"


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
            is_option = item.param_type_name == "option"
            words, meaning = option_texts(item) if is_option else (item.metavar, item.help)
            escaped = words.replace("|", r"\|")  # or it ends the cell
            yield f"| `{escaped}` | {meaning} |"


def warnings() -> Iterator[str]:
    """Give an entry for every code of a finding: meaning, consequence, action."""
    yield "# Warnings A–Z\n"
    yield "`merge`, `lint`, `compare`, `validate` and `rfc2544` name each finding by a code."
    yield "Search this page for the code. The entry `clocks` on the screen has no code:"
    yield "[Clocks that are not synchronised](../measure/clocks.md) explains it.\n"
    yield "| severity | meaning |\n| --- | --- |"
    yield "| error | a figure is missing, or wrong unless you act |"
    yield "| warning | a figure is uncertain, or its interval wider |"
    yield "| note | the figures hold, but the captures may confuse a person who reads them |"
    for code in sorted((*CODES, *OF_COMPARISONS, *OF_TRIALS), key=lambda each: each.code):
        yield f"\n## {code.code}\n\n{_sentence(code.meaning)} ({code.severity})\n"
        yield f"- Consequence: {_sentence(code.consequence)}"
        yield f"- Action: {_sentence(code.remedy)}"


def _sentence(text: str) -> str:
    # the program's name is written small, at the start of a sentence too
    first = text[0] if text.startswith("pcaplat ") else text[0].upper()
    return f"{first}{text[1:]}."


def capture_points() -> Iterator[str]:
    """Give every profile's paths, tunnels and clocks; `pcaplat points NAME` shows the rest."""
    yield "# Capture points\n\nThe profiles that ship with pcaplat, made from `capture_points/`."
    yield "`pcaplat points NAME` shows one in full: commands, pitfalls and sources of each point."
    for name in profile_names():
        profile = load_profile(name)
        yield f"\n## {name}\n\n{profile.platform}. {profile.summary}.\n"
        yield from (f"- {title}: {text}" for title, text in _profile_facts(profile) if text)


def _profile_facts(profile: Profile) -> Iterator[tuple[str, str]]:
    alone = [p.id for p in profile.points if p.order_tx is None and p.order_rx is None]
    for title, way in (("out", "tx"), ("back", "rx")):
        yield title, " → ".join(f"`{point.id}`" for point in profile.along(way))
    yield "on neither path", ", ".join(f"`{point_id}`" for point_id in alone)
    tunnels = {
        f"{encap.kind} ({', '.join(map(str, encap.udp_ports))})" if encap.udp_ports else encap.kind
        for point in profile.points
        for encap in point.encaps
    }
    yield "tunnels", ", ".join(sorted(tunnels))
    clocks = {f"{p.clock.domain}, {p.clock.timescale}, {p.clock.source}" for p in profile.points}
    yield "clock", "; ".join(sorted(clocks))
    confidence = [point.confidence for point in profile.points]
    words = [word for word in ("confirmed", "inferred", "assumed") if word in confidence]
    yield "points", ", ".join(f"{confidence.count(word)} {word}" for word in words)


def formats() -> Iterator[str]:
    """List every file format, layer and way to reach one."""
    found = _native.formats()
    yield "# Formats\n\npcaplat reads these files, layers and timestamps."
    yield "The page is made from `rust/src/file`, `wire` and `stamp`."
    yield "\n## Files\n\n| format | specified in |\n| --- | --- |"
    yield from (f"| {name} | {spec} |" for name, spec, _ in found.files)
    for name, _, variants in found.files:
        if variants:
            yield f"\nVariants of {name} that pcaplat distinguishes:\n"
            yield from (f"- {variant}" for variant in variants)
    yield "\nEach file may be compressed, in one member or several:\n"
    yield from (f"- {codec}" for codec in found.codecs)
    yield "\n## Layers\n\npcaplat finds a layer behind the layers of the last column."
    yield "`--decode KIND=N:LAYER` adds a further port or type.\n"
    yield "| layer | specified in | behind |\n| --- | --- | --- |"
    for name, spec, parents in found.layers:
        yield f"| `{name}` | {spec} | {', '.join(f'`{parent}`' for parent in parents)} |"
    yield "\n## Times inside frames\n\npcaplat finds these timestamps, and uses them in place"
    yield "of the file's time: see [timestamps](../capture/timestamps.md).\n"
    yield "| timestamp | specified in |\n| --- | --- |"
    yield from (f"| `{name}` | {spec} |" for name, spec in found.stamps)


def metrics() -> Iterator[str]:
    """List what a claim may be about, what it means, and its units."""
    yield "# Metrics and units of claims\n"
    yield "A claim names one of these metrics, and a unit of its row. The exact definitions are in"
    yield "[validate](../method/validate.md).\n"
    yield "| metric | meaning | units |\n| --- | --- | --- |"
    for metric in METRICS:
        meaning = metric_named(metric).meaning
        yield f"| `{metric}` | {meaning} | {', '.join(units_of(metric))} |"
    yield f"\nThe relative change of any of them: {', '.join(units_of('rtt', is_relative=True))}."


def schema() -> Iterator[str]:
    """Give the JSON Schema of a claims file."""
    yield claims_schema().rstrip()


PAGES = {
    "capture_points.md": capture_points,
    "tables.md": tables,
    "errors.md": exceptions,
    "outputs.md": outputs,
    "command_line.md": command_line,
    "../wrong/warnings.md": warnings,
    "formats.md": formats,
    "metrics.md": metrics,
    "python_api.md": python_api,
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
