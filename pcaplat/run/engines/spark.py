"""Tasks of Spark, or of what speaks its protocol: a table of their numbers through `mapInArrow`."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from pcaplat.errors import EngineError
from pcaplat.run.engines.slices import SlicedEngine
from pcaplat.run.engines.tasks import Task, TaskResult
from pcaplat.run.values import MOST_SLICES
from pcaplat.text import printable

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

RESULTS = "task long, sums binary, folder string"
"""Columns of what the tasks return."""


class SparkEngine(SlicedEngine):
    """An engine whose second reading is tasks of Spark: one a capture, then one a slice."""

    def __init__(
        self,
        session: "SparkSession",
        n_slices: int | None = None,
        *,
        place: str = "",
        is_own: bool = False,
    ) -> None:
        """Take a session.

        Args:
            session: Where tasks run.
            n_slices: How many slices; by default as many as Spark has cores.
            place: Where it is, as `made` takes it.
            is_own: It ends with the run.
        """
        self.session, self.place, self.is_own = session, place, is_own
        self.n_slices = n_slices or min(n_cores(session), MOST_SLICES)

    def run(self, tasks: Sequence[Task], n_slices: int) -> Iterator[TaskResult]:  # noqa: ARG002 - Spark runs again what died
        """See `SlicedEngine.run`."""
        n = len(tasks)
        try:
            table = self.session.range(0, n, 1, n).mapInArrow(running(tasks), RESULTS)
            found = {row[0]: TaskResult(bytes(row[1]), row[2]) for row in table.collect()}
        except Exception as problem:
            # Spark's errors are of many kinds, and all say what the task said
            raise EngineError.spark_failed(shown(problem)) from problem
        return iter([found[index] for index in range(n)])

    def run_elsewhere(self, tasks: Sequence[Task]) -> Iterator[TaskResult] | None:
        """See `Engine.run_elsewhere`; in a session of their own if that of the run is closed."""
        if not self.is_own:
            return super().run_elsewhere(tasks)
        try:
            again = made(self.place, self.n_slices)
        except EngineError:
            return None  # the server has ended meanwhile
        with closing(again):
            return again.run(tasks, self.n_slices)

    def close(self) -> None:
        """See `Engine.close`."""
        super().close()
        if self.is_own:
            self.session.stop()


def running(
    tasks: "Sequence[Task]",
) -> "Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]":
    """Give what a worker does with numbers of tasks."""

    def run(batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
        import pyarrow as pa  # noqa: PLC0415 - on the worker

        for batch in batches:
            for index in batch.column(0).to_pylist():
                done = tasks[index].run()
                columns = [
                    pa.array([index], pa.int64()),
                    pa.array([done.sums], pa.binary()),
                    pa.array([done.folder], pa.string()),
                ]
                yield pa.RecordBatch.from_arrays(columns, ["task", "sums", "folder"])

    return run


def shown(problem: Exception) -> str:
    """Give what Spark says; what names of files put into it steers no terminal."""
    return "\n".join(printable(line) for line in str(problem).splitlines())


def n_cores(session: "SparkSession") -> int:
    """Count the cores that Spark has; a server that does not say has as many as are here."""
    try:
        return int(session.sparkContext.defaultParallelism)
    except AttributeError:  # Spark Connect has no context
        return os.cpu_count() or 1


def made(place: str, n_slices: int | None) -> SparkEngine:
    """Connect to a master (`local-cluster[2,1,1024]`, `yarn`, `sc://host:15002`).

    Without one, the session that is there is taken, or the one that Spark's settings say.

    Raises:
        EngineError: Spark is not installed, or cannot be reached.
    """
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415 - an extra, slow to import
    except ImportError as problem:
        raise EngineError.not_installed("spark", "pyspark") from problem
    known = SparkSession.getActiveSession()
    try:
        session = opened(place, known)
    except Exception as problem:
        raise EngineError.no_session(place, shown(problem)) from problem
    return SparkEngine(session, n_slices, place=place, is_own=session is not known)


def opened(place: str, known: "SparkSession | None") -> "SparkSession":
    """Give a session at a place, or the one that is there, if it is of that place."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - an extra, slow to import

    builder = SparkSession.builder.appName("pcaplat")
    if place.startswith("sc://"):
        return builder.remote(place).create()
    if known is None:
        return (builder.master(place) if place else builder).getOrCreate()
    if place and known.sparkContext.master != place:
        # a process has one master: Spark would give the session that is there without a word
        raise ValueError(f"a session of the master {known.sparkContext.master} is open")
    return known
