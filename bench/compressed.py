"""One compressed capture, by one worker and by two: `python bench/compressed.py [PACKETS [TURNS]]`.

A capture of so many packets (2,000,000 unless given) is surveyed as it is, compressed with gzip in
blocks of 64 KiB that say how long they are (BGZF, as bgzip writes them), and with zstd in frames of
4 MiB. Pools of one and of two processes take turns. For each: the shortest wall time, and the least
CPU time of the workers.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa

from pcaplat import _native
from pcaplat.run.engines.executor import ExecutorEngine
from pcaplat.run.job import EXTENT_BYTES, SAMPLE_PACKETS

HERE = Path(__file__).parent
BLOCK_BYTES, FRAME_BYTES = 65_280, 4 << 20
WORKERS = (1, 2)


def main() -> None:
    """Print a row for each way to compress."""
    given = [int(text) for text in sys.argv[1:]]
    n_packets, n_turns = [*given, *(2_000_000, 3)[len(given) :]]
    subprocess.run([sys.executable, HERE / "generate.py", "plain", str(n_packets)], check=True)
    plain = min((HERE / "data" / f"plain-{n_packets}").glob("*.pcap"))
    print("| file | MB | 1 worker, s | 2 workers, s | CPU, 1 worker, s | CPU, 2 workers, s |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name, pack in (("plain", None), ("bgzip", bgzf), ("zstd frames", frames)):
            path = plain
            if pack is not None:
                path = Path(folder) / name
                pack(plain, path)
            row(name, path, n_turns)


def row(name: str, path: Path, n_turns: int) -> None:
    """Survey in turns, and print the least of each."""
    costs = [[surveyed(path, n) for n in WORKERS] for _ in range(n_turns)]
    least = [
        (min(wall), min(cpu))
        for wall, cpu in (zip(*of, strict=True) for of in zip(*costs, strict=True))
    ]
    walls, cpus = zip(*least, strict=True)
    times = " | ".join(f"{one:.2f}" for one in (*walls, *cpus))
    print(f"| {name} | {path.stat().st_size / 1e6:.0f} | {times} |", flush=True)


def surveyed(path: Path, n_workers: int) -> tuple[float, float]:
    """Survey once by processes that have started; wall time, and CPU time of all."""
    how = _native.Settings(extent_bytes=EXTENT_BYTES)
    with (
        ProcessPoolExecutor(n_workers, mp_context=get_context("spawn")) as pool,
        tempfile.TemporaryDirectory() as folder,
    ):
        before = used_by(pool, n_workers)
        start_s = time.perf_counter()
        ExecutorEngine(pool).sample([str(path)], how, SAMPLE_PACKETS, [1], folder, None)
        wall_s = time.perf_counter() - start_s
        return wall_s, used_by(pool, n_workers) - before


def used_by(pool: ProcessPoolExecutor, n_workers: int) -> float:
    """Add up the CPU time of the workers, who have started by then."""
    used: dict[int, float] = {}
    while len(used) < n_workers:
        used |= dict(pool.map(own_cpu, [0.05] * n_workers))
    return sum(used.values())


def own_cpu(wait_s: float) -> tuple[int, float]:
    """Give this process and its CPU time so far; others get the next question meanwhile."""
    import pcaplat.run.engines.extents  # noqa: F401, PLC0415 - no part of the cost

    time.sleep(wait_s)
    return os.getpid(), time.process_time()


def bgzf(plain: Path, path: Path) -> None:
    """Compress as bgzip does."""
    with plain.open("rb") as source, path.open("wb") as target:
        data = b" "
        while data:
            data = source.read(BLOCK_BYTES)
            packer = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS)
            packed = packer.compress(data) + packer.flush()
            n_bytes = struct.pack("<HHH", 6, 0x4342, 2) + struct.pack("<H", len(packed) + 25)
            target.write(b"\x1f\x8b\x08\x04\0\0\0\0\0\xff" + n_bytes + packed)
            target.write(struct.pack("<II", zlib.crc32(data), len(data)))


def frames(plain: Path, path: Path) -> None:
    """Compress into frames that say how long they are."""
    codec = pa.Codec("zstd", compression_level=1)
    with plain.open("rb") as source, path.open("wb") as target:
        while data := source.read(FRAME_BYTES):
            target.write(codec.compress(data, asbytes=True))


if __name__ == "__main__":
    main()
