"""What one command costs: wall time, CPU and peak memory of its whole process tree."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

SAMPLE_S = 0.02
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
COMPLAINT_CHARACTERS = 2_000


@dataclass(frozen=True)
class Cost:
    """One run."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def cost_of(command: Sequence[str]) -> Cost:
    """Run a command to its end, its output thrown away; end with it if it fails."""
    # as it is once it has run: modules are compiled
    env = {name: to for name, to in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile() as complaint:
        start_s = time.perf_counter()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=complaint, env=env)
        memory = Memory(child.pid)
        memory.start()
        _, status, usage = os.wait4(child.pid, 0)
        wall_s = time.perf_counter() - start_s
        memory.stop()
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            complaint.seek(0)
            text = complaint.read().decode(errors="replace")[-COMPLAINT_CHARACTERS:]
            sys.exit(f"{' '.join(command)[:300]}: exit {child.returncode}\n{text}")
    peak_bytes = max(memory.peak_bytes, exact_peak_bytes(usage))
    return Cost(wall_s, usage.ru_utime + usage.ru_stime, peak_bytes / 1e6)


def exact_peak_bytes(usage: resource.struct_rusage) -> int:
    """Of the tree's largest process; 0 where it may be what this process had when it started it."""
    own_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return usage.ru_maxrss * 1024 if usage.ru_maxrss > own_kib else 0


class Memory(threading.Thread):
    """Looks again and again at what a process and its descendants have in memory together."""

    def __init__(self, pid: int) -> None:
        """Look at this process."""
        super().__init__(daemon=True)
        self._pid, self._ended = pid, threading.Event()
        self.peak_bytes = 0

    def run(self) -> None:
        """Look until told to stop."""
        while not self._ended.wait(SAMPLE_S):
            now_bytes = sum(resident_bytes(pid) for pid in tree(self._pid))
            self.peak_bytes = max(self.peak_bytes, now_bytes)

    def stop(self) -> None:
        """Stop looking."""
        self._ended.set()
        self.join()


def tree(pid: int) -> Iterator[int]:
    """Give a process and its descendants, as far as they still run."""
    yield pid
    try:
        found = [*Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:  # it has just ended
        return
    for children in found:
        try:
            named = children.read_text().split()
        except OSError:
            continue
        for child in named:
            yield from tree(int(child))


def resident_bytes(pid: int) -> int:
    """How much of a process is in memory."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES
    except (OSError, IndexError):
        return 0
