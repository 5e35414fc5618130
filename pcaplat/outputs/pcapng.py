"""pcapng: every frame of every capture in aligned time order, one interface per point."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pcaplat.run.result import Result


def files() -> list[str]:
    """Name what `save` writes."""
    return ["merged.pcapng"]


def save(result: "Result", directory: Path) -> None:
    """Write merged.pcapng into a folder."""
    result.write_merged(directory / "merged.pcapng")
