"""Slices of the flows: tasks that any pool of workers can run, and their sums.

A task reads a capture, or an extent of one, and writes what it observes, slice by slice; when all
are read, a task matches one slice. Matching knows nothing across flows before it is added up, so
the result is the same for any number of slices
(docs/project/decisions/0030-slices-of-the-flows.md). A task is what it needs to know, and keeps
what is too much to return in a folder of its own: one that is run again begins a new folder, and
only the folder that its result names is read, so nothing counts twice.
"""

import secrets
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import mkdtemp

from pcaplat import _native
from pcaplat.model.matched import Matched
from pcaplat.model.plan import Plan
from pcaplat.model.sampled import Place, Sampled
from pcaplat.records import dataclass
from pcaplat.run.engines import Tell
from pcaplat.run.engines.extents import SurveyJob, survey
from pcaplat.run.engines.local import LocalEngine
from pcaplat.run.engines.tasks import TASKS_A_WORKER, Task, TaskResult
from pcaplat.run.engines.unfinished import Unfinished
from pcaplat.run.rows.memory import give_back_memory


@dataclass(frozen=True)
class ReadTask:
    """The reading of a capture, or of a part of it.

    Attributes:
        job: The matching.
        index: Its number among all readings.
        file: Of which capture.
        place: Where reading begins; None: with the file.
        until_byte: Where it ends; None: with the file.
    """

    job: "SlicedMatching"
    index: int
    file: int
    place: Place | None = None
    until_byte: int | None = None

    def run(self) -> TaskResult:
        """Read, and write what is observed for each slice."""
        job = self.job
        own = mkdtemp(prefix=f"capture-{self.index}-", dir=job.directory)
        sums = _native.read_capture(
            job.files[self.file],
            job.settings,
            job.plan,
            own,
            keep_rows=job.keep_rows,
            file=self.file,
            n_slices=job.n_slices,
            seed=job.seed,
            place=self.place,
            until_byte=self.until_byte,
        )
        return TaskResult(sums, own)


@dataclass(frozen=True)
class SliceTask:
    """The matching of one slice of the flows, by its number, and where its observations are."""

    job: "SlicedMatching"
    index: int
    folders: Sequence[Sequence[str]]

    def run(self) -> TaskResult:
        """Match the slice."""
        job = self.job
        own = mkdtemp(prefix=f"slice-{self.index}-", dir=job.directory)
        kept = (job.keep_rows, job.keep_crossings)
        sums = _native.match_slice(self.folders, job.plan, own, kept=kept, slice=self.index)
        return TaskResult(sums, own)


