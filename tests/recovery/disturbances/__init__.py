"""Disturbances of clocks and of traffic whose truth is known: `KINDS`, each at any size and seed.

They share no code with what they are to test.
"""

from tests.recovery.disturbances import clocks, traffic
from tests.recovery.disturbances.path import Disturbed

KINDS = {
    "nothing": lambda _one: None,
    **clocks.KINDS,
    **traffic.KINDS,
    **{f"{name}, own clocks": kind for name, kind in traffic.OWN_CLOCKS.items()},
}
HAVE_OWN_CLOCKS = frozenset(clocks.KINDS) | {name for name in KINDS if name.endswith("own clocks")}

__all__ = ["HAVE_OWN_CLOCKS", "KINDS", "Disturbed"]
