"""Scenarios from what a user has: captures, folders of them, results that were written, Results."""

import errno
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from pcaplat.metrics.contents import COLUMNS as CONTENT_COLUMNS
from pcaplat.metrics.contents import FURTHER, Contents, contents_of
from pcaplat.metrics.runs import MeasuredRun, Scenario, oriented, trimmed
from pcaplat.metrics.traffic_blocks import RATE_TABLES, Rates, rates_of
from pcaplat.model.blocks import blocks_of_rows
from pcaplat.model.files.captures import CAPTURE, COMPRESSED
from pcaplat.records import dataclass
from pcaplat.run.merge import merge
from pcaplat.run.options import MergeOptions, options_of
from pcaplat.run.result import Result
from pcaplat.study.choices import choices_of, choices_of_command
from pcaplat.study.errors import StudyError
from pcaplat.study.summary_file import SUMMARY, saved_document
from pcaplat.text import plain_name

BLOCKS, PACKETS = "blocks.parquet", "packets.parquet"
PROVENANCE = "provenance.json"
CHOOSING = {
    name: option.name
    for name, option in options_of(MergeOptions).items()
    if option.chooses and option.name
}
"""Options that choose packets: a result that is written has made its choice."""

ScenarioSource = str | PathLike[str] | Result
"""A folder, a capture, or the result of a merge."""


@dataclass(frozen=True)
class RunReader:
    """How captures become runs: options of `merge`, and how much of either end is left out."""

    options: Mapping[str, Any] = field(default_factory=dict)
    warm_up_ns: int | None = None

    def scenario(self, name: str, runs: Sequence[MeasuredRun]) -> Scenario:
        """Make one of runs, all seen the same way round, warm-up left out."""
        turned = [oriented(run, runs[0]) for run in runs]
        kept = [trimmed(run, self.warm_up_ns) for run in turned]
        own = choices_of({}, self.warm_up_ns)
        return Scenario(
            name, [replace(run, choices={**(run.choices or {}), **own}) for run in kept]
        )

    def merged(self, name: str, captures: Sequence[str | PathLike[str]]) -> MeasuredRun:
        """Merge the captures of one run."""
        with merge(captures, keep_crossings=False, **self.options) as result:
            packet_filter = self.options.get("filter") or ""
            run = replace(measured(name, result), packet_filter=packet_filter)
            return replace(run, choices=choices_of(self.options))


def measured(name: str, result: Result) -> MeasuredRun:
    """Take from a result what comparing needs."""
    # the same pass over the packets counts the traffic
    contents = contents_of(result.packet_batches(details=True, columns=FURTHER))
    rates, choices = rates_of(result.traffic_rows), choices_of_command(result.made_by["command"])
    run = MeasuredRun(
        name, result.document, result.blocks, rates, contents=contents, choices=choices
    )
    return without_rates_of_a_sample(run)


def without_rates_of_a_sample(run: MeasuredRun) -> MeasuredRun:
    """Keep the traffic of a sample apart: its rate is not that of all packets."""
    return replace(run, rates=None, sampled=run.rates) if run.is_sample else run


def scenario_of(
    source: ScenarioSource | Sequence[ScenarioSource], reader: RunReader, name: str | None = None
) -> Scenario:
    """Make a scenario of a folder of captures, a folder of such folders, or results.

    Raises:
        InputError: There is nothing to measure there.
    """
    name = name and plain_name(name)
    if isinstance(source, str | PathLike | Result):
        found = runs_of(source, reader)
        return reader.scenario(name or _name_of(source), found)
    if not source:
        raise StudyError.no_runs(name or "a scenario")
    files = [fspath(one) for one in source if not isinstance(one, Result)]
    if len(files) == len(source) and not any(Path(one).is_dir() for one in files):
        run = reader.merged("captures", files)
        return reader.scenario(name or run.name, [run])
    several = [run for one in source for run in runs_of(one, reader)]
    return reader.scenario(name or _name_of(source[0]), several)


