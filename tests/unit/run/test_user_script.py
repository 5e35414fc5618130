"""A script that somebody else writes: checked strictly against the installed package, and run."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = ROOT / "tests" / "data" / "scripts" / "user.py"


def test_it_has_no_type_that_is_not_known_and_a_wrong_use_is_noticed(tmp_path: Path) -> None:
    """By mypy alone, in a folder without any configuration."""
    right = SCRIPT.read_text("utf-8")
    wrong = right.replace('["findings"]', '["finding"]').replace('clock="all"', "clock=3")
    for name, text in (("right.py", right), ("wrong.py", wrong), ("empty.ini", "[mypy]\n")):
        (tmp_path / name).write_text(text, "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "empty.ini"]
    command += ["right.py", "wrong.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert len(errors) >= 3, done.stdout + done.stderr
    assert all(line.startswith("wrong.py") for line in errors), done.stdout


def test_it_runs() -> None:
    captures = map(str, sorted((ROOT / "samples" / "vxlan").glob("*.pcap")))
    done = subprocess.run(
        [sys.executable, SCRIPT, *captures], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("nothing\n"), "lint has nothing to say of declared clocks"
    assert "'host2-vm'" in done.stdout
