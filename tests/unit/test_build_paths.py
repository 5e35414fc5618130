"""The core names no path of the machine that built it: another machine makes the same file."""

import hashlib
import os
from pathlib import Path

import pytest

from pcaplat import _native
from tests.conftest import ROOT

BUILT = ROOT / ".venv" / "built"


def test_the_core_names_no_path_of_its_build() -> None:
    """Wheels take the same flags; .ci/try-wheel looks into each."""
    core = Path(_native.__file__).read_bytes()
    made = BUILT.read_text().split() if BUILT.exists() else []
    if hashlib.sha256(core).hexdigest() not in made:
        pytest.skip("`make build` did not make this core, so its flags are not the Makefile's")
    cargo = os.environ.get("CARGO_HOME") or Path.home() / ".cargo"
    assert [one for one in (str(ROOT), str(cargo)) if one.encode() in core] == []
