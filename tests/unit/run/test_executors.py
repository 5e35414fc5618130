"""Executors: whoever runs the tasks, the answer is the same, and a worker that dies is told."""

from __future__ import annotations

import os
import pickle
import signal
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from distributed import Client, LocalCluster

import pcaplat
from pcaplat import _native
from pcaplat.outputs.parquet import TableTask
from pcaplat.run.engines.executor import n_workers
from pcaplat.run.engines.extents import SurveyTask
from pcaplat.run.engines.slices import ReadTask, SliceTask
from pcaplat.run.rows import large
from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor

    from pcaplat.run.engines.tasks import Task, TaskResult

KINDS: Sequence[type[Task]] = (SurveyTask, ReadTask, SliceTask)
FILES = [str(path) for path in sorted((ROOT / "samples" / "vxlan").glob("*.pcap"))]


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """What the local engine says."""
    with pcaplat.merge(FILES) as result:
        return result.document


@pytest.fixture(scope="module")
def dask() -> Iterator[Client]:
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def pool() -> Iterator[ProcessPoolExecutor]:
    """Two processes; where one was killed, what waits for it is let go.

    Python before 3.11.5 waits for ever to hand on tasks that fill a pipe (python/cpython#94777).
    """
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        yield executor
        if executor._broken:  # noqa: SLF001
            executor._call_queue._reader.close()  # type: ignore[attr-defined] # noqa: SLF001


class Around:
    """An executor whose tasks something is done around."""

    def __init__(self, executor: Executor, around: Callable[..., TaskResult]) -> None:
        self.executor, self.around = executor, around

    def submit(self, fn: Callable[..., TaskResult], /, *args: Task) -> Future[TaskResult]:
        return self.executor.submit(self.around, fn, *args)


def killed_once(
    marker: Path, kind: type[Task], fn: Callable[..., TaskResult], task: Task
) -> TaskResult:
    """Run a task; kill the process before the second of a kind returns, the first time."""
    found = fn(task)
    if isinstance(task, kind) and task.index == 1 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return found


def test_a_process_pool_gives_the_same(document: dict[str, Any]) -> None:
    with pool() as executor, pcaplat.merge(FILES, executor=executor) as result:
        assert result.document == document


def test_dask_gives_the_same(document: dict[str, Any], dask: Client) -> None:
    executor = dask.get_executor()
    assert n_workers(executor) == 2
    with pcaplat.merge(FILES, executor=executor, slices=3) as result:
        assert result.document == document


@pytest.mark.parametrize("kind", KINDS)
def test_a_pool_whose_worker_is_killed_is_told(kind: type[Task], tmp_path: Path) -> None:
    with pool() as executor:
        dying = Around(executor, partial(killed_once, tmp_path / "killed", kind))
        with pytest.raises(pcaplat.EngineError, match="a worker process died while 3 slices"):
            pcaplat.merge(FILES, executor=dying, slices=3)


@pytest.mark.parametrize("kind", KINDS)
def test_dask_runs_a_task_again_and_nothing_counts_twice(
    kind: type[Task], document: dict[str, Any], dask: Client, tmp_path: Path
) -> None:
    dying = Around(dask.get_executor(), partial(killed_once, tmp_path / "killed", kind))
    with pcaplat.merge(FILES, executor=dying, slices=3) as result:
        assert (tmp_path / "killed").exists()
        assert result.document == document


def test_a_file_that_a_worker_does_not_find_is_named(tmp_path: Path) -> None:
    files = [tmp_path / Path(name).name for name in FILES]
    for name, copy in zip(FILES, files, strict=True):
        copy.write_bytes(Path(name).read_bytes())

    def vanish(fn: Callable[..., TaskResult], task: Task) -> TaskResult:
        files[1].unlink(missing_ok=True)
        return fn(task)

    with ThreadPoolExecutor(1) as executor, pytest.raises(FileNotFoundError, match=files[1].name):
        pcaplat.merge(files, executor=Around(executor, vanish))


def test_workers_are_counted() -> None:
    with ThreadPoolExecutor(3) as executor:
        assert n_workers(executor) == 3
    assert n_workers(Around(executor, SliceTask.run)) == os.cpu_count()


def test_the_local_engine_has_no_slices() -> None:
    with pytest.raises(pcaplat.EngineError, match="takes no place and no slices"):
        pcaplat.merge(FILES, slices=2)
    with pytest.raises(pcaplat.EngineError, match="takes no place and no slices"):
        pcaplat.merge(FILES, engine="local:here")


def test_settings_are_the_same_in_another_process() -> None:
    settings = _native.Settings(filter="tcp", decode=["udp.port=9:geneve"], prefixes=[40] * 9)
    again = pickle.loads(pickle.dumps(settings))  # noqa: S301 - our own
    assert again.__reduce__()[1] == settings.__reduce__()[1]
    with pytest.raises(ValueError, match=r"."):
        _native.Settings.from_bytes(b"")


def written(result: pcaplat.Result, folder: Path) -> dict[str, bytes]:
    pcaplat.write(result, folder)
    return {one.name: one.read_bytes() for one in folder.iterdir()}


def nobody(*_: object) -> NoReturn:
    raise AssertionError("large tables are written by workers")


def test_large_tables_are_written_by_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pcaplat.merge(FILES) as result:
        here = written(result, tmp_path / "here")
    with pool() as executor, pcaplat.merge(FILES, executor=executor) as result:
        with monkeypatch.context() as patched:
            for kind in (large.PacketRows, large.MatchRows, large.LostRows):
                patched.setattr(kind, "batches", nobody)
            elsewhere = written(result, tmp_path / "elsewhere")
        kept = [*Path(result.folder).glob("*/*.parquet")]
    assert {name for name in here if here[name] != elsewhere[name]} == set()
    assert kept == []


def test_tables_are_written_here_once_the_pool_is_closed(tmp_path: Path) -> None:
    with pool() as executor:
        result = pcaplat.merge(FILES, executor=executor)
    with result, pcaplat.merge(FILES) as local:
        assert written(result, tmp_path / "closed") == written(local, tmp_path / "local")


def test_a_worker_that_dies_while_it_writes_a_table_leaves_nothing(tmp_path: Path) -> None:
    with pool() as executor:
        dying = Around(executor, partial(killed_once, tmp_path / "killed", TableTask))
        result = pcaplat.merge(FILES, executor=dying, slices=2)
        with result, pytest.raises(pcaplat.EngineError, match="a worker process died"):
            pcaplat.write(result, tmp_path / "out")
    assert [one.name for one in tmp_path.iterdir()] == ["killed"]


def test_dask_writes_a_table_again_whose_worker_was_killed(dask: Client, tmp_path: Path) -> None:
    dying = Around(dask.get_executor(), partial(killed_once, tmp_path / "killed", TableTask))
    with pcaplat.merge(FILES) as local, pcaplat.merge(FILES, executor=dying, slices=2) as result:
        assert written(result, tmp_path / "again") == written(local, tmp_path / "local")
    assert (tmp_path / "killed").exists()
