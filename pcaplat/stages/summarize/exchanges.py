"""Round trips of paired requests and responses: their distribution, by segment and by kind.

The mean over all packets needs no pairs; quantiles do. Both are shares of the same round trip, so
where they differ by more than their intervals, pairs are no fair sample of the packets.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pcaplat.metrics.bias import waiting_ns
from pcaplat.metrics.means import NOT_ASKED, TOO_FEW, Measurement, coarse_ns, of_means
from pcaplat.metrics.quantiles import of_quantile
from pcaplat.metrics.runs import MeasuredRun
from pcaplat.model.blocks import Blocks
from pcaplat.model.latencies.exchanges import Share, Trips, Wait, all_kinds
from pcaplat.model.latencies.segments import Distribution
from pcaplat.model.path import Findings
from pcaplat.stages.summarize.rows import NO_PAIRS, PAIRED
from pcaplat.statistics.intervals import CONFIDENCE, LEAST_BLOCKS, SHORT_BLOCK
from pcaplat.tables.columns import Row

SHARES = dict(zip(PAIRED, (0.5, 0.9, 0.95, 0.99), strict=True))
SIDES = ("client", "server")
WAYS = ("forward", "reverse")
OTHER_WAY = dict(zip(WAYS, WAYS[::-1], strict=True))


def add_round_trips(document: Row, findings: Findings, trips: Trips, *, is_resampled: bool) -> None:
    """Give round trips their quantiles, and add the tables of pcaplat.tables.exchanges.

    Args:
        document: The summary, with its captures: how coarse stamps are widens an interval.
        findings: What the survey found.
        trips: What pairs of requests and responses say.
        is_resampled: Whether to give intervals.
    """
    run = Resampling(MeasuredRun("", document, {}), is_resampled=is_resampled)
    place = {findings.name(point): point for point in findings.along}
    for row in document["round_trips"]:
        ends = (place[row["near"]], place[row["far"]])
        row.update(_paired(run, trips, ends, row))
    document["round_trips_by_kind"] = [_share(run, findings, one, trips) for one in trips.shares]
    document["transaction_times"] = [_wait(run, findings, one, trips) for one in trips.waits]
    document["transactions_left_out"] = [
        {"kind": kind, "n": n, "one_in": trips.one_in}
        for kind, n in (trips.n_left_out or {}).items()
        if n
    ]


def _paired(run: "Resampling", trips: Trips, ends: tuple[int, int], row: Row) -> Row:
    shares = trips.of(ends)
    if not shares:
        return NO_PAIRS
    distribution, blocks = all_kinds(shares)
    drift_ns = max(map(trips.drift_ns, shares))
    found = run.figures((row["near"], row["far"]), distribution, blocks, drift_ns)
    names = {name: f"paired_{name}" for name in found if name.startswith(("mean", "interval"))}
    return {"n_paired": distribution.n} | {names.get(n, n): v for n, v in found.items()}


def _share(run: "Resampling", findings: Findings, one: Share, trips: Trips) -> Row:
    near, far = findings.name(one.near), findings.name(one.far)
    return (
        {"near": near, "far": far, "kind": one.kind}
        | {"n": one.distribution.n, "one_in": trips.one_in}
        | run.figures((near, far), one.distribution, one.blocks, trips.drift_ns(one))
    )


def _wait(run: "Resampling", findings: Findings, one: Wait, trips: Trips) -> Row:
    point = findings.name(one.point)
    is_client = (one.point == findings.components[0][0]) != one.is_reverse
    return (
        {"kind": one.kind, "requests": WAYS[one.is_reverse], "point": point}
        | {"side": SIDES[not is_client], "n": one.distribution.n, "one_in": trips.one_in}
        | run.figures((point,), one.distribution, one.blocks, 0.0)
    )


class Resampling:
    """Gives figures of pairs, with intervals by the gate of all intervals."""

    def __init__(self, run: MeasuredRun, *, is_resampled: bool) -> None:
        self.run, self.is_resampled = run, is_resampled

    def figures(
        self, points: Sequence[str], all_of: Distribution, blocks: Blocks | None, drift_ns: float
    ) -> Row:
        """Mean and quantiles, over the points' stamps of a request and its response.

        `drift_ns` is what drift may have left in each.
        """
        row: Row = {"mean_ns": all_of.mean_ns}
        row |= {f"{name}_ns": all_of.quantile_ns(share) for name, share in SHARES.items()}
        measurements: dict[str, Measurement] = {}
        why: str | None
        why, blocks = (TOO_FEW, _lived(blocks)) if self.is_resampled else (NOT_ASKED, None)
        if blocks is not None:
            off_ns = drift_ns + waiting_ns(self.run, points)
            # every point has stamped both
            bias = 2 * coarse_ns(self.run, points, [blocks], is_single=True) + off_ns
            mean = of_means(self.run, points, [blocks], clock_ns=off_ns)
            measurements["mean"] = mean.not_below(0.0)
            for name, share in SHARES.items():
                measurements[name] = of_quantile(blocks, share, bias).not_below(0.0)
        for name in ("mean", *SHARES):
            lo, hi = _ends_of(measurements.get(name))
            row |= {f"{name}_lo_ns": lo, f"{name}_hi_ns": hi}
        if measurements:
            why = _together({name: one.why for name, one in measurements.items()})
        note = _together({n: one.note for n, one in measurements.items() if not one.why})
        return row | {"interval_reason": why, "interval_note": note}


def _lived(blocks: Blocks | None) -> Blocks | None:
    """Leave out the time before the first pair and after the last; None if too little is left."""
    at = np.flatnonzero(blocks.n) if blocks is not None else np.zeros(0, np.int64)
    if blocks is None or len(at) < LEAST_BLOCKS * SHORT_BLOCK:
        return None
    return blocks.part(int(at[0]), int(at[-1]) + 1)


def _ends_of(measurement: Measurement | None) -> tuple[float | None, float | None]:
    if measurement is None or measurement.within is None or measurement.why:
        return None, None
    lo, hi = measurement.within.interval(CONFIDENCE)
    return lo, hi


def _together(texts: Mapping[str, str]) -> str | None:
    names: dict[str, list[str]] = {}
    for name, text in texts.items():
        if text:
            names.setdefault(text, []).append(name)
    return "; ".join(f"{', '.join(of)}: {text}" for text, of in names.items()) or None


def transaction_check(document: Mapping[str, Any]) -> Row | None:
    """Add the segments' shares to what is beyond the path: that is what the client's end saw.

    Over the kind of transaction that most pairs are of, among those whose requests all go one way:
    shares are over both.

    Returns:
        None where no pair was seen at both ends, where the path forks, where requests of every
        kind go both ways, or where a clock was set in between, for then a time from request to
        response may have a step in it.
    """
    rows = document["transaction_times"]
    waits = {(row["kind"], row["requests"], row["side"]): row for row in rows}
    path = document["path"]
    edges = [(row["near"], row["far"]) for row in document["edges"]]
    is_chain = edges == list(itertools.pairwise(path))
    is_set = any(row["steps"] for row in document["clocks"])
    one_way = [key for key in waits if (key[0], OTHER_WAY[key[1]], key[2]) not in waits]
    if not one_way or not is_chain or is_set:
        return None
    kind, requests, _ = max(one_way, key=lambda key: waits[key]["n"])
    of_kind = {
        (row["near"], row["far"]): row["mean_ns"]
        for row in document["round_trips_by_kind"]
        if row["kind"] == kind
    }
    if not set(edges) <= set(of_kind):
        return None
    client, server = (waits.get((kind, requests, side)) for side in SIDES)
    if client is None or server is None:
        return None
    sum_ns = sum(of_kind[edge] for edge in edges)
    return {
        "kind": kind,
        "requests": requests,
        "n": client["n"],
        "client": client["point"],
        "server": server["point"],
        "segments_ns": sum_ns,
        "beyond_ns": server["mean_ns"],
        "seen_ns": client["mean_ns"],
        "difference_ns": sum_ns + server["mean_ns"] - client["mean_ns"],
    }
