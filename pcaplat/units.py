"""Durations, instants, rates and shares: from text, and to text. Nothing else formats units.

Durations and instants are whole nanoseconds; text is read digit by digit, never through a float,
so "1763640000.123456789" is exactly that.
"""

import datetime as dt
import re
from collections.abc import Iterable
from math import floor, log10

from pcaplat.errors import OptionError
from pcaplat.records import dataclass

NS_PER = {"ns": 1, "us": 1_000, "µs": 1_000, "μs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
NS_PER |= {"min": 60 * NS_PER["s"], "h": 3600 * NS_PER["s"]}
DURATION = re.compile(r"\s*(\d{1,18})(?:\.(\d{1,18}))?\s*(ns|us|µs|μs|ms|s|min|h)\s*", re.ASCII)
SECONDS = re.compile(r"\s*(-?)(\d{1,12})(?:\.(\d{1,9})0*)?\s*", re.ASCII)
CALENDAR = re.compile(
    r"\s*(\d{4}-\d\d-\d\d)"
    r"(?:[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d{1,9}))?\s*(Z|[+-]\d\d:?\d\d)?)?\s*",
    re.ASCII,
)
BYTES_PER = {"b": 1, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000}
SIZE = re.compile(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*([kmg]?b)\s*", re.ASCII | re.IGNORECASE)
DAY_NS = 24 * NS_PER["h"]
LARGEST_NS = 2**63 - 1
SMALLEST_PERCENT = 1e-6
LEAST_SHOWN = 100
"""The least duration that a unit is for is a hundredth of it."""
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True)
class Instant:
    """A time as a user writes it: since 1970, or since the first frame (`is_relative`)."""

    ns: int
    is_relative: bool = False

    def since(self, first_ns: int) -> int:
        """Give ns since 1970, for captures whose first frame is at `first_ns`."""
        return first_ns + self.ns if self.is_relative else self.ns


def parse_duration_ns(text: str) -> int:
    """Read a duration.

    Returns:
        Whole nanoseconds, 0 or more.

    Raises:
        OptionError: No number with a unit, or a fraction of a nanosecond.

    Example:
        >>> parse_duration_ns("250 ns"), parse_duration_ns("1.5us"), parse_duration_ns("2 ms")
        (250, 1500, 2000000)
    """
    found = DURATION.fullmatch(text)
    if not found:
        raise OptionError.unreadable("duration", text, "250ns, 1.5us, 2ms, 1s")
    whole, fraction, unit = found.groups(default="")
    scale: int = 10 ** len(fraction)
    ns, rest = divmod(int(whole + fraction) * NS_PER[unit], scale)
    if rest or ns > LARGEST_NS:
        raise OptionError.unreadable("duration in whole nanoseconds", text, "250ns, 1.5us, 1h")
    return ns


def parse_bytes(option: str, text: str) -> int:
    """Read a size in bytes, with decimal units.

    Raises:
        OptionError: No number with a unit, or nothing.

    Example:
        >>> parse_bytes("--buffer", "64MB"), parse_bytes("--buffer", "1.5 GB")
        (64000000, 1500000000)
    """
    found = SIZE.fullmatch(text)
    n_bytes = int(float(found[1]) * BYTES_PER[found[2].lower()]) if found else 0
    if not n_bytes:
        raise OptionError.unreadable(f"size for {option}", text, "500kB, 64MB, 2GB")
    return n_bytes


def parse_instant(text: str) -> Instant:
    """Read an instant: a date with time, seconds since 1970, or "+1.5s" after the first frame.

    A date without a zone is UTC; one without a time is its beginning.

    Raises:
        OptionError: None of the three.

    Example:
        >>> parse_instant("2026-11-20T12:00:00.5Z").ns, parse_instant("1763640000.25").ns
        (1795176000500000000, 1763640000250000000)
        >>> parse_instant("+1.5s")
        Instant(ns=1500000000, is_relative=True)
    """
    if text.lstrip().startswith("+"):
        return Instant(parse_duration_ns(text.lstrip()[1:]), is_relative=True)
    if found := SECONDS.fullmatch(text):
        sign, whole, fraction = found.groups(default="")
        ns = int(whole) * NS_PER["s"] + _fraction_ns(fraction)
        return _within_range(-ns if sign else ns, text)
    if found := CALENDAR.fullmatch(text):
        return _within_range(_calendar_ns(text, *found.groups(default="")), text)
    raise _no_instant(text)


def _within_range(ns: int, text: str) -> Instant:
    if abs(ns) > LARGEST_NS:
        raise _no_instant(text)
    return Instant(ns)


def _no_instant(text: str) -> OptionError:
    examples = "2026-11-20T12:00:00.5Z, 1763640000.25 (s since 1970), +1.5s (after the first frame)"
    return OptionError.unreadable("instant", text, examples)


def _calendar_ns(text: str, day: str, time: str, fraction: str, zone: str) -> int:
    try:
        instant = dt.datetime.fromisoformat(f"{day}T{time or '00:00'}{zone or 'Z'}")
    except ValueError:
        raise _no_instant(text) from None
    since = instant - EPOCH
    return (since.days * 86_400 + since.seconds) * NS_PER["s"] + _fraction_ns(fraction)


def _fraction_ns(digits: str) -> int:
    return int(digits.ljust(9, "0")) if digits else 0


def parse_share(text: str) -> int:
    """Read "1/N" as N: the N-th part of the packets.

    Example:
        >>> parse_share("1/100")
        100
    """
    found = re.fullmatch(r"\s*1\s*/\s*([1-9]\d{0,8})\s*", text, re.ASCII)
    if not found:
        raise OptionError.unreadable("share", text, "1/10, 1/1000")
    return int(found[1])


def format_instant(t_ns: int) -> str:
    """Write ns since 1970 as UTC, to the nanosecond.

    Example:
        >>> format_instant(1_763_640_000_250_000_000)
        '2025-11-20T12:00:00.250000000Z'
    """
    seconds, ns = divmod(t_ns, NS_PER["s"])
    try:
        day = EPOCH + dt.timedelta(seconds=seconds)
    except OverflowError:
        return f"{seconds}.{ns:09d} s since 1970"
    return f"{day:%Y-%m-%dT%H:%M:%S}.{ns:09d}Z"


def format_ns(value_ns: float | None) -> str:
    """Write a duration in the unit that suits it, with three or four digits that matter.

    Example:
        >>> format_ns(1389.6), format_ns(-40), format_ns(37_000_000_600), format_ns(None)
        ('1.39 µs', '-40 ns', '37.000 s', '–')
        >>> format_ns(3_783_136_000), format_ns(1_742_572_894_536_000_000)
        ('3.783 s', '20,168.7 days')
    """
    if value_ns is None:
        return "–"
    if abs(value_ns) >= 3 * DAY_NS:
        return f"{value_ns / DAY_NS:,.1f} days"
    unit = "s" if abs(value_ns) >= NS_PER["s"] else unit_for([value_ns])
    return f"{format_in(value_ns, unit)} {unit}"


def format_step(value_ns: float) -> str:
    """Write the step of a clock: a whole number of the largest unit that allows it.

    Example:
        >>> format_step(1_000.0), format_step(10_000_000), format_step(1e9 / 2**20)
        ('1 µs', '10 ms', '954 ns')
    """
    units = (unit for unit in ("s", "ms", "µs") if value_ns >= 1 and value_ns % NS_PER[unit] == 0)
    unit = next(units, "ns")
    return f"{value_ns / NS_PER[unit]:.0f} {unit}"


def unit_for(values_ns: Iterable[float | None]) -> str:
    """Choose the one unit in which all of a table's durations read well.

    Example:
        >>> unit_for([950.0, 120.0]), unit_for([1390.0, None, 204_400.0]), unit_for([3.7e10])
        ('ns', 'µs', 's')
    """
    largest = max((abs(value) for value in values_ns if value is not None), default=0)
    limits = (("ns", 1_000), ("µs", 10_000_000), ("ms", 10_000_000_000))
    return next((unit for unit, limit in limits if largest < limit), "s")


@dataclass(frozen=True)
class Scale:
    """How all durations of a table are written: in one unit, with as many decimals."""

    unit: str
    n_decimals: int

    @classmethod
    def of(cls, usual_ns: Iterable[float], longest_ns: float, step_ns: float = 0.0) -> "Scale":
        """Choose a scale on which the least of the usual durations still shows digits.

        Args:
            usual_ns: What is looked at first, as medians.
            longest_ns: What has to be legible too.
            step_ns: Finer than this nothing was measured.

        Example:
            >>> Scale.of([1_320.0, 7_250.0], 235_340.0), Scale.of([1_000.0], 2.1e8, 1_000)
            (Scale(unit='µs', n_decimals=2), Scale(unit='µs', n_decimals=1))
        """
        units = [unit_for([longest_ns])]
        least_ns = min((abs(value) for value in usual_ns if round(abs(value))), default=longest_ns)
        steps = {"s": "ms", "ms": "µs"}
        while (unit := units[-1]) in steps and least_ns < NS_PER[unit] / LEAST_SHOWN:
            units.append(steps[unit])
        n_decimals = {"ns": 0, "µs": 2}.get(unit, 3)
        is_coarse = unit == "µs" and (step_ns >= NS_PER["µs"] or least_ns >= NS_PER["ms"])
        return cls(unit, 1 if is_coarse else n_decimals)

    def text(self, value_ns: float | None) -> str:
        """Write a duration, to be read under a heading that names the unit.

        Example:
            >>> Scale("µs", 2).text(209_853_400), Scale("µs", 2).text(None)
            ('209,853.40', '–')
        """
        if value_ns is None:
            return "–"
        text = f"{value_ns / NS_PER[self.unit]:,.{self.n_decimals}f}"
        return text.removeprefix("-") if not text.strip("-0.") else text

    def with_unit(self, value_ns: float | None) -> str:
        """Write a duration with its unit."""
        return "–" if value_ns is None else f"{self.text(value_ns)} {self.unit}"


def format_in(value_ns: float | None, unit: str) -> str:
    """Write a duration as a number of `unit`s, to be read under a heading that names the unit.

    Example:
        >>> format_in(1389.6, "µs"), format_in(9_204_412, "µs"), format_in(320.0, "ns")
        ('1.39', '9,204.41', '320')
    """
    if value_ns is None:
        return "–"
    decimals = {"ns": 0, "µs": 2}.get(unit, 3)
    return f"{value_ns / NS_PER[unit]:,.{decimals}f}"


def format_offset(offset_ns: float | None, half_width_ns: float | None) -> str:
    """Write a clock's offset down to the digit that its uncertainty leaves.

    Example:
        >>> format_offset(37_000_000_123.4, 600.0), format_offset(-14_510.2, 31.0)
        ('+37.0000001 s ± 600 ns', '-14.51 µs ± 31 ns')
    """
    if offset_ns is None:
        return "–"
    unit = unit_for([offset_ns])
    finest = max(1.0, half_width_ns or 0.0)
    decimals = max(0, len(str(NS_PER[unit])) - len(str(int(finest))))
    text = f"{offset_ns / NS_PER[unit]:+.{decimals}f} {unit}"
    return text if half_width_ns is None else f"{text} ± {format_ns(half_width_ns)}"


def format_frac(value_frac: float | None) -> str:
    """Write a share as a percentage.

    Example:
        >>> format_frac(0.0), format_frac(0.01234), format_frac(2e-7)
        ('0 %', '1.23 %', '0.00002 %')
    """
    if value_frac is None:
        return "–"
    percent = 100 * value_frac
    if 0 < abs(percent) < SMALLEST_PERCENT:
        return f"< {SMALLEST_PERCENT:f} %"
    decimals = 2 if abs(percent) > 0.01 or percent == 0 else 6  # noqa: PLR2004 - 0.01 has two
    return f"{percent:.{decimals}f}".rstrip("0").rstrip(".") + " %"


def format_ppm(value_ppm: float | None) -> str:
    """Write a drift.

    Example:
        >>> format_ppm(12.3456), format_ppm(-0.004)
        ('+12.346 ppm', '-0.004 ppm')
    """
    return "–" if value_ppm is None else f"{value_ppm:+.3f} ppm"


def format_count(n: int | None) -> str:
    """Write a count with its thousands apart.

    Example:
        >>> format_count(1234567)
        '1,234,567'
    """
    return "–" if n is None else f"{n:,}"


def format_number(value: float | None, n_decimals: int) -> str:
    """Write a number with so many digits after the point, to be read beside its unit.

    Example:
        >>> format_number(89.4366, 2), format_number(36_146_004.0, 0), format_number(None, 1)
        ('89.44', '36146004', '–')
    """
    return "–" if value is None else f"{value:.{n_decimals}f}"


def format_amount(value: float | None, unit: str) -> str:
    """Write a rate with the prefix that suits it.

    Example:
        >>> format_amount(36_146_004.0, "pps"), format_amount(9.5e9, "b/s"), format_amount(0, "tps")
        ('36.15 Mpps', '9.5 Gb/s', '0 tps')
    """
    if value is None:
        return "–"
    steps = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
    size, prefix = next((step for step in steps if abs(value) >= step[0]), (1.0, ""))
    return f"{_short(value / size)} {prefix}{unit}"


def format_bounds(lo: float | None, hi: float | None, unit: str) -> str:
    """Write an interval in a claim's unit, an open end as a bound.

    Example:
        >>> (
        ...     format_bounds(13.3, 15.7, "us"),
        ...     format_bounds(None, 0.01, "%"),
        ...     format_bounds(2, 2, "ns"),
        ... )
        ('13.3 to 15.7 µs', 'at most 0.01 %', '2 ns')
    """
    shown = "µs" if unit == "us" else unit
    texts = [_short(end) for end in (lo, hi)]
    if lo is None:
        return f"at most {texts[1]} {shown}"
    if hi is None:
        return f"at least {texts[0]} {shown}"
    return f"{' to '.join(dict.fromkeys(texts))} {shown}"


def _short(value: float | None) -> str:
    """Four digits that matter, without an exponent."""
    if not value:
        return "0"
    decimals = max(0, 3 - floor(log10(abs(value))))
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
