"""Lint and merge decide alike: alignment is given the same of both, where the sample is all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pcaplat import linting as lints
from pcaplat.run import merge as study
from pcaplat.stages.align import align
from tests.recovery.simulator import run
from tests.recovery.simulator.effects import EFFECTS, base, together, traffic

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pcaplat.model.matched import MinDelays

COLUMNS = ("aligned_ns", "up_ns", "raw_ns", "n")
NUMBERED = traffic(shares=(("tcp", 0.5), ("udp", 0.5)), ip6_share=0.0)
"""Every packet is seen once at each point, and is like no other."""

NAMES = ("clocks apart", "a clock is set", "routed", "VLAN changed", "vxlan", "8 points")


def told(min_delays: Sequence[MinDelays]) -> dict[tuple[int, int], list[tuple[int, ...]]]:
    """Rows by the points, up and down."""
    return {
        (one.up, one.down): sorted(
            zip(*(getattr(one, name).tolist() for name in COLUMNS), strict=True)
        )
        for one in min_delays
    }


@pytest.mark.parametrize("name", NAMES)
def test_clocks_are_bounded_by_the_same_packets(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = []

    def spied(findings: Any, domains: Any, min_delays: Any, *more: Any) -> Any:  # noqa: ANN401 - of align
        given.append(told(min_delays))
        return align(findings, domains, min_delays, *more)

    monkeypatch.setattr("pcaplat.run.scan.align", spied)
    files = run(together(EFFECTS[name], NUMBERED)(base(1_500, 4))).save(tmp_path)
    found = {row["code"] for row in lints.lint(files)["findings"]}
    with study.merge(files, keep_rows=False) as result:
        codes = {row["code"] for row in result.document["warnings"]}
    of_lint, of_merge = given
    assert of_lint.keys() == of_merge.keys()
    assert sum(map(len, of_merge.values())) > 1_000
    assert of_lint == of_merge
    about_clocks = {"clock-step", "clock-contradiction", "clock-offset", "clocks-assumed-equal"}
    assert found & about_clocks == codes & about_clocks
