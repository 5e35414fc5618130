"""Which sets are measured at which size against what: a quick, a standard and a full selection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from measure.contestants import CAT, DECOMPRESS, LOOP, MERGE, MERGECAP, TSHARK, WRITE

SAMPLE = "sample"
"""Not generated: the smallest sample of samples/, from a cold start to the printed table."""


VARIANTS = ("loss", "duplicates", "offload", "nat", "ipv6", "mirror-drops", "flows")
"""Sets that may take a little longer than the plain one."""


@dataclass(frozen=True)
class Entry:
    """A set at a size, and what is run on it."""

    name: str
    n_packets: int
    wanted: Sequence[str] = (MERGE, LOOP, CAT)

    @property
    def title(self) -> str:
        """How tables and files call it."""
        return f"{self.name}-{self.n_packets}" if self.n_packets else self.name


@dataclass(frozen=True)
class Plan:
    """Everything that is run in turns, so many times, and what is looked at once."""

    n_rounds: int
    entries: Sequence[Entry]
    staged: Entry | None
    counted: Entry | None  # its instructions


ALL = (MERGE, MERGECAP, LOOP, CAT)
PASSED = (MERGE, DECOMPRESS)
COUNTED = Entry("plain", 200_000, ())


def entries(small: int, mtu: tuple[int, int], eight: int) -> list[Entry]:
    """Give the sets that are compared with the plain one of their size, and the smallest sample."""
    return [
        Entry(SAMPLE, 0, (MERGE,)),
        Entry("plain", small, (*ALL, WRITE)),
        *(Entry(name, small) for name in VARIANTS),
        *(Entry("mtu", n) for n in mtu),
        *(Entry(name, small, PASSED) for name in ("zst", "gz")),
        *(Entry(name, eight) for name in ("eight", "rotated")),
    ]


QUICK = Entry("plain", 60_000, (*ALL, TSHARK))
STANDARD = Entry("plain", 1_000_000, (*ALL, TSHARK))
FULL = Entry("plain", 10_000_000, (*ALL, WRITE))
PLANS = {
    "quick": Plan(2, [QUICK, *entries(20_000, (10_000, 30_000), 10_000)], QUICK, None),
    "standard": Plan(
        5, [STANDARD, *entries(300_000, (100_000, 300_000), 100_000)], STANDARD, COUNTED
    ),
    "full": Plan(
        5, [FULL, *entries(1_000_000, (1_000_000, 3_000_000), 250_000)], STANDARD, COUNTED
    ),
}
"""Quick: a few minutes, to try something. Standard: at most ten. Full: hours, and some 30 GB."""
