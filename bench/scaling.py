"""What tasks cost beside threads, and what follows for more: `python bench/scaling.py [PACKETS]`.

Three points with so many packets each (1,000,000 unless given) are merged by the local engine, and
in 1, 2, 4 and 8 slices by a pool of two processes. For each: wall time, CPU and peak memory of the
process tree, peak memory of the process that called merge, and bytes of observations a frame that
pass through the shared folder. All answers have to be the same, or it fails. From the cost a frame
of the last it calculates a billion packets, and 100 Gb/s at ten points for an hour.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from measure.process_tree import cost_of

HERE = Path(__file__).parent
N_POINTS, SLICES, N_PROCESSES = 3, (0, 1, 2, 4, 8), 2
LINK_BPS, N_FAR_POINTS, FAR_S, MEAN_BYTES = 100e9, 10, 3600, 800


@dataclass(frozen=True)
class Row:
    """One run."""

    name: str
    wall_s: float
    cpu_s: float
    peak_mb: float
    caller_mb: float
    shuffled_bytes: int


def main() -> None:
    """Print the rows, and what follows from them."""
    n_packets = int((sys.argv[1:] or ["1000000"])[0])
    subprocess.run([sys.executable, HERE / "generate.py", "plain", str(n_packets)], check=True)
    files = [str(one) for one in sorted((HERE / "data" / f"plain-{n_packets}").glob("*.pcap"))]
    n_frames, n_bytes = N_POINTS * n_packets, sum(Path(one).stat().st_size for one in files)
    print(f"{N_POINTS} × {n_packets:,} packets, {n_bytes / 1e6:,.0f} MB\n")
    print("| run | wall, s | CPU, s | MB, all | MB, caller | bytes a frame, shared folder |")
    print("| --- | --- | --- | --- | --- | --- |")
    answers, rows = set(), []
    for n_slices in SLICES:
        row, answer = measured(files, n_slices)
        answers.add(answer)
        rows.append(row)
        shuffled = f"{row.shuffled_bytes / n_frames:.1f}" if n_slices else "–"
        print(
            f"| {row.name} | {row.wall_s:.1f} | {row.cpu_s:.1f} | {row.peak_mb:.0f} "
            f"| {row.caller_mb:.0f} | {shuffled} |"
        )
    print(f"\nAnswers: {len(answers)}.\n")
    told(rows[-1], n_frames, n_bytes)
    if len(answers) != 1:
        sys.exit("the answer depends on the number of slices")


def measured(files: list[str], n_slices: int) -> tuple[Row, str]:
    """Merge in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "kept.json"
        cost = cost_of([sys.executable, __file__, "--one", str(n_slices), str(kept), *files])
        found = json.loads(kept.read_text())
    name = f"{n_slices} slices, {N_PROCESSES} processes" if n_slices else "local, threads"
    row = Row(
        name, cost.wall_s, cost.cpu_s, cost.peak_mb, found["caller_mb"], found["shuffled_bytes"]
    )
    return row, found["answer"]


def one(n_slices: int, kept: Path, files: list[str]) -> None:
    """Merge once, and keep the answer."""
    import pcaplat  # noqa: PLC0415 - its cost is a run's

    shuffled_bytes = 0
    if n_slices:
        pool = ProcessPoolExecutor(N_PROCESSES, mp_context=get_context("spawn"))
        with pool, tempfile.TemporaryDirectory() as folder:
            state = Path(folder) / "state"
            # what is kept for an interruption is what passes from task to task
            result = pcaplat.merge(files, executor=pool, slices=n_slices, resume=state)
            read = [path for path in state.glob("done-ReadTask-*/files/*") if path.is_file()]
            shuffled_bytes = sum(path.stat().st_size for path in read)
    else:
        result = pcaplat.merge(files)
    caller_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    answer = json.dumps(result.document, sort_keys=True)
    kept.write_text(
        json.dumps({"answer": answer, "caller_mb": caller_mb, "shuffled_bytes": shuffled_bytes})
    )


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
    print(f"\n{os.cpu_count()} cores here.")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:])
    else:
        main()
