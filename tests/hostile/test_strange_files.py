"""Files that change, vanish or never answer, and places that cannot be written to."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import pcaplat
from pcaplat.cli import run
from pcaplat.run.engines import local
from pcaplat.stages.read import batches_of
from tests.conftest import ROOT, until_it_waits

if TYPE_CHECKING:
    from collections.abc import Callable

    from pcaplat.model.matched import Matched

PCAPLAT = [sys.executable, "-m", "pcaplat"]
SAMPLES = ROOT / "samples" / "vxlan"
WHOLE = (SAMPLES / "sw-a.pcap").read_bytes()
N_FRAMES = 328
PATIENCE_S = 30


def shrink(path: Path) -> None:
    os.truncate(path, 20_000)


def grow(path: Path) -> None:
    with path.open("ab") as stream:
        stream.write(WHOLE[24:])


def vanish(path: Path) -> None:
    path.unlink()


def be_another(path: Path) -> None:
    path.write_bytes(b"hello")


CHANGES = [shrink, grow, vanish, be_another]


@pytest.fixture
def pair(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "a.pcap", tmp_path / "b.pcap"]
    paths[0].write_bytes(WHOLE)
    paths[1].write_bytes((SAMPLES / "sw-b.pcap").read_bytes())
    return paths


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changes_between_the_passes_is_told(
    pair: list[Path], change: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    match = local.LocalEngine.match

    def changing(*given: Any, **options: Any) -> Matched:  # noqa: ANN401 - those of match
        change(pair[0])
        return match(*given, **options)

    monkeypatch.setattr(local.LocalEngine, "match", changing)
    if change in (vanish, be_another):
        with pytest.raises((pcaplat.InputError, FileNotFoundError), match=r"a\.pcap"):
            pcaplat.merge(pair)
        return
    document = pcaplat.merge(pair).document
    [warning] = [row for row in document["warnings"] if row["code"] == "changed-capture"]
    assert f"first {len(WHOLE):,} bytes, then" in warning["text"]
    pair[0].write_bytes(WHOLE)
    with pytest.raises(pcaplat.InputError, match="changed while it was read"):
        pcaplat.merge(pair, strict=True)


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changes_while_rows_are_read_is_told(
    pair: list[Path], change: Callable[[Path], None]
) -> None:
    stream = pcaplat.read(pair[::-1], batch_rows=10)
    batches = batches_of(stream)
    next(batches)
    change(pair[0])
    if change in (vanish, be_another):
        with pytest.raises((pcaplat.InputError, FileNotFoundError), match=r"a\.pcap"):
            list(batches)
        return
    n_more = sum(batch.num_rows for batch in batches)
    assert n_more == (441 if change is shrink else 3 * N_FRAMES - 10)
    assert len(stream.damage()) == (change is shrink)


def test_the_cause_is_kept_for_who_reads_arrow(pair: list[Path]) -> None:
    stream = pcaplat.read(pair, batch_rows=10)
    reader = pa.RecordBatchReader.from_stream(stream)
    next(reader)
    pair[1].unlink()
    with pytest.raises(pa.ArrowException):
        list(reader)
    with pytest.raises(FileNotFoundError):
        stream.check()


@pytest.mark.parametrize("command", [["read"], ["read", "--follow"], ["merge"]])
def test_waiting_for_a_pipe_can_be_interrupted(tmp_path: Path, command: list[str]) -> None:
    pipe = tmp_path / "pipe.pcap"
    os.mkfifo(pipe)
    process = subprocess.Popen([*PCAPLAT, *command, str(pipe)], stderr=subprocess.PIPE)
    until_it_waits(process.pid)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, said) == (130, b"")


@pytest.mark.parametrize("command", ["read", "merge"])
def test_waiting_for_a_silent_writer_can_be_interrupted(tmp_path: Path, command: str) -> None:
    pipe = tmp_path / "pipe.pcap"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)
    try:
        os.write(writer, WHOLE[:5_000])
        _interrupted([command, str(pipe)])
    finally:
        os.close(writer)


@pytest.mark.parametrize("command", ["read", "merge"])
def test_waiting_for_a_device_can_be_interrupted(command: str) -> None:
    """A terminal, at which nobody types."""
    keyboard, terminal = os.openpty()
    try:
        _interrupted([command, os.ttyname(terminal)])
    finally:
        os.close(terminal)
        os.close(keyboard)


def _interrupted(arguments: list[str]) -> None:
    with subprocess.Popen([*PCAPLAT, *arguments], stderr=subprocess.PIPE) as process:
        try:
            until_it_waits(process.pid)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    assert (process.returncode, said) == (130, b"")


@pytest.mark.parametrize("device", ["zero", "urandom"])
def test_a_device_without_end_is_refused(device: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["merge", f"/dev/{device}", str(SAMPLES / "sw-b.pcap")]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"pcaplat: /dev/{device}: ")
    assert "not a capture" in said
    assert said.count("\n") == 1


def test_waiting_for_standard_input_can_be_interrupted(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*PCAPLAT, "merge", "-", "x"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    ) as process:
        end = time.monotonic() + PATIENCE_S
        while not list(tmp_path.glob("*/pipe*")) and time.monotonic() < end:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=PATIENCE_S)
        assert process.stderr is not None
        assert (process.returncode, process.stderr.read()) == (130, b"")


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("loop.pcap", "too many levels of symbolic links; it is a link that leads to itself"),
        ("folder.pcap", "is a directory; give the files in it"),
        (os.devnull, "empty file"),
        ("/dev/zero", "not a capture: zeros only"),
        (os.fsdecode(b"\xff\xfe.pcap"), r"\udcff\udcfe.pcap: no such file or directory"),
        ("forbidden.pcap", "permission denied; check its permissions"),
    ],
)
@pytest.mark.parametrize("command", ["read", "merge"])
def test_what_is_no_file_is_one_line(
    tmp_path: Path,
    command: str,
    where: str,
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loop.pcap").symlink_to("loop.pcap")
    Path("folder.pcap").mkdir()
    Path("forbidden.pcap").write_bytes(WHOLE)
    Path("forbidden.pcap").chmod(0)
    if where == "forbidden.pcap" and os.access(where, os.R_OK):
        pytest.skip("whoever runs this may read everything")
    others = [str(SAMPLES / "sw-b.pcap")] if command == "merge" else []
    assert run([command, where, *others]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("command", ["read", "merge"])
def test_what_is_read_is_not_written_over(
    pair: list[Path], command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = pair[0].parent
    if command == "read":
        capture = pair[0].rename(folder / "a.csv")
        arguments = ["read", str(capture), "-o", str(folder / "." / "a.csv")]
    else:
        capture = pair[0].rename(folder / "merged.pcapng")
        arguments = ["merge", f"a={capture}", str(pair[1]), "-o", str(folder), "--overwrite"]
    assert run(arguments) == 2
    assert "is one of the captures, and would be replaced" in capsys.readouterr().err
    assert capture.read_bytes() == WHOLE


def test_a_folder_of_captures_takes_results_too(pair: list[Path]) -> None:
    folder = pair[0].parent
    assert run(["merge", *map(str, pair), "-o", str(folder), "--overwrite", "--quiet"]) == 0
    assert run(["merge", *map(str, pair), "-o", str(folder / "out"), "--quiet"]) == 0
    assert pair[0].read_bytes() == WHOLE
    assert (folder / "out" / "summary.json").exists()


@pytest.mark.parametrize("command", ["merge", "read", "shown"])
def test_a_full_disk_is_told_with_its_place(pair: list[Path], command: str) -> None:
    target = pair[0].parent / "out"
    arguments = {
        "merge": ["merge", *pair, "-o", target, "--quiet"],
        "read": ["read", pair[0], "-o", target.with_suffix(".csv")],
        "shown": ["read", pair[0]],
    }[command]
    out = Path("/dev/full") if command == "shown" else Path(os.devnull)
    with out.open("wb") as stdout:
        done = subprocess.run(
            [*PCAPLAT, *map(str, arguments)],
            stdout=stdout,
            stderr=subprocess.PIPE,
            check=False,
            preexec_fn=None if command == "shown" else _little_room,
        )
    where = "standard output: no space" if command == "shown" else f"{target}"
    assert done.returncode == 2
    assert done.stderr.decode().startswith(f"pcaplat: {where}")
    assert done.stderr.count(b"\n") == 1
    assert {path.name for path in pair[0].parent.iterdir()} == {"a.pcap", "b.pcap"}


def _little_room() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (12_288, 12_288))


def test_a_temporary_folder_that_is_not_there_does_no_harm(pair: list[Path]) -> None:
    done = subprocess.run(
        [*PCAPLAT, "merge", *map(str, pair), "--format", "csv", "--quiet"],
        env=os.environ | {"TMPDIR": "/nonexistent"},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
