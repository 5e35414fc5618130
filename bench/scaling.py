"""What tasks cost beside threads, and what follows for more: `python bench/scaling.py [PACKETS]`.

Three points with so many packets each (1,000,000 unless given) are merged by the local engine, in
1, 2, 4 and 8 slices by a pool of two processes, and by Dask and Sail. For each: wall time, CPU and
peak memory of the process tree, peak memory of the process that called merge, what the tasks
returned to it, and bytes of observations a frame that pass through the shared folder. Dask loses a
worker in the middle once. All answers have to be the same, and the tables too, where they are
written, to the byte, or it fails. From the cost a frame of 8
slices it calculates a billion packets on several machines, 100 Gb/s at ten points for an hour, and
which part limits it.

`python bench/scaling.py PACKETS RUN...` does only these runs: local, a number of slices, dask,
killed, sail, or the address of another engine with the number of slices, `spark:yarn*8`. With
`+o` behind it (`sail+o`), a run writes the tables too, as `merge -o` does.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from measure.process_tree import cost_of

if TYPE_CHECKING:
    from pcaplat.run.engines.tasks import TaskResult

HERE = Path(__file__).parent
WITH_TABLES = "+o"
RUNS = ("local", "1", "2", "4", "8", "dask", "killed", "sail")
N_POINTS, N_PROCESSES, N_SLICES = 3, 2, 4
MACHINES = (("a laptop, 8 cores", 8), ("a server, 64 cores", 64), ("ten of them", 640))
NAMES = {
    "local": "local, threads",
    "dask": f"Dask, {N_SLICES} slices, 2 workers",
    "killed": f"Dask, {N_SLICES} slices, a worker killed",
    "sail": f"Sail, {N_SLICES} slices",
}
WORKERS = (1, 10, 100, 1_000)
Run = Callable[..., object]
LINK_BPS, N_FAR_POINTS, FAR_S, MEAN_BYTES = 100e9, 10, 3600, 800


@dataclass(frozen=True)
class Row:
    """One run."""

    name: str
    wall_s: float
    cpu_s: float
    peak_mb: float
    caller_mb: float
    returned_mb: float
    shuffled_bytes: int


def main() -> None:
    """Print the rows, and what follows from them."""
    n_packets = int((sys.argv[1:] or ["1000000"])[0])
    subprocess.run([sys.executable, HERE / "generate.py", "plain", str(n_packets)], check=True)
    files = [str(one) for one in sorted((HERE / "data" / f"plain-{n_packets}").glob("*.pcap"))]
    n_frames, n_bytes = N_POINTS * n_packets, sum(Path(one).stat().st_size for one in files)
    print(f"{N_POINTS} × {n_packets:,} packets, {n_bytes / 1e6:,.0f} MB\n")
    print(
        "| run | wall, s | CPU, s | MB, all | MB, caller | MB, returned "
        "| bytes a frame, shared folder |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    answers, tables, rows = set(), set(), {}
    for run in sys.argv[2:] or RUNS:
        row, answer = measured(files, run)
        document, digests = json.loads(answer)
        answers.add(json.dumps(document))
        tables |= {json.dumps(digests)} if digests else set()
        rows[run] = row
        shuffled = f"{row.shuffled_bytes / n_frames:.1f}" if row.shuffled_bytes else "–"
        print(
            f"| {row.name} | {row.wall_s:.1f} | {row.cpu_s:.1f} | {row.peak_mb:.0f} "
            f"| {row.caller_mb:.0f} | {row.returned_mb:.1f} | {shuffled} |",
            flush=True,
        )
    print(f"\nAnswers: {len(answers)}. Tables written: {len(tables)} version(s).\n")
    if "8" in rows:
        told(rows["8"], n_frames, n_bytes)
    if len(answers) != 1 or len(tables) > 1:
        sys.exit("the answer depends on the number of slices")


def measured(files: list[str], run: str) -> tuple[Row, str]:
    """Merge in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "kept.json"
        cost = cost_of([sys.executable, __file__, "--one", run, str(kept), *files])
        found = json.loads(kept.read_text())
    what = run.removesuffix(WITH_TABLES)
    name = NAMES.get(what, f"{what} slices, {N_PROCESSES} processes" if what.isdigit() else what)
    row = Row(
        name if what == run else f"{name}, tables written",
        cost.wall_s,
        cost.cpu_s,
        cost.peak_mb,
        found["caller_mb"],
        found["returned_mb"],
        found["shuffled_bytes"],
    )
    return row, found["answer"]


def one(run: str, kept: Path, files: list[str]) -> None:
    """Merge once, and keep the answer."""
    import pcaplat  # noqa: PLC0415 - its cost is a run's

    shuffled_bytes, what, digests = 0, run.removesuffix(WITH_TABLES), {}
    with (
        counted_sums() as returned,
        options_of(what, kept) as options,
        tempfile.TemporaryDirectory() as folder,
    ):
        if what.isdigit():
            # what is kept for an interruption is what passes from task to task
            options["resume"] = Path(folder) / "state"
        result = pcaplat.merge(files, **options)
        read = Path(folder).glob("state/done-ReadTask-*/files/*")
        shuffled_bytes = sum(path.stat().st_size for path in read if path.is_file())
        if what != run:
            pcaplat.write(result, Path(folder) / "out")
            digests = digests_of(Path(folder) / "out")
    # ru_maxrss would be that of the process which started this one, where that was larger
    status = Path("/proc/self/status").read_text("ascii")
    caller_mb = int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6
    found = {
        "answer": json.dumps([result.document, digests], sort_keys=True),
        "caller_mb": caller_mb,
        "returned_mb": sum(returned) / 1e6,
        "shuffled_bytes": shuffled_bytes,
    }
    kept.write_text(json.dumps(found))


