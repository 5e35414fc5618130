"""Which latency trials of RFC 2544 have, where it is declared what stamps stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import pcaplat
from tests.unit.benchmarking.trials_by_hand import Planned, write_trials

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("options", "verdict", "text"),
    [
        ({}, "not visible", "captures do not show"),
        ({"stamped_at": [("a", "first-bit")]}, "not visible", "captures do not show"),
        (
            {"stamped_at": [("a", "first-bit"), ("b", "first-bit")]},
            "found",
            "first bit in to first",
        ),
        ({"stamped_at": [("a", "last-bit"), ("b", "first-bit")]}, "found", "last bit in to first"),
        ({"stamped_at": [("a", "first-bit"), ("b", "last-bit")]}, "lacking", "--link-rate moves"),
        (
            {
                "stamped_at": [("a", "first-bit"), ("b", "last-bit")],
                "link_rate": [("b", 10_000_000_000)],
            },
            "found",
            "first bit in to first",
        ),
        ({"stamped_at": [("a", "host"), ("b", "first-bit")]}, "lacking", "a host mark no bit"),
    ],
)
def test_trials_say_which_latency_was_declared(
    options: dict[str, Any], verdict: str, text: str, tmp_path: Path
) -> None:
    files = write_trials(tmp_path, [Planned(64, 1000, n=300)])
    document = pcaplat.rfc2544(files, options={"same_clock": ["all"], **options})
    [row] = [row for row in document["requirements"] if "RFC 1242" in row["requirement"]]
    assert row["verdict"] == verdict
    assert text in row["evidence"]
