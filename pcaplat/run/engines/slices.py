"""Slices of the flows: tasks that any pool of workers can run, and their sums.

Matching knows nothing across flows before it is added up, so the result is the same for any number
of slices (docs/decisions/0030-slices-of-the-flows.md). A task is what it needs to know; it reads
the captures where it runs, and keeps what is too much to return in a folder of its own.
"""

import secrets
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import mkdtemp

from pcaplat import _native
from pcaplat.model.matched import Matched
from pcaplat.model.plan import Plan
from pcaplat.records import dataclass
from pcaplat.run.engines import Tell
from pcaplat.run.engines.local import LocalEngine


@dataclass(frozen=True)
class SliceTask:
    """The matching of one slice of the flows: number `index` of `n_slices`, from 0."""

    job: "SlicedMatching"
    index: int

    def run(self) -> bytes:
        """Match the slice, and return its sums; what it keeps besides counts only with them.

        A task that is run again begins a folder of its own, so that nothing counts twice.
        """
        job = self.job
        own = mkdtemp(prefix=f"slice-{self.index}-", dir=job.directory)
        return _native.match_slice(
            job.files,
            job.settings,
            job.plan,
            own,
            kept=(job.keep_rows, job.keep_crossings),
            part=(self.index, job.n_slices),
            seed=job.seed,
        )


@dataclass(frozen=True)
class SlicedMatching:
    """A matching in slices.

    Attributes:
        files: Paths of the captures, the same wherever a task runs.
        settings: How they are read.
        plan: How they are matched.
        directory: Where tasks keep what is too much to return, the same folder for all.
        keep_rows: Whether every pair is kept.
        keep_crossings: Whether every crossing of a segment is kept.
        n_slices: How many there are.
        seed: What packet IDs begin with; all slices have the same.
    """

    files: Sequence[str]
    settings: _native.Settings
    plan: Plan
    directory: str
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
        n_slices: int,
        *,
        keep_rows: bool,
        keep_crossings: bool,
    ) -> "SlicedMatching":
        """Give it paths that hold in any folder, and a seed that nobody knows."""
        whole = [str(Path(name).absolute()) for name in files]
        seed = secrets.randbits(64)
        folder = str(Path(directory).absolute())
        return cls(whole, settings, plan, folder, keep_rows, keep_crossings, n_slices, seed)

    @property
    def tasks(self) -> list[SliceTask]:
        """One for each slice."""
        return [SliceTask(self, index) for index in range(self.n_slices)]

    def added_up(self, sums: Iterable[bytes]) -> Matched:
        """Add up what the tasks returned, in their order."""
        return _native.add_slices(
            list(sums),
            len(self.files),
            self.plan,
            self.directory,
            kept=(self.keep_rows, self.keep_crossings),
        )

    def n_bytes(self) -> int:
        """How much a task reads."""
        return sum(Path(name).stat().st_size for name in self.files)


class SlicedEngine(LocalEngine):
    """An engine that matches in tasks, one for each slice, and surveys where the caller is."""

    n_slices: int

    @abstractmethod
    def sums(self, job: SlicedMatching, tell: Tell | None) -> Iterable[bytes]:
        """Run all tasks of a matching, and give what each returns, in the order of their slices."""

    def match(  # noqa: PLR0913 - what is kept is named
        self,
        files: Sequence[str],
        settings: _native.Settings,
        plan: Plan,
        directory: str,
        *,
        keep_rows: bool,
        keep_crossings: bool = False,
        tell: Tell | None,
    ) -> Matched:
        """See `Engine.match`."""
        kept = {"keep_rows": keep_rows, "keep_crossings": keep_crossings}
        job = SlicedMatching.of(files, settings, plan, directory, self.n_slices, **kept)
        return job.added_up(self.sums(job, tell))
