"""What somebody who measures might write."""

import sys
from pathlib import Path

import polars as pl

import pcaplat
from pcaplat.tables.documents import Finding


def worst(findings: list[Finding]) -> str:
    """Name the gravest finding."""
    return f"{findings[0]['severity']}: {findings[0]['evidence']}" if findings else "nothing"


def slowest_segment(segments: pl.DataFrame) -> tuple[str, str, float]:
    """Name the segment with the largest median."""
    near, far, p50_ns = segments.sort("p50_ns").select("near", "far", "p50_ns").row(-1)
    return str(near), str(far), float(p50_ns)


def main(captures: list[Path]) -> int:
    """Measure, and say what is slow."""
    print(worst(pcaplat.lint(captures, same_clock="all")["findings"]))
    try:
        with pcaplat.merge(captures, same_clock="all", clock_accuracy={}) as result:
            lost = int(result.segments["n_lost"].sum())
            print(slowest_segment(result.segments), lost, result.path[0], len(result.warnings))
            print(result.matches.select(pl.len()).collect().item())
    except pcaplat.PcaplatError as problem:
        print(problem, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main([Path(name) for name in sys.argv[1:]]))
