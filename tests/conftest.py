"""What tests share: the top of the project, and what is skipped where tshark is missing."""

import os
import shutil
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# one of two threads would spin where the other worker could compute
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# pytest imports readline, which sets them for what is started after: the workers of xdist
if "PYTEST_XDIST_WORKER" in os.environ:
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)

# a busy machine is no mistake, and what fails once is to fail again
settings.register_profile("pcaplat", deadline=None, derandomize=True)
settings.load_profile("pcaplat")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session", autouse=True)
def _programs_heed_signals() -> Iterator[None]:
    """Let what the tests start heed signals that the tests ignore, as under nohup or `&`.

    A program inherits what is ignored, not what is handled.
    """
    ignored = [
        number
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is signal.SIG_IGN
    ]
    for number in ignored:
        signal.signal(number, lambda *_: None)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


def until_it_waits(pid: int, patience_s: float = 30) -> None:
    """Return when a program sleeps and uses no processor: a starved one is ready to run."""
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        seen = []
        for _ in range(10):
            stat = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
            seen.append((stat[0], stat[11], stat[12]))
            time.sleep(0.05)
        if seen[0][0] == "S" and len(set(seen)) == 1:
            return


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    _mark_slow_cases(items)
    if shutil.which("tshark"):
        return
    skip = pytest.mark.skip(reason="tshark is not installed")
    for item in items:
        if item.get_closest_marker("oracle"):
            item.add_marker(skip)


def _mark_slow_cases(items: list[pytest.Item]) -> None:
    """Mark all but every n-th case of a test `one_in(n)`: before slow tests are left out."""
    n_before: Counter[str] = Counter()
    for item in items:
        one_in = item.get_closest_marker("one_in")
        if one_in:
            test = item.nodeid.partition("[")[0]
            if n_before[test] % one_in.args[0]:
                item.add_marker(pytest.mark.slow)
            n_before[test] += 1
