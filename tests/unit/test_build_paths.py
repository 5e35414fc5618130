"""The core names no path of the machine that built it: another machine makes the same file."""

import os
from pathlib import Path

import pytest

from pcaplat import _native
from tests.conftest import ROOT


@pytest.mark.xfail(strict=True, reason="issue 23, number 9: no build paths in the wheel")
def test_the_core_names_no_path_of_its_build() -> None:
    built = Path(_native.__file__).read_bytes()
    cargo = os.environ.get("CARGO_HOME") or Path.home() / ".cargo"
    assert [one for one in (str(ROOT), str(cargo)) if one.encode() in built] == []
