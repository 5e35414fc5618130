"""A first study file, from what captures show: points, their order, and clocks, with comments."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pcaplat.errors import InputError
from pcaplat.model.files.captures import parse_captures, point_names
from pcaplat.run.folder import RunFolder
from pcaplat.run.merge import merge
from pcaplat.study.sources import captures_in, is_run
from pcaplat.tables.columns import Row
from pcaplat.text import plain_name
from pcaplat.units import format_ns, format_offset, format_ppm

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
UNNAMED = "unnamed"
"""The scenario of captures that are given one by one: captures do not tell what they are of."""


def draft_study(given: Sequence[str], directory: Path) -> str:
    """Write the text of a study file.

    Args:
        given: Captures of one run, as `merge` takes them; or folders, each of which is a scenario:
            of the captures of one run, or of one such folder for each run.
        directory: Where the study file will lie; its paths begin there.

    Returns:
        TOML that `merge`, `validate` and, with two scenarios or more, `compare` take as it is.

    Raises:
        InputError: Captures and folders are mixed, or nothing was captured at two points.

    Example:
        >>> text = draft_study(
        ...     ["samples/vxlan/host1-vm.pcap", "samples/vxlan/host2-vm.pcap"], Path()
        ... )
        >>> [line for line in text.splitlines() if line.startswith("path")]
        ['path = ["host1-vm", "host2-vm"]']
    """
    folders = [Path(one) for one in given if Path(one).is_dir()]
    if folders and len(folders) < len(given):
        raise InputError("give captures of one run, or folders with one scenario each, not both")
    captures = [*given] if not folders else [str(file) for file in _first_run(folders[0])]
    with merge(captures, keep_rows=False, keep_crossings=False) as result:
        document = result.document
    names = _points_of(captures)
    scenarios = _of_folders(folders, directory) if folders else _of_captures(names, directory)
    parts = [
        _head(captures),
        _path(document),
        _clocks(document),
        _further(),
        _points(names, document),
    ]
    return "\n".join(line for part in [*parts, scenarios] for line in part) + "\n"


def _first_run(folder: Path) -> list[Path]:
    """Give the captures of a folder, or of the first folder in it that has some."""
    runs = [folder, *sorted(one for one in folder.iterdir() if one.is_dir())]
    found = next((captures_in(one) for one in runs if is_run(one)), [])
    if not found:
        raise InputError(f"{folder}: holds no captures, and no folder that does")
    return found


def _points_of(captures: Sequence[str]) -> dict[str, list[str]]:
    """Give the files of each point, by the name that the captures give it."""
    with RunFolder() as folder:
        parsed = parse_captures(captures, Path(folder.name))
        found: dict[str, list[str]] = {}
        for point, one in zip(point_names(parsed), parsed, strict=True):
            if plain_name(one.path) != one.name:
                raise InputError(f"{one.name}: is a pipe; a study file needs captures that stay")
            found.setdefault(point, []).append(one.path)
    return found


def _head(captures: Sequence[str]) -> Iterator[str]:
    yield "# A study file, made by pcaplat init. Commands take it in place of captures:"
    yield "#     pcaplat merge study.toml -o results     each run into results/SCENARIO/RUN"
    yield "#     pcaplat compare study.toml             the second scenario against the first"
    yield "#     pcaplat validate study.toml            the claims that it names"
    yield f"# Comments: what {len(captures)} captures of one run showed. Correct what is wrong."
    yield ""


def _path(document: Row) -> Iterator[str]:
    yield "# Capture points in forward order, from the end that opens most connections."
    if document["path_inferred"]:
        yield "# The order was inferred from packets. Medians are right if the clocks are equal."
    for one in document["segments"]:
        if one["direction"] == "forward":
            ends = " → ".join(_comment(one[end]) for end in ("near", "far"))
            yield f"#   {ends}: {one['n']} packets, median {format_ns(one['p50_ns'])}"
    yield f"path = {_toml(document['path'])}"
    yield ""


def _clocks(document: Row) -> Iterator[str]:
    yield "# Clocks, each against the reference. An offset of 0 within ± does not show one clock."
    for clock in document["clocks"]:
        if clock["point"] == clock["reference"]:
            yield f"#   {_comment(clock['point'])}: the reference"
            continue
        offset = format_offset(clock["offset_ns"], clock["half_width_ns"])
        found = f"{clock['quality']}, offset {offset}"
        drift = format_ppm(clock["drift_ppm"])
        yield f"#   {_comment(clock['point'])}: {found}, frequency offset {drift}"
    yield "# Points whose captures one clock timestamped, such as all of one host, group by group:"
    yield f"# same_clock = [{_toml(document['path'][:2])}]"
    yield "# How far a clock may be off, if it is known (PTP, NTP):"
    first = document["path"][0]
    yield f'# clock_accuracy = {{ {_key(first)} = "1us" }}'
    yield ""


def _further() -> Iterator[str]:
    yield "# Claims to judge: a file of your own, or the name of one that ships."
    yield '# claims = ["our-claims.toml"]'
    yield "# Time that is left out at either end of a run:"
    yield '# warm_up = "1s"'
    yield ""


def _points(names: dict[str, list[str]], document: Row) -> Iterator[str]:
    """Name the files of each point in a run's folder, unless files hold several points."""
    if not set(document["path"]) <= set(names):
        yield "# A file holds several capture points, which name themselves: a section [points]"
        yield "# would name the files of each point in a run's folder."
        yield ""
        return
    yield "# The captures of each point in a run's folder; * stands for anything."
    yield "[points]"
    for point in document["path"]:
        files = [Path(file).name for file in names[point]]
        yield f"{_key(point)} = {_toml(files[0] if len(files) == 1 else files)}"
    yield ""


def _of_folders(folders: Sequence[Path], directory: Path) -> Iterator[str]:
    yield "# Scenarios by the names of their folders. Claims ask for a scenario by its name."
    for folder in folders:
        yield f"[scenarios.{_key(folder.resolve().name)}]"
        yield f"runs = [{_toml(_from(directory, folder))}]"
        yield ""


def _of_captures(names: dict[str, list[str]], directory: Path) -> Iterator[str]:
    """Give the one scenario that captures are of: its folder, or its files."""
    yield f'# Name the scenario after what was measured, in place of "{UNNAMED}": captures do not'
    yield "# show it. Claims name a scenario. A further run is a further entry of runs."
    yield f"[scenarios.{UNNAMED}]"
    files = [
        f"{point}={_from(directory, Path(file))}" for point, own in names.items() for file in own
    ]
    yield "runs = ["
    yield "  ["
    yield from (f"    {_toml(file)}," for file in files)
    yield "  ],"
    yield "]"
    yield ""
    yield "# A second scenario, for compare: a folder for each run, with the same names of files."
    yield "# [scenarios.other]"
    yield '# runs = ["other/run*"]'


def _from(directory: Path, path: Path) -> str:
    return Path(os.path.relpath(path, directory)).as_posix()


def _key(name: str) -> str:
    return name if BARE_KEY.fullmatch(name) else _toml(name)


def _comment(text: str) -> str:
    """Keep a stranger's name on its line."""
    return _toml(text)[1:-1]


def _toml(value: Any) -> str:  # noqa: ANN401 - a text, or a list of them
    """Write a text or a list of texts: what JSON writes of them is TOML."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
