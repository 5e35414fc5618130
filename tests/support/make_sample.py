"""Turn a run of the lab into a sample.

`python -m tests.support.make_sample RUN samples/NAME plain|gz|zst`

The truth is written from what the lab logged and from the independent matcher in `oracle.py`,
never from the product.
"""

from __future__ import annotations

import csv
import gzip
import json
import shlex
import shutil
import statistics
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.support.oracle import Oracle, Segment

DEFAULTS = {"variant": "vxlan", "switch": "l2", "ip": 4}
FLAGS = ("variant", "switch", "ip", "delay_at", "delay", "traffic", "count")


def main() -> None:
    """Read a run, write a sample."""
    run, sample, packing = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    manifest = json.loads((run / "manifest.json").read_text())
    points = manifest["order"]["vm1->vm2"]
    sample.mkdir(parents=True, exist_ok=True)
    for point in points:
        pack(run / f"{point}.pcap", sample, packing)
    truth = {
        "points": points,
        "clock": "one kernel clock stamps every point: the true offset is 0",
        "made_by": _command(manifest["options"]),
        "kernel": manifest["kernel"],
        "injected": _injected(run, sample, manifest["injected"]),
        "segments": [_row(s) for s in Oracle({p: run / f"{p}.pcap" for p in points}).segments()],
    }
    (sample / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")


def pack(file: Path, sample: Path, packing: str) -> None:
    """Copy a capture into a sample: plain, gz or zst."""
    if packing == "plain":
        shutil.copy(file, sample / file.name)
    elif packing == "gz":
        (sample / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes(), mtime=0))
    else:
        with pa.output_stream(str(sample / f"{file.name}.zst"), compression="zstd") as out:
            out.write(file.read_bytes())


def _command(options: dict[str, Any]) -> str:
    given = ((flag, options[flag]) for flag in FLAGS)
    words = [
        f"--{flag.replace('_', '-')} {shlex.quote(str(v))}"
        for flag, v in given
        if v and v != DEFAULTS.get(flag)
    ]
    return " ".join(["lab.py run OUT", *words])


def _injected(run: Path, sample: Path, injected: dict[str, Any] | None) -> dict[str, Any] | None:
    if not injected:
        return None
    log = (run / "delay.csv").read_bytes()
    (sample / "delay.csv.gz").write_bytes(gzip.compress(log, mtime=0))
    asked = dict(word.split("=") for word in injected["settings"].split(","))
    logged: dict[str, list[int]] = {"ab": [], "ba": []}
    for row in csv.DictReader(log.decode().splitlines()):
        logged[row["dir"]].append(int(row["out_ns"]) - int(row["in_ns"]))
    near, far = injected["between"]
    return {"near": near, "far": far} | {
        direction: {
            "asked_ns": int(asked[side]),
            "logged_median_ns": statistics.median(logged[side]),
        }
        for direction, side in (("forward", "ab"), ("reverse", "ba"))
    }


def _row(segment: Segment) -> dict[str, Any]:
    return {
        "near": segment.near,
        "far": segment.far,
        "direction": segment.direction,
        "n": segment.n,
        "n_lost": segment.n_lost,
        "n_duplicated": segment.n_duplicated,
        "min_ns": segment.latencies_ns[0],
        "median_ns": segment.median_ns,
        "max_ns": segment.latencies_ns[-1],
    }


if __name__ == "__main__":
    main()
