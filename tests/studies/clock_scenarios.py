"""Two clocks and the packets between them, in every way that clocks and paths misbehave.

Times are floats of ns since the start, on the first, perfect clock; stamps are whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pcaplat.model.arrays import Floats, Ints
from pcaplat.model.matched import MinDelays
from pcaplat.stages.survey.delays.centres import fit_centre
from tests.support.alignments import N_BINS, START_NS, findings_of

if TYPE_CHECKING:
    from pcaplat.model.path import Findings

SECOND_NS = 10**9
RHO = 1e-6
"""How fast a bound loosens for somebody who knows all but 1 ppm of the clock."""

Clock = Callable[[Floats], Floats]


@dataclass
class Scenario:
    """What is to be simulated; one that misbehaves is made by a function of `MAKERS`."""

    chance: np.random.Generator
    span_ns: float
    rate: float
    floors_ns: list[float]
    tail_ns: float
    offset_ns: int
    resolution_ns: int = 1
    clock: Clock = np.zeros_like
    queues: Callable[[Scenario, Floats], Floats] = lambda _, t: np.zeros_like(t)
    change: tuple[int, float, float] | None = None
    growth: tuple[int, float] | None = None
    step: tuple[float, float] | None = None
    batch_ns: int = 0
    is_sent_in_batches: bool = False
    stamps: list[tuple[Ints, Ints]] = field(default_factory=list)

    def delays_ns(self, direction: int, sent: Floats) -> Floats:
        """How long packets take that are sent at these times."""
        delays = self.floors_ns[direction] + self.chance.exponential(self.tail_ns, len(sent))
        if self.change and self.change[0] == direction:
            _, at, size = self.change
            delays += np.where(sent >= at, max(size, 0.0), max(-size, 0.0))
        if self.growth and self.growth[0] == direction:
            delays += self.growth[1] * sent
        return delays + self.queues(self, sent)

    def travel(self) -> None:
        """Send packets both ways, and stamp them at both ends."""
        n = int(np.clip(self.rate * self.span_ns / SECOND_NS, 20, 60_000))
        for direction in (0, 1):
            sent = np.sort(self.chance.uniform(0, self.span_ns, n))
            arrived = sent + self.delays_ns(direction, sent)
            near, far = (sent, arrived) if direction == 0 else (arrived, sent)
            if self.batch_ns and (direction == 0 or self.is_sent_in_batches):
                far = np.ceil(far / self.batch_ns) * self.batch_ns
            far_ns = self.offset_ns + np.rint(far + self.clock(far)).astype(np.int64)
            self.stamps.append((self._cut(near.astype(np.int64)), self._cut(far_ns)))

    def _cut(self, t_ns: Ints) -> Ints:
        return (START_NS + t_ns) // self.resolution_ns * self.resolution_ns

    def min_delays(self) -> list[MinDelays]:
        """The least difference of each bin, about the survey's centre, as the core keeps it."""
        return [self._min_delays(direction) for direction in (0, 1)]

    def _min_delays(self, direction: int) -> MinDelays:
        near, far = self.stamps[direction]
        by = np.argsort(far, kind="stable")[:: max(1, len(far) // 8192)]
        centre = fit_centre(far[by], (far - near)[by])
        aligned = near if direction == 0 else far - centre.at(far)
        sign = 1 if direction == 0 else -1
        residual = sign * (far - centre.at(far) - near)
        bins = (aligned - START_NS) // (int(self.span_ns) // N_BINS + 1)
        order = np.lexsort((residual, bins))
        _, first, n = np.unique(bins[order], return_index=True, return_counts=True)
        kept = order[first]
        raw_ns = sign * (far - near)[kept]
        up_ns = (near, far)[direction][kept]
        return MinDelays(direction, 1 - direction, aligned[kept], up_ns, raw_ns, n)

    def findings(self) -> Findings:
        """What the survey would say of the two points."""
        late_ns = self.batch_ns if self.is_sent_in_batches else 0
        offsets_ns = [0, self.offset_ns + 5_000]
        return findings_of(offsets_ns, int(self.span_ns), self.resolution_ns, [0, late_ns])

    def identifiable_ns(self, t: Floats) -> Floats:
        """Half the width that is left to one who knows the clock's every move, not its offset."""
        cut_ns = self.resolution_ns if self.resolution_ns > 1 else 0
        widths = np.zeros_like(t)
        for sign, (near, far) in zip((1, -1), self.stamps, strict=True):
            at = (near - START_NS).astype(np.float64)
            slack = sign * ((far - near - self.offset_ns) - self.clock(at)) + cut_ns
            slack += self.batch_ns if sign < 0 and self.is_sent_in_batches else 0
            widths += _least_about(t, at, slack)
        return widths / 2


def _least_about(t: Floats, at: Floats, slack: Floats) -> Floats:
    order = np.argsort(at, kind="stable")
    at, slack = at[order], slack[order]
    before = np.minimum.accumulate(slack - RHO * at)
    after = np.minimum.accumulate((slack + RHO * at)[::-1])[::-1]
    place = np.searchsorted(at, t)
    low = np.where(place > 0, before[np.maximum(place - 1, 0)] + RHO * t, np.inf)
    high = np.where(place < len(at), after[np.minimum(place, len(at) - 1)] - RHO * t, np.inf)
    return np.asarray(np.minimum(low, high))


def plain(chance: np.random.Generator) -> Scenario:
    """A constant offset, some queueing."""
    return Scenario(
        chance=chance,
        span_ns=float(chance.uniform(10, 120) * SECOND_NS),
        rate=float(np.exp(chance.uniform(np.log(40), np.log(1500)))),
        floors_ns=chance.uniform(2_000, 30_000, 2).tolist(),
        tail_ns=float(chance.uniform(500, 20_000)),
        offset_ns=int(chance.integers(-40 * SECOND_NS, 40 * SECOND_NS)),
    )


def _drift(one: Scenario) -> None:
    drift = one.chance.uniform(-50e-6, 50e-6)
    one.clock = lambda t: drift * t


def _wander(one: Scenario) -> None:
    """Temperature: 0.02 to 0.2 ppm within minutes, up to 1.5 ppm over half an hour."""
    chance, one.span_ns = one.chance, float(one.chance.uniform(100, 1200) * SECOND_NS)
    swings = [
        (chance.uniform(0.02e-6, 0.2e-6), chance.uniform(20, 90) * SECOND_NS),
        (chance.uniform(0.2e-6, 1.5e-6), chance.uniform(600, 1800) * SECOND_NS),
    ]
    turns = [(rate * period / (2 * np.pi), 2 * np.pi / period) for rate, period in swings]
    starts = chance.uniform(0, 2 * np.pi, 2)
    one.clock = lambda t: sum(
        (size * np.sin(w * t + start) for (size, w), start in zip(turns, starts, strict=True)),
        np.zeros_like(t),
    )


def _step(one: Scenario) -> None:
    chance, before = one.chance, one.clock
    at = float(chance.uniform(0.15, 0.85) * one.span_ns)
    size = float(np.exp(chance.uniform(np.log(500), np.log(2e6))) * chance.choice([-1, 1]))
    one.step, one.clock = (at, size), lambda t: before(t) + np.where(t >= at, size, 0.0)


def _drift_and_step(one: Scenario) -> None:
    _drift(one)
    _step(one)


def _slew(one: Scenario) -> None:
    """NTP slews at up to 500 ppm."""
    chance, span = one.chance, one.span_ns
    start, lasts = chance.uniform(0.2, 0.5) * span, chance.uniform(0.05, 0.3) * span
    rate = chance.choice([-1, 1]) * chance.uniform(20e-6, 500e-6)
    one.clock = lambda t: rate * np.clip(t - start, 0, lasts)


def _minutes(one: Scenario) -> None:
    """A capture of 5 to 15 minutes, of few packets."""
    one.span_ns = float(one.chance.uniform(300, 900) * SECOND_NS)
    one.rate = float(np.exp(one.chance.uniform(np.log(20), np.log(200))))


def _running(times: Floats, rates: Floats) -> Clock:
    """A clock that runs at each rate from each time on, ns per ns; before the first at none."""
    gained = np.concatenate([[0.0], np.cumsum(np.diff(times) * rates[:-1])])

    def clock(t: Floats) -> Floats:
        after = np.clip(t - times[-1], 0, None) * rates[-1]
        return np.asarray(np.interp(t, times, gained) + after)

    return clock


def _slew_within_minutes(one: Scenario) -> None:
    """NTP slews 1 to 10 ms: seconds of a capture that lasts for minutes."""
    _minutes(one)
    chance = one.chance
    start = chance.uniform(0.1, 0.8) * one.span_ns
    rate = chance.choice([-1, 1]) * chance.uniform(100e-6, 500e-6)
    lasts = chance.uniform(1e6, 1e7) / abs(rate)
    one.clock = _running(np.array([start, start + lasts]), np.array([rate, 0.0]))


def _several_slews(one: Scenario) -> None:
    _minutes(one)
    chance, n = one.chance, int(one.chance.integers(2, 6))
    rates = np.zeros(2 * n)
    rates[::2] = chance.choice([-1, 1], n) * chance.uniform(20e-6, 500e-6, n)
    one.clock = _running(np.sort(chance.uniform(0, one.span_ns, 2 * n)), rates)


def _loop(one: Scenario) -> None:
    """A loop takes away what is left of an offset by a share of it a second."""
    _minutes(one)
    chance, lasts = one.chance, one.chance.uniform(15, 200) * SECOND_NS
    start = chance.uniform(0, 0.7) * one.span_ns
    size = chance.choice([-1, 1]) * chance.uniform(1e5, min(1e7, 500e-6 * lasts))
    one.clock = lambda t: size * np.exp(-np.clip(t - start, 0, None) / lasts)


def _frequency_steps(one: Scenario) -> None:
    _minutes(one)
    chance, n = one.chance, int(one.chance.integers(1, 6))
    times = np.sort(chance.uniform(0, one.span_ns, n))
    one.clock = _running(times, chance.uniform(-20e-6, 20e-6, n))


def _fast_slew(one: Scenario) -> None:
    """As chrony does, which may slew faster than adjtime can: a step that lasts a while."""
    chance, one.span_ns = one.chance, float(one.chance.uniform(60, 600) * SECOND_NS)
    start = chance.uniform(0.1, 0.8) * one.span_ns
    rate = chance.choice([-1, 1]) * np.exp(chance.uniform(np.log(6e-4), np.log(8e-2)))
    lasts = np.exp(chance.uniform(np.log(1e5), np.log(1e7))) / abs(rate)
    one.clock = _running(np.array([start, start + lasts]), np.array([rate, 0.0]))


def _coarse(one: Scenario) -> None:
    one.resolution_ns = 1_000


def _asymmetric(one: Scenario) -> None:
    one.floors_ns = [one.chance.uniform(2_000, 5_000), one.chance.uniform(50_000, 300_000)]


def _load(one: Scenario) -> None:
    waves, start = one.chance.integers(1, 6), one.chance.uniform(0, 6)
    tail_ns, one.tail_ns = one.tail_ns, one.tail_ns / 10

    def queues(scenario: Scenario, t: Floats) -> Floats:
        busy = 1 + 3 * np.sin(2 * np.pi * t / scenario.span_ns * waves + start) ** 2
        return np.asarray(scenario.chance.exponential(1, len(t)) * tail_ns * busy)

    one.queues = queues


def _bursts(one: Scenario) -> None:
    def queues(scenario: Scenario, t: Floats) -> Floats:
        waits, chance = np.zeros_like(t), scenario.chance
        for start in chance.uniform(0, scenario.span_ns, chance.integers(3, 40)):
            lasts = chance.uniform(0.001, 0.02) * scenario.span_ns
            waits[(t > start) & (t < start + lasts)] += chance.uniform(5e3, 1e5)
        return waits

    one.queues = queues


def _change(one: Scenario) -> None:
    """The path of one direction changes."""
    chance = one.chance
    size = float(np.exp(chance.uniform(np.log(1e3), np.log(5e5))) * chance.choice([-1, 1]))
    one.change = (int(chance.integers(0, 2)), float(chance.uniform(0.2, 0.8) * one.span_ns), size)


def _batches(one: Scenario) -> None:
    """An interrupt for what was received since the last: stamps are up to 100 µs late."""
    one.batch_ns = int(one.chance.integers(5_000, 100_000))


def _all_batches(one: Scenario) -> None:
    """A mirror: whichever way packets go, the capture receives them."""
    _batches(one)
    one.is_sent_in_batches = True


def _change_and_drift(one: Scenario) -> None:
    _drift(one)
    _change(one)


def _change_and_growth(one: Scenario) -> None:
    """A path changes, and one that fills up takes longer all the time."""
    _change(one)
    size_ns = one.chance.uniform(2_000, 200_000)
    one.growth = (int(one.chance.integers(0, 2)), size_ns / one.span_ns)


def _change_and_step(one: Scenario) -> None:
    _change(one)
    _step(one)


def _change_and_slew(one: Scenario) -> None:
    _change(one)
    _slew(one)


def _sparse(one: Scenario) -> None:
    one.rate, one.span_ns = 1.0, float(one.chance.uniform(60, 600) * SECOND_NS)


def _short(one: Scenario) -> None:
    one.rate = float(one.chance.uniform(500, 5_000))
    one.span_ns = float(one.chance.uniform(0.3, 3) * SECOND_NS)


def _few(one: Scenario) -> None:
    one.rate = float(one.chance.integers(80, 700)) * SECOND_NS / one.span_ns


EFFECTS: dict[str, Callable[[Scenario], None]] = {
    "offset": lambda _: None,
    "drift": _drift,
    "wander": _wander,
    "step": _step,
    "drift and step": _drift_and_step,
    "slew": _slew,
    "1 µs timestamps": _coarse,
    "asymmetric": _asymmetric,
    "load": _load,
    "bursts": _bursts,
    "path change": _change,
    "batched timestamps": _batches,
    "batched timestamps of a mirror": _all_batches,
    "sparse": _sparse,
    "short": _short,
    "few packets": _few,
}

TOGETHER: dict[str, Callable[[Scenario], None]] = {
    "path change and drift": _change_and_drift,
    "path change and growth": _change_and_growth,
    "path change and step": _change_and_step,
    "path change and slew": _change_and_slew,
}
"""Effects that hide each other: the truth is inside, but nobody can say how narrow it must be."""

SLEWS: dict[str, Callable[[Scenario], None]] = {
    "slew within minutes": _slew_within_minutes,
    "several slews": _several_slews,
    "offset taken away by a loop": _loop,
    "frequency steps": _frequency_steps,
    "fast slew": _fast_slew,
}
"""Rates that change between two packets: of their moment nobody knows more than these leave."""

ALL = EFFECTS | TOGETHER | SLEWS


def scenario(effect: str, seed: int) -> Scenario:
    """Two clocks with one effect; the same for the same seed."""
    one = plain(np.random.default_rng([seed, *effect.encode()]))
    ALL[effect](one)
    one.travel()
    return one
