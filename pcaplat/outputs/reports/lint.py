"""Findings of lint: each with its evidence, what it does to the figures, and what to do."""

from collections import Counter
from collections.abc import Iterator

from pcaplat.outputs.report import Entries, Entry, Paragraph, Report, Section
from pcaplat.tables.columns import Row

COLUMNS = ("code", "severity", "file", "point", "evidence", "consequence", "remedy")
STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}


def report(document: Row) -> Report:
    """Say what was found, the gravest first; a row for each finding."""
    return Report(document, COLUMNS, document["findings"], sections_of(document["findings"]))


def sections_of(findings: list[Row]) -> Iterator[Section]:
    """Count findings by how grave they are, and list them."""
    n_of = Counter(finding["severity"] for finding in findings)
    counts = [f"{n_of[name]} {name}{'s' * (n_of[name] > 1)}" for name in STYLES if n_of[name]]
    yield Paragraph(", ".join(counts) or "No problem found")
    yield Entries([Entry(_head(row), _texts(row), STYLES[row["severity"]]) for row in findings])


def _head(finding: Row) -> str:
    where = f" at {finding['point']}" if finding["point"] else ""
    return f"{finding['severity']}: {finding['code']}{where}"


def _texts(finding: Row) -> list[str]:
    leads = (("", "evidence"), ("→ ", "consequence"), ("Do: ", "remedy"))
    return [lead + finding[name] for lead, name in leads if finding[name]]
