"""Tables that workers write: the process that called merge imports nothing for them."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pcaplat
from pcaplat.outputs import html, parquet
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    import pytest

CAPTURES = [str(one) for one in sorted((ROOT / "samples" / "vxlan").glob("*.pcap"))]


def test_workers_import_what_tables_need(tmp_path: Path) -> None:
    code = f"""
import sys, pcaplat
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
    with pcaplat.merge({CAPTURES}, executor=pool, same_clock=["all"]) as result:
        pcaplat.write(result, {str(tmp_path / "out")!r})
print(sorted({{"polars", "pandas", "pyarrow.parquet"}} & set(sys.modules)))
"""
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, check=True, timeout=120, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
    assert {"blocks.parquet", "traffic.parquet", "packets.parquet"} <= {
        one.name for one in (tmp_path / "out").iterdir()
    }


def noted(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, done: list[str]) -> None:
    """Note when a function is called."""
    usual = getattr(module, name)

    def called(*given: object) -> object:
        done.append(f"{module.__name__}.{name}")
        return usual(*given)

    monkeypatch.setattr(module, name, called)


def test_what_draws_is_gone_before_tables_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    noted(monkeypatch, html, "draw", done)
    noted(monkeypatch, parquet, "save", done)
    noted(monkeypatch, html, "save", done)
    with pcaplat.merge(CAPTURES, same_clock=["all"]) as result:
        pcaplat.write(result, tmp_path / "out")
    assert done == [
        "pcaplat.outputs.html.draw",
        "pcaplat.outputs.parquet.save",
        "pcaplat.outputs.html.save",
    ]
