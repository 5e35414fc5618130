"""README shows the demo as it is, and its library example runs."""

import doctest
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docs.examples import examples

README = ROOT / "README.md"
DEMO = "pcaplat merge samples/vxlan/*.pcap"


def test_readme_shows_what_the_demo_prints() -> None:
    said = examples().run(DEMO, ROOT)
    assert "host1-vm" in said
    assert f"```console\n$ {DEMO}\n{said}```" in README.read_text("utf-8")


def test_the_demo_is_what_make_demo_runs() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert "DEMO := $(sort $(wildcard samples/vxlan/*.pcap*))" in makefile
    assert "pcaplat merge $(DEMO)" in makefile


def test_readmes_library_example_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(README), module_relative=False)
    assert tried
    assert not failed
