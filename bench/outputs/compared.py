"""What differs between two folders of outputs: of each file, the first place."""

from __future__ import annotations

import filecmp
import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
from outputs.forked import TIMED_OUT

GIVEN, META = "given", "meta.json"
"""Of a run: the folder of what it gave, and the file that says how it was run."""
TEXTS = {"", ".json", ".csv", ".md", ".txt", ".xml"}
SHOWN = 160
"""Characters of a line that are shown."""


def differences(before: Path, after: Path) -> tuple[dict[str, str], int]:
    """Describe every difference between what two runs gave, by file, and count the files."""
    metas = [json.loads((run / META).read_text()) for run in (before, after)]
    folders = [meta["folder"] for meta in metas]
    was, now = before / GIVEN, after / GIVEN
    names = sorted(set(files_of(was)) | set(files_of(now)))
    if any(meta["status"] == TIMED_OUT for meta in metas):
        names = ["status"]  # the rest is as far as it came
    found = {name: difference(was / name, now / name, folders) for name in names}
    return {name: text for name, text in found.items() if text}, len(names)


def files_of(folder: Path) -> Iterator[str]:
    """Give the files below a folder."""
    return (str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def difference(before: Path, after: Path, folders: list[str]) -> str:
    """Describe how a file differs; empty: it does not."""
    for path, other in ((before, "new"), (after, "gone")):
        if not path.exists():
            return f"is {other}"
    if filecmp.cmp(before, after, shallow=False):
        return ""
    if before.suffix == ".parquet":
        return difference_of_tables(before, after, folders)
    if before.suffix in TEXTS:
        return difference_of_texts(before, after, folders)
    return difference_of_bytes(before, after)


def difference_of_texts(before: Path, after: Path, folders: list[str]) -> str:
    """Describe the first line that differs, once the scratch folders' names are taken out."""
    with before.open(errors="replace") as old, after.open(errors="replace") as new:
        pairs = itertools.zip_longest(old, new, fillvalue="(no more lines)")
        for at, lines in enumerate(pairs, 1):
            was, now = (
                line.replace(folder, "FOLDER") for line, folder in zip(lines, folders, strict=True)
            )
            if was != now:
                return f"line {at}: {around(was, now)}"
    return ""


def around(was: str, now: str) -> str:
    """Show two texts from shortly before they part."""
    same = next((at for at, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), 0)
    start = max(same - SHOWN // 2, 0)
    return " -> ".join(repr(text[start : start + SHOWN].rstrip("\n")) for text in (was, now))


def difference_of_tables(before: Path, after: Path, folders: list[str]) -> str:
    """Describe the first column that differs, and its first row."""
    old_schema, new_schema = pq.read_schema(before), pq.read_schema(after)
    if not old_schema.equals(new_schema, check_metadata=True):
        was, now = (
            str(schema.to_string(truncate_metadata=False)) for schema in (old_schema, new_schema)
        )
        return f"schema: {around(was, now)}"
    old, new = (
        pl.read_parquet(path).with_columns(
            pl.col(pl.String).str.replace_all(folder, "FOLDER", literal=True)
        )
        for path, folder in zip((before, after), folders, strict=True)
    )
    if old.height != new.height:
        return f"{old.height} -> {new.height} rows"
    for name in old.columns:
        if not old[name].equals(new[name]):
            at = (old[name].ne_missing(new[name])).arg_max() or 0
            return f"column {name}, row {at}: {old[name][at]!r} -> {new[name][at]!r}"
    return ""


def difference_of_bytes(before: Path, after: Path) -> str:
    """Describe the first byte that differs."""
    was, now = before.read_bytes(), after.read_bytes()
    sizes = f"{len(was)} -> {len(now)} bytes"
    at = next((at for at, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), None)
    return f"{sizes}, first different at byte {at}" if at is not None else sizes
