"""Tasks of a `concurrent.futures.Executor`: of a process pool, of Dask, of whatever has one."""

import os
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Future

from pcaplat.errors import EngineError
from pcaplat.run.engines import Executor, Tell
from pcaplat.run.engines.slices import SlicedEngine, SlicedMatching, SliceTask


class ExecutorEngine(SlicedEngine):
    """An engine whose second reading is tasks of an executor."""

    def __init__(self, executor: Executor, n_slices: int | None = None) -> None:
        """Take an executor, and the number of slices; by default as many as it has workers."""
        self.executor = executor
        self.n_slices = n_slices or n_workers(executor)

    def sums(self, job: SlicedMatching, tell: Tell | None) -> Iterator[bytes]:
        """See `SlicedEngine.sums`."""
        futures: list[Future[bytes]] = []
        try:
            futures.extend(self.executor.submit(SliceTask.run, task) for task in job.tasks)
            for n_done, future in enumerate(futures, 1):
                yield future.result()
                if tell is not None:
                    tell(job.n_bytes() * n_done // job.n_slices)
        except BrokenExecutor as problem:
            raise EngineError.worker_died(job.n_slices) from problem
        finally:
            for future in futures:
                future.cancel()


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
