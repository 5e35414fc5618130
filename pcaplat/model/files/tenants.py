"""Whose packets a tunnel has, where tenants' hosts have the same addresses."""

from collections.abc import Sequence

from pcaplat.records import dataclass

Inside = tuple[int, int]
"""Interface of a file, and the identifier of a tunnel; -1: no tunnel."""


@dataclass(frozen=True)
class Tenants:
    """Tunnels of tenants with the same addresses, as far as they are known.

    Attributes:
        of_file: By file: where packets were seen, and the number of the tenant whose they are.
        have_equal_packets: Packets of several tenants are equal, or may be.
    """

    of_file: Sequence[Sequence[tuple[Inside, int]]]
    have_equal_packets: bool
