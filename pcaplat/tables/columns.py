"""Tables as lists of columns, in types of polars and Arrow, which are imported when asked for."""

from typing import TYPE_CHECKING, Any, Literal

from pcaplat.errors import TableError
from pcaplat.records import dataclass

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

Row = dict[str, Any]
"""A row of a table, by the names of its columns."""

Type = Literal["String", "Int64", "Int32", "Float64", "Boolean", "Steps", "Floats", "Counts"]


@dataclass(frozen=True)
class ColumnSchema:
    """One column: `unit` is empty for what has none, `is_nullable` for what may be unknown."""

    name: str
    type: Type
    meaning: str
    unit: str = ""
    is_nullable: bool = False


@dataclass(frozen=True)
class TableSchema:
    """A named list of columns."""

    name: str
    meaning: str
    columns: tuple[ColumnSchema, ...]

    @property
    def names(self) -> list[str]:
        """The columns' names, in order."""
        return [column.name for column in self.columns]

    def schema(self) -> "dict[str, pl.DataType]":
        """Give the columns as polars types."""
        types = _polars_types()
        return {column.name: types[column.type] for column in self.columns}

    def arrow_schema(self) -> "pa.Schema":
        """Give the columns as Arrow types, with unit and meaning as metadata."""
        import pyarrow as pa  # noqa: PLC0415 - slow to import, seldom needed

        types = _arrow_types()
        return pa.schema(
            pa.field(
                column.name,
                types[column.type],
                nullable=column.is_nullable,
                metadata={"unit": column.unit, "meaning": column.meaning},
            )
            for column in self.columns
        )

    def frame(self, rows: list[dict[str, Any]]) -> "pl.DataFrame":
        """Make a polars frame of rows; what they have beyond the table's columns is kept."""
        import polars as pl  # noqa: PLC0415 - slow to import, seldom needed

        if not rows:
            return pl.DataFrame(schema=self.schema())
        return pl.DataFrame(rows, schema_overrides=self.schema(), infer_schema_length=None)

    def check(self, frame: "pl.DataFrame | pl.LazyFrame") -> None:
        """Compare a frame's columns with this table's.

        Args:
            frame: May have more columns than the table, in any order.

        Raises:
            TableError: A column is missing, has another type, or (for a frame with data) is null
                where it must not be.
        """
        schema = frame.lazy().collect_schema()
        for name, wanted in self.schema().items():
            if name not in schema:
                raise TableError.wrong_column(self.name, name, "is missing")
            if schema[name] != wanted:
                reason = f"is {schema[name]} and should be {wanted}"
                raise TableError.wrong_column(self.name, name, reason)
        self._check_nulls(frame)

    def _check_nulls(self, frame: "pl.DataFrame | pl.LazyFrame") -> None:
        if not hasattr(frame, "null_count") or not hasattr(frame, "get_column"):
            return
        for column in self.columns:
            n_null = 0 if column.is_nullable else frame.get_column(column.name).null_count()
            if n_null:
                raise TableError.wrong_column(self.name, column.name, f"has {n_null} nulls")


def _polars_types() -> "dict[Type, pl.DataType]":
    import polars as pl  # noqa: PLC0415 - slow to import, seldom needed

    step = pl.Struct([pl.Field("t_ns", pl.Int64()), pl.Field("step_ns", pl.Float64())])
    return {
        "String": pl.String(),
        "Int64": pl.Int64(),
        "Int32": pl.Int32(),
        "Float64": pl.Float64(),
        "Boolean": pl.Boolean(),
        "Steps": pl.List(step),
        "Floats": pl.List(pl.Float64()),
        "Counts": pl.List(pl.Int64()),
    }


def _arrow_types() -> "dict[Type, Any]":
    import pyarrow as pa  # noqa: PLC0415 - slow to import, seldom needed

    step = pa.struct({"t_ns": pa.int64(), "step_ns": pa.float64()})
    return {
        "String": pa.string(),
        "Int64": pa.int64(),
        "Int32": pa.int32(),
        "Float64": pa.float64(),
        "Boolean": pa.bool_(),
        "Steps": pa.list_(step),
        "Floats": pa.list_(pa.float64()),
        "Counts": pa.list_(pa.int64()),
    }
