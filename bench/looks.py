"""What looking costs beyond merging: `python bench/looks.py [PACKETS]`, 3 points.

CPU of the process, which does not depend on what else the machine does: a merge with rows; what
report.html and one picture take beyond it, digests of the captures apart, for they grow with the
files; and a start, from a cold process to the printed table, of the smallest sample.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from measure.process_tree import cost_of

import pcaplat
from pcaplat.outputs.page.picture import write_picture
from pcaplat.outputs.page.template import report_page

HERE = Path(__file__).parent
AT_MOST_S = 2.0
N_STARTS = 5
Found = TypeVar("Found")


def main() -> None:
    """Print a row for each."""
    n_packets = (sys.argv[1:] or ["1000000"])[0]
    subprocess.run([sys.executable, HERE / "generate.py", "plain", n_packets], check=True)
    files = sorted((HERE / "data" / f"plain-{n_packets}").glob("*.pcap"))
    warnings.simplefilter("ignore", pcaplat.PcaplatWarning)
    print(f"3 × {int(n_packets):,} packets, CPU s")
    result = _timed("merge, with rows", lambda: pcaplat.merge(files))
    begun_s = time.process_time()
    made = _timed("digests of the captures", lambda: result.provenance)
    _timed("report.html", lambda: report_page(result.plot.measured, made))
    with tempfile.TemporaryDirectory(prefix="pcaplat-looks-") as folder:
        _timed("picture", lambda: write_picture(result.plot.measured, Path(folder) / "path.svg"))
    print(f"{'all three':26} {time.process_time() - begun_s:6.2f} of at most {AT_MOST_S:g}")
    print(f"{'cold start, least of ' + str(N_STARTS):26} {_start_s():6.2f}")


def _timed(name: str, work: Callable[[], Found]) -> Found:
    """Print what some work takes."""
    begun_s = time.process_time()
    found = work()
    print(f"{name:26} {time.process_time() - begun_s:6.2f}")
    return found


def _start_s() -> float:
    """Give the CPU of a merge of the smallest sample, in a process of its own."""
    sample = sorted((HERE.parent / "samples" / "vxlan").glob("*.pcap"))
    command = [str(Path(sys.executable).parent / "pcaplat"), "merge", "--quiet", *map(str, sample)]
    return min(cost_of(command).cpu_s for _ in range(N_STARTS))


if __name__ == "__main__":
    main()
