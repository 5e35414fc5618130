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


def test_a_summary_imports_nothing_that_it_does_not_need() -> None:
    """From the command line: data frames are for rows, pydantic for files of claims."""
    code = (
        "import atexit, sys; from pcaplat.__main__ import main;"
        "unwanted = {'polars', 'pyarrow', 'pydantic', 'altair', 'vl_convert', 'jinja2'};"
        "atexit.register(lambda: print(sorted(unwanted & set(sys.modules)), file=sys.stderr));"
        "main()"
    )
    captures = map(str, sorted((ROOT / "samples" / "vxlan").glob("*.pcap")))
    command = [sys.executable, "-c", code, "merge", *captures, "--same-clock", "all"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Path of 6 points" in done.stdout
    assert done.stderr.strip() == "[]"


def test_the_reference_pages_are_as_the_code_is() -> None:
    command = [sys.executable, str(ROOT / "docs" / "reference.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
