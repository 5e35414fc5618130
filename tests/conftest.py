"""What tests share: where the shared captures are, and what is skipped where tshark is missing."""

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if shutil.which("tshark"):
        return
    skip = pytest.mark.skip(reason="tshark is not installed")
    for item in items:
        if item.get_closest_marker("oracle"):
            item.add_marker(skip)


@pytest.fixture(scope="session")
def root() -> Path:
    """Give the top of the project."""
    return ROOT


@pytest.fixture(scope="session")
def captures() -> Path:
    """Give the folder of real captures, which are not part of the project."""
    folder = Path(os.environ.get("PCAPLAT_CAPTURES", ROOT.parent / "shared" / "captures"))
    if not folder.is_dir():
        pytest.skip(f"no shared captures in {folder} (PCAPLAT_CAPTURES names them)")
    return folder
