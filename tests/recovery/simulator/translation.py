"""Flows as a point sees them: addresses, ports and sequence numbers behind a translator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.recovery.simulator.pieces import ETHER, UDP

if TYPE_CHECKING:
    from tests.recovery.simulator.pieces import Table
    from tests.recovery.simulator.scenario import Scenario

PUBLIC = (198, 51, 100, 7)
WELL_KNOWN = (0x00, 0x64, 0xFF, 0x9B)  # 64:ff9b::/96 (RFC 6052)


def flows_at(scenario: Scenario, flows: Table, hop: int) -> Table:
    """The flows as they are at a hop."""
    translation = scenario.translation
    seen = flows.copy()
    kinds = translation.kinds if translation else frozenset[str]()
    is_6 = seen["version"] == 6
    if "nat64" in kinds:  # on the near side the far end has an address made of its IPv4 one
        is_wide = is_6 & (seen["kind"] != ETHER)
        seen["far"][is_wide, :12] = 0
        seen["far"][is_wide, :4] = WELL_KNOWN
        seen["far"][is_wide, 12:14] = 10, 2
    if translation is None or hop < translation.hop:
        return seen
    if "nat64" in kinds:
        seen["version"][is_6] = 4
        _hide(seen, is_6)
    if "snat" in kinds:
        _hide(seen, ~is_6 | ("nat64" in kinds))
        seen["near"][is_6 & (seen["version"] == 6), 4:6] = 0xBE, 0xEF
    if "dnat" in kinds:
        seen["far"][seen["version"] == 4, 13] = 99
        seen["far"][seen["version"] == 6, 3] = 0x99
        seen["far_port"] += 1_000
    if kinds & {"snat", "nat64"}:
        changed = (seen["version"] == 4) | ("snat" in kinds)
        by = seen["slot"] if translation.reuses_ports else np.arange(len(seen))
        ports = np.where(changed, 20_000 + by % 40_000, seen["near_port"])
        seen["near_port"] = np.where(seen["is_opened_forward"], ports, seen["near_port"])
    if "seq" in kinds:
        shifts = scenario.chance("shifts").integers(1, 2**32, (len(seen), 2))
        seen["shift"] = np.where((seen["kind"] < UDP)[:, None], shifts, 0)
    return seen


def _hide(seen: Table, which: Table) -> None:
    """Put flows behind one public address."""
    seen["near"][which] = 0
    seen["near"][which, 12:] = PUBLIC
