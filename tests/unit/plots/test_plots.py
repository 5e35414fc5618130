"""Charts of a result: each is a valid chart, and shows the figures that the summary has."""

from __future__ import annotations

import struct
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pcaplat
from pcaplat.cli import run
from pcaplat.errors import InputError
from pcaplat.model.blocks import Blocks
from pcaplat.outputs.page.sections import measured_sections
from pcaplat.outputs.reports.merge.distributions import BARS, sparkline
from pcaplat.plots import Plots, render
from pcaplat.plots.ccdf import ccdf_figure
from pcaplat.plots.claims import claim_figures, claimed_run_figures
from pcaplat.plots.comparison import compared_run_figures, comparison_figures
from pcaplat.plots.figure import Measured, shift_text
from pcaplat.plots.path import path_figure
from pcaplat.plots.timeline import Timeline, timeline_figure
from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pcaplat.plots.figure import Spec

ENDS = ("host1-vm", "host2-vm")


@pytest.fixture(scope="module")
def result() -> Iterator[pcaplat.Result]:
    captures = sorted((ROOT / "samples" / "vxlan-delay200").glob("*.pcap*"))
    with pcaplat.merge(captures, keep_rows=False) as merged:
        yield merged


def rows_of(spec: Spec, *names: str) -> list[dict[str, Any]]:
    """The data of the first layer that has these columns."""
    layers = (one["data"]["values"] for one in spec["layer"])
    return list(next(rows for rows in layers if {*names} <= {*rows[0]}))


def test_every_chart_is_one_of_altair(result: pcaplat.Result) -> None:
    plot = result.plot
    charts = [plot.path(), plot.waterfall(), plot.ccdf(*ENDS), plot.timeline(*ENDS), plot.runs()]
    for chart in (*charts, plot.ccdf(*ENDS[::-1]), plot.clocks()):
        assert isinstance(chart, alt.LayerChart | alt.VConcatChart)
        assert chart.to_dict()
    assert plot.path().properties(title="mine").to_dict()["title"] == "mine"


def test_the_path_is_drawn_through_links_alone(result: pcaplat.Result) -> None:
    edges = result.document["edges"]
    document = result.document | {"edges": edges[:2] + edges[3:]}
    figure = path_figure(replace(result.plot.measured, document=document))
    assert figure.spec is not None
    points = rows_of(figure.spec, "name", "begin")
    above = [None, *(point["y"] for point in points)]
    joined = [point["begin"] == y for point, y in zip(points, above, strict=False)]
    assert joined == [False, True, True, False, True, True]
    assert points[3]["begin"] == points[3]["y"]


def test_what_was_not_measured_is_refused_by_its_name(result: pcaplat.Result) -> None:
    with pytest.raises(InputError, match="ccdf of host1-vm and nowhere"):
        result.plot.ccdf("host1-vm", "nowhere")
    with pytest.raises(InputError, match="timeline of sw-a and sw-b, sideways"):
        result.plot.timeline("sw-a", "sw-b", "sideways")


def test_a_curve_goes_through_its_quantiles(result: pcaplat.Result) -> None:
    measured = result.plot.measured
    for near, far in [*pairwise(result.document["path"]), ENDS]:
        figure = ccdf_figure(measured, near, far)
        assert figure is not None
        assert figure.spec is not None
        for way in ("forward", "reverse"):
            row = measured.segment(near, far, way)
            assert row is not None
            curve = [p for p in rows_of(figure.spec, "latency", "percent") if p["direction"] == way]
            percents = [point["percent"] for point in curve]
            assert percents == sorted(percents, reverse=True)
            assert percents[0] == pytest.approx(100)
            unit_ns = row["p50_ns"] / next(
                mark["latency"]
                for mark in figure.spec["layer"][-1]["data"]["values"]
                if mark["direction"] == way and mark["name"] == "p50"
            )
            # a share of at least 1/n reaches to the largest
            assert curve[-1]["latency"] * unit_ns == pytest.approx(row["max_ns"], rel=2e-3)
            at_median = max(p["latency"] for p in curve if p["percent"] >= 50)
            assert at_median * unit_ns <= row["p50_ns"] * 1.05


def test_a_heatmap_holds_every_packet_once(result: pcaplat.Result) -> None:
    measured = result.plot.measured
    for way in ("forward", "reverse"):
        figure = timeline_figure(measured, *ENDS, way)
        row = measured.segment(*ENDS, way)
        assert figure is not None
        assert figure.spec is not None
        assert row is not None
        cells = rows_of(figure.spec, "start", "end", "n")
        assert sum(cell["n"] for cell in cells) == row["n"]
        assert sum(int(cells[1].replace(",", "")) for cells in figure.rows) == row["n"]
        assert sum(int(cells[-1]) for cells in figure.rows) == row["n_lost"]


