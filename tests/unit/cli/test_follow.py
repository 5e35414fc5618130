"""`pcaplat read --follow`: files that grow, files that are replaced, and pipes."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import pcaplat
from pcaplat.errors import InputError
from tests.conftest import ROOT
from tests.support.stamped_frames import STAMPS
from tests.unit.cli.test_process import PCAPLAT
from tests.unit.stages.test_stamps import save, series

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SAMPLE = ROOT / "samples" / "vxlan" / "host1-up.pcap"
WHOLE = SAMPLE.read_bytes()
N_FRAMES = 328
PATIENCE_S = 30
WRITER = """
import sys, time
source, target, n_bytes = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open(source, "rb") as whole, open(target, "wb", buffering=0) as out:
    while piece := whole.read(n_bytes):
        out.write(piece)
        time.sleep(0.02)
"""


class Following:
    """A running `pcaplat read --follow`, and what it has printed."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.out = folder / "rows.csv"
        with self.out.open("wb") as out:
            self.process = subprocess.Popen(
                [*PCAPLAT, "read", "--follow", *arguments],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=subprocess.PIPE,
            )

    def frames(self) -> list[int]:
        lines = self.out.read_text().splitlines(keepends=True)[1:]
        return [int(line.split(",")[2]) for line in lines if line.endswith("\n")]

    def wait_for(self, is_there: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not is_there():
            assert time.monotonic() < end, self.frames()
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.02)

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE_S)

    def is_reading(self) -> bool:
        """Whether the thread is there that opens and reads the file."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return any((task / "comm").read_text() == "follow\n" for task in tasks)

    def n_reads(self) -> int:
        counts = Path(f"/proc/{self.process.pid}/io").read_text().split()
        return int(counts[counts.index("syscr:") + 1])


@contextmanager
def following(folder: Path, *arguments: str) -> Iterator[Following]:
    running = Following(folder, *arguments)
    try:
        yield running
    finally:
        running.process.kill()
        running.process.communicate()


def write_slowly(target: Path, n_bytes: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(SAMPLE), str(target), str(n_bytes)])


def expected() -> list[int]:
    return list(range(1, N_FRAMES + 1))


def test_rows_come_while_the_file_grows(tmp_path: Path) -> None:
    path = tmp_path / "live.pcap"
    path.write_bytes(b"")
    with following(tmp_path, f"vnic={path}") as running:
        path.write_bytes(WHOLE[:3001])
        running.wait_for(lambda: len(running.frames()) > 1)
        before = len(running.frames())
        with path.open("ab") as out:
            out.write(WHOLE[3001:])
        running.wait_for(lambda: len(running.frames()) >= N_FRAMES)
        assert running.interrupt() == 130
        assert running.process.communicate()[1] == b""
        assert before < N_FRAMES
        assert running.frames() == expected()
        assert pl.read_csv(running.out)["point"].unique().to_list() == ["vnic"]


def test_a_writing_process_is_followed_whatever_its_pieces(tmp_path: Path) -> None:
    path = tmp_path / "live.pcap"
    path.touch()
    with following(tmp_path, str(path)) as running:
        writer = write_slowly(path, 4099)
        running.wait_for(lambda: len(running.frames()) >= N_FRAMES)
        assert writer.wait(PATIENCE_S) == 0
        assert running.frames() == expected()
        assert running.interrupt() == 130


def test_waiting_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "live.pcap"
    path.write_bytes(WHOLE)
    with following(tmp_path, str(path)) as running:
        running.wait_for(lambda: len(running.frames()) == N_FRAMES)
        n_reads, began = running.n_reads(), time.monotonic()
        time.sleep(1)
        # ten a second; who does not wait reads a hundred thousand times
        assert running.n_reads() - n_reads < 1000 * (time.monotonic() - began)


@pytest.mark.parametrize("how", ["renamed", "rewritten"])
def test_a_file_that_takes_its_place_is_read_from_its_start(tmp_path: Path, how: str) -> None:
    path = tmp_path / "live.pcap"
    path.write_bytes(WHOLE)
    with following(tmp_path, str(path)) as running:
        running.wait_for(lambda: len(running.frames()) == N_FRAMES)
        if how == "renamed":
            other = tmp_path / "next.pcap"
            other.write_bytes(WHOLE[:3000])
            other.replace(path)
        else:
            path.write_bytes(WHOLE[:3000])
        running.wait_for(lambda: len(running.frames()) > N_FRAMES + 1)
        assert running.frames()[: N_FRAMES + 2] == [*expected(), 1, 2]


def test_a_pipe_that_nobody_writes_to_can_be_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with following(tmp_path, str(path)) as running:
        running.wait_for(running.is_reading)
        assert running.interrupt() == 130
        assert running.process.communicate()[1] == b""


@pytest.mark.parametrize("module", ["typer", "polars", "pyarrow.lib"])
def test_an_interrupt_of_the_imports_is_an_interrupt(tmp_path: Path, module: str) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    python = [sys.executable, "-X", "importtime", *PCAPLAT[1:]]
    with subprocess.Popen([*python, "read", "--follow", path], stderr=subprocess.PIPE) as process:
        assert process.stderr
        imported = (line.rpartition(b"|")[2].strip().decode() for line in process.stderr)
        assert module in imported
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        assert process.wait(PATIENCE_S) == 130
        assert b"Traceback" not in said


def test_a_pipe_is_read_as_it_is_written_and_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with following(tmp_path, str(path)) as running:
        with path.open("wb", buffering=0) as pipe:
            pipe.write(WHOLE[:3000])
            running.wait_for(lambda: len(running.frames()) > 1)
            pipe.write(WHOLE[3000:-1])
        assert running.process.wait(PATIENCE_S) == 0
        assert running.frames() == expected()[:-1]
        assert b"damaged-capture" in running.process.communicate()[1]


def test_standard_input_is_followed_compressed_too(tmp_path: Path) -> None:
    with following(tmp_path, "vnic=-") as running:
        running.process.communicate(gzip.compress(WHOLE), PATIENCE_S)
        assert running.process.returncode == 0
        assert running.frames() == expected()


def test_what_is_no_capture_is_told(tmp_path: Path) -> None:
    path = tmp_path / "text.pcap"
    path.write_text("this is no capture\n")
    with pytest.raises(InputError, match="not a capture: text"):
        pcaplat.follow(path).rows()
    with pytest.raises(FileNotFoundError):
        pcaplat.follow(tmp_path / "nothing.pcap").rows()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((str(SAMPLE), "-o", "x.csv"), b"leave out --output"),
        ((str(SAMPLE), "-"), b"run one pcaplat read for each"),
        ((str(SAMPLE), "--decode", "udp.port=1:x"), b"no layer is called"),
    ],
)
def test_what_cannot_be_followed_is_refused(
    tmp_path: Path, arguments: tuple[str, ...], words: bytes
) -> None:
    with following(tmp_path, *arguments) as running:
        _, said = running.process.communicate(timeout=PATIENCE_S)
        assert running.process.returncode == 2
        assert words in said


@pytest.mark.parametrize("name", STAMPS)
def test_times_inside_frames_are_found(tmp_path: Path, name: str) -> None:
    stamped = save(tmp_path / "stamped.pcap", series(STAMPS[name], 60))
    whole = pl.DataFrame(pcaplat.read(stamped))["stamp_ns"].to_list()
    assert None not in whole
    rows = pl.DataFrame(pcaplat.follow(stamped).rows())
    assert rows["stamp_ns"].to_list() == whole[: len(rows)]
    pipe = tmp_path / "pipe.pcap"
    os.mkfifo(pipe)
    following = pcaplat.follow(pipe)
    pipe.write_bytes(stamped.read_bytes())
    parts = []
    while batch := following.rows():
        parts.append(pl.DataFrame(batch))
    found = pl.concat(parts)["stamp_ns"].to_list()
    assert found == [None] * 7 + whole[7:], "the first frames are there before the evidence"
