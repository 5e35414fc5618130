"""What a claim may be about, and the units it may be given in."""

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

CPU = ("cores", "clock rate")
METRICS: dict[str, tuple[str, ...]] = {
    "two-way-contribution": ("duration",),
    "one-way-latency": ("duration",),
    "rtt": ("duration",),
    "transaction-time": ("duration",),
    "delay-variation": ("duration",),
    "loss-ratio": ("share",),
    "packet-rate": ("packet rate",),
    "throughput-l1": ("bit rate",),
    "throughput-l2": ("bit rate",),
    "throughput-l3": ("bit rate",),
    "goodput": ("bit rate",),
    "transaction-rate": ("transaction rate",),
    "frame-size": ("size",),
    "encapsulation-overhead": ("size",),
    "cpu-per-100kpps": CPU,
    "cpu-per-ktps": CPU,
    "cpu-per-gbps": CPU,
    "memory-used": ("memory",),
    "memory-per-100kpps": ("memory",),
    "memory-per-ktps": ("memory",),
    "memory-per-gbps": ("memory",),
}
"""Every metric, and the dimensions of its units. L1 counts preamble and gap, L2 the frame with its
FCS, L3 the IP packet, goodput the payload."""

ROUND_TRIP = ("two-way-contribution", "rtt", "transaction-time")
"""Metrics of which an element is passed several times in each sample."""


def units_of(metric: str, *, is_relative: bool = False) -> list[str]:
    """List the units that a metric, or its relative change, may be given in.

    Example:
        >>> units_of("packet-rate"), units_of("packet-rate", is_relative=True)
        (['pps', 'kpps', 'Mpps'], ['frac', '%', 'ppm'])
    """
    dimensions = ("share",) if is_relative else METRICS[metric]
    return [unit for unit, (dimension, _) in UNITS.items() if dimension in dimensions]


def base_unit(unit: str) -> str:
    """Name the base unit of a unit's dimension.

    Example:
        >>> base_unit("us"), base_unit("Gb/s")
        ('ns', 'b/s')
    """
    return BASE[UNITS[unit][0]]