@dataclass(frozen=True)
class SlicedMatching:
    """A matching in slices.

    Attributes:
        files: Paths of the captures, the same wherever a task runs.
        settings: How they are read.
        plan: How they are matched.
        directory: Where tasks keep what is too much to return, the same folder for all.
        places: By capture, where reading may begin besides its beginning.
        keep_rows: Whether every pair is kept.
        keep_crossings: Whether every crossing of a segment is kept.
        n_slices: How many there are.
        seed: What packet IDs begin with; all tasks have the same.
    """

    files: Sequence[str]
    settings: _native.Settings
    plan: Plan
    directory: str
    places: Sequence[Sequence[Place]]
    keep_rows: bool
    keep_crossings: bool
    n_slices: int
    seed: int

    @classmethod
    def of(  # noqa: PLR0913 - what is kept is named
        cls,
        files: Sequence[str],
        settings: _native.Settings,
        plan: Plan,
        directory: str,
        places: Sequence[Sequence[Place]],
        n_slices: int,
        *,
        keep_rows: bool,
        keep_crossings: bool,
    ) -> "SlicedMatching":
        """Give it paths that hold in any folder, and a seed that nobody knows."""
        folder, seed = str(Path(directory).absolute()), secrets.randbits(64)
        kept = (keep_rows, keep_crossings)
        return cls(absolute(files), settings, plan, folder, places, *kept, n_slices, seed)

    @property
    def reads(self) -> list[ReadTask]:
        """One for each capture, more for those that may be read from their middle."""
        n_parts = sum(len(of_file) + 1 for of_file in self.places)
        n_each = -(-n_parts // (TASKS_A_WORKER * self.n_slices))
        tasks: list[ReadTask] = []
        for file, of_file in enumerate(self.places):
            begins = [None, *of_file][::n_each]
            ends = [place and place[0] for place in begins[1:]]
            for place, until_byte in zip(begins, [*ends, None], strict=True):
                tasks.append(ReadTask(self, len(tasks), file, place, until_byte))
        return tasks

    def matches(self, read: Sequence[TaskResult]) -> list[SliceTask]:
        """One for each slice, once all captures are read."""
        folders: list[list[str]] = [[] for _ in self.files]
        for task, one in zip(self.reads, read, strict=True):
            folders[task.file].append(one.folder)
        return [SliceTask(self, index, folders) for index in range(self.n_slices)]

    def added_up(self, results: Sequence[TaskResult], directory: str) -> Matched:
        """Add up what the tasks returned, in their order, into a folder."""
        return _native.add_slices(
            [one.sums for one in results],
            len(self.files),
            self.plan,
            directory,
            kept=(self.keep_rows, self.keep_crossings),
        )

    def told(self, tell: Tell | None) -> Callable[[TaskResult], TaskResult]:
        """Count tasks that are done, as the share of all octets that they are of all tasks."""
        n_bytes = sum(Path(name).stat().st_size for name in self.files)
        n_tasks, n_done = len(self.reads) + self.n_slices, 0

        def note(result: TaskResult) -> TaskResult:
            nonlocal n_done
            n_done += 1
            if tell is not None:
                tell(n_bytes * n_done // n_tasks)
            return result

        return note


def absolute(files: Sequence[str]) -> list[str]:
    """Give files paths that hold in any folder."""
    return [str(Path(name).absolute()) for name in files]


class SlicedEngine(LocalEngine):
    """An engine that surveys, reads and matches in tasks."""

    n_slices: int
    unfinished: Unfinished | None = None
    """Where tasks that are done are kept, if they outlive an interruption."""

    @abstractmethod
    def run(self, tasks: Sequence[Task], n_slices: int) -> Iterator[TaskResult]:
        """Run tasks beside one another, and give what each returns, in their order."""

    def run_elsewhere(self, tasks: Sequence[Task]) -> Iterator[TaskResult] | None:
        """See `Engine.run_elsewhere`."""
        return self.run(tasks, self.n_slices)

    def close(self) -> None:
        """See `Engine.close`."""
        if self.unfinished:
            self.unfinished.lock.close()

    def sample(
        self,
        files: Sequence[str],
        settings: _native.Settings,
        limit: int,
        n_parts: Sequence[int],
        directory: str,
        tell: Tell | None,
    ) -> Sampled:
        """See `Engine.sample`."""
        folder = str(Path(directory).absolute())
        job = SurveyJob(absolute(files), settings, limit, n_parts, folder)
        run = partial(self.run, n_slices=self.n_slices)
        return survey(job, self.n_slices, run, tell)

    def match(  # noqa: PLR0913 - what is kept is named
        self,
        files: Sequence[str],
        settings: _native.Settings,
        plan: Plan,
        directory: str,
        places: Sequence[Sequence[Place]],
        *,
        keep_rows: bool,
        keep_crossings: bool = False,
        tell: Tell | None,
    ) -> Matched:
        """See `Engine.match`."""
        kept = {"keep_rows": keep_rows, "keep_crossings": keep_crossings}
        job = SlicedMatching.of(files, settings, plan, directory, places, self.n_slices, **kept)
        note = job.told(tell)
        run = partial(self.run, n_slices=job.n_slices)
        if state := self.unfinished:
            job = replace(job, seed=state.seed_of(job), directory=str(state.folder))
            run = partial(state.run, run=run)
        try:
            read = [note(one) for one in run(job.reads)]
            matched = (note(one) for one in run(job.matches(read)))
            return job.added_up([*chain(read, matched)], directory)
        finally:
            # of the survey much was freed, and of what tasks returned
            give_back_memory()
            if state:
                state.lock.close()
