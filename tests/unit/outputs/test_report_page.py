"""report.html as a file: small, self-contained, remade from a folder, and its pictures alone."""

from __future__ import annotations

import html
import io
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import vl_convert

import pcaplat
from pcaplat.cli import run
from pcaplat.model.blocks import N_BLOCKS, Blocks
from pcaplat.outputs import save, show
from pcaplat.outputs.page.answer import answer, doubts
from pcaplat.outputs.page.saved import write_report
from pcaplat.outputs.page.template import HERE, report_page
from pcaplat.plots.ccdf import ccdf_figure
from pcaplat.plots.path import path_figure
from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_BYTES = 1_500_000
CAPTURES = sorted((ROOT / "samples" / "vxlan").glob("*.pcap"))


@pytest.fixture(scope="module")
def result() -> Iterator[pcaplat.Result]:
    with pcaplat.merge(CAPTURES, same_clock=["all"], clock_accuracy=[("sw-a", 100)]) as merged:
        yield merged


def test_the_page_carries_the_vega_that_draws_without_a_browser() -> None:
    text = (HERE / "vega.js").read_text("utf-8")
    assert text.startswith(f"/*! Vega {vl_convert.get_vega_version()},")
    assert f't.version="{vl_convert.get_vega_version()}"' in text
    assert "Interactive Data Lab" in text


def test_nothing_is_fetched(result: pcaplat.Result) -> None:
    page = report_page(result.plot.measured, result.provenance)
    outside_of_scripts = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    addresses = set(re.findall(r"[a-z]+://[^\"'<> ]+", outside_of_scripts))
    assert addresses == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "default-src 'none'" in page
    assert "unsafe-eval" not in page


def test_a_folder_makes_the_same_page_again(result: pcaplat.Result, tmp_path: Path) -> None:
    pcaplat.write(result, tmp_path / "out")
    written = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert written == report_page(result.plot.measured, result.provenance)
    assert write_report(tmp_path / "out").read_text("utf-8") == written
    (tmp_path / "out" / "verdicts.json").write_text(json.dumps({"verdicts": []}))
    assert 'id="claims"' in write_report(tmp_path / "out").read_text("utf-8")


def test_what_draws_ends_with_the_page(tmp_path: Path) -> None:
    """A converter keeps 130 MB as long as its process lives: so it has one of its own."""
    code = f"""
import sys, pcaplat
with pcaplat.merge({[str(one) for one in CAPTURES]}) as result:
    pcaplat.write(result, {str(tmp_path / "out")!r})
assert "vl_convert" not in sys.modules
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=120)
    assert "<svg" in (tmp_path / "out" / "report.html").read_text("utf-8")


@pytest.mark.parametrize("program", [None, "", "/nowhere/python", "/bin/false", "/bin/cat"])
def test_the_page_is_the_same_where_no_process_draws(
    result: pcaplat.Result, monkeypatch: pytest.MonkeyPatch, program: str | None
) -> None:
    """Python within another program: what is to be started is not known, or something else."""
    usual = report_page(result.plot.measured, result.provenance)
    monkeypatch.setattr(sys, "executable", program)
    assert report_page(result.plot.measured, result.provenance) == usual


def test_a_picture_is_refused_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["merge", *map(str, CAPTURES), "--quiet", "--plot"]
    for name in ("path.gif", "path", "captures.svg"):
        (tmp_path / "captures.svg").mkdir(exist_ok=True)
        assert run([*given, str(tmp_path / name)]) == 2
        assert f"--plot {tmp_path / name}: " in capsys.readouterr().err
    study = ["merge", "samples/east-west/study.toml", "--plot", str(tmp_path / "path.svg")]
    assert run(study) == 2


@pytest.mark.parametrize(("suffix", "begin"), [("svg", b"<svg"), ("html", b"<!DOCTYPE html>")])
def test_merge_draws_the_path(tmp_path: Path, suffix: str, begin: bytes) -> None:
    picture = tmp_path / f"path.{suffix}"
    assert run(["merge", *map(str, CAPTURES), "--quiet", "--plot", str(picture)]) == 0
    assert picture.read_bytes().startswith(begin)
    assert b"host1-vm" in picture.read_bytes()


def test_report_needs_a_folder_of_merge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err


def test_provenance_gives_the_command_and_the_digests(result: pcaplat.Result) -> None:
    found = result.provenance
    options = "--same-clock all --clock-accuracy sw-a=100ns"
    assert found["command"] == f"pcaplat merge {options} {' '.join(map(str, CAPTURES))}"
    if shutil.which("sha256sum"):
        done = subprocess.run(["sha256sum", *CAPTURES], capture_output=True, text=True, check=True)
        told = {Path(line.split()[1]).name: line.split()[0] for line in done.stdout.splitlines()}
        assert {Path(row["file"]).name: row["sha256"] for row in found["captures"]} == told


def test_the_page_doubts_as_the_console_does() -> None:
    """Clocks that nobody declared make bounds: so says every table, and the first screen why."""
    with pcaplat.merge(CAPTURES) as merged:
        page = report_page(merged.plot.measured, None)
        stream = io.StringIO()
        show("table", "merge", merged, stream)
        measured = merged.plot.measured
    told = re.sub(r"\s+", " ", stream.getvalue())
    (doubt,) = doubts(dict(measured.document))
    assert doubt.startswith("clocks: not related closely enough")
    assert doubt.removeprefix("clocks: ") in told
    first_screen = page[page.index('class="doubts"') : page.index("<nav")]
    assert html.escape(doubt) in first_screen
    by_segment = {row[0]: row[3] for row in path_figure(measured).rows}
    ends = measured.document["path"][0], measured.document["path"][-1]
    figure = ccdf_figure(measured, *ends)
    assert figure is not None
    at = [one.split(",")[0] for one in figure.columns].index("p50")
    assert [row[at] for row in figure.rows] == [
        by_segment[f"{ends[0]} {way} {ends[1]}"] for way in "→←"
    ]
    assert all("≤" in row[at] for row in figure.rows)


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder that `compare -o` wrote."""
    folder = tmp_path_factory.mktemp("compared") / "out"
    both = ["samples/east-west/l2", "samples/east-west/vxlan"]
    assert run(["compare", *both, "--same-clock", "all", "--quiet", "-o", str(folder)]) == 0
    return folder