def test_a_heatmap_marks_where_packets_were_late(result: pcaplat.Result) -> None:
    measured = result.plot.measured
    row = measured.segment(*ENDS, "forward")
    blocks = measured.blocks_of(row) if row else None
    assert row is not None
    assert blocks is not None
    for n_late in (0, 3):
        line = Timeline.of(row | {"n_late": n_late}, blocks, 64)
        assert sum(line.n_late(64)) == n_late
    values, counts = blocks.histograms(len(blocks.n) // 64)
    (last,) = np.flatnonzero(counts[:, np.argmax(values)])
    assert line.n_late(64)[last]


def test_a_drawing_that_clocks_may_shift_says_so(result: pcaplat.Result) -> None:
    measured = result.plot.measured
    row = measured.segment(*ENDS, "forward")
    assert row is not None
    assert shift_text([row | {"clock_half_width_ns": row["p50_ns"]}]).startswith("Only the shape")
    assert not shift_text([row | {"clock_half_width_ns": 0.0}])


def test_a_waterfall_adds_up(result: pcaplat.Result) -> None:
    figure = next(s for s in measured_sections(result.plot.measured) if s.anchor == "round-trip")
    spec = figure.figures[0].spec
    assert spec is not None
    *parts, total = rows_of({"layer": spec["layer"][1:]}, "name", "kind")
    assert all(one["end"] == pytest.approx(two["start"]) for one, two in pairwise(parts))
    assert parts[-1]["end"] == pytest.approx(total["end"], rel=1e-4)
    check = result.document["transaction_check"]
    assert total["end"] * 1e3 == pytest.approx(check["seen_ns"], rel=1e-3)


def test_without_related_clocks_only_variation_is_drawn(result: pcaplat.Result) -> None:
    names = ("p50_ns", "p90_ns", "p99_ns", "p999_ns", "min_ns", "max_ns", "mean_ns")
    unknown = dict.fromkeys((*names, "clock_half_width_ns"))
    rows = [row | unknown for row in result.document["segments"]]
    measured = replace(result.plot.measured, document=result.document | {"segments": rows})
    sections = [*measured_sections(measured)]
    figures = [figure for section in sections for figure in section.figures]
    ccdf = next(section.figures[0] for section in sections if section.anchor == "distribution")
    assert "latency above the least, " in str(ccdf.spec)
    assert ccdf.columns[2:] == ["p50, µs", "p99, µs"]
    for figure in figures:
        if figure.spec:
            render.svg(render.vega(figure.spec))


def test_pictures_are_what_they_are_called(result: pcaplat.Result) -> None:
    spec = result.plot.path().to_dict()
    assert render.svg_file(spec).startswith(b"<svg ")
    assert render.png_file(spec).startswith(b"\x89PNG")


def test_verdicts_and_comparisons_are_drawn() -> None:
    verdicts = {
        "verdicts": [
            {"id": "a", "claim": "A is 2 us", "verdict": "held", "reason": "so", "n_runs": 1}
            | {
                "estimate": 2.0,
                "lo": 1.9,
                "hi": 2.1,
                "claim_lo": 1.5,
                "claim_hi": 2.5,
                "unit": "us",
            },
            {"id": "b", "claim": "B is less", "verdict": "undecided", "reason": "?", "n_runs": 0}
            | {
                "estimate": None,
                "lo": None,
                "hi": None,
                "claim_lo": None,
                "claim_hi": 1,
                "unit": "%",
            },
        ]
    }
    table, drawn = claim_figures(verdicts)
    assert [row[1] for row in table.rows] == ["held", "undecided"]
    assert drawn.title == "Claims in µs"
    difference, *curves = comparison_figures(pcaplat.compare("samples/l2", "samples/vxlan"))
    assert difference.title == "vxlan less l2"
    for figure in (drawn, difference, *curves):
        assert figure.spec is not None
        render.svg(render.vega(figure.spec))


def claimed(claim: str, at_most: float) -> dict[str, Any]:
    return {"id": claim, "claim": claim, "verdict": "held", "reason": "", "n_runs": 3} | {
        "estimate": 0.001,
        "lo": 0.0,
        "hi": 0.005,
        "claim_lo": None,
        "claim_hi": at_most,
        "allowed_lo": None,
        "allowed_hi": at_most,
        "unit": "%",
        "subject": f"subject of {claim}",
    }


def run_of(claim: str, scenario: str, start_ns: int, value: float) -> dict[str, Any]:
    about = {"claim": claim, "scenario": scenario, "run": f"run{start_ns}", "start_ns": start_ns}
    return about | {"n": 100, "value": value, "lo": None, "hi": None, "unit": "%"}


def test_a_claim_reaches_below_zero_only_if_it_is_of_a_difference() -> None:
    runs = [run_of("loss", "a", 1, 0.002), run_of("loss", "a", 2, 0.0)]
    runs += [run_of("change", "a", 1, 0.001), run_of("change", "b", 2, 0.002)]
    verdicts = {"verdicts": [claimed("loss", 0.01), claimed("change", 0.01)], "runs": runs}
    _, drawn = claim_figures(verdicts)
    assert drawn.spec is not None
    (ranges,) = [one for one in drawn.spec["layer"] if one["mark"].get("strokeWidth") == 16]
    begin = {row["claim"]: row["claim_lo"] for row in ranges["data"]["values"]}
    assert begin["loss"] == 0
    assert begin["change"] < 0


def test_a_claim_is_drawn_with_its_tolerance() -> None:
    row = claimed("about", 0.01) | {"claim_lo": 0.01, "allowed_lo": 0.009, "allowed_hi": 0.011}
    table, drawn = claim_figures({"verdicts": [row]})
    assert table.rows[0][2] == "0.009 to 0.011 %"
    assert drawn.spec is not None
    values = drawn.spec["layer"][0]["data"]["values"][0]
    assert (values["claim_lo"], values["claim_hi"]) == (0.009, 0.011)


def test_runs_of_a_claim_stand_in_order_of_their_start() -> None:
    runs = [run_of("loss", name, at, 0.001 * at) for at, name in enumerate("abab", 1)]
    alone = [run_of("lone", "a", 1, 1.0)]
    document = {"verdicts": [claimed("loss", 1), claimed("lone", 1)], "runs": [*runs, *alone]}
    (figure,) = claimed_run_figures(document)
    assert figure.title == "loss: subject of loss"
    assert [row[0] for row in figure.rows] == ["run1", "run2", "run3", "run4"]
    assert [row[1] for row in figure.rows] == [*"abab"]
    assert figure.spec is not None
    render.svg(render.vega(figure.spec))


def test_means_of_runs_are_those_that_are_compared() -> None:
    document = pcaplat.compare("samples/east-west/l2", "samples/east-west/vxlan")
    starts = [row["start_ns"] for row in document["runs"]]
    ends = document["round_trips"][-1]["near"], document["round_trips"][-1]["far"]
    whole = [row for row in document["runs"] if (row["near"], row["far"]) == ends]
    assert starts[-len(whole) :] == sorted(starts[-len(whole) :])
    trip = document["round_trips"][-1]
    for side, mean in (("l2", trip["baseline_mean_ns"]), ("vxlan", trip["treatment_mean_ns"])):
        means = [row["mean_ns"] for row in whole if row["scenario"] == side]
        assert len(means) == 8
        assert np.mean(means) == pytest.approx(mean)
    first, *_ = compared_run_figures(document)
    assert first.title.endswith(" ⇄ ".join(ends))
    assert len(first.rows) == 16


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=50), st.integers(1, 40))
def test_a_sparkline_has_its_width_and_a_peak(latencies_ns: list[int], width: int) -> None:
    values = np.sort(np.array(latencies_ns, np.float64))
    ones = np.ones(len(values), np.int64)
    zeros = np.zeros(len(values), np.int64)
    n = np.array([len(values)])
    blocks = Blocks(0, 1, n, values.astype(np.int64), values**2, zeros, values, ones)
    line = sparkline(blocks, width)
    assert len(line) == width
    assert BARS[-1] in line
    assert {*line} <= {*BARS, " "}


