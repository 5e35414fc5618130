"""Benchmarks of RFC 2544: captures of a sender's and a receiver's point in, its table out."""

import json
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import polars as pl

from pcaplat.benchmarking.conditional import conditional_rates
from pcaplat.benchmarking.frames import Sent, sent_frames
from pcaplat.benchmarking.measuring import Trial, trials_of
from pcaplat.benchmarking.requirements import TrialEvidence, requirements_of
from pcaplat.benchmarking.splitting import LEAST_FRAMES, FrameRange, find_trials
from pcaplat.benchmarking.summing import cells_of, results_of
from pcaplat.errors import EvidenceError
from pcaplat.metrics.runs import MeasuredRun
from pcaplat.model.files.stamping import is_first_bit
from pcaplat.run.merge import merge
from pcaplat.run.result import Result
from pcaplat.study.scenarios import runs_at
from pcaplat.study.summary_file import SUMMARY
from pcaplat.tables.columns import Row

SCHEMA = "pcaplat.rfc2544/1"
TOLERANCE = 0.0001


def rfc2544(
    captures: Result | str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    tolerance: float = TOLERANCE,
    options: Mapping[str, Any] | None = None,
) -> Row:
    """Evaluate the RFC 2544 trials in captures.

    Args:
        captures: Captures of one path, its ends the sender and the receiver: trials are found in
            them, divided by gaps, frame sizes and rates. Or a result of `merge`, made with its
            rows; a folder that `merge -o` wrote; "study.toml" or "study.toml:SCENARIO", where
            each run is one trial.
        tolerance: Fraction of frames that may be lost at the rate called PDR.
        options: Arguments of `merge`.

    Returns:
        The document `pcaplat.rfc2544/1` (docs/measure/rfc2544.md).

    Raises:
        EvidenceError: There is no trial in them.

    Example:
        >>> rfc2544(sorted(Path("samples/vxlan").glob("*.pcap")))["requirements"][1]["verdict"]
        'lacking'
    """
    trials: list[Trial] = []
    cover: dict[tuple[str, str], tuple[int, int]] = {}
    moments: set[tuple[str | None, str | None]] = set()
    is_tcp = is_line = False
    for run, sent, parts in _sent_of(captures, dict(options or {})):
        trials += trials_of(run, sent, parts, _clock_ns(run, sent))
        cover[run.name, sent.direction] = sent.cover_ns
        moments.add((_moment(run, sent.sender), _moment(run, sent.receiver)))
        is_tcp, is_line = is_tcp or sent.is_tcp, is_line or not sent.is_ethernet
    if not trials:
        raise EvidenceError.no_trials(LEAST_FRAMES)
    rows = [trial.row for trial in trials]
    cells = cells_of(trials)
    conditional = conditional_rates(trials, tolerance)
    results = [
        row | conditional[row["direction"], row["frame_bytes"] or 0]
        for row in results_of(cells, tolerance)
    ]
    return {
        "schema": SCHEMA,
        "tolerance_frac": tolerance,
        "trials": rows,
        "cells": cells,
        "results": results,
        "requirements": requirements_of(TrialEvidence(rows, cells, results, cover, moments)),
        "warnings": list(_warnings(rows, results, is_tcp=is_tcp, is_line=is_line)),
    }


def _sent_of(
    captures: Result | str | PathLike[str] | Sequence[str | PathLike[str]], options: Row
) -> Iterator[tuple[MeasuredRun, Sent, list[FrameRange]]]:
    """Give the frames of every run and direction, and where the trials among them are."""
    if isinstance(captures, Result):
        yield from _of_result("captures", captures)
        return
    names = [captures] if isinstance(captures, str | PathLike) else list(captures)
    where = fspath(names[0])
    if len(names) == 1 and (where.endswith(".toml") or ".toml:" in where):
        for scenario, run, own in runs_at(where, options):
            with merge(run.captures, keep_crossings=False, **own) as result:
                for one, sent, _ in _of_result(f"{scenario}/{run.name}", result):
                    yield one, sent, [(0, len(sent.t_ns))] * (len(sent.t_ns) >= LEAST_FRAMES)
    elif len(names) == 1 and (Path(where) / SUMMARY).exists():
        folder = Path(where)
        document = json.loads((folder / SUMMARY).read_text("utf-8"))
        tables = (pl.scan_parquet(folder / f"{name}.parquet") for name in ("packets", "matches"))
        yield from _of_tables(MeasuredRun(folder.name, document, {}), *tables)
    else:
        with merge(names, keep_crossings=False, **options) as result:
            yield from _of_result("captures", result)


def _of_result(name: str, result: Result) -> Iterator[tuple[MeasuredRun, Sent, list[FrameRange]]]:
    run = MeasuredRun(name, result.document, {})
    yield from _of_tables(run, result.packets, result.matches)


def _of_tables(
    run: MeasuredRun, packets: pl.LazyFrame, matches: pl.LazyFrame
) -> Iterator[tuple[MeasuredRun, Sent, list[FrameRange]]]:
    for sent in sent_frames(packets, matches, run.ends):
        yield run, sent, find_trials(sent.t_ns, sent.wire_bytes)


def _moment(run: MeasuredRun, point: str) -> str | None:
    """What a point's stamps stand for, if that is declared of all its captures alike."""
    captures = [row for row in run.document["captures"] if row["point"] == point]
    said = {"first-bit" if is_first_bit(row) else row.get("stamped_at") for row in captures}
    return said.pop() if len(said) == 1 else None


def _clock_ns(run: MeasuredRun, sent: Sent) -> float | None:
    row = run.segments.get((*run.ends, sent.direction))
    return None if row is None else row["clock_half_width_ns"]


def _warnings(
    rows: Sequence[Row], results: Sequence[Row], *, is_tcp: bool, is_line: bool
) -> Iterator[Row]:
    if is_tcp:
        text = (
            "most frames are TCP, which sends what the path lets through: the offered rate is no "
            "tester's, and a trial of RFC 2544 this is not; send UDP at a constant rate"
        )
        yield _warning("closed-loop", text)
    if is_line:
        text = (
            "a sender's point was not captured as Ethernet: sizes are without FCS, rates in frames"
        )
        yield _warning("no-ethernet", text)
    n_outside = sum(row["n_outside"] for row in rows)
    if n_outside:
        text = (
            f"{n_outside} frames were sent when the receiver's capture had not begun or had ended; "
            "they count neither as lost nor as received: let it run 2 s longer at either end"
        )
        yield _warning("outside-capture", text)
    n_undecided = sum(row["n_undecided"] for row in rows)
    if n_undecided:
        text = (
            f"{n_undecided} frames cannot be distinguished from others, or were split or joined "
            "on the way; their trials have no throughput; give each frame a number in its payload"
        )
        yield _warning("ambiguous-frames", text)
    for row in results:
        if not row["is_monotonic"]:
            text = (
                f"{row['frame_bytes']} bytes {row['direction']}: frames were lost at "
                f"{row['least_lossy_pps']:.6g} pps, and none at {row['throughput_pps']:.6g} pps; "
                f"the conditional throughput is {row['throughput_conditional_pps'] or 0:.6g} pps; "
                "repeat the trials between"
            )
            yield _warning("loss-at-slower-rate", text)


def _warning(code: str, text: str) -> Row:
    return {"code": code, "point": None, "text": text}
