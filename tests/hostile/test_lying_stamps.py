"""Stamps that lie: one alone moves nothing in silence, and many give no impossible interval."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from pcaplat.run.merge import merge
from tests.support.request_runs import RequestRun
from tests.support.rewritten import restamp

if TYPE_CHECKING:
    from pathlib import Path

RUN = RequestRun(forward_ns=3_900.0, reverse_ns=3_900.0, n=328)
"""656 frames a point, 1,312 in all; half of them at most 3.77 µs on their way, either way."""
MEDIAN_NS, MEAN_NS = 3_777, 3_900
OFFSET_NS = 3_000_000_000
QUANTILES = ("mean", "p50", "p90", "p99", "p999")


def merged(folder: Path) -> dict[str, Any]:
    files = [folder / "near.pcap", folder / "far.pcap"]
    with merge(files, path=["near", "far"]) as result:
        return result.document


def lying(folder: Path, by_ns: Callable[[int], int]) -> dict[str, Any]:
    """Merge a run whose far point has another clock and a few lies."""
    RUN.save(folder)
    restamp(folder / "far.pcap", lambda place: OFFSET_NS + by_ns(place))
    return merged(folder)


# ---- one of many

REQUESTS, RESPONSES = (0, 300, 654), (1, 301, 655)
"""Places of frames at far."""


def harmful() -> list[tuple[int, int]]:
    """A request that came too early, or a response that left too late; harmless ones beside."""
    cases = []
    for lie_ns in (2_000, 5_000, 20_000, 1_000_000):
        cases += [(-lie_ns, at) for at in REQUESTS] + [(lie_ns, at) for at in RESPONSES]
    return cases


@pytest.mark.parametrize(("lie_ns", "place"), harmful())
def test_the_truth_stays_inside_whatever_one_stamp_says(
    tmp_path: Path, lie_ns: int, place: int
) -> None:
    document = lying(tmp_path, lambda at: lie_ns * (at == place))
    for row in document["segments"]:
        half_ns = row["clock_half_width_ns"]
        assert half_ns is None or abs(row["p50_ns"] - MEDIAN_NS) <= half_ns + 200, row


@pytest.mark.parametrize("lie_ns", [5_000, 20_000])
def test_one_stamp_far_from_all_others_is_named(tmp_path: Path, lie_ns: int) -> None:
    document = lying(tmp_path, lambda at: -lie_ns * (at == 300))
    texts = [row["text"] for row in document["warnings"]]
    assert any("far" in text and "301" in text for text in texts), texts


def test_a_bound_names_how_many_packets_support_it(tmp_path: Path) -> None:
    """Which key is left open; it is one of a clock's."""
    document = lying(tmp_path, lambda _: 0)
    (far,) = (row for row in document["clocks"] if row["point"] == "far")
    assert any("support" in key or key.startswith("n_") for key in far)


def test_the_truth_stays_inside_if_all_stamps_are_right(tmp_path: Path) -> None:
    for row in lying(tmp_path, lambda _: 0)["segments"]:
        assert abs(row["p50_ns"] - MEDIAN_NS) <= row["clock_half_width_ns"] + 200
        # as wide as the path leaves open, not wider
        assert row["clock_half_width_ns"] <= 4_500


# ---- contradictions


def check_laws(document: dict[str, Any]) -> None:
    """lo ≤ value ≤ hi; nothing negative but what clocks leave open; no width without doubt."""
    for row in document["clocks"]:
        for name in ("half_width_ns", "drift_half_width_ppm"):
            assert row[name] is None or row[name] >= 0, row
        if row["drift_ppm"] and abs(row["drift_ppm"]) > 1_000:
            assert row["half_width_ns"] is None or row["half_width_ns"] > 0, row
    for row in [*document["segments"], *document["round_trips"]]:
        for name in QUANTILES:
            value, lo, hi = (row.get(f"{name}{end}_ns") for end in ("", "_lo", "_hi"))
            assert (lo is None) == (hi is None), row
            assert lo is None or lo <= value <= hi, row
    for row in document["segments"]:
        # whatever offset the interval holds, no packet takes less than nothing
        least, half_ns = row["min_ns"], row["clock_half_width_ns"]
        assert least is None or least + 1.01 * half_ns + 1 >= 0, row
        assert row["n_lost"] >= 0
    for row in document["round_trips"]:
        assert row["mean_ns"] is None or row["mean_ns"] >= 0, row


LIES: dict[str, Callable[[int], int]] = {
    "runs backwards": lambda at: -50_000 * at,
    "goes back once": lambda at: -30_000_000 * (at > 328),
    "knows no time": lambda at: int(np.random.default_rng(at).integers(-(5 * 10**7), 5 * 10**7)),
    "is slow in the middle": lambda at: -200_000 * (200 < at < 400),
    "jumps about": lambda at: 700_000 * (at // 7 % 3),
}


@pytest.mark.parametrize("name", LIES)
def test_contradicting_clocks_give_no_impossible_interval(tmp_path: Path, name: str) -> None:
    check_laws(lying(tmp_path, LIES[name]))


@settings(max_examples=15, phases=[Phase.generate])  # to shrink takes minutes
@given(
    lies_ns=st.lists(st.integers(-(10**8), 10**8), min_size=1, max_size=12),
    every=st.integers(1, 200),
)
def test_lo_is_no_higher_than_the_value_nor_that_than_hi(
    tmp_path_factory: pytest.TempPathFactory, lies_ns: list[int], every: int
) -> None:
    folder = tmp_path_factory.mktemp("lies")
    check_laws(lying(folder, lambda at: lies_ns[at // every % len(lies_ns)]))
