"""Tasks of a `concurrent.futures.Executor`: of a process pool, of Dask, of whatever has one."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from typing import cast

from pcaplat.errors import EngineError
from pcaplat.run.engines import Executor, engine
from pcaplat.run.engines.slices import SlicedEngine
from pcaplat.run.engines.tasks import Task, TaskResult
from pcaplat.run.values import MOST_SLICES

LOCAL_SLICES = 16
"""An interruption costs one of so many."""


class ExecutorEngine(SlicedEngine):
    """An engine whose second reading is tasks of an executor."""

    def __init__(self, executor: Executor, n_slices: int | None = None) -> None:
        """Take an executor, and the number of slices; by default as many as it has workers."""
        self.executor = executor
        self.n_slices = n_slices or min(n_workers(executor), MOST_SLICES)

    def run(self, tasks: Sequence[Task], n_slices: int) -> Iterator[TaskResult]:
        """See `SlicedEngine.run`."""
        futures: list[Future[TaskResult]] = []
        try:
            futures.extend(self.executor.submit(type(task).run, task) for task in tasks)
            for future in futures:
                yield future.result()
        except BrokenExecutor as problem:
            raise EngineError.worker_died(n_slices) from problem
        finally:
            for future in futures:
                future.cancel()

    def run_elsewhere(self, tasks: Sequence[Task]) -> Iterator[TaskResult] | None:
        """See `Engine.run_elsewhere`; an executor that was closed meanwhile takes none."""
        try:
            self.executor.submit(int).cancel()
        except Exception:  # noqa: BLE001 - executors say in their own ways that they are closed
            return None
        return super().run_elsewhere(tasks)


class ThreadsEngine(ExecutorEngine):
    """Tasks of threads of this machine, a thread for each core."""

    def __init__(self, n_slices: int | None = None) -> None:
        """Start none yet."""
        self.threads = ThreadPoolExecutor(os.cpu_count())
        super().__init__(self.threads, n_slices or LOCAL_SLICES)

    def run_elsewhere(self, tasks: Sequence[Task]) -> Iterator[TaskResult] | None:  # noqa: ARG002 - threads are here
        """See `Engine.run_elsewhere`."""
        return None

    def close(self) -> None:
        """See `Engine.close`."""
        super().close()
        self.threads.shutdown()


def sliced_engine(name: str, executor: Executor | None, n_slices: int | None) -> SlicedEngine:
    """Give an engine that runs in tasks; for the local one, threads of this machine.

    Raises:
        EngineError: There is none of that name, or it cannot be had.
    """
    if executor is not None:
        return ExecutorEngine(executor, n_slices)
    if name == "local":
        return ThreadsEngine(n_slices)
    return cast("SlicedEngine", engine(name, n_slices))


def n_workers(executor: Executor) -> int:
    """Count the workers of an executor; if it does not say, take the number of cores here."""
    # pools of the standard library say it nowhere else, nor does Dask's
    n_own = getattr(executor, "_max_workers", None)
    if n_own is not None:
        return int(n_own)
    client = getattr(executor, "_client", None)
    if client is not None:
        return max(1, sum(int(n) for n in client.nthreads().values()))
    return os.cpu_count() or 1
