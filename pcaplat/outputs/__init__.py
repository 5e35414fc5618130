"""Outputs: one module per format, each known by what it offers.

- `show(report, stream)`: whatever a command found, as text; `reports/COMMAND.py` tells it.
- `show_COMMAND(found, stream)`: what this one command found (a merge's result, else a document);
  with `NEEDS_ROWS` it takes a result that kept its rows.
- `save(result, directory)` and `files()`: a merge's files in a folder, and their names.
- `draw(result)`: what `save` takes as a third argument, made before any file is written.
- `prepare(result)`: what `save` needs and can be done while another process draws.
- `save_COMMAND(document, directory)`: what this one command found, in a folder.
- `save_rows(batches, stream)`: Arrow batches of packets, for `pcaplat read`.

`--format` asks every module what it offers, so imports that take their time stand in functions.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING, Any, TextIO

from pcaplat.model.files.object_stores import check_target, is_remote, send
from pcaplat.outputs.folder import new_folder
from pcaplat.run.rows.memory import give_back_memory

if TYPE_CHECKING:
    from pcaplat.outputs.report import Topic
    from pcaplat.run.result import Result

OUTPUTS = {
    "table": "console",
    "json": "json",
    "csv": "csv",
    "markdown": "markdown",
    "junit": "junit",
    "parquet": "parquet",
    "pcapng": "pcapng",
    "unmatched": "unmatched",
    "svg": "svg",
    "perfetto": "perfetto",
    "otlp": "otlp",
    "openmetrics": "openmetrics",
    "html": "html",
}
JUDGED = ("verdicts.json", "verdicts.junit.xml", "comparison.json", "comparison.junit.xml")
"""What rests on a result: where a new result comes, it goes."""
SUMMARY = "summary.json"
"""Comes last, so that a folder that has it is complete."""


def output(name: str) -> ModuleType:
    """Import the output of that name."""
    return import_module(f"pcaplat.outputs.{OUTPUTS[name]}")


def reporting(command: str) -> ModuleType:
    """Import what tells of a command's findings."""
    return import_module(f"pcaplat.outputs.reports.{command}")


def outputs_with(*functions: str) -> list[str]:
    """Give the names of the outputs that offer one of these functions."""
    return [name for name in OUTPUTS if any(hasattr(output(name), each) for each in functions)]


def formats(command: str) -> list[str]:
    """Give the formats in which a command's standard output can be had.

    Example:
        >>> formats("merge"), formats("read")
        (['table', 'json', 'csv', 'markdown', 'perfetto', 'otlp', 'openmetrics'], ['csv', 'json'])
    """
    if command == "read":
        return sorted({*outputs_with("show")} & {*outputs_with("save_rows")})
    return outputs_with("show", f"show_{command}")


def show(
    name: str,
    command: str,
    found: object,
    stream: TextIO,
    *,
    is_verbose: bool = False,
    topics: Collection["Topic"] = (),
) -> None:
    """Write what a command found, a result or a document, in the format of that name."""
    module = output(name)
    if own := getattr(module, f"show_{command}", None):
        own(found, stream)
    else:
        report = reporting(command).report(found)
        module.show(replace(report, is_verbose=is_verbose, topics=topics), stream)


def save(
    command: str, document: Mapping[str, Any], directory: Path, *, overwrite: bool = False
) -> None:
    """Write a command's document into a folder, in all of its files or in none.

    In a folder that `merge -o` wrote, report.html shows the run and the document.
    """
    files = reporting(command).FILES
    with new_folder(directory, [*files], overwrite=overwrite) as scratch:
        for file, name in files.items():
            if own := getattr(output(name), f"save_{command}", None):
                own(document, scratch)
                continue
            with (scratch / file).open("w", encoding="utf-8") as stream:
                show(name, command, document, stream)
    if (directory / SUMMARY).exists():
        from pcaplat.outputs.page.saved import write_report

        write_report(directory)


def result_files() -> tuple[str, ...]:
    """Name all that a result's folder may hold, in the order in which it gets there."""
    files = [file for name in outputs_with("save") for file in output(name).files()]
    return (*JUDGED, *sorted(files, key=lambda file: file == SUMMARY))


def write(
    result: "Result",
    directory: str | Path,
    *,
    overwrite: bool = False,
    pcapng: bool = False,
    unmatched: bool = False,
) -> None:
    """Write a result's files into a folder: all of them, or none.

    Args:
        result: What `merge` gave, with its rows (`keep_rows`).
        directory: New or empty; made where it is missing. A place of an object store or of HDFS
            (`s3://bucket/folder`) gets all files when all are written.
        overwrite: Replace an earlier result in the folder. Other files in it stay.
        pcapng: Write merged.pcapng too.
        unmatched: Write unmatched/POINT.pcapng too: frames that were matched nowhere, as captured.

    Raises:
        OutputError: The folder holds something already, or is a file.
    """
    from concurrent.futures import ThreadPoolExecutor

    left_out = {"pcapng": not pcapng, "unmatched": not unmatched}
    with _folder(str(directory), overwrite=overwrite) as scratch:
        give_back_memory()
        with ThreadPoolExecutor(1) as beside:
            prepared = [
                beside.submit(output(name).prepare, result) for name in outputs_with("prepare")
            ]
            # what draws takes as much memory as what writes tables, and is gone when it has drawn
            drawn = {name: output(name).draw(result) for name in outputs_with("draw")}
        for one in prepared:
            one.result()
        # while the tables are written the traffic is counted, which may give a further warning
        for name in sorted(outputs_with("save"), key=lambda name: name != "parquet"):
            if not left_out.get(name):
                output(name).save(result, scratch, *filter(None, [drawn.get(name)]))
                result.completed()
                give_back_memory()


@contextmanager
def _folder(directory: str, *, overwrite: bool) -> Iterator[Path]:
    """Give the folder to write into; one far away gets its files when all are written."""
    if not is_remote(directory):
        with new_folder(Path(directory), result_files(), overwrite=overwrite) as scratch:
            yield scratch
        return
    check_target(directory, overwrite=overwrite)
    with TemporaryDirectory(prefix="pcaplat-") as name:
        yield Path(name)
        send(Path(name), directory)
