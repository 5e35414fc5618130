"""Units: exact to the nanosecond on the way in, readable on the way out."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcaplat.errors import OptionError
from pcaplat.units import (
    Instant,
    format_frac,
    format_in,
    format_instant,
    format_ns,
    format_offset,
    parse_duration_ns,
    parse_instant,
    parse_share,
    unit_for,
)


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("250 ns", 250),
        ("1.5us", 1_500),
        ("1.5 µs", 1_500),
        ("1.5 μs", 1_500),
        ("2 ms", 2_000_000),
        ("1s", 1_000_000_000),
        ("0.000000001s", 1),
        ("2min", 120_000_000_000),
        ("1h", 3_600_000_000_000),
    ],
)
def test_durations(text: str, ns: int) -> None:
    assert parse_duration_ns(text) == ns


@pytest.mark.parametrize(
    "text", ["", "5", "5 parsecs", "-1us", "1e3ns", "1.5ns", "nan s", "\u0661us", "9" * 18 + "h"]
)
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(OptionError, match="write it like"):
        parse_duration_ns(text)


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("2026-11-20T12:00:00.5Z", 1_795_176_000_500_000_000),
        ("2026-11-20T12:00:00.5", 1_795_176_000_500_000_000),
        ("2026-11-20 13:00:00.5+01:00", 1_795_176_000_500_000_000),
        ("2026-11-20T12:00:00.000000001Z", 1_795_176_000_000_000_001),
        ("1763640000.25", 1_763_640_000_250_000_000),
        ("1763640000.123456789", 1_763_640_000_123_456_789),
        ("2026-11-20", 1_795_132_800_000_000_000),
        ("0", 0),
        ("-1.5", -1_500_000_000),
    ],
)
def test_instants(text: str, ns: int) -> None:
    assert parse_instant(text) == Instant(ns)


def test_relative_instants() -> None:
    instant = parse_instant("+1.5s")
    assert instant.is_relative
    assert instant.since(1_000) == 1_500_001_000
    assert parse_instant("3").since(1_000) == 3_000_000_000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "noon",
        "2026-13-01T00:00:00Z",
        "2026-13-01",
        "2026-11-20Z",
        "+5",
        "1.5s",
        "99999999999",
        "1763640000.1234567891",
    ],
)
def test_what_is_no_instant(text: str) -> None:
    with pytest.raises(OptionError, match="is no"):
        parse_instant(text)


@given(st.integers(min_value=0, max_value=2**62))
def test_an_instant_survives_its_text(ns: int) -> None:
    assert parse_instant(format_instant(ns)).ns == ns
    assert parse_instant(f"{ns // 10**9}.{ns % 10**9:09d}").ns == ns


@given(st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2200, 1, 1)))  # noqa: DTZ001 - hypothesis wants them naive
def test_calendar_instants_agree_with_the_library(when: datetime) -> None:
    since = when.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    us = (since.days * 86_400 + since.seconds) * 10**6 + since.microseconds
    assert parse_instant(when.isoformat()).ns == us * 1_000


@pytest.mark.parametrize("text", ["1/0", "2/3", "0.1", "1/", "1/-5"])
def test_what_is_no_share(text: str) -> None:
    with pytest.raises(OptionError):
        parse_share(text)


def test_one_unit_serves_a_whole_table() -> None:
    unit = unit_for([320.0, None, 204_411.9])
    assert [format_in(value, unit) for value in (320.0, None, 204_411.9)] == ["0.32", "–", "204.41"]


@pytest.mark.parametrize(
    ("ns", "text"),
    [(0, "0 ns"), (999.4, "999 ns"), (-38_000, "-38.00 µs"), (12_345_678, "12.346 ms")],
)
def test_durations_as_text(ns: float, text: str) -> None:
    assert format_ns(ns) == text


def test_an_offset_ends_where_its_uncertainty_begins() -> None:
    assert format_offset(37_000_000_123.4, 0.5) == "+37.000000123 s ± 0 ns"
    assert format_offset(37_000_000_123.4, 4e8) == "+37.0 s ± 400.000 ms"
    assert format_offset(None, None) == "–"


@pytest.mark.parametrize(
    ("frac", "text"),
    [(1.0, "100 %"), (0.5, "50 %"), (1e-4, "0.01 %"), (2e-6, "0.0002 %"), (1e-12, "< 0.000001 %")],
)
def test_shares_as_text(frac: float, text: str) -> None:
    assert format_frac(frac) == text
