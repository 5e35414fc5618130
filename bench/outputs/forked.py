"""Runs a program of one build many times, each run a process of its own that need not start anew.

The interpreter of the build runs this file: `python bench/outputs/forked.py PROGRAM`. It imports
the package and what the package imports, then forks for every line of JSON on standard input:
`{"arguments": [...], "folder": ..., "limit_s": ...}`. The run works in that folder, its output goes
to `stdout` and `stderr` there, and its exit status is answered as a line of JSON.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PACKAGE = "pcaplat"
FOREIGN = (
    "numpy",
    "polars",
    "pyarrow.parquet",
    "pyarrow.compute",
    "typer",
    "rich.table",
    "rich.console",
)
TIMED_OUT = "timed out"
WAIT_S = 0.002


def main() -> None:
    """Answer until there is no further question."""
    program = sys.argv[1]
    for name in (*FOREIGN, *own()):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()
    for line in sys.stdin:
        asked = json.loads(line)
        with warnings.catch_warnings(action="ignore"):  # polars warns whoever forks
            child = os.fork()
        if not child:
            become(program, asked)
            return
        print(json.dumps({"status": ended(child, asked["limit_s"])}), flush=True)


def own() -> Iterator[str]:
    """Give the modules of the package."""
    package = importlib.import_module(PACKAGE)
    found = (module.name for module in pkgutil.walk_packages(package.__path__, f"{PACKAGE}."))
    return (name for name in found if not name.endswith("__main__"))


def become(program: str, asked: dict[str, Any]) -> None:
    """Run the program in place of this process."""
    os.setsid()
    os.chdir(asked["folder"])
    for stream, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, "stdout", os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        (2, "stderr", os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
    ):
        os.dup2(os.open(path, flags, 0o644), stream)
    os.environ["TMPDIR"] = str(Path("tmp").absolute())
    sys.argv = [program, *asked["arguments"]]
    runpy.run_path(program, run_name="__main__")


def ended(child: int, limit_s: float) -> int | str:
    """Wait for a process; give its exit status, or that it was stopped."""
    until_s = time.monotonic() + limit_s
    while time.monotonic() < until_s:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(WAIT_S)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return TIMED_OUT


if __name__ == "__main__":
    main()
