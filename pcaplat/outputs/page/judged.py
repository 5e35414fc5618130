"""The first lines of a page about several runs: a comparison, and verdicts."""

from collections.abc import Iterator, Mapping
from typing import Any

from pcaplat.tables.columns import Row
from pcaplat.units import format_count, format_frac, format_ns

FEW = 3
"""Claims that the first lines name."""
VERDICTS = ("refuted", "undecided", "held")
BASIS = {"runs": "from run to run", "within-run": "within the runs only"}
DIFFERING = {"runs": "the scenarios", "within-run": "these captures"}
"""What is known to differ: of too few runs nothing is known of the next."""


def comparison_title(document: Mapping[str, Any]) -> str:
    """Name what is compared with what."""
    return f"{document['treatment']['name']} against {document['baseline']['name']}"


def replication(document: Mapping[str, Any]) -> str:
    """Say how many runs there are, and what intervals rest on."""
    sides = (document["treatment"], document["baseline"])
    counts = [f"{one['name']}: {one['n_runs']} run{'s' * (one['n_runs'] != 1)}" for one in sides]
    return f"{', '.join(counts)}; intervals {BASIS[document['replication']]}"


def comparison_answer(document: Mapping[str, Any] | None) -> Iterator[str]:
    """Say how much longer the round trip takes, where most of it is, and what is lost."""
    if not document:
        return
    names = (document["treatment"]["name"], document["baseline"]["name"])
    rows = [row for row in document["round_trips"] if row["delta_mean_ns"] is not None]
    if not rows:
        yield "No segment was crossed in both directions in both scenarios"
        return
    whole, neighbours = rows[-1], rows[:-1]
    word = "longer" if whole["delta_mean_ns"] >= 0 else "less"
    by = format_ns(abs(whole["delta_mean_ns"]))
    yield f"{_ends(whole)}: a round trip takes {by} {word} with {names[0]} than with {names[1]}"
    yield _sure(whole, what=DIFFERING[document["replication"]])
    if neighbours:
        most = max(neighbours, key=lambda row: abs(row["delta_mean_ns"]))
        yield f"Largest difference of a segment: {_ends(most)}, {format_ns(most['delta_mean_ns'])}"
    losses = [row for row in document["rates"] if row["metric"] == "loss-ratio"]
    if losses:
        n_lost = [format_count(losses[-1][f"{side}_n_lost"]) for side in ("treatment", "baseline")]
        yield f"Lost packets: {n_lost[0]} with {names[0]}, {n_lost[1]} with {names[1]}"


def _sure(row: Row, what: str) -> str:
    if row["lo_ns"] is None:
        return f"No interval: {row['reason']}"
    level, ends = (
        format_frac(row["confidence"]),
        f"{format_ns(row['lo_ns'])} to {format_ns(row['hi_ns'])}",
    )
    is_shown = row["lo_ns"] > 0 or row["hi_ns"] < 0
    shown = f"so {what} differ" if is_shown else "so a difference is not shown"
    return f"{level} interval of the difference: {ends}, {shown}"


def _ends(row: Row) -> str:
    return f"{row['near']} ⇄ {row['far']}"


def verdicts_answer(document: Mapping[str, Any] | None) -> Iterator[str]:
    """Count the verdicts, and name claims of each, those that fail first."""
    if not document:
        return
    rows = document["verdicts"]
    for word in VERDICTS:
        names = [row["id"] for row in rows if row["verdict"] == word]
        more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
        if names:
            yield f"{len(names)} {word}: {', '.join(names[:FEW])}{more}"
