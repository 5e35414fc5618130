"""JUnit: one test case per claim or segment; refuted is a failure, undecided is skipped."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from pcaplat.text import printable

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MARKS = {"refuted": "failure", "undecided": "skipped"}
OF_LIMITS = {"above": "refuted", "within": "held", "undecided": "undecided"}


def show_validate(document: Mapping[str, Any], stream: TextIO) -> None:
    """Write the verdicts for whatever watches a build."""
    _show("pcaplat validate", document["verdicts"], stream)


def show_compare(document: Mapping[str, Any], stream: TextIO) -> None:
    """Write what the limit says of each segment; without one, what was found, and no failure."""
    names = [document[side]["name"] for side in ("baseline", "treatment")]
    source = f"{names[1]} against {names[0]}"
    rows = document["limits"] or [
        row | {"verdict": "within", "limit": None, "reason": _difference(row)}
        for row in document["round_trips"]
    ]
    _show("pcaplat compare", [_claim(row, source) for row in rows], stream)


def _claim(row: Mapping[str, Any], source: str) -> dict[str, Any]:
    ends = f"{row['near']} ⇄ {row['far']}"
    claim = f"{ends} is slower by {row['limit']} at most" if row["limit"] else ends
    about = {"id": ends, "source": source, "claim": claim}
    return about | {"verdict": OF_LIMITS[row["verdict"]], "reason": row["reason"]}


def _difference(row: Mapping[str, Any]) -> str:
    if row["delta_mean_ns"] is None:
        return row["reason"] or "no difference could be measured"
    return f"the mean differs by {row['delta_mean_ns']:+.1f} ns"


def _show(name: str, rows: Sequence[Mapping[str, Any]], stream: TextIO) -> None:
    from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

    words = [row["verdict"] for row in rows]
    counts = {"tests": len(rows), "failures": words.count("refuted"), "errors": 0}
    counts |= {"skipped": words.count("undecided")}
    numbers = {name: str(n) for name, n in counts.items()}
    root = Element("testsuites", numbers)
    suite = SubElement(root, "testsuite", {"name": name} | numbers)
    for row in rows:
        _add_case(suite, row)
    indent(root)
    stream.write('<?xml version="1.0" encoding="utf-8"?>\n')
    ElementTree(root).write(stream, encoding="unicode")
    stream.write("\n")


def _add_case(suite: "Element", row: Mapping[str, Any]) -> None:
    from xml.etree.ElementTree import SubElement

    names = {"name": printable(row["id"]), "classname": printable(row["source"]), "time": "0"}
    case = SubElement(suite, "testcase", names)
    # control characters are no XML, escaped or not: printable leaves none
    reason = printable(row["reason"])
    if row["verdict"] in MARKS:
        mark = SubElement(case, MARKS[row["verdict"]], {"message": reason})
        mark.text = f"{printable(row['claim'])}: {reason}"
    else:
        SubElement(case, "system-out").text = f"{printable(row['claim'])}: {reason}"
