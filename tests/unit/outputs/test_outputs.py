"""Outputs: what each prints, from a result made by hand as the contract has it."""

import csv
import io
import json
from typing import Any

import polars as pl
import pytest

from pcaplat.outputs import formats, output, show
from pcaplat.outputs.reports.merge.path import draw_path
from pcaplat.run.answer.view import LatencyView
from pcaplat.tables import SEGMENTS
from pcaplat.text import printable
from tests.support.results import POINTS, ResultByHand, as_result, document, slowest

WITHOUT_ROWS = [one for one in formats("merge") if not hasattr(output(one), "NEEDS_ROWS")]
"""Those with rows of single packets have tests of their own."""
HOSTILE = "=1+\x1b[31mred\x07\n|<b>"


def shown(name: str, result: ResultByHand, *, is_verbose: bool = False) -> str:
    stream = io.StringIO()
    show(name, "merge", as_result(result), stream, is_verbose=is_verbose)
    return stream.getvalue()


def drawn(changed: dict[str, Any], width: int = 80) -> list[str]:
    return draw_path(changed, LatencyView.of(changed), width)


@pytest.fixture
def hostile() -> ResultByHand:
    """Give a result whose points have names that try to do something."""
    text = json.dumps(document()).replace('"sw-a"', json.dumps(HOSTILE))
    return ResultByHand(json.loads(text))


def test_json_is_summary_json() -> None:
    assert json.loads(shown("json", ResultByHand())) == document()


def test_json_has_no_nan() -> None:
    broken = document()
    broken["segments"][0]["p50_ns"] = float("nan")
    with pytest.raises(ValueError, match="JSON compliant"):
        shown("json", ResultByHand(broken))


def test_csv_is_the_segments() -> None:
    rows = list(csv.DictReader(io.StringIO(shown("csv", ResultByHand()))))
    assert list(rows[0]) == SEGMENTS.names
    assert len(rows) == len(document()["segments"])
    assert float(rows[0]["p50_ns"]) == 1390.0


