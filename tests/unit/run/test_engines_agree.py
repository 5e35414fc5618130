"""Engines agree to the byte: threads, processes, Dask, Sail, on what the lab and simulator have."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import pytest
from distributed import Client, LocalCluster

import pcaplat
from pcaplat.run import job
from tests.captures.lab_merge import captures_of
from tests.recovery.simulator import run
from tests.recovery.simulator.effects import EFFECTS, base
from tests.support.shelf import lab_set

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KINDS = (
    *("clocks apart", "NAT64", "cut and joined, loss", "fragments, cut on the way", "vxlan"),
    *("identical packets, loss", "some copies", "two points in a file, VLANs", "hairpin"),
)
LAB = ("vxlan-loss-dup", "vxlan-tso-gro", "vxlan-routed")

# what Spark's client says of versions of others is not about us
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*:FutureWarning", "ignore::DeprecationWarning"),
]


@pytest.fixture(scope="module")
def engines(sail: str) -> Iterator[dict[str, dict[str, Any]]]:
    """Options of merge for each, with another number of slices each."""
    with (
        ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield {
            "pool": {"executor": pool, "slices": 2},
            "dask": {"executor": client.get_executor(), "slices": 3},
            "sail": {"engine": sail, "slices": 5},
        }


def assert_same(files: list[str], folder: Path, engines: dict[str, dict[str, Any]]) -> None:
    found: dict[str, dict[str, bytes]] = {}
    for name, options in {"threads": {}, **engines}.items():
        with pcaplat.merge(files, **options) as result:
            pcaplat.write(result, folder / name, pcapng=True)
        found[name] = {one.name: one.read_bytes() for one in (folder / name).iterdir()}
    wanted = found.pop("threads")
    assert {"summary.json", "packets.parquet", "matches.parquet", "merged.pcapng"} <= {*wanted}
    for name, files_of in found.items():
        assert files_of.keys() == wanted.keys()
        assert [one for one in wanted if files_of[one] != wanted[one]] == [], name


@pytest.fixture(autouse=True)
def extents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Captures are divided, though they are small."""
    monkeypatch.setattr(job, "EXTENT_BYTES", 40_000)


@pytest.mark.parametrize("kind", KINDS)
def test_of_what_the_simulator_has(
    kind: str, tmp_path: Path, engines: dict[str, dict[str, Any]]
) -> None:
    files = run(EFFECTS[kind](base(2_000, 7))).save(tmp_path)
    assert_same([*map(str, files)], tmp_path, engines)


@pytest.mark.skipif(not lab_set("l2").exists(), reason="the shared captures are not here")
@pytest.mark.parametrize("name", LAB)
def test_of_the_lab(name: str, tmp_path: Path, engines: dict[str, dict[str, Any]]) -> None:
    assert_same([*map(str, captures_of(lab_set(name)).values())], tmp_path, engines)
