"""What was declared of clocks, in a line: one-way figures are as true as it is."""

from collections.abc import Iterator

from pcaplat.tables.columns import Row
from pcaplat.units import format_ns

UNUSED = {"clock-accuracy-alone", "clock-accuracy-contradicted"}
CONTRADICTED = {"clock-contradiction", "negative-latency"}
FEW = 6


def declared_lines(document: Row) -> Iterator[str]:
    """Name the clocks that were declared equal, and the accuracies that were used."""
    rows = document.get("declared_clocks", ())
    groups: dict[int, list[str]] = {}
    for row in rows:
        if row["group"] is not None:
            groups.setdefault(row["group"], []).append(row["point"])
    told = ["; ".join(_of_group(group, document) for group in groups.values())]
    is_used = UNUSED.isdisjoint(row["code"] for row in document["warnings"])
    accurate = [row for row in rows if row["accuracy_ns"] is not None and is_used]
    told += [f"{row['point']} within {format_ns(row['accuracy_ns'])}" for row in accurate]
    if declared := "; ".join(filter(None, told)):
        codes = {row["code"] for row in document["warnings"]}
        so = "packets contradict it" if codes & CONTRADICTED else "packets do not prove it"
        yield f"Clocks declared ({so}): {declared}"


def _of_group(group: list[str], document: Row) -> str:
    if {*document["path"]} <= {*group}:
        return "equal at all points"
    return f"equal at {', '.join(group) if len(group) <= FEW else f'{len(group)} points'}"
