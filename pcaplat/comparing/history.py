"""History: comparisons kept in a folder, and whether the newest stand on another level.

Each comparison is one file, numbered in the order of time; what was compared already is not kept
twice.
"""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pcaplat.errors import OutputError
from pcaplat.statistics.change_point import FALSE_ALARMS, LEAST_VALUES, ChangePoint, change_points
from pcaplat.study.errors import StudyError
from pcaplat.tables.columns import Row

PATTERN = "comparison-*.json"
KEPT = ("schema", "baseline", "treatment", "replication", "round_trips")
"""Parts of a comparison that are kept."""

MOST_TRIES = 1000


def kept_in(folder: Path) -> list[tuple[str, Row]]:
    """Read the comparisons of a folder, oldest first; none where there is no folder.

    Raises:
        StudyError: A file is no comparison.
    """
    found = []
    for file in sorted(folder.glob(PATTERN)):
        try:
            document = json.loads(file.read_text("utf-8"))
            means = [(one["near"], one["far"], one["delta_mean_ns"]) for one in _ends_of(document)]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StudyError.unreadable_history(str(file), str(error)) from error
        if means:
            found.append((file.name, dict(document)))
    return found


def _ends_of(document: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    rows: Sequence[Mapping[str, Any]] = document["round_trips"]
    return rows


def keep(folder: Path, document: Mapping[str, Any]) -> list[tuple[str, Row]]:
    """Add a comparison to a folder, and give all that are there; an equal last one stays alone.

    Raises:
        OutputError: The folder cannot be written to.
        StudyError: A file in it is no comparison.
    """
    new = {name: document[name] for name in KEPT}
    found = kept_in(folder)
    again = json.loads(json.dumps(new))
    if any(document == again for _, document in found):
        return found
    last = int(found[-1][0].split("-")[1].partition(".")[0]) if found else 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        name = _written(folder, last + 1, json.dumps(new, indent=1))
    except OSError as error:
        raise OutputError(f"--history {folder}: {error.strerror or error}") from error
    return [*found, (name, new)]


def _written(folder: Path, first: int, text: str) -> str:
    """Write the file whole, under the first number that is free."""
    scratch = folder / f".{os.getpid()}.part"
    scratch.write_text(text, "utf-8")
    try:
        for number in range(first, first + MOST_TRIES):
            file = folder / f"comparison-{number:06}.json"
            try:
                # refuses a name that another process has taken meanwhile
                os.link(scratch, file)
            except FileExistsError:
                continue
            return file.name
    finally:
        scratch.unlink()
    raise FileExistsError("no number is free")


def history_row(found: Sequence[tuple[str, Row]]) -> Row:
    """Say of each segment whether its difference has stepped, and since which comparison."""
    pairs = [(one["near"], one["far"]) for one in _ends_of(found[-1][1])]
    series = {ends: [_mean_of(document, ends) for _, document in found] for ends in pairs}
    # of a path that was another one before, only what was always there
    whole = {ends: values for ends, values in series.items() if None not in values}
    steps = dict(zip(whole, change_points([*whole.values()]), strict=True))
    names = [name.removesuffix(".json") for name, _ in found]
    return {
        "n": len(found),
        "least_n": LEAST_VALUES,
        "false_alarm_rate": FALSE_ALARMS,
        "segments": [_step(ends, steps.get(ends), names) for ends in pairs],
    }


def _mean_of(document: Mapping[str, Any], ends: tuple[str, str]) -> Any:  # noqa: ANN401 - of JSON
    rows = (one for one in _ends_of(document) if (one["near"], one["far"]) == ends)
    return next((row["delta_mean_ns"] for row in rows), None)


def _step(ends: tuple[str, str], found: ChangePoint | None, names: Sequence[str]) -> Row:
    row: Row = {"near": ends[0], "far": ends[1]}
    if found is None:
        return row | dict.fromkeys(("since", "before_ns", "after_ns", "p"))
    levels = {"before_ns": found.before, "after_ns": found.after, "p": found.p}
    return row | {"since": names[found.at]} | levels
