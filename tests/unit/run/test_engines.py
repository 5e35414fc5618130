"""Engines: what each of them must be able to do, and give."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from pcaplat import _native
from pcaplat.errors import EngineError
from pcaplat.model.files.captures import Capture
from pcaplat.model.files.files_to_points import find_points
from pcaplat.run.engines import ENGINES, engine
from pcaplat.stages.match import plan_matching
from pcaplat.stages.survey import Sample, survey
from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pcaplat.run.engines import Engine
    from pcaplat.run.engines.spark import SparkEngine

NAMES = [str(path) for path in sorted((ROOT / "samples" / "vxlan").glob("*.pcap"))]
ONE_EACH = [1] * len(NAMES)


def test_an_engine_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(EngineError, match=r"--engine abacus: .*; there are: local, spark"):
        engine("abacus")


@pytest.fixture(params=ENGINES)
def here(request: pytest.FixtureRequest) -> Iterator[Engine]:
    if request.param != "spark":
        yield engine(request.param)
        return
    found = engine(request.getfixturevalue("sail"), 2)
    yield found
    cast("SparkEngine", found).session.stop()


def test_a_sample_holds_the_same_packets_of_every_file(here: Engine, tmp_path: Path) -> None:
    whole = here.sample(NAMES, _native.Settings(), 10**6, ONE_EACH, str(tmp_path), None)
    part = here.sample(NAMES, _native.Settings(), 100, ONE_EACH, str(tmp_path), None)
    assert [sum(one.n_frames for one in of.interfaces) for of in whole.facts] == [328] * 6
    keys = [taken.packets["key"] for taken in (whole, part)]
    files = part.packets["file"]
    assert set(keys[1].tolist()) < set(keys[0].tolist())
    assert np.bincount(files).max() < 2 * 100  # the level halves when there are twice as many
    assert len({frozenset(keys[1][files == file].tolist()) for file in range(6)}) == 1


def test_every_frame_gets_a_status(here: Engine, tmp_path: Path) -> None:
    sampled = here.sample(NAMES, _native.Settings(), 16_384, ONE_EACH, str(tmp_path), None)
    captures = [Capture(path, path, None) for path in NAMES]
    points, point_of = find_points(captures, sampled.facts)
    findings = survey(Sample.of(sampled.packets, sampled.flows), points)
    plan = plan_matching(findings, list(range(6)), point_of)
    plan = replace(plan, sequences=[[file] for file in range(6)])
    settings = _native.Settings(prefixes=sampled.prefixes)
    told: list[int] = []
    places = [one.places for one in sampled.facts]
    matched = here.match(
        NAMES, settings, plan, str(tmp_path), places, keep_rows=True, tell=told.append
    )
    assert [sum(of_point) for of_point in matched.counts] == [328] * 6
    assert _native.STATUSES[0] == "matched"
    assert all(counts.n > 0 for both in matched.links for counts in both)
    # clocks are all different: every pair of neighbours and the ends bound each other both ways
    bounded = {(one.up, one.down) for one in matched.min_delays}
    assert {(up, down) for down, up in bounded} == bounded
