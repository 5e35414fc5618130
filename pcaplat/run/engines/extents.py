"""The survey in tasks: each reads an extent of a capture, and what they select adds up.

A task that begins in the middle of a file takes the first place that looks like one between two
records. It is one if the task before, which came from the beginning, ends there; else the extent is
read again from where that ended. Where an extent depends on what came before it (fragments, stamps
in packets, counters of mirrors), the file is read again by one task. See
docs/project/decisions/0030-slices-of-the-flows.md.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import mkdtemp

from pcaplat import _native
from pcaplat.model.sampled import Place, Sampled
from pcaplat.records import dataclass
from pcaplat.run.engines import Tell
from pcaplat.run.engines.tasks import TASKS_A_WORKER, Task, TaskResult

Run = Callable[[Sequence[Task]], Iterator[TaskResult]]


@dataclass(frozen=True)
class Extent:
    """A stretch of a file.

    Attributes:
        file: Its index.
        from_byte: Where it is to begin; 0: with the file.
        n_before: Frames before it, if they are counted; None: the place is sought from there on.
        until_byte: Where it ends; None: with the file.
    """

    file: int
    from_byte: int = 0
    n_before: int | None = 0
    until_byte: int | None = None

    @property
    def start(self) -> tuple[int, int | None] | None:
        """As the core takes it."""
        return (self.from_byte, self.n_before) if self.from_byte else None


@dataclass(frozen=True)
class Surveyed:
    """What a task says of its extent: the rest lies in a file.

    Attributes:
        written: That file.
        begun: Where reading began, and how many frames were counted before.
        ended: Where it ended, likewise.
        is_over: The file ends in it.
        is_damaged: Something in it is damaged.
        needs_whole: What came before could have changed what was found.
    """

    written: str
    begun: Place
    ended: Place
    is_over: bool
    is_damaged: bool
    needs_whole: bool


@dataclass(frozen=True)
class SurveyJob:
    """A survey: the captures by the same paths wherever a task runs, and how they are read."""

    files: Sequence[str]
    settings: _native.Settings
    limit: int
    n_parts: Sequence[int]
    directory: str


@dataclass(frozen=True)
class SurveyTask:
    """The survey of one extent."""

    job: SurveyJob
    index: int
    extent: Extent

    def run(self) -> TaskResult:
        """Read it, and write what was selected."""
        job, extent = self.job, self.extent
        own = mkdtemp(prefix=f"survey-{self.index}-", dir=job.directory)
        found = _native.survey_extent(
            job.files[extent.file],
            job.settings,
            f"{own}/selected",
            file=extent.file,
            limits=(job.limit, job.n_parts[extent.file]),
            start=extent.start,
            until_byte=extent.until_byte,
        )
        return TaskResult(json.dumps(found).encode(), own)


def survey(job: SurveyJob, n_workers: int, run: Run, tell: Tell | None) -> Sampled:
    """Survey all files, again where what they show changes how they are read."""
    directory = mkdtemp(prefix="survey-", dir=job.directory)
    state = _native.Survey(job.files, job.settings)
    try:
        while True:
            now = SurveyJob(job.files, state.settings(), job.limit, job.n_parts, directory)
            n_tasks = TASKS_A_WORKER * n_workers
            extents = divided(state.seekable_bytes(), now.settings.extent_bytes, n_tasks)
            found = read(now, extents, run, tell)
            sampled = state.settle([[one.written for one in of_file] for of_file in found])
            if sampled is not None:
                return sampled
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def divided(lengths: Sequence[int | None], extent_bytes: int, n_tasks: int) -> list[list[Extent]]:
    """Divide files at multiples of a number of bytes into about as many tasks."""
    n_units = sum(-(-(length or 1) // extent_bytes) for length in lengths)
    step = extent_bytes * -(-n_units // n_tasks)
    extents = []
    for file, length in enumerate(lengths):
        starts = [*range(step, length or 0, step)]
        ends = [*starts, None]
        sought = [Extent(file, at, None, end) for at, end in zip(starts, ends[1:], strict=True)]
        extents.append([Extent(file, until_byte=ends[0]), *sought])
    return extents


def read(
    job: SurveyJob, extents: list[list[Extent]], run: Run, tell: Tell | None
) -> list[list[Surveyed]]:
    """Read all extents, and again those that did not begin where others end."""
    known: dict[Extent, Surveyed] = {}
    n_bytes = sum(Path(name).stat().st_size for name in job.files)
    wanted = [one for of_file in extents for one in of_file]
    n_tasks = len(wanted)
    while wanted:
        tasks = [SurveyTask(job, index, one) for index, one in enumerate(wanted)]
        for extent, result in zip(wanted, run(tasks), strict=True):
            known[extent] = _surveyed(result)
            if tell is not None:
                tell(n_bytes * min(len(known), n_tasks) // n_tasks)
        extents = [mended(of_file, known) for of_file in extents]
        wanted = [one for of_file in extents for one in of_file if one not in known]
    return [[known[one] for one in of_file] for of_file in extents]


def _surveyed(result: TaskResult) -> Surveyed:
    begun, ended, *said = json.loads(result.sums)
    return Surveyed(f"{result.folder}/selected", (begun[0], begun[1]), (ended[0], ended[1]), *said)


def mended(extents: list[Extent], known: dict[Extent, Surveyed]) -> list[Extent]:
    """Give the extents of a file, the first of them that is wrong in its right place.

    If one of them needs what came before, the file is one.
    """
    if len(extents) == 1:
        return extents
    place: Place = known[extents[0]].begun
    for index, extent in enumerate(extents):
        found, is_last = known[extent], index == len(extents) - 1
        is_off = found.begun[0] != place[0] or (found.is_over and not is_last)
        if extent.n_before is None and (is_off or found.is_damaged):
            right = Extent(extent.file, *place, extent.until_byte)
            return [*extents[:index], right, *extents[index + 1 :]]
        if is_off or found.needs_whole:
            return [Extent(extent.file)]
        n_frames = found.ended[1] - found.begun[1]
        place = (found.ended[0], place[1] + n_frames)
    return extents
