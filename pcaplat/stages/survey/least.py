"""What the sample alone says of the clocks, in the form that alignment takes."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from pcaplat.path import Findings
from pcaplat.stages.survey.latencies import of_side
from pcaplat.stages.survey.relations import between, relate
from pcaplat.stages.survey.sights import Sample, unique_sights


def sampled_least(
    sample: Sample, findings: Findings, domains: Sequence[int]
) -> list[Mapping[str, object]]:
    """Give the raw differences of the sampled packets between clocks, each as a bin of its own.

    Args:
        sample: The same packets of every point.
        findings: What the survey found in them.
        domains: Clock domain of each point.

    Returns:
        Per pair of points and direction `up`, `down`, and the columns `aligned_ns`, `up_ns`,
        `raw_ns`, `n`, as matching gives them of every packet.
    """
    relations, _ = relate(unique_sights([sample.seen_at(point) for point in findings.points]))
    toward, found = findings.toward_is_forward, list[Mapping[str, object]]()
    pairs = [ends for component in findings.components for ends in combinations(component, 2)]
    for near, far in pairs:
        for side, (up, down) in enumerate(((near, far), (far, near))):
            both = of_side(between(relations, up, down), toward, side)
            both = both.at(both.is_directed)
            if len(both) and domains[up] != domains[down]:
                by = np.argsort(both.t_ns, kind="stable")
                t_ns = both.t_ns[by]
                found.append(
                    {
                        "up": up,
                        "down": down,
                        "aligned_ns": t_ns - findings.centres[side][up].at(t_ns),
                        "up_ns": t_ns,
                        "raw_ns": both.d_ns[by],
                        "n": np.ones(len(both), np.int64),
                    }
                )
    return found