def digests_of(folder: Path) -> dict[str, str]:
    """Give the digest of each table that was written."""
    found = {}
    for table in sorted(folder.glob("*.parquet")):
        with table.open("rb") as file:
            found[table.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


@contextmanager
def counted_sums() -> Iterator[list[int]]:
    """Count what tasks that match return to the caller, in bytes, task by task."""
    from pcaplat.run.engines.slices import SlicedMatching  # noqa: PLC0415 - its cost is a run's

    counted: list[int] = []
    usual = SlicedMatching.added_up

    def added_up(job: SlicedMatching, results: Sequence[TaskResult], directory: str) -> object:
        counted.extend(len(one.sums) for one in results)
        return usual(job, results, directory)

    with patch.object(SlicedMatching, "added_up", added_up):
        yield counted


@contextmanager
def options_of(run: str, kept: Path) -> Iterator[dict[str, Any]]:
    """Give the options of merge for a run, with what it needs."""
    if run == "local":
        yield {}
    elif run.isdigit():
        with ProcessPoolExecutor(N_PROCESSES, mp_context=get_context("spawn")) as pool:
            yield {"executor": pool, "slices": int(run)}
    elif run in {"dask", "killed"}:
        with on_dask(kept.with_suffix(".killed"), is_killed=run == "killed") as options:
            yield options
    elif run == "sail":
        with on_sail() as options:
            yield options
    else:
        engine, _, n_slices = run.rpartition("*")
        yield {"engine": engine, "slices": int(n_slices)}


@contextmanager
def on_dask(mark: Path, *, is_killed: bool) -> Iterator[dict[str, Any]]:
    """Give the options for Dask with two worker processes, one of which may be killed."""
    from distributed import Client, LocalCluster  # noqa: PLC0415 - its cost is a run's

    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        executor = client.get_executor()
        yield {"executor": Dying(executor, mark) if is_killed else executor, "slices": N_SLICES}
        if mark.exists() != is_killed:
            sys.exit("no worker was killed")


@contextmanager
def on_sail() -> Iterator[dict[str, Any]]:
    """Give the options for a server of Sail in a process of its own."""
    script = str(Path(sys.executable).with_name("sail"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        _, port = free.getsockname()
    server = subprocess.Popen([script, "spark", "server", "--port", str(port)])
    try:
        wait_for(port)
        yield {"engine": f"spark:sc://127.0.0.1:{port}", "slices": N_SLICES}
    finally:
        server.terminate()
        server.wait()


def wait_for(port: int) -> None:
    """Wait until somebody listens."""
    while True:
        with socket.socket() as asked:
            if asked.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)


class Dying:
    """An executor one of whose workers is killed, once, when it is done with its task."""

    def __init__(self, executor: Executor, mark: Path) -> None:
        self.executor, self.mark = executor, mark

    def submit(self, fn: Run, /, *args: object) -> Future[object]:
        """See `concurrent.futures.Executor.submit`."""
        return self.executor.submit(killed_once, self.mark, fn, *args)


def killed_once(mark: Path, fn: Run, task: object) -> object:
    """Run a task; the first time that a slice is matched, the worker dies before it says so."""
    found = fn(task)
    if type(task).__name__ == "SliceTask" and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return found


def told(row: Row, n_frames: int, n_bytes: int) -> None:
    """Calculate what more frames take."""
    cpu_s, shuffled = row.cpu_s / n_frames, row.shuffled_bytes / n_frames
    far = LINK_BPS / 8 / MEAN_BYTES * N_FAR_POINTS * FAR_S
    print("| frames | CPU, hours of one core | captures, TB | shared folder, TB |")
    print("| --- | --- | --- | --- |")
    for name, n, mean_bytes in (
        ("a billion, as measured", 1e9, n_bytes / n_frames),
        ("a billion of 800 bytes", 1e9, MEAN_BYTES + 16),
        ("100 Gb/s, 10 points, an hour, 800 bytes", far, MEAN_BYTES + 16),
    ):
        hours, read_tb, passed_tb = n * cpu_s / 3600, n * mean_bytes / 1e12, n * shuffled / 1e12
        print(f"| {name}: {n:.3g} | {hours:,.1f} | {read_tb:,.2f} | {passed_tb:,.3f} |")
    print("\n| a billion frames of 800 bytes | CPU alone takes | storage gives, GB/s |")
    print("| --- | --- | --- |")
    for name, n_cores in MACHINES:
        wall_s = 1e9 * cpu_s / n_cores
        print(f"| {name} | {duration(wall_s)} | {1e9 * (MEAN_BYTES + 16) * 2 / wall_s / 1e9:.1f} |")
    print(
        "\n| workers | 100 Gb/s, 10 points, an hour | storage gives, GB/s | shared folder, GB/s |"
    )
    print("| --- | --- | --- | --- |")
    for n in WORKERS:
        wall_s = far * cpu_s / n
        read, passed = far * (MEAN_BYTES + 16) * 2 / wall_s, far * shuffled * 2 / wall_s
        print(f"| {n:,} | {duration(wall_s)} | {read / 1e9:,.1f} | {passed / 1e9:,.2f} |")
    print(f"\n{os.cpu_count()} cores here.")


def duration(wall_s: float) -> str:
    """Say how long it takes, in the unit that reads best."""
    for unit, n_s in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if wall_s >= 2 * n_s:
            return f"{wall_s / n_s:.0f} {unit}"
    return f"{wall_s:.0f} s"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2], Path(sys.argv[3]), sys.argv[4:])
    else:
        main()
