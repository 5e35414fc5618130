"""The temporary folder of a run, and its files while frames made from them live."""

import fcntl
import os
import time
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp
from typing import TYPE_CHECKING, Self
from weakref import finalize

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

PREFIX = "pcaplat-"


LOCK = "lock"
"""A file in the folder that is locked as long as its process lives, whatever ends it."""


LEAST_AGE_S = 60
"""A younger folder may not have been locked yet."""


class RunFolder:
    """A temporary folder that goes with the last one who holds it, without a warning.

    It belongs to the process that made it: a forked child that ends, or closes its result, leaves
    it alone. If the process is killed, the folder stays until another makes one in the same place.
    """

    def __init__(self) -> None:
        _remove_orphans(Path(gettempdir()))
        self.name = mkdtemp(prefix=PREFIX)
        try:
            lock = os.open(Path(self.name, LOCK), os.O_CREAT | os.O_RDWR, 0o600)
        except OSError:
            Path(self.name).rmdir()  # without a lock nobody would know it as a leftover
            raise
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.cleanup = finalize(self, _remove, self.name, lock, os.getpid())

    def holds(self, path: str) -> bool:
        """Tell whether a file lies in it."""
        return Path(path).parent == Path(self.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cleanup()


def _remove(folder: str, lock: int, maker: int) -> None:
    if os.getpid() == maker:
        rmtree(folder, ignore_errors=True)
    os.close(lock)


def _remove_orphans(home: Path) -> None:
    """Remove the folders that processes left behind which were killed."""
    for lock_path in home.glob(f"{PREFIX}*/{LOCK}"):
        try:
            lock = os.open(lock_path, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:
            continue  # somebody else's, or just gone
        found = os.fstat(lock)
        if found.st_uid == os.getuid() and time.time() - found.st_mtime > LEAST_AGE_S:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                pass  # its process lives
            else:
                rmtree(lock_path.parent, ignore_errors=True)
        os.close(lock)


def scan_holding(path: Path, folder: RunFolder) -> "pl.LazyFrame":
    """Scan a file of a temporary folder, which stays as long as a frame made from it does."""
    import polars as pl  # noqa: PLC0415 - slow to import, seldom needed
    from polars.io.plugins import register_io_source  # noqa: PLC0415 - likewise

    def batches(
        columns: list[str] | None,
        predicate: "pl.Expr | None",
        n_rows: int | None,
        n_each: int | None,
    ) -> "Iterator[pl.DataFrame]":
        frame = pl.scan_parquet(Path(folder.name) / path.name)
        frame = frame if n_rows is None else frame.head(n_rows)
        frame = frame if columns is None else frame.select(columns)
        frame = frame if predicate is None else frame.filter(predicate)
        yield from frame.collect_batches(chunk_size=n_each, maintain_order=True)

    return register_io_source(batches, schema=pl.scan_parquet(path).collect_schema())
