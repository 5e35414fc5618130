"""Whether what was measured adds up, and what the order of the points rests on."""

from collections.abc import Iterator, Mapping
from typing import Any

from pcaplat.printable import printable
from pcaplat.units import format_count, format_frac, format_ns

Document = Mapping[str, Any]
FEW = 3


def lines_of_checks(document: Document) -> Iterator[str]:
    """Say whether shares of the round trip add up: to the path's, and to what a client saw."""
    if check := document.get("sum_check"):
        yield (
            f"Check: the segments' shares add up to {format_ns(check['sum_ns'])}, the whole path's "
            f"is {format_ns(check['whole_ns'])}, over the packets seen at both ends"
        )
    if check := document.get("transaction_check"):
        yield (
            f"Check: of {check['kind']}, the segments' shares {format_ns(check['segments_ns'])} + "
            f"{format_ns(check['beyond_ns'])} beyond {printable(check['server'])} = "
            f"{format_ns(check['segments_ns'] + check['beyond_ns'])}; "
            f"{printable(check['client'])} saw {format_ns(check['seen_ns'])}"
        )


def line_of_order(document: Document) -> str | None:
    """Say what an order that was found rests on, and how sure the least sure part of it is.

    Returns:
        None where the order was given.
    """
    rows = document.get("path_evidence", ())
    if not document["path_inferred"] or not rows:
        return None
    by: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by.setdefault(row["rests_on"], []).append(row)
    parts = [_parts(rests_on, some, is_all=len(by) == 1) for rests_on, some in by.items()]
    return f"Order by {'; '.join(parts)}"


def _parts(rests_on: str, rows: list[Mapping[str, Any]], *, is_all: bool) -> str:
    counted = [row for row in rows if row["n"]]
    if counted:
        least = min(counted, key=lambda row: (row["n_agreeing"] / row["n"], row["n"]))
        n = format_count(least["n"])
        if least["n_agreeing"] == least["n"]:
            return f"{rests_on}: {n} changes of direction or more of each segment, and all agree"
        agree = format_frac(least["n_agreeing"] / least["n"])
        return (
            f"{rests_on}; least sure of {_edge(least)}: {agree} of {n} changes of direction agree"
        )
    if is_all:
        return rests_on
    more = f" and {len(rows) - FEW} more" if len(rows) > FEW else ""
    return f"{rests_on}: {', '.join(map(_edge, rows[:FEW]))}{more}"


def _edge(row: Mapping[str, Any]) -> str:
    return f"{printable(row['near'])} → {printable(row['far'])}"
