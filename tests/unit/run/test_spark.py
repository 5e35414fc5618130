"""Spark: tasks of a table of slices give the same as local threads, on Sail and on Spark itself."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

import pcaplat
from pcaplat.run.engines import spark
from pcaplat.run.engines.slices import ReadTask
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from pcaplat.run.engines.tasks import TaskResult

FILES = [str(path) for path in sorted((ROOT / "samples" / "vxlan").glob("*.pcap"))]

# what Spark's client says of versions of others is not about us
pytestmark = pytest.mark.filterwarnings("ignore:.*:FutureWarning", "ignore::DeprecationWarning")


def written(folder: Path, **options: Any) -> dict[str, bytes]:  # noqa: ANN401 - options of merge
    with pcaplat.merge(FILES, **options) as result:
        pcaplat.write(result, folder)
    return {one.name: one.read_bytes() for one in sorted(folder.iterdir())}


def test_sail_gives_the_same_bytes(sail: str, tmp_path: Path) -> None:
    whole = written(tmp_path / "local")
    assert written(tmp_path / "sail", engine=sail, slices=3) == whole


def test_slices_are_as_many_as_cores_where_the_server_does_not_say(sail: str) -> None:
    found = spark.made(sail.removeprefix("spark:"), None)
    assert found.n_slices == os.cpu_count()
    found.session.stop()


def test_a_task_that_fails_is_told_with_its_reason(
    sail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(task: ReadTask) -> TaskResult:
        raise FileNotFoundError(2, "No such file or directory", f"sw-{task.index}.pcap")

    monkeypatch.setattr(ReadTask, "run", fail)
    with pytest.raises(pcaplat.EngineError, match=r"a task failed.*sw-\d\.pcap"):
        pcaplat.merge(FILES, engine=sail, slices=1)


def test_an_address_that_is_none_is_named() -> None:
    address = "spark:sc://127.0.0.1:1/no/path"
    with pytest.raises(pcaplat.EngineError, match=f"engine {address}: no session could be opened"):
        pcaplat.merge(FILES, engine=address)


def test_spark_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(pcaplat.EngineError, match=r"pip install 'pcaplat\[spark\]'"):
        pcaplat.merge(FILES, engine="spark")