def _name_of(source: ScenarioSource) -> str:
    if isinstance(source, Result):
        return "result"
    return plain_name(Path(fspath(source)).resolve().name)


def runs_of(source: ScenarioSource, reader: RunReader) -> list[MeasuredRun]:
    """Give the runs of a folder, or the one of a result."""
    if isinstance(source, Result):
        return [measured("result", source)]
    folder = Path(fspath(source))
    if not folder.exists():
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder))
    if not folder.is_dir():
        raise StudyError.no_scenario(str(folder))
    if is_run(folder):
        return [run_of(folder, reader)]
    inner = sorted(one for one in folder.iterdir() if one.is_dir() and is_run(one))
    if not inner:
        raise StudyError.no_captures(str(folder), sorted(one.name for one in folder.iterdir()))
    return [run_of(one, reader) for one in inner]


def is_run(folder: Path) -> bool:
    """Tell whether a folder holds one run: captures, or what `merge -o` wrote."""
    return (folder / SUMMARY).exists() or bool(captures_in(folder))


def captures_in(folder: Path) -> list[Path]:
    """List the captures of a folder, by their names."""
    return sorted(one for one in folder.iterdir() if one.is_file() and _is_capture(one))


def _is_capture(file: Path) -> bool:
    name = file.with_suffix("") if file.suffix in COMPRESSED else file
    return name.suffix.lower() in CAPTURE


def run_of(folder: Path, reader: RunReader) -> MeasuredRun:
    """Read or merge one run."""
    if not (folder / SUMMARY).exists():
        return reader.merged(plain_name(folder.name), captures_in(folder))
    asked = [option for name, option in CHOOSING.items() if name in reader.options]
    if asked:
        raise StudyError.chosen_already(str(folder), asked)
    return saved_run(folder)


def saved_run(folder: Path) -> MeasuredRun:
    """Read what `merge -o` wrote.

    Raises:
        InputError: It lacks what comparing needs, or is no result.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 - slow to import, seldom needed

    if not folder.is_dir():
        raise StudyError.no_result(str(folder))
    if not (folder / SUMMARY).is_file():
        raise StudyError.no_result_in(str(folder), SUMMARY)
    if not (folder / BLOCKS).exists():
        raise StudyError.not_written_whole(str(folder), BLOCKS)
    try:
        document = saved_document(folder)
        rows = pq.read_table(folder / BLOCKS).to_pylist()
        blocks, rates = blocks_of_rows(rows), _saved_rates(folder)
        contents = _saved_contents(folder)
        choices = _saved_choices(folder)
        name = plain_name(folder.name)
        run = MeasuredRun(name, document, blocks, rates, contents=contents, choices=choices)
        return without_rates_of_a_sample(run)
    except (ValueError, KeyError) as problem:
        raise StudyError.unreadable_result(str(folder), str(problem)) from None


def _saved_choices(folder: Path) -> dict[str, Any]:
    """Read what a result was made with; what an earlier version wrote does not tell."""
    file = folder / PROVENANCE
    command = json.loads(file.read_text("utf-8")).get("command") if file.is_file() else None
    return choices_of_command(command) if isinstance(command, str) else {}


def _saved_rates(folder: Path) -> Rates | None:
    """Read the tables of traffic; what an earlier version wrote has none."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - slow to import, seldom needed

    files = {name: folder / f"{name}.parquet" for name in RATE_TABLES}
    if not all(file.exists() for file in files.values()):
        return None
    return rates_of({name: pq.read_table(file).to_pylist() for name, file in files.items()})


def _saved_contents(folder: Path) -> Contents | None:
    import pyarrow.parquet as pq  # noqa: PLC0415 - slow to import, seldom needed

    file = folder / PACKETS
    if not file.exists():
        return None
    return contents_of(pq.ParquetFile(file).iter_batches(columns=CONTENT_COLUMNS))
