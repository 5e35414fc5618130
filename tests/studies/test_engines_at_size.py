"""Engines agree to the byte at 3 × 1,000,000 packets, tables included, and keep to their memory."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING

import pytest

from tests.conftest import ROOT
from tests.support.spark import python_with_spark

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

N_PACKETS = 1_000_000
MOST_MB = {"4+o": (600, 300), "sail+o": (1_000, 300)}
"""Of all processes, and of the one that called merge."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def scaling() -> ModuleType:
    sys.path.append(str(ROOT / "bench"))
    try:
        spec = spec_from_file_location("scaling", ROOT / "bench" / "scaling.py")
        assert spec
        assert spec.loader
        module = sys.modules["scaling"] = module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "bench"))
    return module


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("plain") / "set"
    made_by = ROOT / "bench" / "generate.py"
    given = [sys.executable, str(made_by), "plain", str(N_PACKETS), str(folder)]
    subprocess.run(given, check=True)
    return [str(one) for one in sorted(folder.glob("*.pcap"))]


@pytest.fixture(scope="module")
def wanted(scaling: ModuleType, files: list[str]) -> str:
    """What threads of this machine give: the document, and the digest of each table."""
    _, answer = scaling.measured(files, "local+o")
    return str(answer)


@pytest.mark.parametrize("run", ["4+o", "dask+o", "killed+o", "sail+o"])
def test_tasks_write_what_threads_write(
    run: str, scaling: ModuleType, files: list[str], wanted: str
) -> None:
    row, answer = scaling.measured(files, run)
    assert "packets.parquet" in wanted
    assert answer == wanted
    most_mb, most_caller_mb = MOST_MB.get(run, (None, None))
    assert most_mb is None or row.peak_mb < most_mb
    assert most_caller_mb is None or row.caller_mb < most_caller_mb


@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java 17 or newer")
def test_spark_writes_what_threads_write(
    scaling: ModuleType, files: list[str], wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    python: Path = python_with_spark()
    # a client in this process, of another test, says in them that all sessions are remote
    for name in [name for name in os.environ if name.startswith("SPARK_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PYSPARK_PYTHON", str(python))
    monkeypatch.setattr(sys, "executable", str(python))
    _, answer = scaling.measured(files, "spark:local-cluster[2,1,1024]*4+o")
    assert answer == wanted
