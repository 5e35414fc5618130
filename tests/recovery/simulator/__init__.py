"""A path whose truth is known: packets go along it both ways, and wrong clocks record them.

It shares no code with what it is to test. `run(scenario)` gives captures to save, and the truth.
"""

from tests.recovery.simulator.outcome import Outcome, run
from tests.recovery.simulator.scenario import (
    START_NS,
    Clock,
    Link,
    Point,
    Scenario,
    Traffic,
    Translation,
    Tunnel,
)
from tests.recovery.simulator.score import Score
from tests.recovery.simulator.truth import Truth

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
