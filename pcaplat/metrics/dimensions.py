"""Dimensions of metrics, and the units that figures may be given in."""

from fractions import Fraction

BASE = {
    "duration": "ns",
    "share": "frac",
    "packet rate": "pps",
    "bit rate": "b/s",
    "transaction rate": "tps",
    "size": "B",
    "cores": "core",
    "clock rate": "MHz",
    "memory": "MiB",
    "count": "1",
}
"""The base unit of each dimension."""

UNITS: dict[str, tuple[str, Fraction]] = {
    "ns": ("duration", Fraction(1)),
    "us": ("duration", Fraction(10**3)),
    "µs": ("duration", Fraction(10**3)),
    "ms": ("duration", Fraction(10**6)),
    "s": ("duration", Fraction(10**9)),
    "frac": ("share", Fraction(1)),
    "%": ("share", Fraction(1, 100)),
    "ppm": ("share", Fraction(1, 10**6)),
    "pps": ("packet rate", Fraction(1)),
    "kpps": ("packet rate", Fraction(10**3)),
    "Mpps": ("packet rate", Fraction(10**6)),
    "b/s": ("bit rate", Fraction(1)),
    "kb/s": ("bit rate", Fraction(10**3)),
    "Mb/s": ("bit rate", Fraction(10**6)),
    "Gb/s": ("bit rate", Fraction(10**9)),
    "MB/s": ("bit rate", Fraction(8 * 10**6)),
    "tps": ("transaction rate", Fraction(1)),
    "ktps": ("transaction rate", Fraction(10**3)),
    "B": ("size", Fraction(1)),
    "core": ("cores", Fraction(1)),
    "MHz": ("clock rate", Fraction(1)),
    "GHz": ("clock rate", Fraction(10**3)),
    "KiB": ("memory", Fraction(1, 2**10)),
    "MiB": ("memory", Fraction(1)),
    "GiB": ("memory", Fraction(2**10)),
    "1": ("count", Fraction(1)),
}
"""Every unit: its dimension, and how many of the base unit it is."""


def base_unit(unit: str) -> str:
    """Name the base unit of a unit's dimension.

    Example:
        >>> base_unit("us"), base_unit("Gb/s")
        ('ns', 'b/s')
    """
    return BASE[UNITS[unit][0]]
