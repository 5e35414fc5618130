"""Real networks that are no lines: every directed edge is a segment, and no segment is no edge."""

from __future__ import annotations

import csv
import json
from functools import cache
from typing import Any

import pytest

import pcaplat
from tests.support.oracle_decode import read_frames
from tests.support.shelf import lab_set

SETS = ("star", "multicast", "ecmp", "asymmetric", "vxlan-two-tenants", "late-start")
LINE = "graph-late-start"
DELAYED_NS = 100_000
Edge = tuple[str, str]

pytestmark = pytest.mark.skipif(
    not lab_set("graph-star").exists(), reason="the shared captures are not here"
)


@cache
def manifest(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((lab_set(name) / "manifest.json").read_text())
    return found


def edges_of(name: str) -> dict[Edge, dict[str, Any]]:
    """The true edges, by from and to."""
    return {(row["from"], row["to"]): row for row in manifest(name)["edges"]}


@cache
def document(name: str, same_clock: tuple[str, ...] = ("all",)) -> dict[str, Any]:
    """Only TCP and UDP are in the manifest's counts."""
    files = [str(lab_set(name) / row["file"]) for row in manifest(name)["points"]]
    with pcaplat.merge(files, same_clock=same_clock, bpf="tcp or udp") as result:
        return dict(result.document)


def segments(name: str, same_clock: tuple[str, ...] = ("all",)) -> dict[Edge, dict[str, Any]]:
    """Segments that packets took, as they went; the whole path only if it is an edge."""
    told, found = document(name, same_clock), {}
    ends = (told["path"][0], told["path"][-1])
    edges = {(row["near"], row["far"]) for row in told["edges"]}
    for row in told["segments"]:
        two = (row["near"], row["far"])
        if row["n"] and row["class"] == "packet" and (two in edges or two != ends):
            found[two if row["direction"] == "forward" else two[::-1]] = row
    return found


def asked() -> pytest.MarkDecorator:
    """All sets."""
    return pytest.mark.parametrize("name", [f"graph-{name}" for name in SETS])


@asked()
def test_points_are_those_of_the_files(name: str) -> None:
    assert sorted(document(name)["path"]) == sorted(row["name"] for row in manifest(name)["points"])


@asked()
def test_edges_are_the_networks(name: str) -> None:
    told = {tuple(sorted((row["near"], row["far"]))) for row in document(name)["edges"]}
    assert told == {tuple(sorted(edge)) for edge in edges_of(name)}


@asked()
def test_every_directed_edge_is_a_segment_and_no_other(name: str) -> None:
    assert segments(name).keys() == edges_of(name).keys()


@asked()
def test_the_path_is_an_order_of_every_route(name: str) -> None:
    path = document(name)["path"]
    for route in manifest(name)["routes"]:
        for order in route["orders"] if name != "graph-star" else ():
            places = [path.index(point) for point in order]
            assert places in (sorted(places), sorted(places, reverse=True)), order


@asked()
def test_counts_are_the_manifests(name: str) -> None:
    if name == LINE:
        pytest.skip("the counts of two points are of the whole run, which they do not cover")
    told = {edge: row["n"] for edge, row in segments(name).items()}
    assert told == {edge: row["packets_to"] for edge, row in edges_of(name).items()}


@asked()
def test_losses_are_those_that_were_logged(name: str) -> None:
    true = dict.fromkeys(edges_of(name), 0)
    if name == LINE:
        times_ns = [
            [frame.t_ns for frame in read_frames(lab_set(name) / f"{point}.pcap")]
            for point in ("sw-a", "sw-b")
        ]
        first_ns, last_ns = max(t[0] for t in times_ns), min(t[-1] for t in times_ns)
        for row in csv.DictReader((lab_set(name) / "lost.csv").read_text().splitlines()):
            edge = ("sw-a", "sw-b") if row["dir"] == "ab" else ("sw-b", "sw-a")
            true[edge] += first_ns <= int(row["in_ns"]) <= last_ns
        assert sum(true.values()) > 5
    assert {edge: row["n_lost"] for edge, row in segments(name).items()} == true


@asked()
def test_what_was_delayed_is_slow_and_nothing_else(name: str) -> None:
    delayed = {edge for edge, row in edges_of(name).items() if row["delayed"]}
    slow = {edge for edge, row in segments(name).items() if row["p50_ns"] >= DELAYED_NS}
    assert slow == delayed


@asked()
def test_nothing_is_early(name: str) -> None:
    """All points share a clock: no packet arrives before it left."""
    least_ns = {edge: row["min_ns"] for edge, row in segments(name).items()}
    assert {edge: ns for edge, ns in least_ns.items() if ns < 0} == {}
    assert "negative-latency" not in {row["code"] for row in document(name)["warnings"]}


@asked()
def test_edges_are_the_networks_whatever_the_clocks(name: str) -> None:
    told = {tuple(sorted((r["near"], r["far"]))) for r in document(name, ())["edges"]}
    assert told == {tuple(sorted(edge)) for edge in edges_of(name)}


@pytest.mark.parametrize("same_clock", [("all",), ()], ids=["one clock", "no clock declared"])
@asked()
def test_no_direction_is_missing_where_the_way_back_is_another(
    name: str, same_clock: tuple[str, ...]
) -> None:
    codes = {row["code"] for row in document(name, same_clock)["warnings"]}
    assert "direction-missing" not in codes
