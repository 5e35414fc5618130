"""A path whose truth is known: packets go along it both ways, and wrong clocks record them.

It shares no code with what it is to test. `run(scenario)` gives captures to save, and the truth.
"""

from tests.simulator.outcome import Outcome, run
from tests.simulator.scenario import (
    START_NS,
    Clock,
    Link,
    Point,
    Scenario,
    Traffic,
    Translation,
    Tunnel,
)
from tests.simulator.score import Score
from tests.simulator.truth import Truth

__all__ = [
    "START_NS",
    "Clock",
    "Link",
    "Outcome",
    "Point",
    "Scenario",
    "Score",
    "Traffic",
    "Translation",
    "Truth",
    "Tunnel",
    "run",
]
