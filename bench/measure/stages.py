"""How long each stage of a merge takes, seen from outside: by what it tells of its progress.

`stages_of` runs this file with a build's interpreter, so that start-up counts too.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

START_UP, PLAN, REST = "start-up", "between the passes", "after the last pass"


class Clock:
    """When each stage was first and last heard of."""

    def __init__(self) -> None:
        """Nothing was heard yet."""
        self.heard: dict[str, list[float]] = {}

    def update(self, done_bytes: int, total_bytes: int, stage: str) -> None:
        """Hear of a stage."""
        del done_bytes, total_bytes
        now_s = time.monotonic()
        self.heard.setdefault(stage, [now_s, now_s])[1] = now_s


def main() -> None:
    """Merge and print how long each stage took, as JSON; the first argument is when we started."""
    begun_s = float(sys.argv[1])
    import pcaplat  # noqa: PLC0415 - its time counts

    merge, clock = pcaplat.merge, Clock()
    start_s = time.monotonic()
    with merge(sys.argv[2:], keep_rows=False, keep_crossings=False, progress=clock) as result:
        _ = result.document
        end_s = time.monotonic()
    took_s, last_s = {START_UP: start_s - begun_s}, start_s
    for at, (stage, (first_s, until_s)) in enumerate(clock.heard.items()):
        if at:
            took_s[PLAN] = took_s.get(PLAN, 0.0) + first_s - last_s
        took_s[stage] = until_s - (first_s if at else start_s)
        last_s = until_s
    print(json.dumps(took_s | {REST: end_s - last_s}))


def stages_of(programs: Path, captures: Sequence[str], n_runs: int) -> dict[str, float]:
    """Give the median seconds of each stage."""
    runs = []
    for _ in range(n_runs):
        command = [programs / "python", __file__, repr(time.monotonic()), *captures]
        runs.append(json.loads(subprocess.check_output(command)))
    return {stage: statistics.median(run.get(stage, 0.0) for run in runs) for stage in runs[0]}


if __name__ == "__main__":
    main()
