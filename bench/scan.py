"""What a scan saves by asking the core: `python bench/scan.py [PACKETS]`, plain, 3 points.

Each question is asked of `pcaplat.scan`, and of all rows as `pcaplat.read` gives them, filtered by
polars. Printed is the CPU of each, which does not depend on what else the machine does, and the
rows that both found.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import polars as pl

import pcaplat

HERE = Path(__file__).parent
N_ROUNDS = 3
LONG_BYTES = 1_000
Questions = dict[str, tuple[pl.Expr, list[str]]]
"""A condition, and the columns that are asked for; none: all."""


def main() -> None:
    """Print a row a question."""
    n_packets = (sys.argv[1:] or ["100000"])[0]
    subprocess.run([sys.executable, HERE / "generate.py", "plain", n_packets], check=True)
    files = sorted((HERE / "data" / f"plain-{n_packets}").glob("*.pcap"))
    print(f"{'question':30} {'rows':>9} {'read, CPU s':>12} {'scan, CPU s':>12} {'times':>6}")
    for name, (condition, columns) in _questions(files).items():
        chosen = columns or pl.all()
        asked = pcaplat.scan(files).filter(condition).select(chosen)
        scan_s, found = _cost_s(asked.collect)
        read_s, all_of_it = _cost_s(partial(_read, files, condition, chosen))
        if not found.equals(all_of_it):
            sys.exit(f"{name}: not the same rows")
        print(f"{name:30} {len(found):9,} {read_s:12.3f} {scan_s:12.3f} {read_s / scan_s:6.1f}")


def _questions(files: list[Path]) -> Questions:
    """Ask about port, address, time and length, as far as they occur."""
    span = pcaplat.scan(files).select(pl.col("t_ns").min().alias("lo"), pl.col("t_ns").max())
    lo_ns, hi_ns = span.collect().row(0)
    src, dst_port, t_ns, wire_bytes = map(pl.col, ("src", "dst_port", "t_ns", "wire_bytes"))
    port, address = (
        pcaplat.scan(files[:1]).head(1).select(name).collect().item()
        for name in ("dst_port", "src")
    )
    return {
        "one port, lengths": (dst_port == port, ["wire_bytes"]),
        "one address, all columns": (src == address, []),
        "a tenth of the time, ports": (t_ns < lo_ns + (hi_ns - lo_ns) // 10, ["src_port"]),
        "long frames, addresses": (wire_bytes > LONG_BYTES, ["src", "dst"]),
        "everything, one column": (pl.lit(value=True), ["t_ns"]),
    }


def _read(files: list[Path], condition: pl.Expr, chosen: list[str] | pl.Expr) -> pl.DataFrame:
    return pl.DataFrame(pcaplat.read(files)).filter(condition).select(chosen)


def _cost_s(work: Callable[[], pl.DataFrame]) -> tuple[float, pl.DataFrame]:
    """Give the least CPU of some rounds, and what was found."""
    costs_s = []
    for _ in range(N_ROUNDS):
        begun_s = time.process_time()
        found = work()
        costs_s.append(time.process_time() - begun_s)
    return min(costs_s), found


if __name__ == "__main__":
    main()
