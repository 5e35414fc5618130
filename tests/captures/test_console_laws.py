"""What the console says of every set that is here: no figure of it contradicts another."""

from __future__ import annotations

import io
import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import pytest

import pcaplat
from pcaplat.outputs import show
from tests.support.shelf import CAPTURES, SAMPLES, public_sets

if TYPE_CHECKING:
    from pathlib import Path

WIDE = 400
QUANTILES = ("min", "p50", "p90", "p99", "p99.9", "max")
TITLE = "Latency of each segment"
PIECE = re.compile(r"\S+(?: \S+)*")
LABEL = re.compile(r"  \S.* [→←⇄] \S")
FIGURE = re.compile(r"(≤ )?(-?[\d,]+(?:\.\d+)?)")
HEADLINE = re.compile(
    r"^  (\S.*? [→←⇄] .*?): (.*) \(([\d,]+) (?:packet|round trip)s?(?: over several routes)?\)$"
)
LARGEST = "Largest segment(?: of other routes)?"
UNIT = re.compile(r", (ns|µs|ms|s)$")


def _sets() -> dict[str, list[Path]]:
    public = {name: [*each.files.values()] for name, each in public_sets().items()}
    lab = sorted((CAPTURES / "lab").glob("*/")) if CAPTURES.exists() else []
    samples = [SAMPLES / name for name in ("vxlan", "l2", "ipv6", "vxlan-routed", "rfc2544")]
    folders = {folder.name: folder for folder in [*samples, *lab]}
    return public | {name: sorted(at.glob("*.pcap*")) for name, at in folders.items()}


SETS = _sets()


class Table(NamedTuple):
    """A table as it is read off the screen: cells by row and heading."""

    unit: str
    rows: dict[tuple[str, str], dict[str, str]]


@cache
def screen(name: str, option: str, width: int, *, is_verbose: bool) -> str | None:
    """What a terminal of this width shows of a set; None where nothing can be measured."""
    try:
        result = merged(name, option)
    except pcaplat.PcaplatError:
        return None
    stream = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        show("table", "merge", result, stream, is_verbose=is_verbose)
    return stream.getvalue()


@cache
def merged(name: str, option: str) -> pcaplat.Result:
    """Merge a set."""
    paths = [str(path) for path in SETS[name]]
    return pcaplat.merge(paths, same_clock=[option] if option else [], keep_rows=False)


def table(text: str, title: str) -> Table:
    """Read a table off the screen: cells stand under the ends of their headings."""
    heading, columns, _, *lines = text[text.index(title) :].splitlines()
    unit = UNIT.search(heading.split(" (")[0])
    headings = [*PIECE.finditer(columns)]
    rows = {}
    for line in lines:
        if line and not LABEL.match(line):
            break
        pieces = [*PIECE.finditer(line)]
        row = {each[0]: "" for each in headings}
        row |= {h[0]: p[0] for h in headings for p in pieces if h.end() == p.end()}
        row |= {h[0]: p[0] for h in headings[:2] for p in pieces if h.start() == p.start()}
        if pieces:
            rows[row["segment"], row.get("class", row.get("kind", ""))] = row
    return Table(unit[1] if unit else "", rows)


def number(cell: str) -> float | None:
    """A figure, or the bound that it is; None where there is none."""
    found = FIGURE.fullmatch(cell)
    return float(found[2].replace(",", "")) if found else None


@pytest.fixture(params=[(name, clock) for name in SETS for clock in ("", "all")], ids="-".join)
def read(request: pytest.FixtureRequest) -> str:
    """Give what a wide terminal shows of a set."""
    name, clock = request.param
    if not SETS[name]:
        pytest.skip("the shared captures are not here")
    text = screen(name, clock, WIDE, is_verbose=False)
    if text is None:
        pytest.skip("nothing can be measured")
    return text


def test_no_figure_of_a_row_contradicts_another(read: str) -> None:
    if TITLE not in read:
        pytest.skip("no segment")
    for label, row in table(read, TITLE).rows.items():
        cells = [
            row[name] for name in (*QUANTILES, "mean") if number(row.get(name, "")) is not None
        ]
        assert len({cell.startswith("≤") for cell in cells}) <= 1, label
        ordered = [value for name in QUANTILES if (value := number(row.get(name, ""))) is not None]
        assert ordered == sorted(ordered), label
        mean, least, most = (number(row.get(name, "")) for name in ("mean", "min", "max"))
        if None not in (mean, least, most):
            assert least <= mean <= most, label  # type: ignore[operator] # none of them is None
        n = number(row["n"]) or 0
        for name, needed in (("p90", 10), ("p99", 100), ("p99.9", 1000)):
            assert number(row.get(name, "")) is None or n >= needed, (label, name)


