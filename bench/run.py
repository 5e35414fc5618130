"""The benchmark: `pcaplat merge` beside what the same files cost other readers, all in one run.

`make bench` calls it. Nothing here fails on a slow machine: it prints what it measured, and checks
only that the merge found what `generate.py` says is in the files. `python bench/run.py FOLDER ...`
compares this build with those of other checkouts instead, all in turns.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DATA = HERE / "data"
POINTS = ("vm", "uplink", "mirror")
N_RUNS = 5
ALLOWED_RATIO, ALLOWED_RSS_MB = 3.0, 600
ALLOWED_WRONG_SHARE = 1e-4


@dataclass(frozen=True)
class Cost:
    """What one command took: medians of its wall and CPU times, the greatest of its memory."""

    name: str
    wall_s: float
    spread_s: float
    cpu_s: float
    max_rss_mb: float
    share: float = 1.0  # of the packets


def main() -> None:
    """Generate, measure, print."""
    subprocess.run([sys.executable, HERE / "generate.py", DATA], check=True)
    files = [str(DATA / f"{point}.pcap") for point in POINTS]
    check_truth(files)
    if sys.argv[1:]:
        compare(files, [Path(sys.executable).parent, *map(bin_of, sys.argv[1:])])
        return
    with tempfile.TemporaryDirectory() as scratch:
        costs = measured(commands(files, Path(scratch)))
    report(costs, files)


READ = """import sys, pcaplat, pyarrow
for _ in pyarrow.RecordBatchReader.from_stream(pcaplat.read(sys.argv[1:])): pass"""
"""Decodes and does no more."""


def bin_of(folder: str) -> Path:
    """Where a checkout that was built has its programs."""
    return Path(folder).resolve() / ".venv" / "bin"


def compare(files: list[str], builds: list[Path]) -> None:
    """Print what merging and decoding take with each build, and how the first does beside them."""
    commands: list[tuple[str, list[str], float]] = []
    for build in builds:
        name = build.parent.parent.name
        commands.append((f"{name}: merge", [str(build / "pcaplat"), "merge", *files], 1.0))
        commands.append((f"{name}: read", [str(build / "python"), "-c", READ, *files], 1.0))
    costs = measured(commands)
    print(f"\n{'command':28} {'CPU s':>7} {'wall s':>8} {'max RSS MB':>11}")
    for cost in costs:
        print(f"{cost.name:28} {cost.cpu_s:7.2f} {cost.wall_s:8.2f} {cost.max_rss_mb:11.0f}")
    for at, other in list(enumerate(costs))[2:]:
        ours = costs[at % 2]
        cpu, wall = ours.cpu_s / other.cpu_s, ours.wall_s / other.wall_s
        print(f"{ours.name} takes {cpu:.2f} times the CPU and {wall:.2f} the wall of {other.name}")


def pcaplat() -> str:
    """The command line of the environment this runs in."""
    return str(Path(sys.executable).parent / "pcaplat")


def commands(files: list[str], scratch: Path) -> list[tuple[str, list[str], float]]:
    """What is compared, as far as it is here: name, command line, share of the packets."""
    tenth = [str(scratch / Path(file).name) for file in files]
    found = [("pcaplat merge", [pcaplat(), "merge", *files], 1.0)]
    if shutil.which("mergecap"):
        found.append(("mergecap -w /dev/null", ["mergecap", "-w", "/dev/null", *files], 1.0))
    loop = compiled(scratch)
    if loop:
        found.append(("libpcap's read loop, bare", [loop, *files], 1.0))
    if shutil.which("tshark") and shutil.which("editcap"):
        for file, part in zip(files, tenth, strict=True):
            subprocess.run(
                ["editcap", "-F", "nsecpcap", "-r", file, part, "1-100000"],
                check=True,
                capture_output=True,
            )
        found.append(
            ("tshark -T fields, a tenth", ["sh", "-c", fields_script(), "sh", *tenth], 0.1)
        )
    return found


def fields_script() -> str:
    """One tshark after the other; the fields are those a hand-made match would need."""
    names = "frame.time_epoch ip.src ip.dst ip.id ip.proto tcp.seq_raw tcp.ack_raw udp.length"
    fields = " ".join(f"-e {name}" for name in names.split())
    return f'for file; do tshark -r "$file" -T fields {fields} || exit; done'


def compiled(scratch: Path) -> str | None:
    """Build the C loop; None where there is no compiler or no libpcap header."""
    out = scratch / "read_loop"
    compiler = shutil.which("cc")
    if not compiler:
        return None
    built = subprocess.run(
        [compiler, "-O2", "-o", out, HERE / "read_loop.c", "-lpcap"],
        capture_output=True,
        check=False,
    )
    return str(out) if built.returncode == 0 else None


def measured(compared: list[tuple[str, list[str], float]]) -> list[Cost]:
    """Run every command several times, in turns: other work on the machine then hits all alike."""
    rounds = [[timed(command) for _, command, _ in compared] for _ in range(N_RUNS)]
    return [
        Cost(
            name,
            wall_s=statistics.median(one[at][0] for one in rounds),
            spread_s=max(one[at][0] for one in rounds) - min(one[at][0] for one in rounds),
            cpu_s=statistics.median(one[at][1] for one in rounds),
            max_rss_mb=max(one[at][2] for one in rounds),
            share=share,
        )
        for at, (name, _, share) in enumerate(compared)
    ]


def timed(command: list[str]) -> tuple[float, float, float]:
    """Wall time and CPU time in seconds, and greatest resident memory in MB, of one run."""
    # as it is once it has run: modules are compiled
    env = {name: to for name, to in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start_s = time.perf_counter()
    with tempfile.TemporaryFile() as complaint:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=complaint, env=env)
        while child.stdout and child.stdout.read(1 << 16):
            pass
        _, status, usage = os.wait4(child.pid, 0)
        wall_s = time.perf_counter() - start_s
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            complaint.seek(0)
            sys.exit(
                f"{' '.join(command)}: exit {child.returncode}\n{complaint.read().decode()[-2000:]}"
            )
    return wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def check_truth(files: list[str]) -> None:
    """A fast wrong answer is no answer: compare the counts of a merge with what was generated."""
    command = [pcaplat(), "merge", "--quiet", "--format", "json", *files]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"pcaplat merge ended with {done.returncode}: there is nothing to time")
    found = {
        (row["near"], row["far"], row["direction"]): row
        for row in json.loads(done.stdout)["segments"]
    }
    for row in truth()["segments"]:
        segment = found[row["near"], row["far"], row["direction"]]
        print(
            f"{row['near']} to {row['far']}, {row['direction']}: "
            f"{segment['n']} of {row['n']} packets, {segment['n_lost']} of {row['n_lost']} losses"
        )
        if abs(segment["n"] - row["n"]) > row["n"] * ALLOWED_WRONG_SHARE:
            sys.exit("pcaplat merge missed what is in the files: its time would mean nothing")


def truth() -> dict[str, Any]:
    """What `generate.py` wrote down."""
    found: dict[str, Any] = json.loads((DATA / "truth.json").read_text())
    return found


def report(costs: list[Cost], files: list[str]) -> None:
    """Print the table and what it means."""
    n_frames = sum(truth()["n_frames"].values())
    n_bytes = sum(Path(file).stat().st_size for file in files)
    print(f"\n{len(files)} captures, {n_frames / 1e6:.2f} million frames, {n_bytes / 1e6:.0f} MB")
    print(f"median of {N_RUNS} runs each, files in the page cache, {os.cpu_count()} cores\n")
    heads = f"{'wall s':>8} {'spread s':>9} {'CPU s':>7} {'Mframes/s':>10} {'max RSS MB':>11}"
    print(f"{'command':28} {heads}")
    for cost in costs:
        rate = n_frames * cost.share / cost.wall_s / 1e6
        times = f"{cost.wall_s:8.2f} {cost.spread_s:9.2f} {cost.cpu_s:7.2f} {rate:10.2f}"
        print(f"{cost.name:28} {times} {cost.max_rss_mb:11.0f}")
    print()
    for cost in costs[1:]:
        ratio = costs[0].wall_s / (cost.wall_s / cost.share)
        scaled = ", scaled to all" if cost.share < 1 else ""
        print(f"pcaplat merge takes {ratio:.3g} times as long as {cost.name}{scaled}")
    print(verdict(costs))


def verdict(costs: list[Cost]) -> str:
    """What the project promises itself, and whether this run keeps it."""
    ours, merging = costs[0], next((c for c in costs if c.name.startswith("mergecap")), None)
    memory = f"memory {ours.max_rss_mb:.0f} MB of {ALLOWED_RSS_MB} allowed"
    if merging is None:
        return f"mergecap is not installed: no comparison; {memory}"
    ratio = ours.wall_s / merging.wall_s
    kept = ratio <= ALLOWED_RATIO and ours.max_rss_mb <= ALLOWED_RSS_MB
    time_kept = f"{ratio:.2f} times mergecap, which only merges the files, of {ALLOWED_RATIO:g}"
    return f"{'Kept' if kept else 'NOT kept'}: {time_kept} allowed; {memory}"


if __name__ == "__main__":
    main()
