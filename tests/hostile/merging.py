"""Merges pairs of captures, one or both damaged on purpose; says how many could be measured."""

import json
import random
import sys
from pathlib import Path

import pcaplat
from tests.conftest import ROOT
from tests.hostile.reading import SEED, damaged

STATUSES = ("matched", "coalesced", "duplicate", "ambiguous", "unmatched", "undecoded")
MAX_BYTES = 12_000


def check(result: pcaplat.Result, *, is_sample: bool = False) -> int:
    """Every frame has exactly one status, and counts say the same wherever they stand."""
    matching, rows = result.document["matching"], result.packets.collect()
    found = dict(rows["status"].value_counts().iter_rows())
    told = {status: matching[f"n_{status}"] for status in STATUSES if matching[f"n_{status}"]}
    assert found == told, (found, told)
    assert sum(told.values()) == matching["n_frames"] == len(rows)
    n_captured = sum(row["n_frames"] for row in result.document["captures"])
    assert n_captured >= len(rows) if is_sample else n_captured == len(rows)
    frames = rows.select("file", "frame")
    assert frames.is_unique().all()
    pairs = result.matches.collect()
    for end in ("up", "down"):
        ends = pairs.select(file=f"{end}_file", frame=f"{end}_frame")
        assert ends.join(frames, on=["file", "frame"], how="anti").is_empty()
    return len(rows)


def main(n: int, folder: Path) -> None:
    """Merge them all."""
    chance = random.Random(SEED)  # noqa: S311 - no secret
    wholes = [path.read_bytes() for path in sorted(ROOT.glob("samples/vxlan/*.pcap"))[:2]]
    paths, n_measured, n_frames = [folder / "a.pcap", folder / "b.pcap"], 0, 0
    for number in range(n):
        for path, whole in zip(paths, wholes, strict=True):
            is_spoilt = path is paths[number % 2] or number % 5 == 0
            short = whole[:MAX_BYTES]
            path.write_bytes(damaged(short, chance) if is_spoilt else short)
        try:
            with pcaplat.merge(paths) as result:
                n_frames += check(result)
        except pcaplat.PcaplatError:
            continue
        n_measured += 1
    sys.stdout.write(json.dumps({"n_measured": n_measured, "n_frames": n_frames}))


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
