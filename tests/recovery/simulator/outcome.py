"""What the points recorded, and what really happened."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tests.recovery.simulator.files import ETHERNET, SLL2, Recording, suffix_of, write
from tests.recovery.simulator.frames import Recorded, record
from tests.recovery.simulator.render import render
from tests.recovery.simulator.sending import send_everything

if TYPE_CHECKING:
    from pathlib import Path

    from tests.recovery.simulator.pieces import Table
    from tests.recovery.simulator.scenario import Numbers, Scenario
    from tests.recovery.simulator.transit import Journey

WOBBLE_NS = 3_000


class Place(NamedTuple):
    """A file's frames in its order: which point saw each, and which of that point's it is."""

    points: Numbers
    rows: Numbers
    stamps_ns: Numbers


@dataclass
class Outcome:
    """Captures and truth of one scenario."""

    scenario: Scenario
    flows: Table
    journey: Journey
    records: list[Recorded]

    @cached_property
    def files(self) -> dict[str, Place]:
        """Per file name its frames, first to last."""
        made: dict[str, list[int]] = {}
        for at, point in enumerate(self.scenario.points):
            made.setdefault(point.file or point.name, []).append(at)
        return {name: self._place(points) for name, points in made.items()}

    def _place(self, points: list[int]) -> Place:
        frames = [self.records[at].frames for at in points]
        stamps_ns = np.concatenate([self._stamps_ns(at) for at in points])
        true_ns = np.concatenate([f["time_ns"] for f in frames])
        point = np.concatenate([np.full(len(f), at) for at, f in zip(points, frames, strict=True)])
        row = np.concatenate([np.arange(len(f)) for f in frames])
        chance = self.scenario.chance("order", *points)
        how = self.scenario.points[points[0]].order
        by = {
            "sorted": true_ns,
            "wobbling": true_ns + chance.integers(0, WOBBLE_NS, len(true_ns)),
            "shuffled": chance.permutation(len(true_ns)),
        }[how]
        order = np.argsort(by, kind="stable")
        return Place(point[order], row[order], stamps_ns[order])

    def _stamps_ns(self, at: int) -> Numbers:
        """What the clocks of a point said of each of its frames."""
        point, frames = self.scenario.points[at], self.records[at].frames
        is_forward = self.journey.pieces["forward"][frames["first"]]
        ahead_ns = np.where(is_forward, point.forward_ahead_ns, 0)
        return np.asarray(point.clock.stamps_ns(frames["time_ns"]) + ahead_ns)

    def true_ns(self, name: str) -> Numbers:
        """When each frame of a file really passed."""
        place = self.files[name]
        times_ns = [record.frames["time_ns"] for record in self.records]
        starts = np.cumsum([0, *map(len, times_ns)])
        return np.asarray(np.concatenate(times_ns)[starts[place.points] + place.rows])

    def path_of(self, folder: Path, name: str) -> Path:
        """Where the file of that name is saved."""
        first = self.scenario.points[int(self.first_point[name])]
        return folder / (name + suffix_of(first.kind))

    @cached_property
    def first_point(self) -> dict[str, int]:
        """Per file the first of its points, whose format and order it has."""
        found: dict[str, int] = {}
        for at, point in enumerate(self.scenario.points):
            found.setdefault(point.file or point.name, at)
        return found

    def save(self, folder: Path) -> list[Path]:
        """Write the captures."""
        return [self._save(folder, name) for name in self.files]

    def _save(self, folder: Path, name: str) -> Path:
        place, points = self.files[name], self.scenario.points
        first = points[self.first_point[name]]
        frames: list[bytes] = [b""] * len(place.rows)
        for at in np.unique(place.points).tolist():
            made = render(
                self.scenario, at, self.records[at].frames, self.journey.pieces, self.flows
            )
            for spot in np.flatnonzero(place.points == at).tolist():
                frames[spot] = made[place.rows[spot]]
        names = tuple(p.name for p in points if (p.file or p.name) == name)
        interfaces = np.array([p.interface for p in points])[place.points]
        n_bytes = np.fromiter(map(len, frames), np.int64, len(frames))
        captured = [data[: first.snap] for data in frames]
        link = SLL2 if first.is_cooked else ETHERNET
        recording = Recording(place.stamps_ns, captured, n_bytes, link, interfaces, names)
        return write(folder, name, first.kind, recording)


def run(scenario: Scenario) -> Outcome:
    """Send the traffic, let the points record it."""
    flows, journey = send_everything(scenario)
    records = [record(scenario, at, journey, flows) for at in range(len(scenario.points))]
    return Outcome(scenario, flows, journey, records)
