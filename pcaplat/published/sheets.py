"""A published table as data: its printed numbers, and the formulas that tie them together."""

from decimal import Decimal
from fractions import Fraction
from typing import Any, Self

from pydantic import Field, model_validator

from pcaplat.published.checks import Cell, Identifier, Name, StrictModel, Text, Unit, kind, mistake
from pcaplat.published.claims import Source
from pcaplat.published.formula import FormulaError, Sheet, nearest, parse

NAME, IS_TOTAL = "name", "is_total"
PrintedRange = tuple[Decimal, Decimal]


class Convention(StrictModel):
    """One way the publisher may have computed a column."""

    name: Text
    formula: Text


class Column(StrictModel):
    """A column: raw where nothing is tried on it, else recomputed, else said to be lost."""

    name: Name
    unit: Unit
    printed: Text | None = Field(default=None, description="its heading in the document")
    exact: bool = Field(default=False, description="a size or a count, not a rounded measurement")
    conventions: list[Convention] = Field(default_factory=list)
    totals: list[Convention] = Field(
        default_factory=list, description="the same for rows with is_total"
    )
    lost: Text | None = Field(default=None, description="why nothing can be recomputed")


class Derived(StrictModel):
    """What the document does not print, and its conclusion needs."""

    name: Name
    unit: Unit
    formula: Text
    meaning: Text


class Table(StrictModel):
    """A published table; each of `rows` has a `name` and a number, or two, for each column."""

    id: Identifier
    source: Source = Field(default_factory=Source)
    conclusion: Text
    notes: list[Text] = Field(default_factory=list)
    columns: list[Column] = Field(min_length=1)
    rows: list[dict[str, Cell]] = Field(min_length=1)
    derived: list[Derived] = Field(default_factory=list)

    @property
    def row_names(self) -> list[str]:
        """Every row, as printed."""
        return [str(row[NAME]) for row in self.rows]

    def printed(self, row: int, column: str) -> PrintedRange | None:
        """Give what stands in a cell: lo and hi, equal for a single number."""
        value = self.rows[row].get(column)
        if isinstance(value, list):
            return value[0], value[1]
        return (value, value) if isinstance(value, Decimal) else None

    def sheet(self) -> Sheet:
        """Give every single number, for formulas."""
        names = self.row_names
        cells = {
            (name, key): Fraction(value)
            for name, row in zip(names, self.rows, strict=True)
            for key, value in row.items()
            if isinstance(value, Decimal)
        }
        body = [name for name, row in zip(names, self.rows, strict=True) if not row.get(IS_TOTAL)]
        return Sheet(cells, tuple(body))

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        self._check_columns()
        for index, row in enumerate(self.rows):
            self._check_row(index, row)
        for index, name in enumerate(self.row_names):
            if name in self.row_names[:index]:
                raise mistake(f"there is a row {name} already", "rows", index, NAME)
        self._check_formulas()
        return self

    def _check_columns(self) -> None:
        seen: list[str] = []
        for index, column in enumerate(self.columns):
            if column.name in (*seen, NAME, IS_TOTAL):
                raise mistake(f"there is a {column.name} already", "columns", index, NAME)
            if column.lost and (column.conventions or column.totals):
                raise mistake("a column that is lost has no formula", "columns", index, "lost")
            seen.append(column.name)

    def _check_row(self, index: int, row: dict[str, Any]) -> None:
        if not isinstance(row.get(NAME), str):
            raise mistake("name is missing, or no text", "rows", index)
        if not isinstance(row.get(IS_TOTAL, False), bool):
            raise mistake("should be true or false", "rows", index, IS_TOTAL)
        columns = [column.name for column in self.columns]
        for key, value in row.items():
            if key not in (*columns, NAME, IS_TOTAL):
                near = nearest(key, [*columns, IS_TOTAL])
                raise mistake(f"there is no such column{near}", "rows", index, key)
            if key in columns and isinstance(value, str | bool):
                raise mistake(f"is {kind(value)} and should be a number", "rows", index, key)
            if isinstance(value, list) and not (len(value) == 2 and value[0] <= value[1]):  # noqa: PLR2004 - lo and hi
                raise mistake("a range is two numbers, the lower first", "rows", index, key)

    def _check_formulas(self) -> None:
        names = [column.name for column in self.columns]
        for index, column in enumerate(self.columns):
            for key in ("conventions", "totals"):
                for n, convention in enumerate(getattr(column, key)):
                    self._check(convention.formula, names, ("columns", index, key, n, "formula"))
        for index, derived in enumerate(self.derived):
            self._check(derived.formula, names, ("derived", index, "formula"))

    def _check(self, formula: str, names: list[str], keys: tuple[str | int, ...]) -> None:
        try:
            parse(formula, names, self.row_names)
        except FormulaError as error:
            raise mistake(str(error), *keys) from None
