"""Who opens the flows."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pcaplat.model.points import Point
from pcaplat.stages.survey.observations import ANY_PART, Sample

Starts = dict[int, int]
"""Per point the raw time at which the time that all points cover starts, ns."""

COLUMNS = ("file", "interface", "flow", "pair", "first_t_ns", "is_first_toward", "opens")


class Opened(NamedTuple):
    """Flows that were opened in each direction."""

    forward: int
    reverse: int


def count_flow_openers(
    sample: Sample, points: Sequence[Point], starts_ns: Starts, toward: Mapping[int, bool]
) -> Opened:
    """Count the flows opened forward and in reverse.

    A SYN tells; else the first packet in the time all points cover does. Where a flow was under
    way by then, that packet is looked for in the sample.

    Args:
        sample: The survey's sample.
        points: The capture points.
        starts_ns: When the common time starts; points that are not in it do not count.
        toward: Whether packets from the smaller address go forward, by address pair.
    """
    sources = [(*source, i) for i in starts_ns for source in points[i].sources]
    point_of = {(file, ANY_PART): i for file, _, i in sources}
    point_of |= {(file, part): i for file, part, i in sources}
    by_syn: dict[int, bool] = {}
    began: dict[tuple[int, int], tuple[int, bool]] = {}
    for row in zip(*(sample.flows[name].tolist() for name in COLUMNS), strict=True):
        file, interface, flow, pair, t_ns, is_toward, opens = row
        point = point_of.get((file, interface))
        if point is None or pair not in toward:
            continue
        goes_forward = bool(is_toward) == toward[pair]
        if opens:
            by_syn[flow] = goes_forward
        # a point may have files one after the other, and a flow go on from one to the next
        first = (t_ns, goes_forward)
        began[point, flow] = min(first, began.get((point, flow), first))
    by_first = {
        flow: goes_forward
        for (point, flow), (t_ns, goes_forward) in sorted(began.items(), reverse=True)
        if t_ns >= starts_ns[point]
    }
    under_way = {flow for (point, flow), (t_ns, _) in began.items() if t_ns < starts_ns[point]}
    by_sample = _first_sampled(sample, points, starts_ns, toward)
    sampled = {flow: by_sample[flow] for flow in under_way & by_sample.keys()}
    found = sampled | by_first | by_syn
    return Opened(sum(found.values()), len(found) - sum(found.values()))


def _first_sampled(
    sample: Sample, points: Sequence[Point], starts_ns: Starts, toward: Mapping[int, bool]
) -> dict[int, bool]:
    """Direction of each flow's first sampled packet in the common time."""
    goes_forward: dict[int, bool] = {}
    for point, start_ns in starts_ns.items():
        seen = sample.seen_at(points[point])
        seen = seen.at(seen.is_directed & (seen.t_ns >= start_ns))
        by = np.lexsort((seen.t_ns, seen.flow))
        flows, at = np.unique(seen.flow[by], return_index=True)
        pairs, is_toward = seen.pair[by][at].tolist(), seen.is_toward[by][at].tolist()
        for flow, pair, to in zip(flows.tolist(), pairs, is_toward, strict=True):
            if pair in toward:
                goes_forward.setdefault(flow, bool(to) == toward[pair])
    return goes_forward
