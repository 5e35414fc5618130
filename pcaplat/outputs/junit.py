"""JUnit: one test case per claim; refuted is a failure, undecided is skipped."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TextIO

from pcaplat.text import printable

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MARKS = {"refuted": "failure", "undecided": "skipped"}


def show_validate(document: Mapping[str, Any], stream: TextIO) -> None:
    """Write the verdicts for whatever watches a build."""
    from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

    rows = document["verdicts"]
    words = [row["verdict"] for row in rows]
    counts = {"tests": len(rows), "failures": words.count("refuted"), "errors": 0}
    counts |= {"skipped": words.count("undecided")}
    numbers = {name: str(n) for name, n in counts.items()}
    root = Element("testsuites", numbers)
    suite = SubElement(root, "testsuite", {"name": "pcaplat validate"} | numbers)
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
