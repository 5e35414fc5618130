"""The program as a process: signals, and standard streams that are closed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

PCAPLAT = [sys.executable, "-m", "pcaplat"]
SAMPLES = ROOT / "samples" / "vxlan"
ENDS = [str(SAMPLES / name) for name in ("sw-a.pcap", "sw-b.pcap")]


def in_shell(command: str) -> subprocess.CompletedProcess[str]:
    line = f"{' '.join(PCAPLAT)} {command}"
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", [f"merge {' '.join(ENDS)} >&-", f"read {ENDS[0]} >&-"])
def test_without_standard_output_there_is_nobody_to_tell(command: str) -> None:
    done = in_shell(command)
    assert done.returncode == 2
    assert done.stderr == (
        "pcaplat: standard output is closed; leave it open, or write files with --output\n"
    )


def test_without_standard_output_files_are_written(tmp_path: Path) -> None:
    done = in_shell(f"merge {' '.join(ENDS)} -o {tmp_path / 'out'} >&-")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out" / "summary.json").exists()


@pytest.mark.parametrize("command", ["merge - x.pcap <&-", "read - <&-"])
def test_without_standard_input_there_is_nothing_to_read(command: str) -> None:
    done = in_shell(command)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("pcaplat: -: standard input is closed")


def test_without_standard_error_warnings_do_not_become_results() -> None:
    command = f"merge {' '.join(ENDS)} --format csv"
    told, untold = in_shell(command), in_shell(f"{command} 2>&-")
    assert told.stderr != ""
    assert (untold.returncode, untold.stdout) == (0, told.stdout)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_nothing_behind(number: signal.Signals, tmp_path: Path) -> None:
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    pipe = tmp_path / "live.pcap"
    os.mkfifo(pipe)
    command = [*PCAPLAT, "merge", str(pipe), ENDS[0]]
    # the pipe opens when the program does: it has its temporary folder by then
    with (
        subprocess.Popen(command, env=os.environ | {"TMPDIR": str(scratch)}) as process,
        pipe.open("wb"),
    ):
        assert any(scratch.iterdir())
        process.send_signal(number)
        process.wait(timeout=20)
    assert process.returncode == 128 + number
    assert list(scratch.iterdir()) == []


def test_nohup_is_respected(tmp_path: Path) -> None:
    pipe = tmp_path / "live.pcap"
    os.mkfifo(pipe)
    line = f"trap '' HUP; exec {' '.join(PCAPLAT)} read {pipe}"
    with subprocess.Popen(["bash", "-c", line], stdout=subprocess.PIPE) as process:
        with pipe.open("wb") as stream:
            process.send_signal(signal.SIGHUP)
            stream.write(Path(ENDS[0]).read_bytes())
        rows, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert rows.count(b"\n") > 100


DROPPED = """
import os, signal, sys, time, weakref
from pcaplat import cli

class Gone:
    pass

def app(**_):
    one = Gone()
    watched = weakref.ref(one, lambda _: signal.raise_signal(int(os.environ["NUMBER"])))
    del one  # Python drops what is raised while it calls back
    time.sleep(30)

cli.application = lambda _: app
cli.main()
"""


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_is_heard_where_python_drops_it(number: signal.Signals, status: int) -> None:
    """An import calls back at its end: there, a signal was dropped, and the program went on."""
    done = subprocess.run(
        [sys.executable, "-c", DROPPED],
        capture_output=True,
        check=False,
        timeout=20,
        env=os.environ | {"NUMBER": str(int(number))},
    )
    assert (done.returncode, done.stderr) == (status, b"")
