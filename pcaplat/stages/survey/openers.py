"""Who opens the flows: which end of the path is the first."""

import numpy as np

from pcaplat.path import Ints
from pcaplat.stages.survey.sights import Sights


def count_openers(
    flows: dict[str, Ints],
    packets: list[tuple[int, Sights]],
    starts_ns: dict[tuple[int, int], int],
    toward: dict[int, bool],
) -> tuple[int, int]:
    """Count the flows opened forward and in reverse.

    A SYN tells; else the first packet in the time all points cover does. Where a flow was under
    way by then, that packet is looked for in the sample.

    Args:
        flows: Columns of the sampled flows: file, interface, flow, pair, first_t_ns,
            is_first_toward, opens.
        packets: Sampled packets of each point, with the raw time at which the common cover starts there.
        starts_ns: That raw time by file and interface.
        toward: Whether packets from the smaller address go forward, by address pair.
    """
    opener: dict[int, bool] = {}
    first: dict[int, bool] = {}
    under_way: set[int] = set()
    for row in zip(*(flows[name].tolist() for name in _COLUMNS), strict=True):
        file, interface, flow, pair, t_ns, is_toward, opens = row
        start_ns = starts_ns.get((file, interface))
        if start_ns is None or pair not in toward:
            continue
        goes_forward = bool(is_toward) == toward[pair]
        if opens:
            opener[flow] = goes_forward
        elif t_ns >= start_ns:
            first.setdefault(flow, goes_forward)
        else:
            under_way.add(flow)
    found = _first_sampled(packets, under_way - first.keys(), toward) | first | opener
    n_forward = sum(found.values())
    return n_forward, len(found) - n_forward


_COLUMNS = ("file", "interface", "flow", "pair", "first_t_ns", "is_first_toward", "opens")


def _first_sampled(
    packets: list[tuple[int, Sights]], flows: set[int], toward: dict[int, bool]
) -> dict[int, bool]:
    """Direction of each flow's first sampled packet after the start."""
    wanted = np.array(sorted(flows), dtype=np.int64)
    found: dict[int, bool] = {}
    for start_ns, sights in packets:
        rows = sights.at(np.isin(sights.flow, wanted) & (sights.t_ns >= start_ns))
        by = np.lexsort((rows.t_ns, rows.flow))
        names, at = np.unique(rows.flow[by], return_index=True)
        pairs, is_toward = rows.pair[by][at].tolist(), rows.is_toward[by][at].tolist()
        for flow, pair, to in zip(names.tolist(), pairs, is_toward, strict=True):
            if pair in toward:
                found.setdefault(flow, bool(to) == toward[pair])
    return found
