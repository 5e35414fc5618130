"""Studies: the scenarios that a study file names, as captures and as what they measured."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from pcaplat.instruments.loading import Wanted, cross_checks_in, samples_in
from pcaplat.metrics.runs import MeasuredRun, Scenario
from pcaplat.records import dataclass
from pcaplat.study.errors import StudyError
from pcaplat.study.file import StudyFile, is_study, load_study
from pcaplat.study.sources import (
    RunReader,
    ScenarioSource,
    captures_in,
    is_run,
    saved_run,
    scenario_of,
)
from pcaplat.study.summary_file import SUMMARY
from pcaplat.text import plain_name


@dataclass(frozen=True)
class RunFiles:
    """One run of a study: where it is, and its captures; a saved result has none."""

    name: str
    folder: Path
    captures: Sequence[str]
    wanted: Wanted = field(default_factory=Wanted)

    def measured(self, reader: RunReader) -> MeasuredRun:
        """Read it, or merge its captures; and what other instruments say of it."""
        # before the captures, which take longer
        said = cross_checks_in(self.folder, self.wanted)
        wanted = (self.wanted.cpu, self.wanted.memory)
        cpu, memory = (None if one is None else samples_in(self.folder, one) for one in wanted)
        merged = self.captures
        run = reader.merged(self.name, merged) if merged else saved_run(self.folder)
        return replace(run, cross_checks=said, samples=cpu, memory=memory)


@dataclass(frozen=True)
class Study:
    """A study file and the folder that its paths begin at."""

    where: str
    file: StudyFile

    @property
    def folder(self) -> Path:
        """Where the study file lies."""
        return Path(self.where).parent

    @property
    def names(self) -> list[str]:
        """Scenarios, in the order of the file."""
        return list(self.file.scenarios)

    @property
    def claims(self) -> list[str]:
        """Names of shipped files of claims, and paths of others."""
        return [
            str(self.folder / name) if name.endswith(".toml") else name for name in self.file.claims
        ]

    def reader(self, asked: RunReader) -> RunReader:
        """Join what is asked for and what the file says; what is asked for wins."""
        options = self.file.options | {k: v for k, v in asked.options.items() if v}
        if str(options.get("profile", "")).endswith(".toml") and "profile" not in asked.options:
            options["profile"] = str(self.folder / options["profile"])
        warm_up_ns = self.file.warm_up if asked.warm_up_ns is None else asked.warm_up_ns
        return replace(asked, options=options, warm_up_ns=warm_up_ns)

    def runs(self, name: str) -> list[RunFiles]:
        """List the runs of a scenario.

        Raises:
            InputError: There is no such scenario, or nothing where a run should be.
        """
        if name not in self.file.scenarios:
            raise StudyError.unknown_scenario(self.where, name, self.names)
        found: list[RunFiles] = []
        for number, given in enumerate(self.file.scenarios[name].runs, 1):
            if isinstance(given, str):
                found += [self._of_folder(folder) for folder in self._folders(given)]
            else:
                found.append(RunFiles(f"{name}-{number}", self.folder, self._captures(given)))
        return found

    def scenario(self, name: str, asked: RunReader) -> Scenario:
        """Measure a scenario."""
        reader = self.reader(asked)
        return reader.scenario(name, [run.measured(reader) for run in self.runs(name)])

    def _folders(self, pattern: str) -> list[Path]:
        exact = self.folder / pattern
        if exact.is_dir():
            inner = sorted(one for one in exact.iterdir() if one.is_dir() and is_run(one))
            return [exact] if is_run(exact) or not inner else inner
        found = sorted(one for one in self.folder.glob(pattern) if one.is_dir())
        if not found:
            raise StudyError.no_folder(self.where, pattern)
        return found

    def _of_folder(self, folder: Path) -> RunFiles:
        if (folder / SUMMARY).exists():
            return RunFiles(plain_name(folder.name), folder, [], self.file.instruments.wanted)
        if not self.file.points:
            captures = [str(one) for one in captures_in(folder)]
        else:
            captures = [
                f"{point}={one}"
                for point, patterns in self.file.points.items()
                for one in self._of_point(folder, patterns)
            ]
        if not captures:
            raise StudyError.no_captures(str(folder), sorted(one.name for one in folder.iterdir()))
        return RunFiles(plain_name(folder.name), folder, captures, self.file.instruments.wanted)

    def _of_point(self, folder: Path, patterns: str | list[str]) -> list[Path]:
        listed = [patterns] if isinstance(patterns, str) else patterns
        found = [one for pattern in listed for one in sorted(folder.glob(pattern))]
        if not found:
            raise StudyError.no_folder(self.where, f"{folder.name}/{', '.join(listed)}")
        return found

    def _captures(self, given: list[str]) -> list[str]:
        split = [one.rpartition("=") for one in given]
        return [f"{point}{equals}{self.folder / path}" for point, equals, path in split]


def study_at(where: str) -> Study:
    """Read a study file."""
    return Study(where, load_study(where))


def runs_at(where: str, options: Mapping[str, Any]) -> list[tuple[str, RunFiles, dict[str, Any]]]:
    """List the runs to merge of "study.toml" or "study.toml:SCENARIO", and how.

    Args:
        where: The study file; with one of its scenarios, only that.
        options: Arguments of `merge` that are asked for besides.

    Returns:
        Scenario, run, and the arguments of `merge` for it.

    Raises:
        StudyError: There is nothing to merge.
    """
    file, colon, name = where.rpartition(":")
    study = study_at(file if colon else where)
    own = {**options, **study.reader(RunReader(options)).options}
    found = [
        (scenario, run, own)
        for scenario in ([name] if colon else study.names)
        for run in study.runs(scenario)
        if run.captures
    ]
    if not found:
        raise StudyError.nothing_to_merge(where)
    return found


def scenario_at(source: ScenarioSource | Sequence[ScenarioSource], asked: RunReader) -> Scenario:
    """Make a scenario of "study.toml:SCENARIO", or of anything `scenario_of` takes."""
    if isinstance(source, str | PathLike):
        where, colon, name = str(source).rpartition(":")
        if colon and where.endswith(".toml"):
            return study_at(where).scenario(name, asked)
        if is_study(str(source)):
            return _only_scenario(study_at(str(source)), asked)
    return scenario_of(source, asked)


def _only_scenario(study: Study, asked: RunReader) -> Scenario:
    if len(study.names) > 1:
        raise StudyError.which_scenario(study.where, study.names)
    return study.scenario(study.names[0], asked)
