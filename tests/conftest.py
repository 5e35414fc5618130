"""What tests share: the top of the project, and what is skipped where tshark is missing."""

import shutil
from pathlib import Path

import pytest
from hypothesis import settings

# a busy machine is no mistake, and what fails once is to fail again
settings.register_profile("pcaplat", deadline=None, derandomize=True)
settings.load_profile("pcaplat")

ROOT = Path(__file__).resolve().parent.parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if shutil.which("tshark"):
        return
    skip = pytest.mark.skip(reason="tshark is not installed")
    for item in items:
        if item.get_closest_marker("oracle"):
            item.add_marker(skip)
