"""The door: what is public is importable, documented, and listed in order."""

import inspect
import subprocess
import sys

import pytest

import pcaplat
from tests.conftest import ROOT


def test_the_list_of_public_names_is_sorted_and_whole() -> None:
    assert pcaplat.__all__ == sorted(pcaplat.__all__)
    assert set(pcaplat.__all__) == {*pcaplat.HOMES, "__version__"}
    assert dir(pcaplat) == pcaplat.__all__


@pytest.mark.parametrize("name", sorted(pcaplat.HOMES))
def test_every_public_name_is_importable_and_documented(name: str) -> None:
    thing = getattr(pcaplat, name)
    assert thing.__name__ == name
    assert inspect.getdoc(thing)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'megre'"):
        _ = pcaplat.megre


def test_importing_the_door_imports_nothing_heavy() -> None:
    code = "import pcaplat, sys; print(sorted({'polars', 'pyarrow', 'numpy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_merge_whose_rows_are_not_asked_for_imports_no_data_frames() -> None:
    code = "import pcaplat.run.merge, sys; print(sorted({'polars', 'pyarrow'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_reference_pages_are_as_the_code_is() -> None:
    command = [sys.executable, str(ROOT / "docs" / "reference.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
