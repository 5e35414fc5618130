"""What users say of a capture point: how good its clock is, what its stamps stand for, its link.

A frame is stamped when its first bit passes (behind the start delimiter), when its last bit does
(of the check sequence), or by the host's software, some time before or after. Between first and
last bit are 8 × length / rate (RFC 1242 §3.8; length with the check sequence, without preamble).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from pcaplat.errors import InputError, OptionError
from pcaplat.records import dataclass
from pcaplat.units import parse_duration_ns

Stated = TypeVar("Stated")

CONVENTIONS = ("first-bit", "last-bit", "host")
"""What a stamp may stand for."""

RATE = re.compile(
    r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*(?:([kMGT])(?:bit/s|b/s|bps)?|bit/s|b/s|bps)\s*", re.ASCII
)
BPS_PER = {None: 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
MOST_BPS = 10**15


@dataclass(frozen=True)
class Stamping:
    """What the stamps of a capture stand for, and the rate of its link; None: nobody says."""

    stamped_at: str | None = None
    link_rate_bps: int | None = None

    @property
    def last_bit_bps(self) -> int | None:
        """The rate by which stamps of the last bit can be taken back to the first, if they can."""
        return self.link_rate_bps if self.stamped_at == "last-bit" else None

    @property
    def columns(self) -> dict[str, Any]:
        """Give both as columns of the summary's captures."""
        return {"stamped_at": self.stamped_at, "link_rate_bps": self.link_rate_bps}


def stampings(
    names: Sequence[str],
    stamped_at: Sequence[tuple[str, str]],
    link_rate: Sequence[tuple[str, int]],
    known: Sequence[Stamping],
) -> list[Stamping]:
    """Give what is said of each file's stamps.

    Args:
        names: The point that each file is of.
        stamped_at: Point and convention, as given.
        link_rate: Point and bit/s, as given.
        known: What a profile says of each file; what was given wins.

    Raises:
        InputError: No file is of a point that was given.

    Example:
        >>> stampings(["a", "b"], [("b", "host")], [("b", 10**9)], [Stamping()] * 2)[1]
        Stamping(stamped_at='host', link_rate_bps=1000000000)
    """
    for option, given in (("--stamped-at", stamped_at), ("--link-rate", link_rate)):
        for point, _ in given:
            if point not in names:
                raise InputError.unknown_point(option, point, list(dict.fromkeys(names)))
    conventions, rates = dict(stamped_at), dict(link_rate)
    return [
        Stamping(conventions.get(name, one.stamped_at), rates.get(name, one.link_rate_bps))
        for name, one in zip(names, known, strict=True)
    ]


def parse_clock_accuracy(text: str) -> tuple[str, int]:
    """Read "POINT=100ns".

    Example:
        >>> parse_clock_accuracy("uplink=1.5us")
        ('uplink', 1500)
    """
    return _of_point("--clock-accuracy", text, parse_duration_ns, "uplink=100ns")


def parse_stamped_at(text: str) -> tuple[str, str]:
    """Read "POINT=last-bit".

    Example:
        >>> parse_stamped_at("uplink=last-bit")
        ('uplink', 'last-bit')
    """
    return _of_point("--stamped-at", text, parse_convention, "uplink=last-bit")


def parse_link_rate(text: str) -> tuple[str, int]:
    """Read "POINT=10Gbit/s".

    Example:
        >>> parse_link_rate("uplink=2.5Gbit/s")
        ('uplink', 2500000000)
    """
    return _of_point("--link-rate", text, parse_rate_bps, "uplink=10Gbit/s")


def _of_point(
    option: str, text: str, parse: Callable[[str], Stated], example: str
) -> tuple[str, Stated]:
    point, is_given, value = text.rpartition("=")
    if not (point and is_given):
        raise OptionError(f"{option} {text}: write it like {option} {example}")
    try:
        return point, parse(value)
    except OptionError as problem:
        raise OptionError(f"{option} {text}: {problem}") from None


def parse_convention(text: str) -> str:
    """Read what a stamp stands for.

    Raises:
        OptionError: It is none of `CONVENTIONS`.
    """
    if text not in CONVENTIONS:
        raise OptionError.unreadable("moment of a frame", text, ", ".join(CONVENTIONS))
    return text


def parse_rate_bps(text: str) -> int:
    """Read the rate of a link, bit/s.

    Raises:
        OptionError: No number with a unit, or no rate of a link.

    Example:
        >>> parse_rate_bps("10G"), parse_rate_bps("100 Mbit/s"), parse_rate_bps("2.5 Gb/s")
        (10000000000, 100000000, 2500000000)
    """
    from fractions import Fraction  # noqa: PLC0415 - few say a rate

    found = RATE.fullmatch(text)
    rate_bps = Fraction(found[1]) * BPS_PER[found[2]] if found else Fraction(0)
    if not 1 <= rate_bps <= MOST_BPS:
        raise OptionError.unreadable("rate", text, "10Gbit/s, 100Mbit/s, 25G")
    return round(rate_bps)


def takes_ns(n_bytes: int, rate_bps: float) -> float:
    """How long a frame takes from its first bit to its last, ns.

    Args:
        n_bytes: Its length without the check sequence, which is counted; so is the padding.
        rate_bps: Of the link.

    Example:
        >>> takes_ns(1514, 10e9), takes_ns(42, 10e9)
        (1214.4, 51.2)
    """
    return (max(n_bytes, 60) + 4) * 8e9 / rate_bps


def is_first_bit(capture: Mapping[str, Any]) -> bool:
    """Tell whether latencies count from the first bit at a capture: stamped there, or taken back.

    Args:
        capture: A row of the summary's captures.
    """
    convention = capture.get("stamped_at")
    return convention == "first-bit" or (
        convention == "last-bit" and capture.get("link_rate_bps") is not None
    )
