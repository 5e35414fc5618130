"""What the pages show is what the program says: every console block is run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```console\n\$ (pcaplat .*)\n([\s\S]*?)^```$", re.MULTILINE)
SHOWN = [
    pytest.param(command, output, id=f"{page.name}: {command}")
    for page in PAGES
    if page.exists()
    for command, output in BLOCK.findall(page.read_text("utf-8"))
]
LINK = re.compile(r"\]\(([^)#:]+)\)")


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_a_console_block_is_what_the_program_says(command: str, output: str) -> None:
    program = Path(sys.executable).with_name("pcaplat")
    done = subprocess.run(
        ["bash", "-c", command.replace("pcaplat", str(program), 1)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100"},
    )
    assert done.stdout == output


def test_there_are_console_blocks() -> None:
    assert SHOWN


@pytest.mark.parametrize("page", [page for page in PAGES if page.exists()], ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = LINK.findall(page.read_text("utf-8"))
    broken = [link for link in links if not (page.parent / link).exists()]
    assert not broken
