"""Survey: which points share packets, in what order, how far apart their clocks, how long it takes.

    sample → points, path, coarse clocks, bands, window

The sample holds the same packets of every point (hash-based selection, RFC 5475 §6.2). What is
unique at two points relates them without any clock (`relations`); changes of direction tell how
far apart they are (`orient`, `order`); what one file saw twice, and how the observations differ,
tells which points it holds (`splitting`); medians over time tell where latencies lie (`centres`).
See docs/method/survey.md for what this rests on, and how it can mislead.
"""

from pcaplat.stages.survey.coverage import check_doubles
from pcaplat.stages.survey.delays.min_delays import sampled_min_delays, sampled_negatives
from pcaplat.stages.survey.findings import survey
from pcaplat.stages.survey.observations import Observations, Sample
from pcaplat.stages.survey.points_in_file.split import divide
from pcaplat.stages.survey.tenants import find_tenants
from pcaplat.stages.survey.translation import hidden_repeats, suspect

__all__ = [
    "Observations",
    "Sample",
    "check_doubles",
    "divide",
    "find_tenants",
    "hidden_repeats",
    "sampled_min_delays",
    "sampled_negatives",
    "survey",
    "suspect",
]
