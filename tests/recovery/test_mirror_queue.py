"""A mirror that queues both directions makes stamps late, as a clock would that lags behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat import lint, merge
from tests.support.frames import UDP, ip, udp
from tests.unit.diagnostics.lint_by_hand import CLIENT, SERVER, START_NS, Packet, Place, Set, queued

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PATH_NS = 5_000
STEP_NS = 90_000_000


def busy(gap_ns: int, n: int = 2_500) -> list[Packet]:
    """Datagrams of three sizes, as many each way, on a link whose mirror sends 10 Gbit/s."""
    chance = np.random.default_rng(7)
    found = []
    for at in range(n):
        for is_forward in (True, False):
            ends, ports = (CLIENT, SERVER), (1_000, 2_000)
            if not is_forward:
                ends, ports = ends[::-1], ports[::-1]
            data = udp(ports, chance.bytes(int(chance.choice([18, 400, 1_400]))))
            frame = ip(*ends, UDP, at + 1, 64, data)
            t_ns = START_NS + at * gap_ns + int(chance.integers(0, 400))
            found.append(Packet(t_ns, frame, is_forward=is_forward))
    return found


def mirrored(gap_ns: int, clock: Callable[[int], int] = lambda t_ns: t_ns) -> Set:
    far = Place(PATH_NS, of_ns=PATH_NS, jitter=0, order=queued, clock=clock)
    return Set({"near": Place(0, of_ns=PATH_NS, jitter=0), "far": far}, busy(gap_ns))


@pytest.mark.parametrize("gap_ns", [1_150, 1_050])
def test_a_queue_that_fills_and_empties_is_no_step_of_a_clock(gap_ns: int, tmp_path: Path) -> None:
    captures = mirrored(gap_ns).save(tmp_path)
    found = {row["code"] for row in lint(captures)["findings"]}
    assert found & {"mirror-queueing", "clock-step"} == {"mirror-queueing"}
    with merge(captures, path=["near", "far"], intervals=False) as result:
        document = result.document
    assert "clock-step" not in {row["code"] for row in document["warnings"]}
    far = document["clocks"][1]
    # stamps of far are late by what frames waited, and never early
    assert far["steps"] == []
    assert abs(far["offset_ns"]) <= far["half_width_ns"]
    (both,) = document["round_trips"]
    wait_ns = next(row["mirror_wait_ns"] for row in document["captures"] if row["point"] == "far")
    assert both["mean_ns"] == pytest.approx(2 * PATH_NS, abs=wait_ns)
    assert far["half_width_ns"] <= wait_ns + PATH_NS


def test_a_step_beyond_what_frames_wait_is_one_all_the_same(tmp_path: Path) -> None:
    middle_ns = START_NS + 1_250 * 1_150

    def set_ahead(t_ns: int) -> int:
        return t_ns + STEP_NS * (t_ns > middle_ns)

    captures = mirrored(1_150, set_ahead)
    (step,) = (
        row["evidence"]
        for row in lint(captures.save(tmp_path))["findings"]
        if row["code"] == "clock-step"
    )
    assert "the clock of far was set by 89.9" in step or "by 90.0" in step
