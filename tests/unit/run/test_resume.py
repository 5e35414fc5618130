"""A merge that was interrupted goes on with the tasks that are not done."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pcaplat
from pcaplat.errors import EngineError
from pcaplat.run.engines.extents import SurveyTask
from pcaplat.run.engines.unfinished import Unfinished
from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLES = sorted((ROOT / "samples" / "vxlan").glob("*.pcap*"))
N_SLICES = 5


class InterruptedTaskError(Exception):
    """What stops a run in the middle."""


class Counting:
    """Runs tasks one after the other, counts those of matching, stops before one too many."""

    def __init__(self, most: int) -> None:
        self.most, self.n_run = most, 0

    def submit(self, task: Callable[..., Any], *given: Any) -> Future[Any]:  # noqa: ANN401 - any task
        done: Future[Any] = Future()
        if isinstance(given[0], SurveyTask):
            done.set_result(task(*given))
        elif self.n_run >= self.most:
            done.set_exception(InterruptedTaskError())
        else:
            self.n_run += 1
            done.set_result(task(*given))
        return done


def written(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in sorted(folder.iterdir())}


def merge(state: Path, executor: Counting, out: Path | None = None, **options: Any) -> None:  # noqa: ANN401 - options of merge
    found = pcaplat.merge(
        [str(one) for one in SAMPLES],
        executor=executor,
        slices=N_SLICES,
        resume=state,
        **options,
    )
    with found as result:
        if out is not None:
            pcaplat.write(result, out)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("whole") / "out"
    with pcaplat.merge([str(one) for one in SAMPLES]) as result:
        pcaplat.write(result, out)
    return written(out)


@pytest.mark.parametrize("n_done", [1, len(SAMPLES), len(SAMPLES) + 3])
def test_what_is_done_is_not_done_again(
    n_done: int, tmp_path: Path, whole: dict[str, bytes]
) -> None:
    state = tmp_path / "state"
    with pytest.raises(InterruptedTaskError):
        merge(state, Counting(n_done))
    again = Counting(1_000)
    merge(state, again, tmp_path / "out")
    assert again.n_run == len(SAMPLES) + N_SLICES - n_done
    assert written(tmp_path / "out") == whole
    assert not state.exists()


def test_an_interruption_while_all_is_added_up_costs_nothing(
    tmp_path: Path, whole: dict[str, bytes]
) -> None:
    """Adding up removes and rewrites what tasks wrote."""
    state = tmp_path / "state"

    def failed() -> None:
        with pcaplat.merge(
            [str(one) for one in SAMPLES], executor=Counting(99), slices=N_SLICES, resume=state
        ):
            raise InterruptedTaskError

    with pytest.raises(InterruptedTaskError):
        failed()
    again = Counting(99)
    merge(state, again, tmp_path / "out")
    assert again.n_run == 0
    assert written(tmp_path / "out") == whole


@pytest.mark.parametrize("changed", [{"same_clock": ["all"]}, {"bpf": "tcp"}, {"keep_rows": False}])
def test_another_merge_begins_anew(changed: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InterruptedTaskError):
        merge(tmp_path / "state", Counting(3))
    again = Counting(99)
    merge(tmp_path / "state", again, **changed)
    assert again.n_run == len(SAMPLES) + N_SLICES


def _change_the_end(capture: Path) -> None:
    with capture.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"!")


def _write_again(capture: Path) -> None:
    """What it may be in its middle, nothing tells but the time: a capture may be of terabytes."""
    capture.write_bytes(capture.read_bytes())


@pytest.mark.parametrize("change", [_change_the_end, _write_again])
def test_other_captures_begin_anew(change: Callable[[Path], None], tmp_path: Path) -> None:
    copies = [Path(shutil.copy(one, tmp_path / one.name)) for one in SAMPLES]
    with pytest.raises(InterruptedTaskError):
        pcaplat.merge(copies, executor=Counting(3), slices=N_SLICES, resume=tmp_path / "state")
    change(copies[0])
    again = Counting(99)
    with pcaplat.merge(copies, executor=again, slices=N_SLICES, resume=tmp_path / "state"):
        assert again.n_run == len(SAMPLES) + N_SLICES


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InterruptedTaskError):
        merge(tmp_path / "state", Counting(3))
    state = Unfinished.at(tmp_path / "other")
    assert not state.lock.closed
    with pytest.raises(EngineError, match="another merge is at work"):
        merge(state.folder, Counting(3))
    state.lock.close()


def test_files_of_others_are_not_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(EngineError, match="holds other files"):
        merge(tmp_path, Counting(3))
    assert [one.name for one in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("state", ["[]", "null", "{}", '{"job": 1}', "no JSON", ""])
def test_a_folder_with_a_file_of_that_name_is_not_emptied(state: str, tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text(state)
    (tmp_path / "photos").mkdir()
    with pytest.raises(EngineError, match="holds other files"):
        merge(tmp_path, Counting(3))
    assert {one.name for one in tmp_path.iterdir()} == {"state.json", "photos"}
    assert (tmp_path / "state.json").read_text() == state


COMMAND = [sys.executable, "-m", "pcaplat", "merge", "--quiet"]


def test_a_command_that_was_killed_goes_on(tmp_path: Path, whole: dict[str, bytes]) -> None:
    out, state = tmp_path / "out", tmp_path / "out.unfinished"
    command = [*COMMAND, *map(str, SAMPLES), "-o", str(out), "--resume", "--slices", "64"]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while not [*state.glob("done-*")]:
        assert run.poll() is None
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert state.exists()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert not state.exists()
    assert written(out).keys() == whole.keys()
    tables = [name for name in whole if name.endswith(".parquet")]
    assert {name: written(out)[name] for name in tables} == {name: whole[name] for name in tables}


def _full(*_: object) -> None:
    """What writing to a file that is open raises."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _other_disk(*_: object) -> None:
    raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))


@pytest.mark.parametrize("kind", ["same disk", "other disk"])
def test_a_full_disk_is_told_with_its_place(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "other disk":
        monkeypatch.setattr(os, "link", _other_disk)
        monkeypatch.setattr(shutil, "copyfile", _full)
    else:
        monkeypatch.setattr(Path, "write_bytes", _full)
    with pytest.raises(OSError, match="No space left") as raised:
        merge(tmp_path / "state", Counting(99))
    assert raised.value.errno == errno.ENOSPC
    assert raised.value.filename == str(tmp_path / "state")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--resume"], "--resume needs --output DIR"),
        (["--resume", "-o", "s3://bucket/out"], "--resume needs --output DIR"),
    ],
)
def test_without_a_folder_it_is_refused(given: list[str], told: str) -> None:
    run = subprocess.run(
        [*COMMAND, *map(str, SAMPLES), *given], capture_output=True, text=True, check=False
    )
    assert run.returncode == 2
    assert told in run.stderr


def test_what_can_be_read_only_once_is_refused(tmp_path: Path) -> None:
    command = [*COMMAND, "vm=-", str(SAMPLES[1]), "--resume", "-o", str(tmp_path / "out")]
    with SAMPLES[0].open("rb") as stream:
        run = subprocess.run(command, stdin=stream, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "can be read only once" in run.stderr
