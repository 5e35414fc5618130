"""Networks of every shape whose truth is known: `KINDS`, each at any size and seed.

Each kind is a function of the number of packets, the seed and whether points have clocks of their
own. They share no code with what they are to test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.recovery.networks import (
    announced,
    captured,
    failover,
    identifiers,
    multicast,
    one_way,
    queries,
    redirected,
    rewritten,
    rounds,
    shapes,
    tenants,
    three_hops,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.networks import Network

KINDS: dict[str, Callable[..., Network]] = {
    **shapes.KINDS,
    **tenants.KINDS,
    **redirected.KINDS,
    **one_way.KINDS,
    **multicast.KINDS,
    **identifiers.KINDS,
    **queries.KINDS,
    **rounds.KINDS,
    **three_hops.KINDS,
    **failover.KINDS,
    **rewritten.KINDS,
    **captured.KINDS,
    **announced.KINDS,
}
HAS_NO_ORDER = frozenset(
    name for name in KINDS if name.startswith(("star", "dumbbell")) or " of a core" in name
)
"""Kinds of which no order of the points is right."""

__all__ = ["HAS_NO_ORDER", "KINDS"]