def test_the_headline_is_the_table(read: str) -> None:
    answer = read.split("\n\n")
    found = [
        match for text in answer for line in text.splitlines() if (match := HEADLINE.match(line))
    ]
    title = TITLE if TITLE in read else "Packets of each segment"
    if title not in read:
        assert not found
        return
    shown = table(read, title)
    for label, text, n in (match.groups() for match in found):
        rows = [row for (name, _), row in shown.rows.items() if name == label]
        figures = dict(re.findall(r"(median|mean|p99) ((?:≤ )?[-\d,.]+)", text))
        figures = {{"median": "p50"}.get(name, name): cell for name, cell in figures.items()}
        if "not known" in text:
            figures = {f"PDV {name}": cell for name, cell in figures.items()}
        assert any(row["n"] == n and figures.items() <= row.items() for row in rows), (label, text)
        assert {*re.findall(r"[\d.] (ns|µs|ms|s)\b", text)} <= {shown.unit}
    for label, cell in re.findall(
        rf"^  {LARGEST}: (.*), median (\S+|≤ \S+) (?:ns|µs|ms|s)\b", read, re.MULTILINE
    ):
        assert any(row.get("p50") == cell for (name, _), row in shown.rows.items() if name == label)


def test_no_segment_takes_longer_than_the_largest(read: str) -> None:
    """Neighbours alone: an empty line stands before the whole path."""
    told = re.compile(rf"^  {LARGEST}: .*, median (\S+) (?:ns|µs|ms|s)\b", re.MULTILINE)
    largest = told.findall(read)
    if TITLE not in read or not largest:
        pytest.skip("no largest segment")
    at = read.index(TITLE)
    rows = table(read[: read.index("\n\n", at) + 1], TITLE).rows
    known = [number(row["p50"]) for row in rows.values() if row["p50"][:1] != "≤"]
    medians = [value for value in known if value is not None]
    assert max(number(cell) or 0.0 for cell in largest) >= max(medians)


def test_nothing_is_lost_at_a_segment_where_the_answer_names_no_loss(read: str) -> None:
    title = TITLE if TITLE in read else "Packets of each segment"
    if title not in read or "Lost packets: none" not in read:
        pytest.skip("no segment, or packets are lost")
    if "Lost packets: none from end to end; " in read:
        return
    for (name, kind), row in table(read, title).rows.items():
        is_whole = kind in {"", "packet"} and "⇄" not in name
        assert not is_whole or row["lost"] in {"0 %", "–"}, name


def test_the_drawing_is_the_table(read: str) -> None:
    if TITLE not in read:
        pytest.skip("no segment")
    drawing = read[: read.index("\n\n", read.index("Path of"))]
    drawing = read[len(drawing) :].split("\n\n")[1]
    cells = {
        row.get(name, "") for row in table(read, TITLE).rows.values() for name in ("p50", "mean")
    }
    for text in re.findall(r"[─⇄←](?:mean )?((?:≤ )?-?[\d,]+(?:\.\d+)?)[→─]", drawing):
        assert text in cells, text


@pytest.mark.parametrize("name", [name for name in SETS if SETS[name]])
def test_both_ways_are_of_one_population_wherever_they_stand(name: str) -> None:
    text = screen(name, "", WIDE, is_verbose=True)
    title = "Round-trip contribution of each segment"
    if text is None or title not in text:
        pytest.skip("no round trip")
    first, second = table(text, TITLE).rows, table(text, title).rows
    for (label, _), row in first.items():
        if "⇄" in label:
            other = second[label, ""]
            both = row.keys() & other.keys() - {"±"}
            assert {key: row[key] for key in both} == {key: other[key] for key in both}


@pytest.mark.parametrize("name", [name for name in SETS if SETS[name]])
@pytest.mark.parametrize("width", [60, 100])
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    text = screen(name, "", width, is_verbose=False)
    if text is None:
        pytest.skip("nothing can be measured")
    is_short = [len(line) <= width for line in text.splitlines() if "─" not in line]
    assert all(is_short)
    # the answer comes before the table, and what makes it doubtful too
    assert text.index("Path of") < text.index("Frames: ")
