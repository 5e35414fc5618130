"""Names of points, cut where all of them are alike."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from pcaplat.outputs.report import Paragraph, Section

FEW = 4
LONG = 16
"""Names that are no longer are left as they are."""
PART = re.compile(r"[^-_./]+|[-_./]")
POINTS = ("path", "near", "far", "point", "reference", "client", "server")
TEXTS = ("evidence", "consequence", "text")


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Give names without the parts that all of them begin or end with; none if nothing is won.

    Example:
        >>> short_names(["latency-pre-l2fwd-vm", "latency-post-l2fwd-vm"])
        {'latency-pre-l2fwd-vm': 'pre', 'latency-post-l2fwd-vm': 'post'}
        >>> short_names(["vnic", "uplink"]), short_names(["data_capture_relay", "relay"])
        ({}, {})
    """
    if len(set(names)) < 2 or max(map(len, names)) <= LONG:  # noqa: PLR2004 - nothing to compare
        return {}
    parts = [PART.findall(name) for name in names]
    most = min(map(len, parts)) - 1
    n_first = _n_alike(parts, most)
    n_last = _n_alike([part[::-1] for part in parts], most - n_first)
    short = ["".join(part[n_first : len(part) - n_last]).strip("-_./") for part in parts]
    is_clear = all(short) and len({*short}) == len({*names})
    return dict(zip(names, short, strict=True)) if is_clear and (n_first or n_last) else {}


def _n_alike(parts: Sequence[Sequence[str]], most: int) -> int:
    columns = zip(*parts, strict=False)
    n_alike = sum(1 for _ in takewhile(lambda column: len({*column}) == 1, columns))
    return max(min(n_alike, most), 0)


def with_names(document: Mapping[str, Any], short: Mapping[str, str]) -> dict[str, Any]:
    """Give a summary that has other names for its points."""
    in_text = sorted(short, key=len, reverse=True)

    def renamed(value: Any, key: str = "") -> Any:  # noqa: ANN401 - any part of a document
        if isinstance(value, list):
            return [renamed(each, key) for each in value]
        if isinstance(value, dict):
            return {name: renamed(each, name) for name, each in value.items()}
        if key in POINTS:
            return short.get(value, value)
        if key in TEXTS:
            for name in in_text:
                value = value.replace(name, short[name])
        return value

    return {key: renamed(value, key) for key, value in document.items()}


def name_sections(short: Mapping[str, str]) -> Iterator[Section]:
    """Say how names were cut; options take them whole."""
    if short:
        told = [f"{cut} is {full}" for full, cut in sorted(short.items())]
        more = f" and {len(told) - FEW} more" if len(told) > FEW else ""
        names = f"{', '.join(told[:FEW])}{more}"
        text = f"Point names are shortened (options need the whole ones): {names}"
        yield Paragraph(text, style="dim", only="screen")