def test_csv_leaves_unknown_figures_empty_and_keeps_more_columns() -> None:
    changed = document()
    changed["segments"][0] |= {"p50_ns": None, "odd_ns": 12.5}
    rows = list(csv.DictReader(io.StringIO(shown("csv", ResultByHand(changed)))))
    assert rows[0]["p50_ns"] == ""
    assert [rows[0]["odd_ns"], rows[1]["odd_ns"]] == ["12.5", ""]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_console_keeps_to_its_width(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    result = ResultByHand()
    result.slowest = slowest()
    lines = shown("table", result).splitlines()
    assert max(map(len, lines)) <= width
    # no name is folded, and what matters most is there at every width
    assert any("host1-vm → host1-up" in line and "1.39" in line for line in lines)
    assert any("host1-vm ← host2-vm" in line and "6.00" in line for line in lines)


def test_the_console_shows_more_where_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    headings = {}
    for width in (60, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        text = shown("table", ResultByHand())
        headings[width] = text[text.index("Latency of each segment") :].splitlines()[1].split()
    assert set(headings[60]) < set(headings[120])
    assert {"min", "mean", "p90", "p99.9"} <= set(headings[120])


def test_the_path_is_one_line_there_and_one_back() -> None:
    changed = document()
    changed["path"] = POINTS[:3]
    changed["edges"] = changed["edges"][:2]
    assert drawn(changed) == [
        "host1-vm ─1.39→ host1-up ─1.06→ sw-a",
        "         ←1.63─          ←0.87─",
    ]


def edges(text: str) -> list[dict[str, str]]:
    return [dict(zip(("near", "far"), ends.split(" > "), strict=True)) for ends in text.split(", ")]


def test_a_fork_is_drawn_as_a_tree() -> None:
    changed = document()
    changed["edges"] = edges("host1-up > sw-a, sw-a > sw-b, sw-a > host2-up")
    assert drawn(changed) == [
        "host1-up ─1.06→ ←0.87─ sw-a",
        "                       ├─0.98→ ←0.98─ sw-b",
        "                       └─ host2-up",
    ]
    # a narrow terminal has a line for each point, so that a branch cannot seem another's
    assert drawn(changed, 40) == [
        "host1-up",
        "  └─1.06→ ←0.87─ sw-a",
        "     ├─0.98→ ←0.98─ sw-b",
        "     └─ host2-up",
    ]


def test_every_link_of_a_graph_is_drawn_once() -> None:
    changed = document()
    changed["edges"] = edges("host1-vm > sw-a, host1-vm > sw-b, sw-a > host2-vm, sw-b > host2-vm")
    lines = drawn(changed)
    assert lines == [
        "host1-vm",
        "  ├─ sw-a ─ host2-vm",
        "  └─ sw-b ─ host2-vm",
    ]
    changed["edges"] += edges("host2-vm > host2-up")
    assert sum("host2-up" in line for line in drawn(changed)) == 1
    assert sum(line.endswith("host2-vm (as above)") for line in drawn(changed)) == 1


def opened(changed: dict[str, Any], clock_half_width_ns: float) -> dict[str, Any]:
    for row in changed["segments"]:
        row["clock_half_width_ns"] = clock_half_width_ns
    return changed


def test_what_the_clocks_leave_open_is_no_median() -> None:
    """Both ways together stand in its place, and an upper bound in the table."""
    text = shown("table", ResultByHand(opened(document(), 2000.0)))
    assert "⇄─2.50─⇄" in text
    assert "host1-vm ⇄ host1-up" in text
    assert "≤ 3.39" in text
    assert "1.39" not in text.replace("≤ 3.39", "")
    assert "--same-clock all" in text


def test_clocks_that_leave_little_open_leave_medians() -> None:
    text = shown("table", ResultByHand(opened(document(), 100.0)))
    assert "≤" not in text
    assert "⇄" not in text
    assert "± clock" in text


@pytest.mark.parametrize(("n", "wanted"), [(9, []), (10, ["p90"]), (100, ["p90", "p99"])])
def test_a_quantile_needs_packets_above_it(n: int, wanted: list[str]) -> None:
    changed = document()
    for row in changed["segments"]:
        row["n"] = n
    text = shown("table", ResultByHand(changed))
    headings = text[text.index("Latency of each segment") :].splitlines()[1].split()
    assert [name for name in headings if name in {"p90", "p99", "p99.9"}] == wanted


def test_a_row_is_of_one_population(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways together: quantiles are of pairs, so is the mean; without pairs there is a mean."""
    monkeypatch.setenv("COLUMNS", "200")
    changed = opened(document(), 2000.0)
    first = changed["round_trips"][0]
    first |= {"mean_ns": 35_600.0, "paired_mean_ns": 2600.0, "p99_ns": 3700.0, "n_paired": 101}
    lines = shown("table", ResultByHand(changed), is_verbose=True).splitlines()
    row = next(line for line in lines if line.startswith("  host1-vm ⇄ host1-up")).split()
    assert row[3] == "101"
    assert "2.60" in row
    assert "35.60" not in row
    first |= {"n_paired": 0, "p50_ns": None, "p90_ns": None, "p99_ns": None}
    text = shown("table", ResultByHand(changed))
    assert "⇄─mean 35.60─⇄" in text


def test_columns_do_not_vanish_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    text = " ".join(shown("table", ResultByHand()).split())
    assert "not shown at 60 columns: min, " in text


def test_counts_of_what_went_wrong_stay_while_quantiles_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    changed = document()
    for row in changed["segments"]:
        row |= {"n_duplicated": 3, "n_reordered": 2}
    text = shown("table", ResultByHand(changed))
    assert "  dup" in text
    assert "  reord" in text
    assert "not shown at 60 columns: min, " in text


def test_names_lose_what_all_have_in_common(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    long = json.dumps(document())
    for point in POINTS:
        long = long.replace(f'"{point}"', f'"site-berlin-{point}-capture"')
    text = shown("table", ResultByHand(json.loads(long)))
    assert "host1-vm → host1-up" in text
    assert "host1-vm is site-berlin-host1-vm-capture" in text
    assert "site-berlin-sw-b-capture" in shown("markdown", ResultByHand(json.loads(long)))


def test_doubts_stand_before_the_table_the_gravest_first() -> None:
    changed = document()
    for code, severity in (
        ("few-direction-changes", "warning"),
        ("same-capture", "error"),
        ("encrypted", "note"),
    ):
        parts = {
            "severity": severity,
            "evidence": f"found {code}",
            "consequence": "",
            "remedy": "x",
        }
        changed["warnings"].append({"code": code, "point": None, "text": code} | parts)
    text = shown("table", ResultByHand(changed))
    places = [
        text.index(part)
        for part in ("found same-capture", "found few-direction-changes", "segment  ")
    ]
    assert places == sorted(places)
    assert "found encrypted" not in text
    assert "encrypted" in text
    assert "found encrypted" in shown("table", ResultByHand(changed), is_verbose=True)


def test_the_console_names_the_frames_of_the_slowest() -> None:
    result = ResultByHand()
    result.slowest = slowest()
    text = " ".join(shown("table", result).split())
    assert "29.40 µs" in text
    assert "host1-vm.pcap:17" in text


def test_one_clock_is_one_line() -> None:
    changed = document()
    for row in changed["clocks"]:
        row["quality"] = "same-clock"
    text = shown("table", ResultByHand(changed), is_verbose=True)
    assert "all points share one clock" in text
    assert "offset" not in text


def test_the_console_says_what_may_mislead_and_how_sure_a_clock_is() -> None:
    text = " ".join(shown("table", ResultByHand(), is_verbose=True).split())
    assert "clock-assumed-common at sw-a: 0 lies within the bounds" in text
    assert "+37.0000000 s ± 600 ns" in text
    assert "24,048, 24,000 matched, 8 ambiguous, 40 unmatched" in text


@pytest.mark.parametrize("name", WITHOUT_ROWS)
def test_unknown_latencies_can_be_shown(name: str) -> None:
    changed = document()
    for row in changed["segments"]:
        row.update({key: None for key in row if key.endswith("_ns")} | {"lost_frac": None})
    for row in changed["clocks"]:
        unknown = ("offset_ns", "half_width_ns", "drift_ppm", "drift_half_width_ppm")
        row.update(dict.fromkeys(unknown))
    changed |= {"round_trips": [], "warnings": []}
    changed["matching"]["false_match_frac"] = None
    assert "host1-vm" in shown(name, ResultByHand(changed))


@pytest.mark.parametrize("name", WITHOUT_ROWS)
def test_names_are_harmless_everywhere(name: str, hostile: ResultByHand) -> None:
    text = shown(name, hostile)
    assert not set(text) & {"\x1b", "\x07"}
    assert "=1+" in text


def test_no_cell_is_a_formula(hostile: ResultByHand) -> None:
    rows = list(csv.reader(io.StringIO(shown("csv", hostile))))
    cells = [cell for row in rows for cell in row if "[31m" in cell]
    assert cells
    assert all(cell.startswith("'=") for cell in cells)


def test_markdown_tables_stay_tables(hostile: ResultByHand) -> None:
    text = shown("markdown", hostile)
    segments = text[text.index("### Segments") :]
    table = [line for line in segments.splitlines() if line.startswith("|")]
    bars = {line.replace("\\|", "").count("|") for line in table[:13]}
    assert len(bars) == 1
    assert "\\<b\\>" in text


def test_there_is_no_colour_in_a_pipe_nor_with_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def colours() -> bool:
        stream = Terminal()
        show("table", "merge", as_result(ResultByHand()), stream)
        return "\x1b" in stream.getvalue()

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert colours()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colours()
    assert "\x1b" not in shown("table", ResultByHand())


def test_printable_keeps_what_is_printable() -> None:
    assert printable("sw-ä/→ 東") == "sw-ä/→ 東"
    assert printable("a\u202eb\udcff\x9b") == "a\\u202eb\\udcff\\x9b"


def test_csv_leaves_names_that_are_no_formula_as_they_are() -> None:
    names = ["-", "eth0-1", "sw\u00a0a", "sw-ä"]
    frame = pl.DataFrame({"point": [*names, "-eth0", "@home"]})
    stream = io.BytesIO()
    output("csv").save_rows([frame], stream)
    assert stream.getvalue().decode().splitlines()[1:] == [*names, "'-eth0", "'@home"]


def test_the_console_says_how_many_frames_were_asked_for() -> None:
    changed = document()
    assert "asked for" not in shown("table", ResultByHand(changed))
    n = changed["matching"]["n_frames"]
    changed["captures"][0]["n_frames"] += n
    n_captured = sum(row["n_frames"] for row in changed["captures"])
    assert f"Frames: {n:,} of {n_captured:,} asked for, " in shown("table", ResultByHand(changed))


def test_rows_as_csv_are_harmless() -> None:
    frame = pl.DataFrame({"point": [HOSTILE, "plain", None], "n": [1, 2, 3]})
    stream = io.BytesIO()
    output("csv").save_rows([frame], stream)
    assert stream.getvalue() == b"point,n\n'=1+\\x1b[31mred\\x07\\x0a|<b>,1\nplain,2\n,3\n"
