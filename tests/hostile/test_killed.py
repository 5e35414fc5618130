"""A run that is killed while it writes: what is half-written does not look whole."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from pcaplat.outputs import SUMMARY, result_files
from pcaplat.outputs.folder import new_folder
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

FILES = [name for name in result_files() if "." in name]

KILLED = """
import os, signal, sys
from pathlib import Path
from tests.hostile.test_killed import write

CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod"}

def kill_before(change):
    left = [change]
    def count(event, arguments):
        if event in CHANGES:
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(count)

change, status = 0, 1
while status:
    change += 1
    child = os.fork()
    if not child:
        kill_before(change)
        write(Path(sys.argv[1], str(change), "out"), "new")
        os._exit(0)
    status = os.waitpid(child, 0)[1]
print(change - 1)
"""
"""Writes into a folder for each change of the file system, and is killed before that change."""


def write(folder: Path, text: str, *, overwrite: bool = True) -> dict[str, str]:
    with new_folder(folder, FILES, overwrite=overwrite) as scratch:
        for name in FILES:
            (scratch / name).write_text(text)
    return contents(folder)


def contents(folder: Path) -> dict[str, str]:
    return {one.name: one.read_text() for one in folder.iterdir() if one.is_file()}


def killed(home: Path) -> int:
    """Before how many changes a run was killed."""
    command = [sys.executable, "-c", KILLED, str(home)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    return int(done.stdout)


def names(folder: Path) -> list[str]:
    return [one.name for one in folder.iterdir()]


def test_a_new_folder_is_whole_or_not_there(tmp_path: Path) -> None:
    new = dict.fromkeys(FILES, "new")
    n_changes = killed(tmp_path)
    assert n_changes > 4
    for change in range(1, n_changes + 1):
        out = tmp_path / str(change) / "out"
        assert not out.exists() or contents(out) == new
        if not out.exists():
            assert write(out, "new", overwrite=False) == new
            assert names(out.parent) == ["out"]


def test_an_empty_folder_is_as_good_as_none_after_it(tmp_path: Path) -> None:
    for change in range(1, 4):
        (tmp_path / str(change) / "out").mkdir(parents=True)
    killed(tmp_path)
    for change in range(1, 4):
        out = tmp_path / str(change) / "out"
        write(out, "new", overwrite=False)
        assert sorted(names(out)) == sorted(FILES)


def test_a_folder_with_a_summary_holds_one_result(tmp_path: Path) -> None:
    """Where a new result replaces an earlier one, the summary goes first and comes last."""
    earlier, new = (dict.fromkeys(FILES, text) for text in ("earlier", "new"))
    most_changes = 4 * len(FILES)
    for change in range(1, most_changes):
        write(tmp_path / str(change) / "out", "earlier")
    n_changes = killed(tmp_path)
    assert 2 * len(FILES) < n_changes < most_changes
    found = [contents(tmp_path / str(change) / "out") for change in range(1, n_changes + 1)]
    broken = [one for one in found if one not in (earlier, new)]
    assert len(broken) == 2 * len(FILES) - 1
    assert all(SUMMARY not in one for one in broken)
    for change in range(1, n_changes + 1):
        out = tmp_path / str(change) / "out"
        assert write(out, "new") == new
        assert sorted(names(out)) == sorted(FILES)
        assert names(out.parent) == ["out"]
