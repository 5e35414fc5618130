"""What a mirror lost, by the numbers of its frames, is not lost on the path."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pcaplat import merge
from tests.support.mirrors import mirrored
from tests.unit.diagnostics.lint_by_hand import CLEAN, FAR, MIDDLE, NEAR, START_NS, Set, requests

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.diagnostics.lint_by_hand import Place, Records

N = 2_000
ONE_WAY = replace(CLEAN, talk=requests(N))
BEHIND_THE_MIRROR = frozenset({*range(200, 1_800, 40), *range(1_001, 1_021)})
"""20 of these in a row."""


def on_the_path(at: int, _: object) -> bool:
    """One in 50 never gets to the last point."""
    return at % 50 != 17


def merged(given: Set, folder: Path) -> dict[str, Any]:
    with merge(given.save(folder), path=list(given.places), same_clock=["all"]) as result:
        return result.document


def far(**changes: Any) -> Place:  # noqa: ANN401 - fields of a place
    return replace(FAR, **changes)


def point(document: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(row for row in document["points"] if row["point"] == name)
    return found


def n_lost(document: dict[str, Any], near: str = "near") -> int:
    rows = document["segments"]
    return sum(r["n_lost"] for r in rows if (r["near"], r["far"]) == (near, "far"))


def test_frames_that_the_last_mirror_lost_are_no_loss(tmp_path: Path) -> None:
    document = merged(ONE_WAY.having(far=far(order=mirrored(BEHIND_THE_MIRROR))), tmp_path)
    row = point(document, "far")
    assert row["n_unmirrored"] == len(BEHIND_THE_MIRROR)
    assert row["unmirrored_frac"] == pytest.approx(len(BEHIND_THE_MIRROR) / N)
    assert n_lost(document) == 0
    (found,) = [one for one in document["warnings"] if one["code"] == "mirror-loss"]
    assert (found["point"], "session 7 60 of 2,000" in found["text"]) == ("far", True)


def test_what_the_path_lost_besides_is_loss(tmp_path: Path) -> None:
    carry = mirrored(BEHIND_THE_MIRROR)
    document = merged(ONE_WAY.having(far=far(sees=on_the_path, order=carry)), tmp_path)
    n_on_the_path = sum(not on_the_path(at, None) for at in range(N))
    assert point(document, "far")["n_unmirrored"] == len(BEHIND_THE_MIRROR)
    # a packet lost on the path beside one that the mirror lost cannot be told from it
    assert n_on_the_path - 2 <= n_lost(document) <= n_on_the_path


def test_what_only_the_path_lost_is_loss(tmp_path: Path) -> None:
    document = merged(ONE_WAY.having(far=far(sees=on_the_path, order=mirrored(()))), tmp_path)
    assert point(document, "far")["n_unmirrored"] == 0
    assert n_lost(document) == N // 50
    assert "mirror-loss" not in {one["code"] for one in document["warnings"]}


def test_frames_that_a_mirror_in_between_lost_are_no_loss(tmp_path: Path) -> None:
    middle = replace(MIDDLE, order=mirrored(BEHIND_THE_MIRROR))
    document = merged(
        replace(ONE_WAY, places={"near": NEAR, "middle": middle, "far": FAR}), tmp_path
    )
    row = point(document, "middle")
    assert (row["n_unmirrored"], row["n_missed"]) == (len(BEHIND_THE_MIRROR),) * 2
    assert [row["n_lost"] for row in document["segments"]] == [0] * len(document["segments"])
    assert point(document, "near")["n_unmirrored"] is None


def test_sessions_are_numbered_by_themselves(tmp_path: Path) -> None:
    carry = mirrored(BEHIND_THE_MIRROR, session_of=lambda at: 5 + at % 3)
    document = merged(ONE_WAY.having(far=far(order=carry)), tmp_path)
    row = point(document, "far")
    assert row["n_unmirrored"] == len(BEHIND_THE_MIRROR)
    assert row["unmirrored_frac"] == pytest.approx(len(BEHIND_THE_MIRROR) / N)
    assert n_lost(document) == 0


def test_a_quiet_session_misses_frames_around_those_of_a_busy_one(tmp_path: Path) -> None:
    # of the session of every 300th frame the one at 600 is missing; of the other those at 550
    carry = mirrored({550, 551, 600}, session_of=lambda at: 9 if at % 300 == 0 else 7)
    document = merged(ONE_WAY.having(far=far(order=carry)), tmp_path)
    assert point(document, "far")["n_unmirrored"] == 3
    assert n_lost(document) == 0


def test_frames_so_dense_that_each_may_be_several_are_no_loss(tmp_path: Path) -> None:
    """What near sent 150 ns apart takes 0 to 210 ns more or less to far."""
    dense = [replace(one, t_ns=START_NS + at * 150) for at, one in enumerate(requests(N))]
    places = ONE_WAY.places | {"far": far(order=mirrored(BEHIND_THE_MIRROR), jitter=97)}
    document = merged(replace(ONE_WAY, talk=dense, places=places), tmp_path)
    assert point(document, "far")["n_unmirrored"] == len(BEHIND_THE_MIRROR)
    assert n_lost(document) == 0


def test_frames_that_overtake_each_other_are_not_missing(tmp_path: Path) -> None:
    def shuffled(records: Records) -> Records:
        carried = mirrored(())(records)
        return [
            carried[at ^ 1] if (at ^ 1) < len(carried) else carried[at]
            for at in range(len(carried))
        ]

    document = merged(ONE_WAY.having(far=far(order=shuffled)), tmp_path)
    assert point(document, "far")["n_unmirrored"] == 0


def test_numbers_that_never_change_say_nothing(tmp_path: Path) -> None:
    def unnumbered(records: Records) -> Records:
        return [
            (t_ns, mirrored((), first=-6_999)([(t_ns, frame)])[0][1]) for t_ns, frame in records
        ]

    lossy = far(sees=on_the_path, order=unnumbered)
    document = merged(ONE_WAY.having(far=lossy), tmp_path)
    assert point(document, "far")["n_unmirrored"] is None
    assert n_lost(document) == N // 50
