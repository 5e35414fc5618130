"""A result in an interpreter and in a notebook, and its warnings as Python's own."""

from __future__ import annotations

import warnings
from html.parser import HTMLParser

import pytest

import pcaplat
from pcaplat.run.answer.notebook import html_of
from pcaplat.tables import WARNINGS
from tests.conftest import ROOT
from tests.support.results import POINTS, document

SAMPLE = sorted((ROOT / "samples" / "vxlan").glob("*.pcap"))


@pytest.fixture(scope="module")
def result() -> pcaplat.Result:
    return pcaplat.merge(SAMPLE)


def test_a_result_says_what_it_holds(result: pcaplat.Result) -> None:
    text = repr(result)
    assert " → ".join(POINTS) in text
    assert "host1-vm ⇄ host2-vm: median 15.36 µs" in text
    assert result.path == POINTS
    assert result.segments.equals(result.summary)
    assert result.segments.height == len(result.document["segments"])


class Tags(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.depth = 0
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        del attrs
        self.opened.append(tag)
        self.depth += 1

    def handle_endtag(self, tag: str) -> None:
        del tag
        self.depth -= 1

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_notebook_shows_the_answer_the_path_and_the_table(result: pcaplat.Result) -> None:
    page = Tags(result._repr_html_())
    assert page.depth == 0
    assert page.opened.count("tr") == 1 + 3 * 6
    assert "median 15.36 µs" in page.text
    assert "≤ 3.10" in page.text


def test_names_are_no_markup() -> None:
    changed = document()
    changed["path"][2] = changed["segments"][2]["far"] = "<script>alert(1)</script>"
    changed["warnings"][0]["text"] = "<img src=x onerror=alert(1)>"
    page = Tags(html_of(changed))
    assert not {"script", "img"} & {*page.opened}
    assert "<script>alert(1)</script>" in page.text


def test_warnings_are_of_one_category_that_can_be_silenced() -> None:
    pair = SAMPLE[:2]
    with pytest.warns(pcaplat.PcaplatWarning) as told:
        result = pcaplat.merge([*pair, ROOT / "samples" / "rfc2544" / "a.pcap.zst"])
    assert [str(one.message) for one in told] == [str(one) for one in result.warnings]
    assert {one.filename for one in told} == {__file__}
    first = result.warnings[0]
    row = next(row for row in result.document["warnings"] if row["code"] == first.code)
    assert {name: getattr(first, name) for name in WARNINGS.names} == row
    severities = [one.severity for one in result.warnings]
    assert severities == sorted(severities)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", pcaplat.PcaplatWarning)
        pcaplat.merge([*pair, ROOT / "samples" / "rfc2544" / "a.pcap.zst"])
