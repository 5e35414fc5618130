"""Laws that hold of every merge, and what kind of result it was."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pcaplat
from tests.hostile.fuzzing.captures import NAMES
from tests.hostile.merging import STATUSES, check
from tests.laws.test_intervals import assert_within, rows_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hostile.fuzzing.captures import Captures

QUANTILES = ("min_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns")
SLACK_NS, DIGITS = 1.0, 1e-12
"""Stamps are whole nanoseconds, and what is made of them has the digits of a double."""


def features_of(captures: Captures, folder: Path) -> set[str]:
    """Merge, assert the laws, and say what was new about it: warnings, statuses, kinds of clocks.

    Raises:
        AssertionError: A law is broken.
    """
    try:
        with pcaplat.merge(captures.save(folder), **captures.options) as result:
            check(result, is_sample="sample" in captures.options)
            document, matches = result.document, result.matches.collect().rows(named=True)
    except pcaplat.PcaplatError as problem:
        return {f"{type(problem).__name__}: {str(problem).split(': ')[-1][:24]}"}
    for row in [*rows_of(document), *matches]:
        assert_within(row)
    for segment in document["segments"]:
        check_segment(segment)
    found = {*features(document)}
    # an order that is assumed, and said to be, may be wrong, and what rests on it
    is_assumed = any(row["code"] == "order-assumed" for row in document["warnings"])
    if captures.is_honest and captures.ahead_ns and not (is_assumed and any(captures.ahead_ns)):
        # what comes near to breaking the law is mutated on, too
        used = check_clocks(document, dict(zip(NAMES, captures.ahead_ns, strict=False)))
        found |= {f"clocks {part:.1f} off" for part in used}
    return found


def check_segment(row: dict[str, Any]) -> None:
    """Nothing is less than nothing, and quantiles are in their order."""
    for name, value in row.items():
        if name.startswith("n_") or name in {"n", "lost_frac"}:
            assert value is None or value >= 0, (name, row)
    assert (row["lost_frac"] or 0) <= 1, row
    assert (row["n_late"] or 0) <= row["n"], row
    known = [row[name] for name in QUANTILES if row.get(name) is not None]
    for one, next_ in pairwise(known):
        assert one <= next_ + SLACK_NS + abs(next_) * DIGITS, row
    if row["mean_ns"] is not None and known:
        for name in ("mean_ns", "mean_without_late_ns"):
            check_between(row["min_ns"], row.get(name), row["max_ns"], row)


def check_between(least: float, value: float | None, most: float, row: dict[str, Any]) -> None:
    slack = SLACK_NS + max(abs(least), abs(most)) * DIGITS
    assert value is None or least - slack <= value <= most + slack, row


def check_clocks(document: dict[str, Any], ahead_ns: dict[str, int]) -> list[float]:
    """Each clock's interval holds the truth, and none was set. Return how much of it is used."""
    used = []
    for row in document["clocks"]:
        if row["offset_ns"] is not None and row["half_width_ns"] is not None:
            truth_ns = ahead_ns[row["point"]] - ahead_ns[row["reference"]]
            part = abs(row["offset_ns"] - truth_ns) / (row["half_width_ns"] + SLACK_NS)
            assert part <= 1, row
            used += [part] if row["half_width_ns"] else []
        assert not row["steps"], row
    return used


def features(document: dict[str, Any]) -> list[str]:
    """What tells one kind of result from another."""
    matching = document["matching"]
    sizes = [f"{name}: {matching[f'n_{name}'].bit_length() // 2}" for name in STATUSES]
    clocks = [
        f"clock {row['quality']}, {len(row['steps']).bit_length()}" for row in document["clocks"]
    ]
    kinds = [
        f"{row['class']} {row['n_lost'] > 0} {row['n_late'] and True}"
        for row in document["segments"]
    ]
    codes = [row["code"] for row in document["warnings"]]
    return [*sizes, *clocks, *kinds, *codes, f"{len(document['edges'])} edges"]
