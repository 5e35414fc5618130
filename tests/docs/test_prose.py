"""Pages are written in short sentences and in the words of the field."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docs.prose import judge, pages, sentences

DATA = sorted(
    path for room in ("capture_points", "claims") for path in (ROOT / room).glob("*.toml")
)
COMMAND = re.compile(r"(tcpdump|pktcap-uw|netperf|iperf3|ovs-|ip |start |pktmon )")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def broken_rules(page: Path) -> set[str]:
    prose = judge(page.read_text("utf-8"))
    return {rule for rule in ("long", "openings", "dialect") if getattr(prose, rule)}


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_a_page_keeps_the_rules_of_style(page: Path) -> None:
    assert not broken_rules(page), f"`python -m tests.docs.prose {name_of(page)}` shows where"


def test_sentences_end_where_a_reader_would_say() -> None:
    text = "# Title\n\nOne, e.g. this. `Two` is\nhere: [a link](x.md).\n\n"
    text += "- Three\n- Four\n\n| a | b |\n"
    text += "```console\n$ never. Read.\n```\n"
    found = ["One, e.g. this.", "`x` is here: a link.", "Three", "Four", "a", "b"]
    assert sentences(text) == found


def test_each_rule_is_seen_broken() -> None:
    long = f"This {'very ' * 34}long."
    prose = judge(f"{long} What it does is clear. What is it? Packets are told apart.")
    assert (prose.long, prose.openings) == ([long], ["What it does is clear."])
    assert prose.dialect == ["told: Packets are told apart."]


def texts(value: object) -> Iterator[str]:
    """Give the texts of a TOML document that hold more than a name."""
    if isinstance(value, str):
        if " " in value and not COMMAND.match(value):
            yield value
    elif isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts(one)


@pytest.mark.parametrize("file", DATA, ids=name_of)
def test_what_profiles_and_audits_print_keeps_the_rules_of_style(file: Path) -> None:
    prose = [judge(text) for text in texts(tomllib.loads(file.read_text("utf-8")))]
    broken = [sentence for one in prose for sentence in (*one.long, *one.dialect)]
    assert prose
    assert not broken