def test_plots_take_any_measured_run(result: pcaplat.Result) -> None:
    other = Plots(Measured(result.document, result.blocks))
    assert len(result.plot.runs(other).to_dict()["layer"]) >= 1


def test_latency_that_never_varies_by_clocks_nobody_knows_is_no_curve(tmp_path: Path) -> None:
    files = []
    for name, delay_us in (("near", 0), ("far", 5)):
        content = bytearray(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1))
        for number in range(500):
            udp = struct.pack(">HHHHQ", 10_000 + number % 9, 53, 16, 0, number)
            ip = struct.pack(">BBHHHBBHII", 69, 0, 36, number, 0, 64, 17, 0, 0x0A000001, 0x0A000002)
            frame = bytes(range(1, 13)) + b"\x08\x00" + ip + udp
            content += struct.pack("<4I", 1_700_000_000, 10 * number + delay_us, *[len(frame)] * 2)
            content += frame
        files.append(tmp_path / f"{name}.pcap")
        files[-1].write_bytes(content)
    assert run(["merge", *map(str, files), "--quiet", "-o", str(tmp_path / "out")]) == 0
    with pcaplat.merge(files) as merged, pytest.raises(InputError, match="ccdf of near and far"):
        merged.plot.ccdf("near", "far")
    assert (tmp_path / "out" / "report.html").exists()
