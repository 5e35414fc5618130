"""Breakdowns: against a join of matches and packets, and by recovery of what was simulated."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import pcaplat
from pcaplat.breakdowns import KINDS, parse_all
from pcaplat.breakdowns.counting import bin_middles_ns
from pcaplat.breakdowns.keys import FLOW, REST, Labels
from pcaplat.cli import run as command
from pcaplat.errors import OptionError
from pcaplat.model.latencies.segments import Distribution
from pcaplat.outputs import show, write
from pcaplat.tables.breakdowns import BREAKDOWN_TABLES, BY
from tests.conftest import ROOT
from tests.recovery.simulator import Clock, Link, Point, Scenario, Traffic, Tunnel, run
from tests.recovery.simulator.transit import HEADER_BYTES

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = sorted((ROOT / "samples" / "vxlan").glob("*.pcap"))
SEGMENT = ["near", "far", "direction"]


@pytest.fixture(scope="module")
def result() -> pcaplat.Result:
    return pcaplat.merge(SAMPLE, same_clock=["all"], by=[*KINDS[:-1], "window=20ms"])


def rows_of(result: pcaplat.Result, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = result.document["breakdowns"][name]
    return rows


def joined(result: pcaplat.Result) -> pl.DataFrame:
    """Every match with the frame at its near end, by the public tables alone."""
    is_forward = pl.col("direction") == "forward"
    matches = result.matches.filter(pl.col("kind") == "packet").with_columns(
        near=pl.when(is_forward).then("up_point").otherwise("down_point"),
        far=pl.when(is_forward).then("down_point").otherwise("up_point"),
        file=pl.when(is_forward).then("up_file").otherwise("down_file"),
        frame=pl.when(is_forward).then("up_frame").otherwise("down_frame"),
    )
    neighbours = matches.join(result.packets, on=["file", "frame"]).collect()
    return pl.concat([neighbours, _whole(neighbours, result.document["path"])])


def _whole(neighbours: pl.DataFrame, path: list[str]) -> pl.DataFrame:
    """Packets that were seen at both ends of the path, with what they took in all."""
    took_ns = pl.col("latency_ns").sum().over("trajectory_id")
    ways = neighbours.with_columns(
        latency_ns=took_ns,
        is_at_far=(pl.col("far") == path[-1]).any().over("trajectory_id"),
        far=pl.lit(path[-1]),
    )
    return ways.filter((pl.col("near") == path[0]) & pl.col("is_at_far")).drop("is_at_far")


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_lost_by_breaking_down(result: pcaplat.Result, kind: str) -> None:
    BY[kind].check(pl.DataFrame(rows_of(result, f"by_{kind}"), schema=BY[kind].schema()))
    whole = {tuple(row[name] for name in SEGMENT): row for row in result.document["segments"]}
    parts: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows_of(result, f"by_{kind}"):
        parts.setdefault(tuple(row[name] for name in SEGMENT), []).append(row)
    assert len(parts) == 2 * (len(result.document["edges"]) + 1)
    for segment, rows in parts.items():
        n, mean_ns = whole[segment]["n"], whole[segment]["mean_ns"]
        assert sum(row["n"] for row in rows) == n
        assert sum(row["n"] * row["mean_ns"] for row in rows) / n == pytest.approx(mean_ns)
        assert max(row["max_ns"] for row in rows) == whole[segment]["max_ns"]


def test_sizes_and_flows_are_those_of_a_join(result: pcaplat.Result) -> None:
    pairs = joined(result)
    for row in rows_of(result, "by_size"):
        at = pairs.filter(
            pl.col("wire_bytes").is_between(row["least_bytes"], row["most_bytes"]),
            *(pl.col(name) == row[name] for name in SEGMENT),
        )
        check(row, at["latency_ns"].to_numpy())
    for row in rows_of(result, "by_flow"):
        ways = [("src", "dst"), ("dst", "src")]
        src, dst = ways[row["direction"] == "reverse"]
        at = pairs.filter(
            pl.col("src").eq_missing(row[src]),
            pl.col("src_port").eq_missing(row[f"{src}_port"]),
            pl.col("dst").eq_missing(row[dst]),
            pl.col("dst_port").eq_missing(row[f"{dst}_port"]),
            pl.col("protocol").eq_missing(row["protocol"]) | pl.lit(row["protocol"] is None),
            *(pl.col(name) == row[name] for name in SEGMENT),
        )
        check(row, at["latency_ns"].to_numpy())


def check(row: dict[str, Any], latencies_ns: np.ndarray) -> None:
    assert row["n"] == len(latencies_ns)
    assert row["mean_ns"] == pytest.approx(latencies_ns.mean())
    assert (row["min_ns"], row["max_ns"]) == (latencies_ns.min(), latencies_ns.max())
    assert row["pdv_p99_ns"] == row["p99_ns"] - row["min_ns"]
    for name, share in (("p50_ns", 0.5), ("p99_ns", 0.99)):
        exact = np.quantile(latencies_ns, share, method="inverted_cdf")
        assert row[name] == pytest.approx(exact, rel=2**-11, abs=1)


def test_python_gives_the_same_table(result: pcaplat.Result) -> None:
    assert result.by("size").to_dicts() == rows_of(result, "by_size")
    assert result.by("window=20ms")["length_ns"].unique().to_list() == [20_000_000]


def test_bins_are_those_of_the_core() -> None:
    values = np.array([0, 5, 2047, 2048, 4095, 4096, 123_457, 10**12 + 7])
    middles = bin_middles_ns(np.concatenate([values, -values]))
    assert np.abs(middles - np.concatenate([values, -values])).max() <= 2**-11 * 10**12
    assert len(np.unique(bin_middles_ns(np.arange(1 << 12, 1 << 13)))) == 1 << 10
    one = Distribution(1, 7, 49.0, 7, 7, [7.0], [1])
    assert one.quantile_ns(0.5) == bin_middles_ns(np.array([7]))[0]


# ---- what was simulated


ETHERNET_IP_UDP_BYTES = 14 + 20 + 8


def merged(scenario: Scenario, folder: Path, *by: str) -> pcaplat.Result:
    folder.mkdir(exist_ok=True)
    names = [point.name for point in scenario.points]
    files = run(scenario).save(folder)
    return pcaplat.merge(files, same_clock=["all"], path=names, by=by)


def path_of(link: Link, *, seed: int = 1, **more: Any) -> Scenario:  # noqa: ANN401 - its fields
    traffic = Traffic(3_000, gap_ns=60_000, shares=(("udp", 1.0),), ip6_share=0.0)
    points = more.pop("points", (Point("a"), Point("b")))
    return Scenario(points, (link,), traffic, seed=seed, **more)


def test_what_a_byte_costs_and_what_is_fixed_are_recovered(tmp_path: Path) -> None:
    n_held, halves = [0, 0], []
    for seed in range(1, 7):
        link = Link(10_000, 7_000, tail_ns=300, ns_a_byte=8.0)
        found = merged(path_of(link, seed=seed), tmp_path / str(seed), "size")
        for row in rows_of(found, "size_fits"):
            # the simulator's frames cost what so many bytes more than their own would
            least_ns = link.forward_ns if row["direction"] == "forward" else link.reverse_ns
            fixed_ns = least_ns + link.tail_ns + 8.0 * (HEADER_BYTES - ETHERNET_IP_UDP_BYTES)
            lo, hi = row["slope_lo_ns_per_byte"], row["slope_hi_ns_per_byte"]
            assert lo is not None, row["interval_reason"]
            n_held[0] += lo <= 8.0 <= hi
            n_held[1] += row["fixed_lo_ns"] <= fixed_ns <= row["fixed_hi_ns"]
            halves.append(((hi - lo) / 2, (row["fixed_hi_ns"] - row["fixed_lo_ns"]) / 2))
    # of twelve 95 % intervals
    assert min(n_held) >= 10
    slope, fixed_ns = np.max(halves, axis=0)
    assert slope < 0.25
    assert fixed_ns < 60


def test_without_a_cost_of_bytes_none_is_found(tmp_path: Path) -> None:
    found = merged(path_of(Link(tail_ns=300, ns_a_byte=0.0)), tmp_path, "size")
    for row in rows_of(found, "size_fits"):
        assert row["slope_lo_ns_per_byte"] <= 0 <= row["slope_hi_ns_per_byte"]


def test_a_step_in_latency_is_in_its_window(tmp_path: Path) -> None:
    late = Clock(step_ns=7_000, step_after_ns=60_000_000)
    scenario = path_of(Link(), points=(Point("a"), Point("b", late)), is_one_way=True)
    rows = rows_of(merged(scenario, tmp_path, "window=10ms"), "by_window")
    starts_ms = [round((row["start_ns"] - rows[0]["start_ns"]) / 1e6) for row in rows]
    assert starts_ms == [10 * at for at in range(len(rows))]
    assert len(rows) > 8
    for at_ms, row in zip(starts_ms, rows, strict=True):
        if at_ms != 60:
            assert row["p50_ns"] == pytest.approx(3_400 + 7_000 * (at_ms > 60), abs=400), at_ms
        if row["mean_lo_ns"] is not None:
            assert row["mean_lo_ns"] <= row["mean_ns"] <= row["mean_hi_ns"]
    assert any(row["mean_lo_ns"] is not None for row in rows)


def test_flows_of_the_longer_way_are_told(tmp_path: Path) -> None:
    scenario = path_of(Link(branch_ns=20_000), n_branches=2)
    rows = rows_of(merged(scenario, tmp_path, "flow"), "by_flow")
    slow = [row for row in rows if row["p50_ns"] > 13_000]
    assert len(rows) > 20
    assert 0.3 < len(slow) / len(rows) < 0.7
    assert all(row["mean_ns"] > 20_000 and row["p50_ns"] > 20_000 for row in slow)
    assert all(row["p50_ns"] < 8_000 for row in rows if row not in slow)
    # both ways of a flow are one flow, and as slow as each other
    ways: dict[tuple[str, int, str], set[bool]] = {}
    for row in rows:
        is_slow = row["p50_ns"] > 13_000
        ways.setdefault((row["src"], row["src_port"], row["dst"]), set()).add(is_slow)
    assert all(len(found) == 1 for found in ways.values())


def test_codepoints_and_tunnels_are_those_of_the_near_end(tmp_path: Path) -> None:
    points = (Point("a", dscp=46), Point("b", dscp=10))
    found = merged(path_of(Link(), points=points), tmp_path / "dscp", "dscp")
    assert {(row["key"], row["dscp"]) for row in rows_of(found, "by_dscp")} == {("46", 46)}
    points = (Point("a"), Point("b", tunnel=Tunnel("vxlan", number=7, number_back=7)))
    found = merged(path_of(Link(), points=points), tmp_path / "tunnel", "tunnel")
    assert {row["tunnel_id"] for row in rows_of(found, "by_tunnel")} == {7}
    found = merged(path_of(Link()), tmp_path / "none", "tunnel")
    assert {row["key"] for row in rows_of(found, "by_tunnel")} == {"no tunnel"}


def test_clocks_that_tell_nothing_leave_null_and_the_reason(tmp_path: Path) -> None:
    files = run(path_of(Link(), is_one_way=True)).save(tmp_path)
    found = pcaplat.merge(files, path=["a", "b"], by=["size"])
    for row in rows_of(found, "by_size"):
        assert (row["mean_ns"], row["p99_ns"], row["pdv_p99_ns"]) == (None, None, None)
        assert "cannot be related" in row["interval_reason"]
    assert rows_of(found, "size_fits") == []


# ---- options and outputs


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("flwo", "--by flwo: there is no such breakdown; did you mean flow?"),
        ("colour", "there are: flow, size, dscp, tunnel, first, window, window=1s"),
        ("size=3", "size takes no value; write --by size"),
        ("window=soon", "'soon' is no duration"),
        ("window=0s", "must be longer than 0"),
        ("window=1ns", "more than 100,000 windows; choose longer ones"),
    ],
)
def test_wrong_values_are_told(text: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["merge", *map(str, SAMPLE), "--same-clock", "all", "--by", text]) == 2
    assert message in capsys.readouterr().err


def test_two_lengths_of_windows_are_refused() -> None:
    with pytest.raises(OptionError, match="two lengths"):
        parse_all(["window=1s", "window=2s"])


def test_beyond_the_most_keys_the_rest_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pcaplat.breakdowns.keys.MOST_KEYS", 4)
    labels = Labels(FLOW)
    flows = [(17, f"10.0.0.{at}", 1, "10.0.1.1", 2) for at in (1, 2, 1, 3)]
    flows.append((17, "10.0.1.1", 2, "10.0.0.2", 1))
    batch = pl.DataFrame(flows, schema=FLOW, orient="row")
    assert labels.numbers(batch).tolist() == [0, 2, 0, REST, 3]


def test_the_console_has_the_largest_rows_and_says_how_many_more(
    result: pcaplat.Result, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert command(["merge", *map(str, SAMPLE), "--same-clock", "all", "--by", "flow"]) == 0
    text = capsys.readouterr().out
    n_more = len(rows_of(result, "by_flow")) - 20
    assert f"{n_more} more rows, of fewer packets: --format json, or by_flow.parquet" in text
    shown = text[text.index("Latency by flow") :].split("\n\n")[0].splitlines()
    assert len(shown) == 23
    assert max(map(len, text.splitlines())) <= 100


def test_every_output_has_them(
    result: pcaplat.Result, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(result, tmp_path / "out")
    for table in BREAKDOWN_TABLES:
        rows = rows_of(result, table.name)
        assert pl.read_parquet(tmp_path / "out" / f"{table.name}.parquet").to_dicts() == rows
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["breakdowns"]
    with capsys.disabled(), (tmp_path / "text").open("w+") as stream:
        show("markdown", "merge", result, stream)
        stream.seek(0)
        assert "Segments by flow, and" in stream.read()
