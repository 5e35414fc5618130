"""sar's CPU samples as JSON: `sadf -j FILE -- -u`."""

import json
from datetime import UTC, datetime, tzinfo
from typing import Any

from pcaplat.instruments import NS_PER_S, Samples
from pcaplat.instruments.instants import ns_of
from pcaplat.instruments.mistakes import InstrumentError

REDO = "give what sadf -j FILE -- -u printed"
IDLE = ("idle", "iowait")
"""Shares of time in which a processor does nothing."""


def read_sar(text: str, where: str, zone: tzinfo | None = None) -> Samples:
    """Read how many cores were busy in each interval: all but idle and iowait, times the cores.

    Args:
        text: All of it.
        where: Its file, for messages.
        zone: Of the times, where the file does not say that they are UTC.

    Raises:
        InstrumentError: It is no such file, or has no CPU samples.
    """
    try:
        host = json.loads(text)["sysstat"]["hosts"][0]
        rows, n_cores = host["statistics"], int(host["number-of-cpus"])
    except json.JSONDecodeError as problem:
        raise InstrumentError.at(where, problem.lineno, f"no JSON: {problem.msg}", REDO) from None
    except (KeyError, IndexError, TypeError, ValueError):
        what = "no sysstat.hosts with statistics in it"
        raise InstrumentError.at(where, None, what, REDO) from None
    end_ns, length_ns, busy = [], [], []
    for number, row in enumerate(rows, 1):
        load = _load(row, number, where)
        if load is not None:
            end_ns.append(_end_ns(row, number, where, zone))
            length_ns.append(int(row["timestamp"]["interval"]) * NS_PER_S)
            busy.append(n_cores * (100 - sum(load[name] for name in IDLE)) / 100)
    if not busy:
        raise InstrumentError.at(where, None, "it has no cpu-load of all processors", REDO)
    return Samples(where, "core", end_ns, length_ns, busy)


def _load(row: Any, number: int, where: str) -> dict[str, float] | None:  # noqa: ANN401 - JSON
    try:
        loads = row.get("cpu-load", row.get("cpu-load-all", []))
        whole = next((one for one in loads if one["cpu"] == "all"), None)
        return None if whole is None else {name: float(whole[name]) for name in IDLE}
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        what = f"sample {number} has no idle and iowait ({problem})"
        raise InstrumentError.at(where, None, what, REDO) from None


def _end_ns(row: dict[str, Any], number: int, where: str, zone: tzinfo | None) -> int:
    try:
        stamp = row["timestamp"]
        moment = datetime.fromisoformat(f"{stamp['date']}T{stamp['time']}")
        return ns_of(moment, parse_utc(stamp, zone))
    except (KeyError, TypeError, ValueError) as problem:
        what = f"the time of sample {number} cannot be used: {problem}"
        raise InstrumentError.at(where, None, what, REDO) from None


def parse_utc(stamp: dict[str, Any], zone: tzinfo | None) -> tzinfo | None:
    """Give UTC where the sample says so, else the zone that was given."""
    return UTC if stamp.get("utc") in (1, True) else zone
