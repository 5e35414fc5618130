"""Tasks that are done, kept in a folder until the result is written: an interrupted run goes on.

A folder is of one matching: of the same captures, read and matched alike. What a task wrote is
kept twice, by hard links: adding up removes and rewrites files, and may be interrupted too.
"""

from __future__ import annotations

import fcntl
import json
import os
import pickle
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pcaplat.errors import EngineError, with_path
from pcaplat.records import dataclass

if TYPE_CHECKING:
    from pcaplat.run.engines.slices import SlicedMatching
    from pcaplat.run.engines.tasks import Task, TaskResult

STATE, SUMS, FILES, KEPT = "state.json", "sums", "files", "done-"
ENDS_BYTES = 1 << 20
"""So much of both ends of a capture, its length, and when it was written tell whether it is the
same."""

Run = Callable[[Sequence["Task"]], Iterator["TaskResult"]]


@dataclass(frozen=True)
class Unfinished:
    """The folder of a matching that may be interrupted."""

    folder: Path
    lock: IO[str]

    @classmethod
    def at(cls, place: str | os.PathLike[str]) -> Unfinished:
        """Open a folder, or make it; it is this run's alone until that is done.

        Raises:
            EngineError: Another run uses it, or it holds something else.
        """
        folder = Path(place).absolute()
        if folder.exists() and not _is_ours(folder):
            raise EngineError.not_a_state(str(folder))
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = (folder / STATE).open("a")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            lock.close()
            raise EngineError.state_in_use(str(folder)) from problem
        return cls(folder, lock)

    def seed_of(self, job: SlicedMatching) -> int:
        """Give the seed of the tasks that are done; those of another job are forgotten."""
        asked = fingerprint(job)
        state = self.folder / STATE
        known = _read(state) or {}
        is_same = known.get("job") == asked
        for other in self.folder.iterdir():
            if other != state and not (is_same and other.name.startswith(KEPT)):
                shutil.rmtree(other, ignore_errors=True)
        if is_same:
            return int(known["seed"])
        with self._told():
            # in place: the lock is this file's
            state.write_text(json.dumps({"job": asked, "seed": job.seed}), "utf-8")
        return job.seed

    def run(self, tasks: Sequence[Task], run: Run) -> Iterator[TaskResult]:
        """Run tasks that are not done, and give what each returned, in their order."""
        with self._told():
            known = {task.index: self._done(task) for task in tasks}
        results = run([task for task in tasks if known[task.index] is None])
        for task in tasks:
            yield known[task.index] or self._keep(task, next(results))

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say of a failure that it is of this folder."""
        try:
            yield
        except OSError as problem:
            raise with_path(problem, str(self.folder)) from problem

    def _place(self, task: Task) -> Path:
        return self.folder / f"{KEPT}{type(task).__name__}-{task.index}"

    def _keep(self, task: Task, result: TaskResult) -> TaskResult:
        place = self._place(task)
        begun = self.folder / f"begun-{place.name}"
        shutil.rmtree(begun, ignore_errors=True)
        with self._told():
            _link_all(Path(result.folder), begun / FILES)
            (begun / SUMS).write_bytes(result.sums)
            (begun / STATE).write_text(json.dumps(Path(result.folder).name), "utf-8")
            begun.rename(place)
        return result

    def _done(self, task: Task) -> TaskResult | None:
        from pcaplat.run.engines.tasks import TaskResult  # noqa: PLC0415 - seldom needed

        place = self._place(task)
        if not place.exists():
            return None
        folder = self.folder / json.loads((place / STATE).read_text("utf-8"))
        shutil.rmtree(folder, ignore_errors=True)
        _link_all(place / FILES, folder)
        return TaskResult((place / SUMS).read_bytes(), str(folder))


def _is_ours(folder: Path) -> bool:
    """Whether nothing is lost with what is in a folder; others have a file of that name too."""
    if not folder.is_dir():
        return False
    names = {one.name for one in folder.iterdir()}
    state = folder / STATE
    # empty where a run was interrupted before it said what it is of
    return not names or _read(state) is not None or (names == {STATE} and not state.stat().st_size)


def _read(state: Path) -> dict[str, Any] | None:
    """What a run said of itself; None where no run did."""
    try:
        known = json.loads(state.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    is_told = isinstance(known, dict) and isinstance(known.get("job"), str)
    return known if is_told and isinstance(known.get("seed"), int) else None


def forget(place: str | os.PathLike[str]) -> None:
    """Remove a folder of tasks that are done: their result is where it should be."""
    shutil.rmtree(place, ignore_errors=True)


def fingerprint(job: SlicedMatching) -> str:
    """Tell captures, and how they are read and matched, from others."""
    import hashlib  # noqa: PLC0415 - slow, seldom needed
    from importlib.metadata import version  # noqa: PLC0415 - likewise

    found = hashlib.sha256()
    for name in job.files:
        state = Path(name).stat()
        n_bytes, written_ns = state.st_size, state.st_mtime_ns
        found.update(f"{Path(name).name}\0{n_bytes}\0{written_ns}\0".encode())
        with Path(name).open("rb") as file:
            found.update(file.read(ENDS_BYTES))
            file.seek(max(0, n_bytes - ENDS_BYTES))
            found.update(file.read())
    what = (job.settings, job.plan, job.places, job.keep_rows, job.keep_crossings, job.n_slices)
    found.update(pickle.dumps((*what, version("pcaplat"))))
    return found.hexdigest()


def _link_all(source: Path, target: Path) -> None:
    """Give a folder's files another name each: what fails is told as it is, unlike by copytree."""
    target.mkdir(parents=True)
    for one in sorted(source.rglob("*")):
        place = target / one.relative_to(source)
        if one.is_dir():
            place.mkdir()
        else:
            _link(one, place)


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)  # another file system, or one without links
