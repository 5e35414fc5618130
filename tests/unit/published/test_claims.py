"""Claims files: what ships loads, what is wrong is told with its line, numbers stay as printed."""

import re
import tomllib
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from pcaplat.errors import ClaimError
from pcaplat.metrics.dimensions import UNITS
from pcaplat.metrics.registry import METRICS, units_of
from pcaplat.published import Published, load_published, parse_published, published_names
from pcaplat.published.claims import Claim
from pcaplat.published.lines import key_lines
from tests.conftest import ROOT
from tests.support.shelf import CAPTURES

MISTAKES = sorted((ROOT / "tests" / "data" / "claims" / "mistakes").glob("*.toml"))
PUBLISHED = CAPTURES.parent / "published"
PART_1 = "nsx-latency-part1-dfw.txt"
DOCUMENTS = {
    "nsx-bare-metal-edge": ["nsx-bare-metal-edge-performance.txt"],
    "nsx-dfw-latency": [PART_1],
    "nsx-vxlan-dlr-latency": ["nsx-latency-part2-vxlan-dlr.txt", PART_1],
    "vds-ipfix": ["vds-ipfix-performance.txt"],
    "vxlan-draft": ["draft-liu-nvo3-ps-vxlan-performance-00.txt"],
}
CLAIM = """
[[claims]]
id = "a"
sentence = "b"
source.document = "c"
metric = "rtt"
scope = { kind = "path" }
"""


def claim(text: str) -> Claim:
    return parse_published(f"{CLAIM}{text}".encode(), "here.toml").claims[0]


# ---- mistakes


@pytest.mark.parametrize("path", MISTAKES, ids=lambda path: path.stem)
def test_a_mistake_gets_its_message(path: Path) -> None:
    content = path.read_bytes()
    expected = content.partition(b"\n")[0].decode().removeprefix("# expect ")
    with pytest.raises(ClaimError) as raised:
        parse_published(content, path.name)
    assert str(raised.value) == f"{path.name}{expected}"
    assert re.match(r":\d+: .", expected)


def test_there_are_mistakes_of_every_part() -> None:
    parts = {path.stem.partition("-")[0] for path in MISTAKES}
    assert parts == {"claim", "document", "file", "table"}


def test_line_ends_of_windows_move_no_line() -> None:
    path = next(path for path in MISTAKES if path.stem == "claim-unit-misspelt")
    content = path.read_bytes().replace(b"\n", b"\r\n")
    with pytest.raises(ClaimError, match=r"^x:13: .*'usec' is no unit; did you mean us\?$"):
        parse_published(content, "x")


def test_an_unknown_name_says_what_there_is() -> None:
    with pytest.raises(
        ClaimError, match=r"'nsx' is neither a .toml file nor one .* nsx-dfw-latency"
    ):
        load_published("nsx")


# ---- lines

NASTY = r'''# 1
top = 2
"quoted \"key\"" = 3
[a.b]
"x = [" = 5 # ] = 6
dotted . 'in quotes' = 6
text = """
[no.table]
x = 9 \""" """""
list = [ # a comment, ]
  11,
  [12, 12],
  { y = 13, z = { w = 13 } }, # and a trailing comma
]
literal = '"' # '
raw = \'\'\'
[[none]]
\'\'\'
when = 2026-11-20 19:00:00
n = 20
[[a.items]]
n = 22
[[a.items.parts]]
n = 24
[[a.items.parts]]
n = 26
[[a.items]]
n = 28
[a.items.only]
n = 30
empty = []
none = {}
m = 33
'''.replace("\\'", "'")


def leaves(
    value: object, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], object]]:
    if path:
        yield path, value
    pairs = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in pairs:
        yield from leaves(inner, (*path, key))


def test_every_number_of_a_nasty_file_stands_on_its_line() -> None:
    lines = key_lines(NASTY)
    found = {path: value for path, value in leaves(tomllib.loads(NASTY)) if isinstance(value, int)}
    assert len(found) > 12
    assert {path: lines[path] for path in found} == found


@pytest.mark.parametrize(
    "text",
    [NASTY, *((ROOT / "claims" / f"{name}.toml").read_text("utf-8") for name in published_names())],
    ids=["nasty", *published_names()],
)
def test_every_key_has_a_line_and_no_other(text: str) -> None:
    assert set(key_lines(text)) == {path for path, _ in leaves(tomllib.loads(text))}


# ---- claims


@pytest.mark.parametrize(
    ("bound", "unit", "lo", "hi", "margin"),
    [
        ("interval = [3, 10.50]", "us", "3", "10.50", "0"),
        ("about = 14", "us", "14", "14", "1.4"),
        ("about = 14\ntolerance = 0", "us", "14", "14", "0"),
        ("at_most = 0", "ms", "None", "0", "0"),
        ("at_least = 2\ntolerance = 0.5", "ns", "2", "None", "0.5"),
    ],
)
def test_bounds_and_tolerance(bound: str, unit: str, lo: str, hi: str, margin: str) -> None:
    found = claim(f'{bound}\nunit = "{unit}"')
    assert (str(found.lo), str(found.hi)) == (lo, hi)
    assert found.margin == Decimal(margin)


