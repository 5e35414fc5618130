"""What the order of two neighbours rests on, and how sure it is."""

from collections.abc import Iterator, Sequence

from pcaplat.model.path import OrderEvidence
from pcaplat.model.points import Pair
from pcaplat.stages.survey.path_order.order import PathOrder


def evidence_of(orders: Sequence[PathOrder], edges: Sequence[Pair]) -> list[OrderEvidence]:
    """Say of each edge what tells that its near end is before its far end.

    Args:
        orders: One for each component.
        edges: The segments.
    """
    return [one for order in orders for ends in edges for one in _of(order, ends)]


def _of(order: PathOrder, ends: Pair) -> Iterator[OrderEvidence]:
    if ends[0] not in order.points:
        return
    key, sign = (ends, 1) if ends in order.distance_ns else (ends[::-1], -1)
    distance_ns, n_changes = (
        order.distance_ns.get(key),
        order.n_changes.get(key, 0),
    )
    if distance_ns == 0 or not order.is_known:
        yield OrderEvidence(*ends, "names")
    elif distance_ns is None:
        is_assumed = {*ends} & order.is_assumed
        yield OrderEvidence(*ends, "timestamps or TTL" if is_assumed else "other points")
    elif key not in order.n_agreeing:
        yield OrderEvidence(*ends, "one clock", distance_ns=sign * distance_ns)
    else:
        n_agreeing = order.n_agreeing[key]
        # against the order as it stands, the others agree
        n_agreeing = n_agreeing if sign * distance_ns > 0 else n_changes - n_agreeing
        of = "two groups of differences" if order.is_grouped else "round-trip separation"
        yield OrderEvidence(*ends, of, n_changes, n_agreeing, sign * distance_ns)
