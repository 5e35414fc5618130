"""Reads captures damaged on purpose; says how many, the slowest one, and the memory used."""

import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl

import pcaplat
from tests.conftest import ROOT

SEED = 20261120
MOST = (b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80")
EXPECTED = (pcaplat.InputError, OSError)


def originals() -> list[bytes]:
    """Every seed of the reader, and the beginning of every capture in samples/."""
    seeds = sorted((ROOT / "rust/fuzz/corpus/reader").iterdir())
    samples = sorted(ROOT.glob("samples/*/*.pcap*"))
    return [path.read_bytes()[:60_000] for path in (*seeds, *samples)]


def damaged(whole: bytes, chance: random.Random) -> bytes:
    """Flip bits, cut, let numbers lie, repeat and leave out pieces."""
    file = bytearray(whole)
    for _ in range(chance.randint(1, 6)):
        at, end = sorted(chance.randrange(len(file) + 1) for _ in range(2))
        match chance.randrange(6):
            case 0:
                file[at : at + 4] = chance.choice(MOST)
            case 1:
                file[at : at + 4] = bytes(4)
            case 2:
                del file[at : min(end, at + 40)]
            case 3:
                file[at:at] = file[at:end][:2000]
            case 4:
                del file[max(end, 24) :]
            case _:
                file[at : at + 1] = bytes([chance.randrange(256)])
    return bytes(file)


def captures(n: int) -> Iterator[bytes]:
    """Give `n` damaged captures, the same every time."""
    chance = random.Random(SEED)  # noqa: S311 - no secret
    wholes = originals()
    for number in range(n):
        yield damaged(wholes[number % len(wholes)], chance)


def main(n: int, folder: Path) -> None:
    """Read them all."""
    path, slowest_s, n_refused, n_frames = folder / "damaged", 0.0, 0, 0
    for file in captures(n):
        path.write_bytes(file)
        began = time.process_time()
        try:
            n_frames += len(pl.DataFrame(pcaplat.read(path)))
        except EXPECTED:
            n_refused += 1
        slowest_s = max(slowest_s, time.process_time() - began)
    # ru_maxrss would be that of the process which started this one, where that was larger
    status = Path("/proc/self/status").read_text("ascii")
    peak_mb = int(status.partition("VmHWM:")[2].split()[0]) // 1024
    sys.stdout.write(json.dumps({"n_refused": n_refused, "n_frames": n_frames, "peak_mb": peak_mb}))
    sys.stderr.write(f"slowest {slowest_s:.3f} s of the processor\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
