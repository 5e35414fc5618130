"""A point that captures some of the packets that pass it, and one that some of the flows pass."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import pcaplat
from tests.recovery.networks.sampled import LINE, N, sampled

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.networks import Edge, Network

TO, AROUND = ("a", "b"), ("a", "c")
FLOWS = {"few flows": (4, 4), "flows of 150 packets": (40, 4), "flows of 10 packets": (600, 4)}
"""How many, and between how many hosts."""

SINGLE = {"flows of one packet": (6_000, 4)}
HOSTS = {"20 hosts, flows of one packet": (6_000, 20), "20 hosts": (40, 20)}


@dataclass(frozen=True)
class Told:
    """Rows of segments by their ends, the row of the point in the middle, and the truth."""

    rows: dict[Edge, dict[str, Any]]
    missed_frac: float
    n_missed: int
    n_maybe_missed: int
    codes: set[str]
    network: Network

    def holds(self, edge: Edge) -> bool:
        """Tell whether the interval of the loss ratio holds the true one."""
        row, n_lost = self.rows[edge], sum(where == edge for where, _ in self.network.lost)
        n_sent = sum(edge in pairwise(packet.ways[0]) for packet in self.network.packets)
        low: float = row["lost_lo_frac"]
        return bool(low - 1e-9 <= n_lost / n_sent <= row["lost_hi_frac"])


def told(kind: str, seen_frac: float, folder: Path, *, of: str) -> Told:
    """Merge it."""
    return told_of(sampled(*(FLOWS | SINGLE | HOSTS)[kind], seen_frac, of=of), folder)


def told_of(network: Network, folder: Path) -> Told:
    """Merge a network."""
    files = network.save(folder)
    with pcaplat.merge(files, same_clock=["all"], path=LINE, keep_rows=False) as result:
        rows = {
            (row["near"], row["far"]): dict(row)
            for row in result.document["segments"]
            if row["direction"] == "forward"
        }
        (point,) = (dict(row) for row in result.document["points"] if row["point"] == "b")
        codes = {one["code"] for one in result.document["warnings"]}
    n_missed, n_maybe = point["n_missed"], point["n_maybe_missed"]
    return Told(rows, point["missed_frac"], n_missed, n_maybe, codes, network)


@pytest.mark.parametrize("seen_frac", [0.5, 0.2, 0.1, 0.04])
@pytest.mark.parametrize("kind", FLOWS)
def test_what_a_point_did_not_sample_has_no_way_of_its_own(
    kind: str, seen_frac: float, tmp_path: Path
) -> None:
    found = told(kind, seen_frac, tmp_path, of="packets")
    assert found.missed_frac == pytest.approx(1 - seen_frac, abs=0.02)
    assert found.holds(TO)
    assert found.rows["b", "c"]["n_lost"] == 0
    # the whole path has all packets, but those before the first and after the last sample
    whole = found.rows[AROUND]
    assert whole["n"] + whole["n_lost"] > 0.95 * N * 2 / 3
    assert whole["n_lost"] == pytest.approx(len(found.network.lost), abs=6)


@pytest.mark.parametrize("seen_frac", [0.2, 0.1])
@pytest.mark.parametrize("kind", [*list(FLOWS)[1:], "flows of one packet"])
def test_what_some_flows_pass_has_a_way_around_it(
    kind: str, seen_frac: float, tmp_path: Path
) -> None:
    found = told(kind, seen_frac, tmp_path, of="flows")
    assert found.n_missed == 0
    assert found.holds(TO)
    assert found.holds(AROUND)
    assert found.rows["b", "c"]["n_lost"] == 0


@pytest.mark.parametrize("seen_frac", [0.5, 0.2])
@pytest.mark.parametrize("kind", HOSTS)
def test_what_some_hosts_pass_has_a_way_around_it(
    kind: str, seen_frac: float, tmp_path: Path
) -> None:
    """Where each packet is a flow, addresses alone show it."""
    found = told(kind, seen_frac, tmp_path, of="hosts")
    assert found.n_missed == 0
    assert found.holds(TO)
    assert found.holds(AROUND)
    assert found.rows["b", "c"]["n_lost"] == 0


LINKS: dict[str, tuple[Edge, ...]] = {
    "before": (TO,),
    "behind": (("b", "c"),),
    "around": (AROUND,),
    "everywhere": (TO, ("b", "c"), AROUND),
}


@pytest.mark.parametrize("of", ["flows", "filtered"])
@pytest.mark.parametrize("lossy", LINKS.values(), ids=LINKS)
@pytest.mark.parametrize("n_flows", [20, 400])
@pytest.mark.parametrize("seen_frac", [0.6, 0.9])
def test_flows_that_a_point_sees_nothing_of_may_pass_it_or_not(
    seen_frac: float, n_flows: int, lossy: tuple[Edge, ...], of: str, tmp_path: Path
) -> None:
    """Between the same two addresses: a link that nobody captures and a filter look the same."""
    network = sampled(n_flows, 1, seen_frac, of=of, lossy=lossy)
    found = told_of(network, tmp_path)
    assert found.n_missed <= 0.05 * found.n_maybe_missed
    assert "flows-not-captured" in found.codes
    for edge in (TO, ("b", "c")):
        assert found.holds(edge)
    assert found.rows[AROUND]["n_lost"] == pytest.approx(len(network.lost), abs=3)


@pytest.mark.parametrize("lossy", LINKS.values(), ids=LINKS)
@pytest.mark.parametrize("n_flows", [1_200, 3_000])
def test_losses_of_short_flows_and_their_misses_keep_the_balance(
    n_flows: int, lossy: tuple[Edge, ...], tmp_path: Path
) -> None:
    """A capture that drops packets in bursts looks the same as one with a filter."""
    found = told_of(sampled(n_flows, 1, 0.8, of="filtered", lossy=lossy), tmp_path)
    for edge in (TO, ("b", "c")):
        assert found.holds(edge)


def test_what_is_lost_past_a_point_is_among_the_lost_packets(tmp_path: Path) -> None:
    """The whole path is all that is known of where it was lost."""
    network = sampled(20, 1, 0.6, of="flows")
    with pcaplat.merge(network.save(tmp_path), same_clock=["all"], path=LINE) as result:
        pcaplat.write(result, tmp_path / "results")
        (whole,) = (
            row["n_lost"]
            for row in result.document["segments"]
            if (row["near"], row["far"], row["direction"]) == ("a", "c", "forward")
        )
    lost = pl.read_parquet(tmp_path / "results" / "lost.parquet")
    lost = lost.filter(direction="forward")
    assert lost.filter(far="c")["weight"].sum() > 0.2 * whole
    assert lost["weight"].sum() == pytest.approx(whole, abs=2)
