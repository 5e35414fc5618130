"""Whether what was measured adds up, and what the order of the points rests on."""

from collections.abc import Iterator, Mapping
from typing import Any

from pcaplat.text import printable
from pcaplat.units import format_count, format_frac, format_in, unit_for

Document = Mapping[str, Any]
FEW = 3
MOST_APART = 0.01
"""Of the whole path's share: farther apart, the sums are not of the same packets."""


def lines_of_checks(document: Document) -> Iterator[str]:
    """Say whether shares of the round trip add up: to the path's, and to what a client saw."""
    if check := document.get("sum_check"):
        sum_text, whole_text = _alike(check["sum_ns"], check["whole_ns"])
        text = f"the segments' shares add up to {sum_text}, the whole path's is {whole_text}"
        if abs(check["sum_ns"] - check["whole_ns"]) > MOST_APART * abs(check["whole_ns"]):
            yield (
                f"No check: {text}; a share is of the packets seen whole at both its ends, and "
                "those are not the same everywhere: some were cut or joined on the way, or missed"
            )
        else:
            yield f"Check: {text}, over the packets seen at both ends"
    if check := document.get("transaction_check"):
        shares_ns, beyond_ns = check["segments_ns"], check["beyond_ns"]
        texts = _alike(shares_ns, beyond_ns, shares_ns + beyond_ns, check["seen_ns"])
        yield (
            f"Check: of {check['kind']}, the segments' shares {texts[0]} + {texts[1]} beyond "
            f"{printable(check['server'])} = {texts[2]}; {printable(check['client'])} saw "
            f"{texts[3]}"
        )


def _alike(*values_ns: float) -> list[str]:
    """Write durations in one unit, to be compared."""
    unit = unit_for(values_ns)
    return [f"{format_in(value_ns, unit)} {unit}" for value_ns in values_ns]


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
        n = f"{format_count(least['n'])} change{'' if least['n'] == 1 else 's'} of direction"
        if least["n_agreeing"] == least["n"]:
            return f"{rests_on}: {n} or more of each segment, and all agree"
        agree = format_frac(least["n_agreeing"] / least["n"])
        return f"{rests_on}; least sure of {_edge(least)}: {agree} of {n} agree"
    if is_all:
        return rests_on
    more = f" and {len(rows) - FEW} more" if len(rows) > FEW else ""
    return f"{rests_on}: {', '.join(map(_edge, rows[:FEW]))}{more}"


def _edge(row: Mapping[str, Any]) -> str:
    return f"{printable(row['near'])} → {printable(row['far'])}"
