"""netperf's printed results: TCP_RR, TCP_CRR, UDP_RR, TCP_STREAM, UDP_STREAM, and omni's selectors.

Read from what netperf 2.7 prints: a banner, headings, and a line of numbers; with `-- -o` names and
values as CSV, with `-- -k` as KEY=VALUE.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from math import inf

from pcaplat.instruments import CrossCheck
from pcaplat.instruments.mistakes import InstrumentError

BANNERS = (
    ("REQUEST/RESPONSE", "rr"),
    ("Connect/Request/Response", "rr"),
    ("STREAM TEST", "stream"),
    ("MAERTS TEST", "stream"),
    ("OMNI", "omni"),
)
NUMBERS = re.compile(r"^\s*-?\d[\d.]*(\s+-?\d[\d.]*)*\s*$")
PAIR = re.compile(r"^([A-Z0-9_]+)=(.*)$")
COLUMNS, UDP_COLUMN = {"rr": 5, "stream": 4}, 3
"""Where the rate stands in the line of numbers, from 0."""

NAMES = {
    "Throughput": "THROUGHPUT",
    "Throughput Units": "THROUGHPUT_UNITS",
    "Mean Latency Microseconds": "MEAN_LATENCY",
    "Transaction Rate Tran/s": "TRANSACTION_RATE",
}
UNITS = {"Trans/s": ("transaction-rate", 1.0), "10^6bits/s": ("goodput", 1e6)}
UNITS |= {"10^3bits/s": ("goodput", 1e3), "10^9bits/s": ("goodput", 1e9)}
REDO = "give what netperf printed, banner and all (without -P 0)"


def read_netperf(text: str, where: str) -> list[CrossCheck]:
    r"""Read the rates, and the times of a transaction, that netperf printed.

    Args:
        text: All of it.
        where: Its file, for messages.

    Raises:
        InstrumentError: It is no result of netperf, or cut off.

    Example:
        >>> found = read_netperf("THROUGHPUT=20154.73\nTHROUGHPUT_UNITS=Trans/s", "omni.txt")
        >>> found[0].metric, found[0].value
        ('transaction-rate', 20154.73)
    """
    lines = text.splitlines()
    pairs = {m[1]: m[2].strip() for line in lines if (m := PAIR.match(line))} or _of_csv(lines)
    if pairs:
        return _of_selectors(pairs, where)
    kind = next((k for line in lines for word, k in BANNERS if word in line), None)
    if kind is None:
        raise InstrumentError.at(where, None, "no test of netperf is named in it", REDO)
    if kind == "omni":
        what = "omni's own columns are not read"
        raise InstrumentError.at(where, 1, what, "ask for -- -k THROUGHPUT,THROUGHPUT_UNITS")
    at = next((n for n, line in enumerate(lines) if NUMBERS.match(line)), None)
    if at is None:
        what = "no line of numbers: the test did not end, or printed columns of its own (-- -O)"
        raise InstrumentError.at(where, len(lines), what, f"{REDO}; columns with -- -k")
    return _of_columns(lines, at, kind, where)


def _of_columns(lines: Sequence[str], at: int, kind: str, where: str) -> list[CrossCheck]:
    words, column = lines[at].split(), COLUMNS[kind]
    if kind == "stream" and any("UDP" in line for line in lines[:at]):
        # the receiver's line follows the sender's, without message size and errors
        words, column = (lines[at + 1].split() if at + 1 < len(lines) else []), UDP_COLUMN
    if len(words) <= column:
        what = f"{len(words)} numbers, and the rate is the {column + 1}th"
        raise InstrumentError.at(where, at + 1, what, REDO)
    factor, metric = (1.0, "transaction-rate") if kind == "rr" else (1e6, "goodput")
    return [_cross_check(where, metric, words[column], factor)]


def _of_csv(lines: Sequence[str]) -> dict[str, str]:
    for heading, values in pairwise(lines):
        names = heading.split(",")
        if len(names) > 1 and names[0] in NAMES:
            return {NAMES.get(n, n): v for n, v in zip(names, values.split(","), strict=False)}
    return {}


def _of_selectors(pairs: dict[str, str], where: str) -> list[CrossCheck]:
    checks = []
    unit = pairs.get("THROUGHPUT_UNITS")
    if "THROUGHPUT" in pairs:
        if unit not in UNITS:
            what = f"THROUGHPUT is in {unit or 'no unit'}"
            remedy = f"ask for THROUGHPUT_UNITS too, one of {', '.join(UNITS)}"
            raise InstrumentError.at(where, None, what, remedy)
        metric, factor = UNITS[unit]
        checks.append(_cross_check(where, metric, pairs["THROUGHPUT"], factor))
    elif "TRANSACTION_RATE" in pairs:
        checks.append(_cross_check(where, "transaction-rate", pairs["TRANSACTION_RATE"], 1.0))
    if not checks:
        remedy = "ask for THROUGHPUT and THROUGHPUT_UNITS, or TRANSACTION_RATE"
        raise InstrumentError.at(where, None, "no selector of it is a rate", remedy)
    return checks


def _cross_check(where: str, metric: str, text: str, factor: float) -> CrossCheck:
    try:
        value = float(text)
    except ValueError:
        what = f"{text!r} is no number"
        raise InstrumentError.at(where, None, what, REDO) from None
    if not 0 <= value < inf:
        raise InstrumentError.at(where, None, f"{text!r} is no rate", REDO)
    decimals = len(text.partition(".")[2])
    return CrossCheck("netperf", where, metric, factor * value, factor * 0.5 * 10.0**-decimals)
