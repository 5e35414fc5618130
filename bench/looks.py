"""What looking costs beyond merging: `python bench/looks.py [PACKETS [ROUNDS]]`, 3 points.

CPU of the whole process (which does not depend on what else the machine does), the least of some
rounds: a merge, a merge that draws its path, one that writes its files, and the report made of
them anew; and a start, from a cold process to the printed table, of the smallest sample.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from measure.process_tree import Cost, cost_of

HERE = Path(__file__).parent
AT_MOST_S = 2.0


def main() -> None:
    """Print a row a command, and what each takes beyond merging."""
    n_packets, n_rounds = ([*sys.argv[1:], *("1000000", "3")[len(sys.argv) - 1 :]])[:2]
    subprocess.run([sys.executable, HERE / "generate.py", "plain", n_packets], check=True)
    files = [str(file) for file in sorted((HERE / "data" / f"plain-{n_packets}").glob("*.pcap"))]
    sample = [str(file) for file in sorted((HERE.parent / "samples" / "vxlan").glob("*.pcap"))]
    with tempfile.TemporaryDirectory(prefix="pcaplat-looks-") as folder:
        out, picture = f"{folder}/out", f"{folder}/path.svg"
        commands = {
            "merge": ["merge", "--quiet", *files],
            "merge --plot": ["merge", "--quiet", "--plot", picture, *files],
            "merge -o": ["merge", "--quiet", "-o", out, "--overwrite", *files],
            "report": ["report", "--quiet", out],
            "merge, smallest sample": ["merge", "--quiet", *sample],
        }
        costs = {name: _least(command, int(n_rounds)) for name, command in commands.items()}
    print(f"3 × {int(n_packets):,} packets, least of {n_rounds}")
    print(f"{'':24} {'CPU s':>7} {'wall s':>7}")
    for name, cost in costs.items():
        print(f"{name:24} {cost.cpu_s:7.2f} {cost.wall_s:7.2f}")
    drawn_s = costs["merge --plot"].cpu_s - costs["merge"].cpu_s
    report_s = costs["report"].cpu_s
    print(
        f"the picture takes {drawn_s:.2f} s beyond merging, the report, read back from the files, "
        f"{report_s:.2f} s; together {drawn_s + report_s:.2f} s of at most {AT_MOST_S:g} s"
    )


def _least(command: list[str], n_rounds: int) -> Cost:
    """Give the cheapest of some runs."""
    program = str(Path(sys.executable).parent / "pcaplat")
    return min((cost_of([program, *command]) for _ in range(n_rounds)), key=lambda one: one.cpu_s)


if __name__ == "__main__":
    main()