def test_values_in_the_base_unit() -> None:
    found = claim('interval = [3, 10.50]\nunit = "us"')
    assert found.base_unit == "ns"
    assert found.in_base(Decimal("10.50")) == 10_500


def test_percent_are_exact_fractions() -> None:
    lossy = parse_published(
        CLAIM.replace('"rtt"', '"loss-ratio"').encode() + b'at_most = 0.01\nunit = "%"', "x"
    ).claims[0]
    assert lossy.in_base(lossy.hi or Decimal(0)) == Fraction(1, 10_000)


def test_every_metric_has_units_and_every_unit_a_base() -> None:
    assert all(units_of(metric) for metric in METRICS)
    assert {"1"} == set(UNITS) - {u for m in METRICS for u in units_of(m)} - set(
        units_of("rtt", is_relative=True)
    )


# ---- what ships


def test_every_file_of_the_folder_ships() -> None:
    assert {path.stem for path in (ROOT / "claims").glob("*.toml")} == set(published_names())


def test_ids_are_unique_over_all_files() -> None:
    loaded = [load_published(name) for name in published_names()]
    claims = [claim.id for file in loaded for claim in file.claims]
    tables = [table.id for file in loaded for table in file.tables]
    assert len(claims) == len(set(claims)) == 61
    assert len(tables) == len(set(tables))


def test_the_claims_of_the_articles_are_as_published() -> None:
    found = {
        claim.id: (str(claim.lo), str(claim.hi), claim.unit, claim.traversals_per_round_trip)
        for name in ("nsx-dfw-latency", "nsx-vxlan-dlr-latency")
        for claim in load_published(name).claims
    }
    assert found == {
        "nsx-dfw-rtt": ("13.3", "15.7", "us", 8),
        "nsx-vxlan-rtt": ("3", "10", "us", 4),
        "nsx-dlr-rtt": ("8", "14", "us", 2),
        "nsx-dfw-rtt-rounded": ("13", "16", "us", 8),
        "nsx-east-west-rtt": ("24", "40", "us", None),
    }


@pytest.mark.parametrize("name", published_names())
@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published documents are not here")
def test_every_printed_number_stands_in_the_document(name: str) -> None:
    text = "".join((PUBLISHED / file).read_text("utf-8") for file in DOCUMENTS[name])
    numbers = {number.replace(",", ".") for number in re.findall(r"\d+(?:[.,]\d+)?", text)}
    numbers |= {number.replace(",", "") for number in re.findall(r"\d+(?:,\d{3})+", text)}
    missing = {str(number) for number in _printed(load_published(name))} - numbers
    assert not missing


COUNTED = {"edge-core-rate", "edge-geneve-overhead"}
"""Claims whose bound the document does not print, but gives all that it is counted from."""


def _numbers(text: str) -> set[Decimal]:
    """Numbers of a text, thousands grouped or not, with a point or a comma before fractions."""
    found = {number.replace(",", "") for number in re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", text)}
    return {
        Decimal(number) for number in found | set(re.findall(r"\d+\.\d+", text.replace(",", ".")))
    }


def _bounds(claim: Claim) -> set[Decimal]:
    """What a claim says as a number, without the sign that its sentence puts in words."""
    given = (*(claim.interval or ()), claim.about, claim.at_most, claim.at_least)
    return {abs(bound) for bound in given if bound is not None}


@pytest.mark.parametrize("name", published_names())
def test_every_bound_of_a_claim_stands_in_its_sentence(name: str) -> None:
    claims = load_published(name).claims
    missing = {claim.id: _bounds(claim) - _numbers(claim.sentence) for claim in claims}
    assert not {name: bounds for name, bounds in missing.items() if bounds}


@pytest.mark.parametrize("name", published_names())
@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published documents are not here")
def test_every_bound_of_a_claim_stands_in_the_document(name: str) -> None:
    numbers = _numbers("".join((PUBLISHED / file).read_text("utf-8") for file in DOCUMENTS[name]))
    # millions of packets a second are printed as packets, too
    numbers |= {number / 1_000_000 for number in numbers}
    claims = [claim for claim in load_published(name).claims if claim.id not in COUNTED]
    missing = {claim.id: _bounds(claim) - numbers for claim in claims}
    assert not {name: bounds for name, bounds in missing.items() if bounds}


def _printed(published: Published) -> Iterator[Decimal]:
    """Give what the tables hold as printed, but not what was counted or taken from elsewhere."""
    for table in published.tables:
        for index in range(len(table.rows)):
            for column in table.columns:
                if column.printed or not column.exact:
                    yield from table.printed(index, column.name) or ()
