"""Spark itself, with two worker processes and Java: the same bytes; killed tasks count once."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

import pcaplat
from pcaplat.run import job
from tests.conftest import ROOT
from tests.support.spark import python_with_spark

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java 17 or newer"),
]

FILES = [str(path) for path in sorted((ROOT / "samples" / "vxlan").glob("*.pcap"))]
SCRIPT = """
import os, signal, sys
from pathlib import Path

import pcaplat
from pcaplat.run import job
from pcaplat.run.engines import spark

out, marks, *files = sys.argv[1:]
job.EXTENT_BYTES = 16_384
usual = spark.running


def running(tasks):
    run, mark = usual(tasks), f"{marks}-{type(tasks[0]).__name__}"

    def batches(rows):
        try:
            Path(mark).touch(exist_ok=False)
        except FileExistsError:
            yield from run(rows)
        else:
            os.kill(os.getpid(), signal.SIGKILL)

    return batches


if marks:
    spark.running = running
with pcaplat.merge(files, engine="spark:local-cluster[2,1,1024]", slices=3) as result:
    pcaplat.write(result, out)
"""


@pytest.fixture(scope="module")
def python() -> Path:
    return python_with_spark()


def written(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in sorted(folder.iterdir())}


@pytest.mark.parametrize("killed", ["", "killed"])
def test_a_local_cluster_gives_the_same_bytes(
    killed: str, python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Captures in extents; the first task of each kind dies."""
    monkeypatch.setattr(job, "EXTENT_BYTES", 16_384)
    with pcaplat.merge(FILES) as result:
        pcaplat.write(result, tmp_path / "local")
    script, marks = tmp_path / "script.py", tmp_path / "killed"
    script.write_text(SCRIPT, "utf-8")
    given = [tmp_path / "spark", marks if killed else "", *FILES]
    # a client in this process, of another test, says in them that all sessions are remote
    own = {name: to for name, to in os.environ.items() if not name.startswith("SPARK_")}
    env = own | {"PYSPARK_PYTHON": str(python)}
    subprocess.run([str(one) for one in (python, script, *given)], check=True, env=env)
    died = {one.name.removeprefix("killed-") for one in tmp_path.glob("killed-*")}
    kinds = {"SurveyTask", "ReadTask", "SliceTask", "TableTask"}
    assert died == (kinds if killed else set())
    assert written(tmp_path / "spark") == written(tmp_path / "local")
