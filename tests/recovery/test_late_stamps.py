"""Stamps that are late: frames that wait in a mirror, or for the card that stamps a batch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pcaplat import merge
from tests.unit.diagnostics.lint_by_hand import CLEAN, FAR, NEAR, Set, crossing, queued, turns
from tests.unit.diagnostics.lint_causes import batch

if TYPE_CHECKING:
    from pathlib import Path

LONG = turns(1_500, 50_021)
MEETING = {
    "near": crossing(),
    # what meets at the near end there and back meets at the far one, sent apart by as much
    "far": [
        replace(one, t_ns=one.t_ns + (-10_000 if one.is_forward else 10_000)) for one in crossing()
    ],
}
MIRRORS = {
    "near": Set({"near": replace(NEAR, order=queued), "far": FAR}, MEETING["near"]),
    "far": Set({"near": NEAR, "far": replace(FAR, order=queued)}, MEETING["far"]),
}
BATCHES = {
    "near": replace(CLEAN, talk=LONG).having(near=replace(NEAR, clock=batch)),
    "far": replace(CLEAN, talk=LONG).having(far=replace(FAR, clock=batch)),
}


def merged(given: Set, folder: Path) -> dict[str, Any]:
    folder.mkdir()
    with merge(given.save(folder), same_clock=["all"], keep_rows=False) as result:
        document: dict[str, Any] = result.document
    return document


def check(late: dict[str, Any], right: dict[str, Any], term: str) -> list[float]:
    """What waiting adds to each mean is within its term, and the interval holds the truth."""
    rows: list[tuple[dict[str, Any], str | None]] = [(one, None) for one in right["round_trips"]]
    rows += [(one, one["direction"]) for one in right["segments"]]
    added_ns = []
    for true, way in rows:
        place = (true["near"], true["far"], way)
        (budget,) = (
            row
            for row in late["error_budget"]
            if (row["near"], row["far"], row["direction"]) == place
        )
        found = next(
            row
            for row in late["segments" if way else "round_trips"]
            if (row["near"], row["far"], row.get("direction")) == place
        )
        added_ns.append(found["mean_ns"] - true["mean_ns"])
        assert abs(added_ns[-1]) <= budget[f"{term}_ns"]
        if found["mean_lo_ns"] is not None:
            assert found["mean_lo_ns"] <= true["mean_ns"] <= found["mean_hi_ns"]
    return added_ns


@pytest.mark.parametrize("point", ["near", "far"])
def test_what_a_mirror_adds_is_bounded(point: str, tmp_path: Path) -> None:
    late = merged(MIRRORS[point], tmp_path / "late")
    right = merged(Set(talk=MEETING[point]), tmp_path / "right")
    assert max(map(abs, check(late, right, "mirror_queue"))) > 100
    assert {row["largest"] for row in late["error_budget"]} <= {"mirror_queue", "statistical"}
    # no more than the frames that were one behind the other
    assert all(row["mirror_queue_ns"] <= 10_000 for row in late["error_budget"])
    assert {row["mirror_queue_ns"] for row in right["error_budget"]} == {None}


@pytest.mark.parametrize("point", ["near", "far"])
def test_what_batches_of_stamps_add_is_bounded(point: str, tmp_path: Path) -> None:
    late = merged(BATCHES[point], tmp_path / "late")
    right = merged(replace(CLEAN, talk=LONG), tmp_path / "right")
    assert max(map(abs, check(late, right, "resolution"))) > 10_000
    assert [row["point"] for row in late["captures"] if row["batch_ns"] > 0] == [point]
    assert all(row["resolution_ns"] == 0 for row in right["error_budget"])
