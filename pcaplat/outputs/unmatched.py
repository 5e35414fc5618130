"""Unmatched: the frames of each point that were matched nowhere, as they were captured."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pcaplat.run.result import Result


def files() -> list[str]:
    """Name what `save` writes."""
    return ["unmatched"]


def save(result: "Result", directory: Path) -> None:
    """Write unmatched/POINT.pcapng into a folder, for every point that has such frames."""
    folder = directory / "unmatched"
    folder.mkdir()
    for row in result.document["points"]:
        if row["n_unmatched"]:
            result.write_unmatched(row["point"], _free(folder, row["point"]))


def _free(folder: Path, point: str) -> Path:
    """Give a file named after a point, in letters that every file system takes."""
    stem = re.sub(r"[^\w=+-]+", "-", point, flags=re.ASCII)[:100]
    path, n = folder / f"{stem}.pcapng", 1
    while path.exists():
        n += 1
        path = folder / f"{stem}-{n}.pcapng"
    return path
