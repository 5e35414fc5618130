"""The corpus of merges, replayed; octets that stand for nothing in particular are read too."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.hostile.fuzzing.__main__ import CORPUS, MOST_BYTES, needed
from tests.hostile.fuzzing.captures import captures_of
from tests.hostile.fuzzing.laws import check_clocks, check_segment, features_of

if TYPE_CHECKING:
    from pathlib import Path

SEEDS = sorted(CORPUS.glob("*"))
MOST_CORPUS_BYTES = 100_000


@pytest.mark.filterwarnings("ignore::pcaplat.PcaplatWarning")
def test_the_laws_hold_for_every_seed(tmp_path: Path) -> None:
    found = [features_of(captures_of(path.read_bytes()), tmp_path) for path in SEEDS]
    # each is there for something of its own; a merge that tells more may make some of them idle
    assert len(needed(found)) >= 3 / 4 * len(SEEDS), "python -m tests.hostile.fuzzing makes it anew"


RELATED_BY_ONE_PACKET = bytes.fromhex(
    "0208000507120041030034910001a3100000ed6205006b83040315800300ca7300002f86000350440100"
    "39960002625f0000b146040185a200003bb40502fc5f01022c6b00013f6605037f590501b19e0400cea100013fec"
)
"""Two points see other address pairs answered than the next two; one packet passed all of them."""


@pytest.mark.filterwarnings("ignore::pcaplat.PcaplatWarning")
def test_one_packet_that_all_points_saw_says_which_way_the_others_go(tmp_path: Path) -> None:
    """The order of the points was guessed: clocks were −21.0 ± 3.3 µs apart that are equal."""
    captures = captures_of(RELATED_BY_ONE_PACKET)
    assert captures.ahead_ns == [0] * 4
    assert captures.is_honest
    features_of(captures, tmp_path)


def test_what_others_show_too_is_not_needed() -> None:
    assert needed([{"a", "b"}, {"c"}, {"a"}, {"b", "c"}]) == [0, 1]
    assert needed([{"a"}, {"a", "b"}, {"c"}]) == [1, 2]


def test_the_corpus_is_small() -> None:
    assert SEEDS
    assert sum(path.stat().st_size for path in SEEDS) < MOST_CORPUS_BYTES


@given(st.binary(max_size=MOST_BYTES))
@settings(max_examples=100, deadline=None, derandomize=True, database=None)
def test_any_octets_are_captures(data: bytes) -> None:
    found = captures_of(data)
    assert 2 <= len(found.points) <= 4
    assert found == captures_of(data)


def test_a_law_that_is_broken_is_seen() -> None:
    row = {"point": "b", "reference": "a", "offset_ns": 300.0, "half_width_ns": 200.0, "steps": []}
    assert check_clocks({"clocks": [row]}, {"a": 50, "b": 200})
    with pytest.raises(AssertionError):
        check_clocks({"clocks": [row]}, {"a": 0, "b": 0})
    segment = {"n": 1, "n_late": 0, "n_lost": -1, "lost_frac": 0.0, "mean_ns": None}
    with pytest.raises(AssertionError):
        check_segment(segment)


def test_targets_are_built_with_the_locked_crates_of_the_core() -> None:
    """Targets are built with --locked: a crate that their lock does not name ends the build."""
    core = tomllib.loads((ROOT / "rust" / "Cargo.toml").read_text("utf-8"))["dependencies"]
    needed = {name for name, of in core.items() if isinstance(of, str) or not of.get("optional")}
    of_core, of_fuzz = (packages(ROOT / "rust" / folder) for folder in (".", "fuzz"))
    [entry] = [one for one in of_fuzz if one["name"] == "pcaplat-core"]
    assert set(entry["dependencies"]) == needed
    known = {(one["name"], one["version"]) for one in of_core}
    names = {name for name, _ in known}
    others = {(one["name"], one["version"]) for one in of_fuzz} - known
    assert not [name for name, _ in others if name in names]


def packages(folder: Path) -> list[dict[str, Any]]:
    return list(tomllib.loads((folder / "Cargo.lock").read_text("utf-8"))["package"])
