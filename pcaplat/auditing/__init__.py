"""Audit: published tables, recomputed from their own raw numbers.

Every step is exact (fractions of the printed digits); nothing is a float before it is reported.
docs/prove/audit.md says how to read the result.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from pcaplat.errors import ClaimError
from pcaplat.published import load_published, published_names
from pcaplat.published.formula import Formula, MissingError, Sheet, parse
from pcaplat.published.rounding import (
    agrees,
    deviation_frac,
    half_step,
    overlaps,
    round_to,
    rounding_range,
)
from pcaplat.published.sheets import IS_TOTAL, Column, Convention, PrintedRange, Table
from pcaplat.records import dataclass
from pcaplat.tables.documents import (
    AuditDocument,
    AuditedCell,
    AuditedTable,
    DerivedFigure,
    FittedConvention,
    TriedConvention,
)

SCHEMA = "pcaplat.audit/1"


@dataclass(frozen=True)
class _Recomputed:
    """A cell by one convention: its value, or why there is none."""

    value: Fraction | None
    lo: Fraction | None = None
    hi: Fraction | None = None
    reason: str | None = None


@dataclass(frozen=True)
class _Trial:
    """One convention tried on the cells of a column."""

    convention: Convention
    cells: dict[str, _Recomputed]
    n_agree: int
    n_within: int

    @property
    def row(self) -> FittedConvention:
        """How well it fits, for the document."""
        return {
            "convention": self.convention.name,
            "formula": self.convention.formula,
            "n_agree": self.n_agree,
            "n_within_rounding": self.n_within,
            "n_cells": len(self.cells),
            "recomputed": {row: _float(cell.value) for row, cell in self.cells.items()},
        }


def audit(tables: Sequence[str | Path] = ()) -> AuditDocument:
    """Recompute published tables from their own raw numbers.

    Args:
        tables: Names of files that ship with pcaplat, ids of tables in them, or TOML files; by
            default every table that ships. A file without tables is skipped.

    Returns:
        The document `pcaplat.audit/1`, as `pcaplat audit --format json` prints it.

    Raises:
        ClaimError: There is no such table, or its file is wrong.
        OSError: A file cannot be opened.

    Assumes:
        A column is computed by one rule for all its rows. If a table lists several conventions, the
        convention that agrees in most cells is used. In a tie, rounding of the inputs is allowed
        for; then the first in the list is used.

    Example:
        >>> cells = audit(["edge-single"])["tables"][0]["cells"]
        >>> [(c["row"], c["agrees"]) for c in cells if c["column"] == "throughput_gbps"]
        [('256', True), ('512', False), ('650', True), ('1024', True), ('1500', False)]
    """
    found = [table for name in tables or published_names() for table in _tables(name)]
    return AuditDocument(schema=SCHEMA, tables=[_audit_table(table) for table in found])


def _tables(name: str | Path) -> list[Table]:
    if name in published_names() or str(name).endswith(".toml"):
        return load_published(name).tables
    shipped = [table for file in published_names() for table in load_published(file).tables]
    found = [table for table in shipped if table.id == name]
    if not found:
        raise ClaimError.unknown_table(
            str(name), published_names(), [table.id for table in shipped]
        )
    return found


def _audit_table(table: Table) -> AuditedTable:
    sheet = table.sheet()
    cells: list[AuditedCell] = []
    conventions: list[TriedConvention] = []
    for column in table.columns:
        for is_total, listed in ((False, column.conventions), (True, column.totals)):
            printed = _printed(table, column, is_total=is_total)
            trials = [_try(table, sheet, convention, printed) for convention in listed]
            best = max(trials, key=lambda trial: (trial.n_agree, trial.n_within), default=None)
            conventions += [
                {"column": column.name, "is_total": is_total, **trial.row, "is_used": trial is best}
                for trial in trials
            ]
            if best or column.lost:
                cells += [_cell(column, row, printed[row], best) for row in printed]
    return {
        "id": table.id,
        "source": str(table.source),
        "conclusion": f"{_counts(cells)} {table.conclusion}",
        "cells": sorted(cells, key=lambda cell: table.row_names.index(cell["row"])),
        "conventions": conventions,
        "derived": list(_derived(table, sheet)),
        "notes": list(table.notes),
    }


def _printed(table: Table, column: Column, *, is_total: bool) -> dict[str, PrintedRange]:
    """Give what is printed in a column, by row: in the rows that are totals, or in the others."""
    return {
        name: printed
        for index, name in enumerate(table.row_names)
        if bool(table.rows[index].get(IS_TOTAL)) == is_total
        and (printed := table.printed(index, column.name))
    }


def _try(
    table: Table, sheet: Sheet, convention: Convention, printed: dict[str, PrintedRange]
) -> _Trial:
    formula = parse(convention.formula, [c.name for c in table.columns], table.row_names)
    steps = _half_steps(table)
    cells = {row: _recompute(formula, sheet, steps, row) for row in printed}
    n_agree = sum(_agrees(cells[row], printed[row]) is True for row in printed)
    n_within = sum(_is_within(cells[row], printed[row]) is True for row in printed)
    return _Trial(convention, cells, n_agree, n_within)


def _half_steps(table: Table) -> dict[tuple[str, str], Fraction]:
    """Say how far each number may be from what was rounded to it."""
    return {
        (name, column.name): half_step(printed[0])
        for index, name in enumerate(table.row_names)
        for column in table.columns
        if not column.exact and (printed := table.printed(index, column.name))
    }


def _recompute(
    formula: Formula, sheet: Sheet, steps: dict[tuple[str, str], Fraction], row: str
) -> _Recomputed:
    try:
        value = formula.value(sheet, row)
    except MissingError as missing:
        return _Recomputed(None, reason=f"{missing} is not printed, as one number, for this row")
    except ZeroDivisionError:
        return _Recomputed(None, reason="the formula divides by zero in this row")
    try:
        lo, hi = rounding_range(formula, sheet, steps, row)
    except ZeroDivisionError:
        return _Recomputed(value)
    return _Recomputed(value, lo, hi)


def _cell(column: Column, row: str, printed: PrintedRange, trial: _Trial | None) -> AuditedCell:
    cell = trial.cells[row] if trial else _Recomputed(None, reason=column.lost)
    is_known = cell.value is not None
    return {
        "row": row,
        "column": column.name,
        "published_lo": float(printed[0]),
        "published_hi": float(printed[1]),
        "recomputed": _float(cell.value),
        "unit": column.unit,
        "agrees": _agrees(cell, printed),
        "deviation_frac": None if cell.value is None else deviation_frac(cell.value, printed),
        "reason": _reason(cell, printed),
        "printed": column.printed,
        "n_decimals": max(0, -int(printed[0].as_tuple().exponent)),
        "convention": trial.convention.name if trial and is_known else None,
        "rounding_lo": _float(cell.lo),
        "rounding_hi": _float(cell.hi),
        "is_within_rounding": _is_within(cell, printed),
    }


def _agrees(cell: _Recomputed, printed: PrintedRange) -> bool | None:
    return None if cell.value is None else agrees(cell.value, printed)


def _reason(cell: _Recomputed, printed: PrintedRange) -> str | None:
    if cell.value is None or agrees(cell.value, printed):
        return cell.reason
    step = printed[0]
    shown = " to ".join(dict.fromkeys(map(str, printed)))
    text = f"recomputed {round_to(cell.value, step)}, printed {shown}"
    if cell.lo is None or cell.hi is None:
        return f"{text}; the rounding of its inputs leaves everything open"
    lo, hi = (round_to(end, step, n_more=2) for end in (cell.lo, cell.hi))
    if lo == hi:
        return text
    more = ", which allows what is printed" if _is_within(cell, printed) else ""
    return f"{text}; the rounding of its inputs leaves {lo} to {hi}{more}"


def _is_within(cell: _Recomputed, printed: PrintedRange) -> bool | None:
    """Say whether inputs that round to what is printed could give the printed cell."""
    if cell.lo is None or cell.hi is None:
        return None if cell.value is None else True
    return overlaps(cell.lo, cell.hi, printed)


def _derived(table: Table, sheet: Sheet) -> Iterator[DerivedFigure]:
    """Give what the conclusion needs and the document does not print."""
    columns = [column.name for column in table.columns]
    for derived in table.derived:
        formula = parse(derived.formula, columns, table.row_names)
        for name in sheet.body:
            cell = _recompute(formula, sheet, {}, name)
            if cell.value is not None:
                yield {
                    "row": name,
                    "column": derived.name,
                    "value": float(cell.value),
                    "unit": derived.unit,
                    "meaning": derived.meaning,
                }


def _counts(cells: Sequence[AuditedCell]) -> str:
    n = sum(cell["agrees"] is not None for cell in cells)
    n_agree = sum(cell["agrees"] is True for cell in cells)
    n_open = sum(cell["agrees"] is False and bool(cell["is_within_rounding"]) for cell in cells)
    n_lost = len(cells) - n
    text = f"{n_agree} of {n} recomputed cells agree" if n else "Nothing can be recomputed"
    text += f"; {n_open} more would, allowing for the rounding of their inputs" if n_open else ""
    text += f"; {n_lost} cannot be recomputed" if n_lost and n else ""
    return f"{text}."


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)
