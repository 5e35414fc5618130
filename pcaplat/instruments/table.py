"""Samples of CPU and memory as CSV: any, by a mapping of its columns; and esxtop's batch CSV."""

import csv
import re
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone, tzinfo
from difflib import get_close_matches
from itertools import pairwise

from pcaplat.instruments import NS_PER_S, UsageSamples
from pcaplat.instruments.instants import known_ns, ns_of
from pcaplat.instruments.mistakes import InstrumentError
from pcaplat.records import dataclass

PDH = re.compile(r"^\(PDH-CSV 4\.0\) \(.*\)\((-?\d+)\)$")
"""What esxtop -b puts over its times: the zone's name, and the minutes that UTC is ahead."""

PDH_TIMES = ("%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S.%f")
ALL_CPUS = r"Physical Cpu(_Total)\% Util Time"
ONE_CPU = re.compile(r"Physical Cpu\(\d+\)\\% Util Time$")
UNITS = {
    "core": ("core", 1.0),
    "%": ("core", 0.01),
    "MHz": ("MHz", 1.0),
    "B": ("MiB", 2.0**-20),
    "KiB": ("MiB", 2.0**-10),
    "MiB": ("MiB", 1.0),
    "GiB": ("MiB", 2.0**10),
}
"""What a column may be in: the unit of its samples, and how many of them one is."""


@dataclass(frozen=True)
class Mapping:
    """Which column holds the time and which the load, and in what: as a study file says it.

    `unit` % is of one core; times are ISO 8601, or seconds since 1970. Without `interval_ns` a
    sample reaches back to the one before it.
    """

    time: str = ""
    value: str = ""
    unit: str = "core"
    zone: tzinfo | None = None
    interval_ns: int | None = None


def read_table(text: str, where: str, mapping: Mapping) -> UsageSamples:
    """Read samples from a CSV file with a line of headings.

    Raises:
        InstrumentError: A column is not there, or a line cannot be used.
    """
    rows = _rows(text, where)
    headings = rows[0]
    time_at = _column(headings, mapping.time, where)
    value_at = _column(headings, mapping.value, where)
    unit, factor = UNITS[mapping.unit]
    times, values = [], []
    for line, row in enumerate(rows[1:], 2):
        times.append(_instant(_cell(row, time_at, line, where), line, where, mapping.zone))
        values.append(factor * _number(_cell(row, value_at, line, where), line, where))
    return _samples(where, unit, times, values, mapping.interval_ns)


def read_esxtop(
    text: str, where: str, column: str = "", *, is_memory: bool = False
) -> UsageSamples:
    r"""Read samples from what `esxtop -b` wrote.

    Args:
        text: All of it.
        where: Its file, for messages.
        column: The end of a heading, as in `Group Cpu(7:vm1)\% Used`, in percent of a core; by
            default all processors of the host, `Physical Cpu(_Total)\% Util Time` times their
            number.
        is_memory: The column is of memory, in MBytes; there is none by default.

    Raises:
        InstrumentError: It is no such file, the column is not there, or a line cannot be used.
    """
    rows = _rows(text, where)
    headings = rows[0]
    head = PDH.match(headings[0])
    if head is None:
        what = f"the first heading is {headings[0][:40]!r}, and esxtop's begins (PDH-CSV 4.0)"
        raise InstrumentError.at(where, 1, what, "give what esxtop -b printed, or map its columns")
    zone = timezone(timedelta(minutes=-int(head[1])))
    ends = [heading.split("\\", 3)[-1] for heading in headings]
    at = _column(ends, column or ALL_CPUS, where)
    n_cores = 1 if column else sum(bool(ONE_CPU.search(heading)) for heading in headings)
    if not n_cores:
        what = "no Physical Cpu(0) is in it, so the number of cores is not known"
        raise InstrumentError.at(where, 1, what, "let esxtop write all of its CPU fields")
    factor = 1.0 if is_memory else n_cores / 100
    times, values = [], []
    for line, row in enumerate(rows[1:], 2):
        times.append(_pdh_ns(_cell(row, 0, line, where), line, where, zone))
        values.append(factor * _number(_cell(row, at, line, where), line, where))
    return _samples(where, "MiB" if is_memory else "core", times, values, None)


def _rows(text: str, where: str) -> list[list[str]]:
    # esxtop's lines have thousands of columns
    try:
        rows = [row for row in csv.reader(text.lstrip("\ufeff").splitlines()) if row]
    except csv.Error as problem:
        remedy = "give the right file"
        raise InstrumentError.at(where, None, f"it is no CSV: {problem}", remedy) from None
    if len(rows) < 2:  # noqa: PLR2004 - headings and a sample
        raise InstrumentError.at(where, None, "it has no line of samples", "sample for longer")
    return rows


def _column(headings: Sequence[str], name: str, where: str) -> int:
    if name in headings:
        return list(headings).index(name)
    near = get_close_matches(name, headings, 1)
    known = ", ".join(repr(one) for one in headings[:5])
    remedy = f"did you mean {near[0]!r}?" if near else f"its columns: {known} …"
    raise InstrumentError.at(where, 1, f"there is no column {name!r}", remedy)


def _cell(row: Sequence[str], at: int, line: int, where: str) -> str:
    if at >= len(row):
        what = f"{len(row)} cells, and the {at + 1}th is needed"
        raise InstrumentError.at(
            where, line, what, "the file may be incomplete; remove its last line"
        )
    return row[at].strip()


def _number(text: str, line: int, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        what = f"{text!r} is no load"
        raise InstrumentError.at(where, line, what, "it should be a number, 0 or more")
    return value


def _instant(text: str, line: int, where: str, zone: tzinfo | None) -> int:
    try:
        seconds, _, rest = text.partition(".")
        if seconds.isdigit():
            return known_ns(int(seconds) * NS_PER_S + int(rest.ljust(9, "0")[:9] or 0))
        return ns_of(datetime.fromisoformat(text), zone)
    except ValueError as problem:
        remedy = "write times as 2026-11-20T18:42:38+00:00 or seconds since 1970"
        raise InstrumentError.at(where, line, f"the time {text!r}: {problem}", remedy) from None


def _pdh_ns(text: str, line: int, where: str, zone: tzinfo) -> int:
    for form in PDH_TIMES:
        try:
            return ns_of(datetime.strptime(text, form).replace(tzinfo=zone), None)
        except ValueError:
            continue
    remedy = "esxtop writes 11/20/2026 18:42:38"
    raise InstrumentError.at(where, line, f"{text!r} is no time", remedy)


def _samples(
    where: str, unit: str, times: list[int], values: list[float], interval_ns: int | None
) -> UsageSamples:
    for number, (before, after) in enumerate(pairwise(times), 3):
        if after <= before:
            what = "its time is not after the one before it"
            raise InstrumentError.at(where, number, what, "order the samples by time, each once")
    step_ns = NS_PER_S if all(not t % NS_PER_S for t in times) else 1
    if interval_ns is not None:
        return UsageSamples(where, unit, times, [interval_ns] * len(times), values, step_ns)
    lengths = [after - before for before, after in pairwise(times)]
    if not lengths:
        what = "one sample, and how long it took is not known"
        raise InstrumentError.at(where, None, what, 'add interval = "1s", or sample for longer')
    # how far back the first one reaches nobody says
    return UsageSamples(where, unit, times[1:], lengths, values[1:], step_ns)
