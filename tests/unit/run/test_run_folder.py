"""Temporary folders: gone with their process, or with the next one if it was killed."""

import errno
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from pcaplat.run.folder import LEAST_AGE_S, LOCK, RunFolder

OWNER = (
    "from pcaplat.run.folder import RunFolder; "
    "folder = RunFolder(); print(folder.name, flush=True); input()"
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def age(folder: Path) -> None:
    past = time.time() - 2 * LEAST_AGE_S
    os.utime(folder / LOCK, (past, past))


def test_a_folder_goes_with_its_holder(home: Path) -> None:
    with RunFolder() as spill:
        assert list(home.iterdir()) == [Path(spill.name)]
    assert not list(home.iterdir())


def test_what_a_killed_process_leaves_goes_with_the_next(home: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(home)},
    )
    assert process.stdout
    folder = Path(process.stdout.readline().decode().strip())
    age(folder)
    with RunFolder():
        assert folder.exists(), "its process lives"
    process.kill()
    process.communicate()
    with RunFolder():
        assert not folder.exists()


def test_what_is_young_or_not_ours_stays(home: Path) -> None:
    young, strange = home / "pcaplat-young", home / "pcaplat-strange"
    for folder in (young, strange):
        folder.mkdir()
    (young / LOCK).touch()
    with RunFolder():
        assert young.exists()
        assert strange.exists()


def test_a_folder_that_cannot_be_locked_is_not_left(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_descriptor(*_: object) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "open", no_descriptor)
    with pytest.raises(OSError, match="Too many open files"):
        RunFolder()
    assert not list(home.iterdir())
