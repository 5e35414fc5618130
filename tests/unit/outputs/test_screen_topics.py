"""What is behind the first screen: topics by a word of their own, and distributions in a line."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import pytest

import pcaplat
from pcaplat.outputs import show
from pcaplat.outputs.reports.merge.distributions import BARS
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pcaplat.outputs.report import Topic

SAMPLE = sorted((ROOT / "samples" / "vxlan").glob("*.pcap"))
HEADINGS: dict[Topic, str] = {
    "clocks": "Clocks, as seen from",
    "requests": "Round-trip contribution of each segment",
    "budget": "Largest source of uncertainty",
}


@pytest.fixture(scope="module")
def result() -> pcaplat.Result:
    return pcaplat.merge(SAMPLE, keep_rows=False)


def shown(result: pcaplat.Result, *topics: Topic, is_verbose: bool = False) -> str:
    stream = io.StringIO()
    show("table", "merge", result, stream, is_verbose=is_verbose, topics=topics)
    return stream.getvalue()


@pytest.mark.parametrize("topic", HEADINGS)
def test_a_topic_adds_itself_and_nothing_else(result: pcaplat.Result, topic: Topic) -> None:
    with_topic = shown(result, topic)
    found = {name for name, heading in HEADINGS.items() if heading in with_topic}
    assert found == {topic}
    # it stands within the first screen, of which nothing is gone
    lines = iter(with_topic.splitlines())
    assert all(line in lines for line in shown(result).splitlines())


def test_all_of_it_has_every_topic(result: pcaplat.Result) -> None:
    text = shown(result, is_verbose=True)
    assert all(heading in text for heading in HEADINGS.values())


def test_a_distribution_is_drawn_for_each_direction(result: pcaplat.Result) -> None:
    text = shown(result, is_verbose=True)
    drawn = text[text.index("Distribution of each segment") :].split("\n\n")[1]
    bars = re.escape(BARS)
    lines = [re.findall(rf"[{bars}][{bars} ]*[{bars}]", line) for line in drawn.splitlines()]
    assert len(lines) == 2 * len(result.path)
    assert all(len(found) == 1 for found in lines)
    assert "Distribution of each segment" not in shown(result)
