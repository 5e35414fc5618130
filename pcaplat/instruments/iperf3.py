"""iperf3's JSON (`iperf3 -J`): what the receiver got, what was lost, and TCP's own round trip."""

import json
from math import isfinite
from typing import Any

from pcaplat.instruments import CrossCheck
from pcaplat.instruments.mistakes import InstrumentError

REDO = "give what iperf3 -J printed at the client, of a test that ended"


def read_iperf3(text: str, where: str) -> list[CrossCheck]:
    """Read the goodput of the receiver, the loss of UDP, the mean round trip of TCP.

    Args:
        text: All of it.
        where: Its file, for messages.

    Raises:
        InstrumentError: It is no such result, or says that the test failed.
    """
    try:
        document = json.loads(text)
    except json.JSONDecodeError as problem:
        raise InstrumentError.at(where, problem.lineno, f"no JSON: {problem.msg}", REDO) from None
    if not isinstance(document, dict):
        raise InstrumentError.at(where, 1, "no result of iperf3", REDO)
    if document.get("error"):
        raise InstrumentError.at(
            where, None, f"iperf3 reports: {document['error']}", "run it again"
        )
    end = document.get("end")
    received = end.get("sum_received", end.get("sum")) if isinstance(end, dict) else None
    if not isinstance(end, dict) or not isinstance(received, dict):
        raise InstrumentError.at(where, None, "there is no end.sum_received in it", REDO)
    found = [CrossCheck("iperf3", where, "goodput", _number(received, "bits_per_second", where))]
    if received.get("packets"):
        lost = _number(received, "lost_packets", where) / _number(received, "packets", where)
        found.append(CrossCheck("iperf3", where, "loss-ratio", lost))
    return found + _round_trip(end, where)


def _round_trip(end: dict[str, Any], where: str) -> list[CrossCheck]:
    """Give TCP's smoothed round trip: of the sender's kernel, with all of the path behind it."""
    streams = [one.get("sender", {}) for one in end.get("streams", []) if isinstance(one, dict)]
    means = [_number(one, "mean_rtt", where) for one in streams if one.get("mean_rtt")]
    if not means:
        return []
    return [CrossCheck("iperf3", where, "rtt", 1e3 * sum(means) / len(means), 500.0)]


def _number(row: dict[str, Any], name: str, where: str) -> float:
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise InstrumentError.at(where, None, f"{name} is {value!r} and should be a number", REDO)
    return float(value)
