"""What clocks of capturing hosts do: they wander, are set, slewed, smeared, and stand still."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.recovery.disturbances.path import LINE, MS, SECOND, US, Disturbed

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.recovery.disturbances.path import Clock, Floats


def running(times: Floats, rates: Floats) -> Clock:
    """A clock that gains at each rate from each time on, and before the first nothing."""
    gained = np.concatenate([[0.0], np.cumsum(np.diff(times) * rates[:-1])])

    def clock(t: Floats) -> Floats:
        after = np.clip(t - times[-1], 0, None) * rates[-1]
        return np.asarray(np.interp(t, times, gained) + after)

    return clock


def added(*clocks: Clock) -> Clock:
    """All of them at once."""
    return lambda t: np.sum([clock(t) for clock in clocks], axis=0)


def set_at(at_ns: float, size_ns: float) -> Clock:
    """A clock that is set."""
    return lambda t: np.where(t >= at_ns, size_ns, 0.0)


def wandering(chance: np.random.Generator, ppm: float, period_ns: float) -> Clock:
    """A clock whose rate swings as temperature does."""
    size, turn, start = ppm * 1e-6, 2 * np.pi / period_ns, chance.uniform(0, 2 * np.pi)
    return lambda t: size / turn * (np.sin(turn * t + start) - np.sin(start))


def everything(one: Disturbed, chance: np.random.Generator) -> Clock:
    """A step, a slew, wander and temperature at once."""
    at, size = chance.uniform(0.2, 0.4) * one.span_ns, chance.choice([-1, 1]) * 2 * MS
    start, lasts = 0.6 * one.span_ns, chance.uniform(0.05, 0.2) * one.span_ns
    rate = chance.choice([-1, 1]) * chance.uniform(100e-6, 500e-6)
    slew = running(np.array([start, start + lasts]), np.array([rate, 0.0]))
    warm = wandering(chance, 1.0, 2 * one.span_ns)
    return added(set_at(at, size), slew, wandering(chance, 0.1, one.span_ns / 5), warm)


def holdover(one: Disturbed, chance: np.random.Generator) -> Clock:
    """The reference is lost, the rate ages away, and the clock is set when it comes back."""
    begin, back = 0.15 * one.span_ns, 0.8 * one.span_ns
    aging = chance.choice([-1, 1]) * chance.uniform(1e-6, 20e-6) / one.span_ns

    def clock(t: Floats) -> Floats:
        away = np.clip(t - begin, 0, None)
        return np.where(t < back, aging * away**2 / 2, 0.0)

    return clock


def smear(one: Disturbed, chance: np.random.Generator) -> Clock:
    """A leap second is smeared over a day, from within the capture on."""
    start = chance.uniform(0.3, 0.7) * one.span_ns
    return running(np.array([start]), np.array([-1 / 86_400]))


def short_smear(one: Disturbed, chance: np.random.Generator) -> Clock:
    """A leap second is smeared over 1,000 seconds (UTC-SLS)."""
    start = chance.uniform(0.3, 0.7) * one.span_ns
    return running(np.array([start]), np.array([-1e-3]))


def masters(one: Disturbed, chance: np.random.Generator) -> Clock:
    """PTP goes from master to master, which are some hundred ns apart."""
    times = np.sort(chance.uniform(0.1, 0.9, 6)) * one.span_ns
    levels = chance.uniform(-1_500, 1_500, 6)
    sizes = np.diff(np.concatenate([[0.0], levels]))
    return added(*(set_at(at, size) for at, size in zip(times, sizes, strict=True)))


def far_masters(one: Disturbed, chance: np.random.Generator) -> Clock:
    """PTP goes to a master that is off by more than the path takes, and back."""
    size = chance.choice([-1, 1]) * chance.uniform(200 * US, 5 * MS)
    first, last = chance.uniform(0.25, 0.4) * one.span_ns, chance.uniform(0.6, 0.75) * one.span_ns
    return added(set_at(first, size), set_at(last, -size))


def paused(one: Disturbed, chance: np.random.Generator) -> Clock:
    """A virtual machine stands still, and catches up at 500 ppm."""
    at, lasts = chance.uniform(0.2, 0.4) * one.span_ns, chance.uniform(0.5, 3.0) * MS
    stop = running(np.array([at, at + lasts]), np.array([-1.0, 0.0]))
    slew = running(np.array([at + lasts, at + lasts + lasts / 500e-6]), np.array([500e-6, 0.0]))
    return added(stop, slew)


def sawtooth(one: Disturbed, chance: np.random.Generator) -> Clock:
    """A daemon that corrects the rate by turns, too much each time."""
    times = np.arange(0, one.span_ns, one.span_ns / 24)
    rates = np.where(np.arange(len(times)) % 2 == 0, 1, -1) * chance.uniform(1e-6, 8e-6)
    return running(times, rates)


def stepped_often(one: Disturbed, chance: np.random.Generator) -> Clock:
    """A clock that runs at 40 ppm and is set back every tenth of the time."""
    each = one.span_ns / 10
    rate = chance.choice([-1, 1]) * chance.uniform(20e-6, 60e-6)
    return lambda t: rate * (t % each)


def plain(one: Disturbed) -> None:
    """Clocks that are apart, and run at constant rates."""
    chance = np.random.default_rng([one.seed, 7])
    one.clocks = {name: _plain(chance, at) for at, name in enumerate(LINE) if at}


def _at(
    point: str, clock: Callable[[Disturbed, np.random.Generator], Clock]
) -> Callable[[Disturbed], None]:
    def kind(one: Disturbed) -> None:
        plain(one)
        chance = np.random.default_rng([one.seed, 9])
        one.clocks[point] = added(one.clocks[point], clock(one, chance))

    return kind


def _plain(chance: np.random.Generator, at: int) -> Clock:
    offset, rate = chance.uniform(-1, 1) * SECOND * at, chance.uniform(-30e-6, 30e-6)
    return lambda t: offset + rate * t


def late_stamps(one: Disturbed) -> None:
    """A capturing host under load: now and then its stamps are late, all of some ms of packets."""
    plain(one)
    chance = np.random.default_rng([one.seed, 8])
    begins = np.sort(chance.uniform(0, one.span_ns, 25))

    def late(t: Floats, chance: np.random.Generator) -> Floats:
        since = t - begins[np.clip(np.searchsorted(begins, t) - 1, 0, None)]
        is_busy = (since >= 0) & (since < 0.01 * one.span_ns)
        return np.where(is_busy, chance.uniform(0, 300 * US, len(t)), 0.0)

    one.stamps_late["c"] = late


def one_way(one: Disturbed) -> None:
    """A clock is set and another slewed, and nothing comes back."""
    plain(one)
    one.back_share = 0.0
    chance = np.random.default_rng([one.seed, 6])
    start, lasts = chance.uniform(0.3, 0.6) * one.span_ns, chance.uniform(0.05, 0.2) * one.span_ns
    rate = chance.choice([-1, 1]) * chance.uniform(100e-6, 500e-6)
    slew = running(np.array([start, start + lasts]), np.array([rate, 0.0]))
    one.clocks["b"] = added(one.clocks["b"], slew)
    at, size = chance.uniform(0.2, 0.8) * one.span_ns, chance.choice([-1, 1]) * 2 * MS
    one.clocks["c"] = added(one.clocks["c"], set_at(at, size))


KINDS = {
    "step, slew, wander and temperature": _at("b", everything),
    "holdover": _at("c", holdover),
    "leap smear of a day": _at("b", smear),
    "leap smear of 1,000 s": _at("c", short_smear),
    "PTP between masters": _at("b", masters),
    "PTP to a master far off": _at("c", far_masters),
    "pause of a virtual machine": _at("b", paused),
    "rate corrected by turns": _at("c", sawtooth),
    "set every tenth of the time": _at("b", stepped_often),
    "late stamps under load": late_stamps,
    "slewed and set, one way": one_way,
}
