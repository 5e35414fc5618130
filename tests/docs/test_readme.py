"""README shows the demo as it is."""

import re
import shlex
import subprocess

from tests.conftest import ROOT
from tests.docs.examples import examples

README = (ROOT / "README.md").read_text("utf-8")
DEMO = "pcaplat merge samples/vxlan-delay200/{host1-vm,sw-a,sw-b,host2-vm}.pcap.gz --same-clock all"


def test_readme_shows_what_the_demo_prints() -> None:
    said = examples().run(DEMO, ROOT)
    assert "host1-vm" in said
    assert f"```console\n$ {DEMO}\n{said}```" in README


def test_make_demo_measures_what_readme_shows() -> None:
    recipe = subprocess.run(
        ["make", "-n", "demo"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    (line,) = re.findall(r"pcaplat (merge .*) --output out/demo --overwrite", recipe.stdout)
    (shown,) = re.findall(r"pcaplat (merge .*)", examples().run(f"echo {DEMO}", ROOT))
    assert shlex.split(line) == shlex.split(shown)