def test_a_comparison_has_a_page_of_its_own(compared: Path) -> None:
    page = (compared / "report.html").read_text("utf-8")
    for anchor in ("comparison", "runs", "lost-in-both"):
        assert f'<section id="{anchor}">' in page
    assert "a round trip takes 4.4" in page
    assert "vxlan: 8 runs, l2: 8 runs; intervals from run to run" in page
    assert write_report(compared).read_text("utf-8") == page
    assert len(page.encode()) < MOST_BYTES


def test_verdicts_have_a_page_of_their_own(tmp_path: Path) -> None:
    claims = ["samples/east-west/claims.toml", "--claim", "vxlan-loss"]
    given = ["validate", *claims, "vxlan=samples/east-west/vxlan", "-o", str(tmp_path / "out")]
    assert run([*given, "--quiet"]) == 3
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "1 undecided: vxlan-loss" in page
    assert '<section id="runs-of-claims">' in page
    # nothing there is of one direction
    assert 'name="direction"' not in page
    assert write_report(tmp_path / "out").read_text("utf-8") == page


def test_a_comparison_joins_the_page_of_a_result(
    result: pcaplat.Result, compared: Path, tmp_path: Path
) -> None:
    pcaplat.write(result, tmp_path / "out")
    document = json.loads((compared / "comparison.json").read_text("utf-8"))
    save("compare", document, tmp_path / "out", overwrite=True)
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert '<section id="path">' in page
    assert '<section id="comparison">' in page
    assert (tmp_path / "out" / "summary.json").exists()


def full(seed: int) -> Blocks:
    """Blocks in which every cell of a heatmap is occupied."""
    values = [1000.0 * 1.05**n for n in range(200)]
    import numpy as np  # noqa: PLC0415 - for this alone

    bin_of = np.repeat(np.arange(N_BLOCKS), len(values))
    middles = np.tile(np.array(values) * (1 + seed / 100), N_BLOCKS)
    counts = np.random.default_rng(seed).integers(1, 10**6, len(bin_of))
    n = counts.reshape(N_BLOCKS, -1).sum(axis=1)
    sums = (counts * middles).reshape(N_BLOCKS, -1).sum(axis=1)
    lost = np.ones(N_BLOCKS, np.int64)
    return Blocks(0, 10**9, n, sums.astype(np.int64), sums**2, bin_of, middles, counts, lost)


def test_the_page_is_small_whatever_the_capture(result: pcaplat.Result) -> None:
    """Many points with long names, every cell occupied, warnings without end, flows too."""
    names = [f"point-{at}-{'x' * 200}" for at in range(60)]
    document: dict[str, Any] = dict(result.document)
    template = document["segments"][0]
    blocks = {}
    rows = []
    ends = [*pairwise(names), (names[0], names[-1])]
    for at, (near, far) in enumerate(ends):
        for way in ("forward", "reverse"):
            key = {"near": near, "far": far, "direction": way}
            rows.append(template | key | {"n_lost": 5, "lost_frac": 0.01})
            blocks[near, far, way] = full(at)
    trip = document["round_trips"][0]
    point, clock = document["points"][0], document["clocks"][-1]
    document |= {
        "path": names,
        "edges": [{"near": near, "far": far} for near, far in ends[:-1]],
        "segments": rows,
        "round_trips": [trip | {"near": near, "far": far} for near, far in ends],
        "points": [point | {"point": name} for name in names],
        "clocks": [clock | {"point": n, "domain": n, "quality": "bounded"} for n in names],
        "transaction_check": None,
        "warnings": [{"code": "x", "point": None, "text": "word " * 200}] * 1000,
        "breakdowns": {"by_flow": [rows[0] | {"key": "10.0.0.1:1 → 10.0.0.2:2"}] * 5000},
    }
    bands = [
        {"point": n, "t_ns": t * 10**6, "offset_ns": t % 7, "below_ns": 1.5, "above_ns": 2.5}
        for n in names
        for t in range(800)
    ]
    measured = replace(result.plot.measured, document=document, blocks=blocks, clock_bands=bands)
    assert len(report_page(measured, result.provenance).encode()) < MOST_BYTES


def test_the_page_answers_as_a_result_does(result: pcaplat.Result) -> None:
    own = answer(result.document)
    assert set(repr(result).removesuffix(">").splitlines()[2:-1]) <= {f"  {one}" for one in own}
    page = report_page(result.plot.measured, None)
    for line in own:
        assert f"<p>{line}</p>" in page


def test_the_gravest_warning_stands_first(result: pcaplat.Result) -> None:
    row = {"code": "a", "point": "sw-a", "text": "of least weight"}
    rows = [row | {"severity": "note"}, row | {"severity": "error", "text": "of most weight"}]
    document = result.document | {"warnings": rows}
    page = report_page(replace(result.plot.measured, document=document), None)
    assert "<strong>1 error, 1 note.</strong>" in page
    assert page.index("of most weight") < page.index("of least weight")
