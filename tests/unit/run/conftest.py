"""Where tests of engines run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from pysail.spark import SparkConnectServer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def sail() -> Iterator[str]:
    """The engine on a server of Sail, in this process."""
    # pyspark takes a main module without a file, as those of xdist, for its own doctests, and ends
    vars(sys).setdefault("ps1", ">>> ")
    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    _, port = server.listening_address
    yield f"spark:sc://127.0.0.1:{port}"
    server.stop()
