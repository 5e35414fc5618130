"""sar's samples as JSON: `sadf -j FILE -- -u -r`, CPU and memory."""

import json
from datetime import UTC, datetime, tzinfo
from math import isfinite
from typing import Any

from pcaplat.instruments import NS_PER_S, UsageSamples
from pcaplat.instruments.instants import ns_of
from pcaplat.instruments.mistakes import InstrumentError

REDO = "give what sadf -j FILE -- -u -r printed"
IDLE = ("idle", "iowait")
"""Shares of time in which a processor does nothing."""

KIB_PER_MIB = 1024


def read_sar(
    text: str, where: str, zone: tzinfo | None = None, *, is_memory: bool = False
) -> UsageSamples:
    """Read how many cores were busy in each interval: all but idle and iowait, times the cores.

    Or how much memory was used: what sar calls memused, without buffers and caches.

    Args:
        text: All of it.
        where: Its file, for messages.
        zone: Of the times, where the file does not say that they are UTC.
        is_memory: Whether memory is asked for.

    Raises:
        InstrumentError: It is no such file, or has no such samples.
    """
    try:
        host = json.loads(text)["sysstat"]["hosts"][0]
        rows, n_cores = list(host["statistics"]), int(host["number-of-cpus"])
    except json.JSONDecodeError as problem:
        raise InstrumentError.at(where, problem.lineno, f"no JSON: {problem.msg}", REDO) from None
    except (KeyError, IndexError, TypeError, ValueError):
        what = "no sysstat.hosts with statistics in it"
        raise InstrumentError.at(where, None, what, REDO) from None
    end_ns: list[int] = []
    length_ns, values = [], []
    for number, row in enumerate(rows, 1):
        value = _value(row, number, where, is_memory=is_memory, n_cores=n_cores)
        if value is not None:
            end, length = _times(row, number, where, zone)
            if end_ns and end <= end_ns[-1]:
                what = f"sample {number} is not after the one before it"
                raise InstrumentError.at(where, None, what, "order the samples by time, each once")
            end_ns.append(end)
            length_ns.append(length)
            values.append(value)
    if not values:
        what = "it has no memory" if is_memory else "it has no cpu-load of all processors"
        raise InstrumentError.at(where, None, what, REDO)
    return UsageSamples(where, "MiB" if is_memory else "core", end_ns, length_ns, values)


def _value(
    row: Any,  # noqa: ANN401 - JSON
    number: int,
    where: str,
    *,
    is_memory: bool,
    n_cores: int,
) -> float | None:
    try:
        if is_memory:
            memory = row.get("memory")
            return None if memory is None else _sound(float(memory["memused"]) / KIB_PER_MIB)
        loads = row.get("cpu-load", row.get("cpu-load-all", []))
        whole = next((one for one in loads if one["cpu"] == "all"), None)
        if whole is None:
            return None
        return _sound(n_cores * (100 - sum(float(whole[name]) for name in IDLE)) / 100)
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        wanted = "memused" if is_memory else "idle and iowait"
        what = f"sample {number} has no {wanted} ({problem})"
        raise InstrumentError.at(where, None, what, REDO) from None


def _sound(value: float) -> float:
    if not isfinite(value):
        message = f"{value} is no load"
        raise ValueError(message)
    # shares are rounded, so that a busy machine's may be 100.01
    return max(value, 0.0)


def _times(row: dict[str, Any], number: int, where: str, zone: tzinfo | None) -> tuple[int, int]:
    """Give when a sample ended, and how long it took."""
    try:
        stamp = row["timestamp"]
        moment = datetime.fromisoformat(f"{stamp['date']}T{stamp['time']}")
        length_ns = int(stamp["interval"]) * NS_PER_S
        end_ns = ns_of(moment, parse_utc(stamp, zone))
    except (KeyError, TypeError, ValueError) as problem:
        what = f"the time of sample {number} cannot be used: {problem}"
        raise InstrumentError.at(where, None, what, REDO) from None
    if length_ns <= 0:
        what = f"sample {number} took {stamp['interval']} s"
        raise InstrumentError.at(where, None, what, REDO)
    return end_ns, length_ns


def parse_utc(stamp: dict[str, Any], zone: tzinfo | None) -> tzinfo | None:
    """Give UTC where the sample says so, else the zone that was given."""
    return UTC if stamp.get("utc") in (1, True) else zone
