"""Spark itself, not the client that other tests have: it is installed into out/spark, once."""

from __future__ import annotations

import subprocess
import sysconfig
import venv
from typing import TYPE_CHECKING

from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SPARK = "pyspark>=4,<4.3"


def python_with_spark() -> Path:
    """Give a Python with Spark, and with all that this one has."""
    home = ROOT / "out" / "spark"
    found = home / "bin" / "python"
    if not (home / "done").exists():
        venv.create(home, clear=True, with_pip=True)
        pip = [str(found), "-m", "pip", "install", "--quiet", SPARK]
        subprocess.run(pip, check=True)
        (own,) = home.glob("lib/python*/site-packages")
        (own / "these.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT}\n", "utf-8")
        (home / "done").touch()
    return found
