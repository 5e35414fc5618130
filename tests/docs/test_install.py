"""A wheel is built, and works in an empty environment, as the page about installing has it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("cargo"), reason="needs cargo")
def test_a_wheel_works_in_an_empty_environment(tmp_path: Path) -> None:
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    subprocess.run(["make", "wheel"], cwd=ROOT, check=True, env={**os.environ, "RUSTFLAGS": ""})
    (wheel,) = dist.glob("*.whl")
    assert "-cp311-abi3-" in wheel.name
    assert "manylinux_2_17" in wheel.name
    assert list(dist.glob("*.tar.gz"))
    done = subprocess.run(
        [ROOT / ".ci" / "try-wheel", wheel, sys.executable],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pcaplat-core.cyclonedx.json" in done.stdout
    assert done.stdout.endswith("The wheel works.\n")
