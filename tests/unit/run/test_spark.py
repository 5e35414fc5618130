"""Spark: tasks of a table of slices give the same as local threads, on Sail and on Spark itself."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, cast

import pytest

import pcaplat
from pcaplat.run.engines import spark
from pcaplat.run.engines.slices import ReadTask
from tests.conftest import ROOT
from tests.recovery.simulator import run
from tests.recovery.simulator.effects import EFFECTS, base

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from pyspark.sql.connect.session import SparkSession as ConnectSession

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


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> list[ConnectSession]:
    """Those that are opened from now on."""
    found: list[ConnectSession] = []
    usual = spark.opened

    def opened(place: str, known: SparkSession | None) -> SparkSession:
        session = usual(place, known)
        found.append(cast("ConnectSession", session))
        return session

    monkeypatch.setattr(spark, "opened", opened)
    return found


@pytest.mark.parametrize("kind", ["NAT64", "SNAT"])
def test_a_merge_that_reads_captures_again_opens_one_session_and_closes_it(
    kind: str, sail: str, tmp_path: Path, sessions: list[ConnectSession]
) -> None:
    files = [*map(str, run(EFFECTS[kind](base(500, 4))).save(tmp_path))]
    pcaplat.merge(files, engine=sail, slices=2).close()
    assert [one.is_stopped for one in sessions] == [True]


def test_lint_closes_its_session(sail: str, sessions: list[ConnectSession]) -> None:
    pcaplat.lint(FILES, engine=sail)
    assert [one.is_stopped for one in sessions] == [True]


def test_a_merge_that_fails_closes_its_session(sail: str, sessions: list[ConnectSession]) -> None:
    with pytest.raises(pcaplat.InputError, match="nowhere"):
        pcaplat.merge(FILES, engine=sail, reference="nowhere")
    assert [one.is_stopped for one in sessions] == [True]
