"""The answer in a few sentences, for the first lines of a page."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from pcaplat.plots.figure import Measured, is_bound
from pcaplat.tables.columns import Row
from pcaplat.units import format_frac, format_ns

LEAST_PARTS = 2
"""Points of a path that is one segment, which is not the largest of any."""


def answer(measured: Measured) -> list[str]:
    """Say how long packets take, where most of the time goes, and what was lost."""
    return [*_one_way(measured), *_round_trip(measured), *_loss(measured.document)]


def _one_way(measured: Measured) -> Iterator[str]:
    near, far = measured.document["path"][0], measured.document["path"][-1]
    forward, reverse = (measured.segment(near, far, way) for way in ("forward", "reverse"))
    there, back = _median(forward), _median(reverse)
    if there and back:
        yield f"From {near} to {far} the median packet takes {there}, on the way back {back}."
    elif there:
        yield f"From {near} to {far} the median packet takes {there}."
    elif back:
        yield f"From {far} to {near} the median packet takes {back}."
    elif not any(row and row["n"] for row in (forward, reverse)):
        yield f"No packet was seen at both {near} and {far}, the ends of the path."
    else:
        yield (
            f"How long packets take one way from {near} to {far} is not known: the clocks of these "
            "points cannot be related."
        )


def _median(row: Row | None) -> str:
    """Write a median with what the clocks leave open; a bound, where that is more than itself."""
    if row is None or row["p50_ns"] is None:
        return ""
    p50_ns, half_ns = row["p50_ns"], row["clock_half_width_ns"] or 0.0
    if is_bound(row):
        most, open_ = format_ns(p50_ns + half_ns), format_ns(half_ns)
        return f"at most {most} (the clocks leave ± {open_} open)"
    return format_ns(p50_ns) + (f" (± {format_ns(half_ns)}, clocks)" if half_ns else "")


def _round_trip(measured: Measured) -> Iterator[str]:
    document = measured.document
    rows = {(row["near"], row["far"]): row for row in document["round_trips"]}
    whole = rows.get((document["path"][0], document["path"][-1]))
    parts = [rows[ends] for ends in pairwise(document["path"]) if ends in rows]
    if whole is None:
        return
    text = f"Both directions together take {format_ns(whole['mean_ns'])} on average"
    if measured.is_chain and len(parts) + 1 == len(document["path"]) > LEAST_PARTS:
        most = max(parts, key=lambda row: row["mean_ns"])
        share = format_frac(round(most["mean_ns"] / sum(row["mean_ns"] for row in parts), 2))
        where = f"between {most['near']} and {most['far']}"
        text += f", most of it {where}: {format_ns(most['mean_ns'])}, {share}"
    yield f"{text}."
    yield from _behind(document.get("transaction_check"))


def _behind(check: Mapping[str, Any] | None) -> Iterator[str]:
    if check and check["seen_ns"] > 0:
        share = format_frac(round(check["beyond_ns"] / check["seen_ns"], 2))
        yield (
            f"A request ({check['kind']}) is answered after {format_ns(check['seen_ns'])} on "
            f"average; {share} of that is spent behind {check['server']}."
        )


def _loss(document: Mapping[str, Any]) -> Iterator[str]:
    ends = {(edge["near"], edge["far"]) for edge in document["edges"]}
    rows = [
        r for r in document["segments"] if r["class"] == "packet" and (r["near"], r["far"]) in ends
    ]
    lossy = [row for row in rows if row["n_lost"]]
    if not lossy:
        yield "No packet was lost."
        return
    most = max(lossy, key=lambda row: row["lost_frac"])
    near, far = most["near"], most["far"]
    where = f"from {near} to {far}" if most["direction"] == "forward" else f"from {far} to {near}"
    more = "" if len(lossy) == 1 else ", more than anywhere else"
    yield f"{format_frac(most['lost_frac'])} of the packets were lost {where}{more}."
