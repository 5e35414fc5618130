"""Processes and their limits: forks, few descriptors, two that write into one folder."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.support.request_runs import RequestRun

PCAPLAT = [sys.executable, "-m", "pcaplat"]


def in_python(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a script by itself."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


# ---- forks

FORK = """
import os, sys
import pcaplat

def main():
    with pcaplat.merge(sys.argv[2:]) as result:
        n = sum(batch.num_rows for batch in result.packet_batches())
        result.traffic_rows
        child = os.fork()
        if not child:
            LEAVE
        _, status = os.waitpid(child, 0)
        assert sum(batch.num_rows for batch in result.packet_batches()) == n
        assert sum(batch.num_rows for batch in result.match_batches())
        pcaplat.write(result, sys.argv[1])
    print("whole", n)

main()
"""
LEAVES = ["sys.exit(0)", "return", "raise RuntimeError", "result.close(); os._exit(0)"]


@pytest.mark.parametrize("leave", LEAVES)
def test_a_child_that_leaves_takes_nothing_along(tmp_path: Path, leave: str) -> None:
    folder = RequestRun().save(tmp_path / "run")
    done = in_python(FORK.replace("LEAVE", leave), tmp_path / "out", *sorted(folder.iterdir()))
    assert "whole" in done.stdout, done.stderr
    assert (tmp_path / "out" / "packets.parquet").exists()


# ---- descriptors


def limited(limits: dict[int, tuple[int, int]], *arguments: object, cores: int = 0) -> str:
    """Run a command under limits; what it says on stderr, and its status first."""

    def set_limits() -> None:
        for limit, values in limits.items():
            resource.setrlimit(limit, values)

    environment = dict(os.environ)
    if cores:
        environment |= {"POLARS_MAX_THREADS": str(cores), "RAYON_NUM_THREADS": str(cores)}
    done = subprocess.run(
        [*PCAPLAT, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        preexec_fn=set_limits,
        env=environment,
    )
    return f"{done.returncode} {done.stderr}"


def many_files(folder: Path, n: int) -> list[str]:
    """Two points, and half of the files of each."""
    files: list[str] = []
    for at in range(n // 2):
        run = RequestRun(start_ns=RequestRun.start_ns + at * 10**9, n=40, seed=at)
        files += [f"{file.stem}={file}" for file in sorted(run.save(folder / str(at)).iterdir())]
    return files


@pytest.mark.parametrize("soft", [24, 64, 256])
def test_a_low_soft_limit_of_descriptors_is_raised(tmp_path: Path, soft: int) -> None:
    files = many_files(tmp_path / "runs", 160)
    said = limited({resource.RLIMIT_NOFILE: (soft, 4096)}, "merge", *files, "-o", tmp_path / "out")
    assert said.startswith("0 "), said


def test_the_soft_limit_of_descriptors_rises_to_the_hard_one() -> None:
    process = subprocess.Popen(
        ["sh", "-c", 'ulimit -Sn 256; ulimit -Hn 1024; exec "$@"', "sh", *PCAPLAT, "read", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    limits = Path(f"/proc/{process.pid}/limits")
    try:
        end_s = time.monotonic() + 60
        while "1024 1024" not in (found := _open_files(limits)) and time.monotonic() < end_s:
            time.sleep(0.05)
    finally:
        process.kill()
        process.communicate()
    assert found == "1024 1024"


def _open_files(limits: Path) -> str:
    (line,) = [one for one in limits.read_text("ascii").splitlines() if "open files" in one]
    return " ".join(line.split()[3:5])


@pytest.mark.parametrize("hard", [64, 128])
def test_few_files_are_open_at_once(tmp_path: Path, hard: int) -> None:
    files = many_files(tmp_path / "runs", 160)
    said = limited({resource.RLIMIT_NOFILE: (hard, hard)}, "merge", *files, "-o", tmp_path / "out")
    assert said.startswith("0 "), said


@pytest.mark.parametrize("most", [12, 20])
@pytest.mark.parametrize("output", [[], ["-o", "out"]], ids=["shown", "written"])
def test_too_few_descriptors_are_named(tmp_path: Path, most: int, output: list[str]) -> None:
    files = many_files(tmp_path / "runs", 8)
    where = [*output[:1], *(tmp_path / name for name in output[1:])]
    said = limited({resource.RLIMIT_NOFILE: (most, most)}, "merge", *files, *where)
    assert said.startswith(("0 ", "2 ")), said
    assert said.startswith("0 ") or "ulimit -n" in said
    assert "a bug" not in said
    assert "Traceback" not in said


FIRST_USER, N_USERS = 60_000, 5_000
USERS = count(16 * os.getpid())


def alone() -> list[str]:
    """Run as a user of whom nothing else runs; root has as many processes as it wants.

    The kernel takes a while to forget what ran before: another user each time.
    """
    user = str(FIRST_USER + next(USERS) % N_USERS)
    return ["--ruid", user, "--euid", "0", "--bounding-set", "-sys_resource,-sys_admin"]


@pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("setpriv") is None, reason="it takes root to be another user"
)
@pytest.mark.parametrize("most", [1, 3, 6, 10])
@pytest.mark.parametrize("words", [["merge", "-o", "out"], ["read", "-o", "rows.parquet"]])
def test_too_few_threads_are_named(tmp_path: Path, words: list[str], most: int) -> None:
    files = many_files(tmp_path / "runs", 4)
    command, *options = words
    with TemporaryDirectory() as folder:  # that another user may write into
        Path(folder).chmod(0o777)
        done = subprocess.run(
            ["setpriv", *alone(), *PCAPLAT, command, *files, *options],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            timeout=120,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (most, most)),
        )
    assert "a bug" not in done.stderr
    assert done.returncode == 0 or "ulimit -u" in done.stderr


# ---- two that write


@pytest.mark.parametrize("seed", range(2))
def test_of_two_merges_into_one_new_folder_one_is_refused(tmp_path: Path, seed: int) -> None:
    runs = [RequestRun(n=1500, seed=seed + at, n_bytes=64 + at) for at in range(2)]
    folders = [run.save(tmp_path / str(at)) for at, run in enumerate(runs)]
    out = tmp_path / "out"
    started = []
    for folder in folders:
        files = sorted(map(str, folder.iterdir()))
        command = [*PCAPLAT, "merge", *files, "-o", str(out), "--quiet"]
        started.append(subprocess.Popen(command, stdout=-3, stderr=subprocess.PIPE, text=True))
    said = [one.communicate(timeout=120)[1] for one in started]
    statuses = [one.returncode for one in started]
    assert sorted(statuses) == [0, 2], said
    assert "out" in said[statuses.index(2)]
    # what is there is of one run, whole
    document = json.loads((out / "summary.json").read_text())
    (winner,) = {capture["file"].split("/")[-2] for capture in document["captures"]}
    assert winner == str(statuses.index(0))
