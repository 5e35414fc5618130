"""The order in which captures are given changes no answer; and a result can be pickled."""

from __future__ import annotations

import pickle
from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest

from pcaplat.run.merge import merge
from tests.conftest import ROOT
from tests.support.request_runs import RequestRun

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = ROOT / "samples" / "vxlan"


def answer(files: list[Path], **options: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:  # noqa: ANN401
    """The document, and which packet each frame carries."""
    with merge(files, **options) as result:
        columns = ["point", "file", "frame", "trajectory_id", "status"]
        packets = result.packets.select(columns).sort(columns[:3]).collect().to_dicts()
        return result.document, packets


ORDERS = [list(order) for order in list(permutations(range(6)))[1::239]]


SHARED = [["sw-a", "sw-b"], ["host1-vm", "host1-up"]]


@pytest.mark.parametrize(
    "clocks",
    [[], ["all"], SHARED],
    ids=["none", "all", "two pairs"],
)
def test_domains_of_clocks_are_those_of_any_order(clocks: list[Any]) -> None:
    files = sorted(SAMPLE.glob("*.pcap*"))
    given = [files, *([files[at] for at in order] for order in ORDERS)]
    found = [
        {row["point"]: row["domain"] for row in answer(some, same_clock=clocks)[0]["clocks"]}
        for some in given
    ]
    assert all(domains == found[0] for domains in found)


def test_ids_of_packets_are_those_of_any_order(tmp_path: Path) -> None:
    files = sorted(RequestRun().save(tmp_path).iterdir())
    (_, one), (_, other) = answer(files), answer(files[::-1])
    assert one == other


def test_all_else_is_that_of_any_order() -> None:
    files = sorted(SAMPLE.glob("*.pcap*"))
    one, other = answer(files)[0], answer(files[::-1])[0]
    # today widths differ in their last bit
    for name in ("path", "edges", "segments", "round_trips", "matching"):
        assert one[name] == other[name]


def test_a_result_can_be_pickled(tmp_path: Path) -> None:
    files = sorted(RequestRun().save(tmp_path).iterdir())
    with merge(files) as result:
        again = pickle.loads(pickle.dumps(result))  # noqa: S301 - our own
        assert again.document == result.document
        assert again.packets.collect().equals(result.packets.collect())
        assert again.blocks.keys() == result.blocks.keys()
