"""What networks do to packets: loss in bursts and outages, queues, ways that change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.recovery.disturbances import clocks
from tests.recovery.disturbances.path import MS, US, Disturbed

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.recovery.disturbances.path import Fate, Flags, Floats

LOST = 0.01


def _at_random(share: float) -> Fate:
    return lambda t, chance: chance.random(len(t)) < share


def bursty(one: Disturbed) -> None:
    """Losses come in bursts of some eight packets (Gilbert)."""

    def fate(t: Floats, chance: np.random.Generator) -> Flags:
        stays, begins = 1 - 1 / 8, LOST / 8 / (1 - LOST)
        gone, is_bad = np.zeros(len(t), bool), False
        for at, draw in enumerate(chance.random(len(t))):
            is_bad = draw < (stays if is_bad else begins)
            gone[at] = is_bad
        return gone

    one.fates = {("b", "c"): fate, ("c", "b"): fate}


def _outage(first: float, last: float) -> Callable[[Disturbed], None]:
    def kind(one: Disturbed) -> None:
        def fate(t: Floats, chance: np.random.Generator) -> Flags:
            share = t / one.span_ns
            return (chance.random(len(t)) < LOST) | ((share >= first) & (share < last))

        one.fates = {("b", "c"): fate}

    return kind


def captured_apart(one: Disturbed) -> None:
    """Captures begin late and end early, and packets are lost everywhere."""
    one.fates = {("b", "c"): _at_random(LOST), ("c", "b"): _at_random(LOST)}
    one.covers = {"b": (0.3, 1.0), "c": (0.0, 0.75)}


def bloated(one: Disturbed) -> None:
    """A queue fills up and is drained again, one way."""

    def delay(t: Floats, _chance: np.random.Generator) -> Floats:
        phase = (t / one.span_ns * 7) % 1.0
        return 40 * MS * np.minimum(phase, 0.7) * (phase < 0.7)

    one.delays = {("b", "c"): delay}


def periodic(one: Disturbed) -> None:
    """Every 100 ms packets wait for the end of a pause."""

    def delay(t: Floats, _chance: np.random.Generator) -> Floats:
        return np.clip(8 * MS - t % (100 * MS), 0, None)

    one.delays = {("b", "c"): delay, ("c", "b"): delay}


def never_empty(one: Disturbed) -> None:
    """A queue that always holds something, one way, and ever more of it."""

    def delay(t: Floats, chance: np.random.Generator) -> Floats:
        return 200 * US + 2 * MS * t / one.span_ns + chance.exponential(50 * US, len(t))

    one.delays = {("b", "c"): delay}


def rerouted(one: Disturbed) -> None:
    """One way becomes longer by 3 ms."""

    def delay(t: Floats, _chance: np.random.Generator) -> Floats:
        return np.where(t >= 0.6 * one.span_ns, 3 * MS, 0.0)

    one.delays = {("b", "c"): delay}


def another_way_back(one: Disturbed) -> None:
    """Packets come back without passing one of the points."""
    one.back = ("d", "c", "a")


def heavy_tail(one: Disturbed) -> None:
    """Some packets take a hundred times as long."""

    def delay(t: Floats, chance: np.random.Generator) -> Floats:
        return 5 * US * chance.pareto(1.5, len(t))

    one.delays = {("b", "c"): delay, ("c", "b"): delay}


def _with_clocks(kind: Callable[[Disturbed], None]) -> Callable[[Disturbed], None]:
    def both(one: Disturbed) -> None:
        clocks.plain(one)
        kind(one)

    return both


KINDS = {
    "loss in bursts": bursty,
    "loss at the start": _outage(0.0, 0.02),
    "loss at the end": _outage(0.98, 1.0),
    "loss, captures apart": captured_apart,
    "bloated queue one way": bloated,
    "periodic queue": periodic,
    "queue that is never empty": never_empty,
    "longer way": rerouted,
    "another way back": another_way_back,
    "heavy tail": heavy_tail,
}

OWN_CLOCKS = {
    name: _with_clocks(KINDS[name])
    for name in (
        "bloated queue one way",
        "periodic queue",
        "queue that is never empty",
        "longer way",
        "another way back",
        "heavy tail",
    )
}
"""Those that may be taken for something that clocks do."""
