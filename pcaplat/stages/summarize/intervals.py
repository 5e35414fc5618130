"""Intervals: 95 % of every figure of the summary, where the packets let one be told.

The figures and their validity gate are those that scenarios are compared by
(pcaplat.metrics.latency, pcaplat.metrics.means). What a gate does not let through is null, and the
row says why.
"""

from collections.abc import Iterator

from pcaplat.diagnostics.catalogue import diagnose
from pcaplat.metrics.means import NOT_ASKED, Measurement
from pcaplat.metrics.metric import Answer, MetricQuery, Unavailable
from pcaplat.metrics.registry import read
from pcaplat.metrics.runs import MeasuredRun
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.statistics.intervals import CONFIDENCE
from pcaplat.statistics.long_run_variance import SlowChanges
from pcaplat.tables.columns import Row
from pcaplat.tables.results import holding, n_judged

LATENCIES = ("mean", "p50", "p90", "p99", "p999")

CUT = "of TCP that was cut or joined on the way no blocks of time are kept"

FALSE_ALARMS = 0.005
"""Share of runs with a warning of slow changes where there are none, all segments together."""


def add_intervals(run: MeasuredRun, *, is_wanted: bool) -> None:
    """Give every row of segments and of round trips its intervals.

    Args:
        run: The summary, with its captures: how coarse stamps are widens an interval; and latencies
            block by block of time.
        is_wanted: Whether to resample; if not, the intervals are null.
    """
    for row in run.document["segments"]:
        lost, note = _lost(run, row)
        row.update(lost)
        row.update(_of_segment(run, row) if is_wanted else _nothing(LATENCIES, NOT_ASKED))
        row["interval_note"] = "; ".join(filter(None, (note, row["interval_note"]))) or None
    for row in run.document["round_trips"]:
        row.update(_of_round_trip(run, row) if is_wanted else _nothing(("mean",), NOT_ASKED))


def check_slow_changes(run: MeasuredRun) -> list[Diagnostic]:
    """Warn of segments whose latency changes more slowly than the run can show."""
    slow, n_rows = dict(_slow_changes(run)), len(run.document["segments"])
    found = [
        f"{near} {'→' if way == 'forward' else '←'} {far} (the slowest changes are "
        f"{one.ratio:.1f} times as large as faster ones)"
        for (near, far, way), one in slow.items()
        if one.chance < FALSE_ALARMS / n_rows
    ]
    text = f"latency changes slowly: {', '.join(found)}"
    return [diagnose("slow-changes", None, text)] if found else []


def _slow_changes(run: MeasuredRun) -> Iterator[tuple[tuple[str, str, str], SlowChanges]]:
    edges = {(row["near"], row["far"]) for row in run.document["edges"]}
    for row in run.document["segments"]:
        near, far, way = row["near"], row["far"], row["direction"]
        if row["class"] == "packet" and (near, far) in edges:
            answer = read(run, MetricQuery("one-way-latency", "mean", (near, far), way))
            if isinstance(answer, Measurement) and answer.slow is not None:
                yield (near, far, way), answer.slow


def _nothing(names: tuple[str, ...], why: str) -> Row:
    columns = [f"{name}_{end}_ns" for name in names for end in ("lo", "hi")]
    about = {"n_effective": None, "interval_reason": why, "interval_note": None}
    return dict.fromkeys(columns) | about


def _of_segment(run: MeasuredRun, row: Row) -> Row:
    ends, way = (row["near"], row["far"]), row["direction"]
    if row["class"] != "packet":
        return _nothing(LATENCIES, CUT)
    columns: Row = {}
    whys, notes, n_effective = [], [], None
    for name in LATENCIES:
        answer = read(run, MetricQuery("one-way-latency", name, ends, way))
        columns |= _ends_ns(name, answer)
        whys.append(_why(name, answer))
        notes.append(_note(name, answer))
        if isinstance(answer, Measurement) and name == "mean":
            n_effective = round(answer.n_effective, 1)
    about = {"interval_reason": _together(whys), "interval_note": _together(notes)}
    return columns | {"n_effective": n_effective} | about


def _of_round_trip(run: MeasuredRun, row: Row) -> Row:
    answer = read(run, MetricQuery("two-way-contribution", ends=(row["near"], row["far"])))
    columns: Row = _ends_ns("mean", answer) | {"n_effective": None}
    if isinstance(answer, Measurement):
        columns["n_effective"] = round(answer.n_effective, 1)
        if answer.within is not None:
            columns["mean_half_width_ns"] = answer.within.half_width(CONFIDENCE)
    note = _note("mean", answer)
    about = {"interval_reason": _reason(answer), "interval_note": note[1] if note else None}
    return columns | about


def _ends_ns(name: str, answer: Answer) -> Row:
    lo, hi = None, None
    if isinstance(answer, Measurement) and answer.within is not None and not answer.why:
        lo, hi = answer.within.interval(CONFIDENCE)
    return {f"{name}_lo_ns": lo, f"{name}_hi_ns": hi}


def _why(name: str, answer: Answer) -> tuple[str, str] | None:
    reason = _reason(answer)
    return (name, reason) if reason else None


def _reason(answer: Answer) -> str | None:
    """Without the name of the run, which a summary has none of."""
    return answer.why.removeprefix(": ") or None


def _note(name: str, answer: Answer) -> tuple[str, str] | None:
    """Say which intervals are approximate, and wider for it; not of those that are null."""
    if isinstance(answer, Unavailable) or answer.why or not answer.note:
        return None
    return name, answer.note


def _together(whys: list[tuple[str, str] | None]) -> str | None:
    """Say each reason once, and which figures it is of."""
    names: dict[str, list[str]] = {}
    for name, why in filter(None, whys):
        names.setdefault(why, []).append(name)
    return "; ".join(f"{', '.join(of)}: {why}" for why, of in names.items()) or None


def _lost(run: MeasuredRun, row: Row) -> tuple[Row, str | None]:
    """Losses are counted, so that their interval needs no resampling (Clopper and Pearson)."""
    if row["class"] != "packet" or not row["n"] + row["n_lost"]:
        return _between(None, None), None
    if not n_judged(row):  # any share may have been lost
        return _between(0.0, 1.0), None
    ends, way = (row["near"], row["far"]), row["direction"]
    answer = read(run, MetricQuery("loss-ratio", ends=ends, direction=way))
    if isinstance(answer, Unavailable) or answer.within is None:
        return _between(None, None), None
    ratio_frac = row["n_lost"] / (row["n"] + row["n_lost"])
    lo, hi = holding(answer.within.interval(CONFIDENCE), ratio_frac)
    note = _note("loss ratio", answer)
    return _between(lo, hi), ": ".join(note) if note else None


def _between(lo_frac: float | None, hi_frac: float | None) -> Row:
    return {"lost_lo_frac": lo_frac, "lost_hi_frac": hi_frac}
