"""What pcaplat raises: unusable input, missing evidence, a failing engine.

```
PcaplatError
├── InputError (also ValueError)     what you gave cannot be used
│   ├── OptionError                  a value of an option cannot be read
│   ├── OutputError                  the place to write to cannot be used
│   ├── PointError                   a capture-point profile cannot be used
│   └── TableError                   a table has other columns than it should
├── EvidenceError                    the captures cannot answer the question
└── EngineError                      an engine failed; the cause is chained
```

`FileNotFoundError`, `PermissionError`, `IsADirectoryError` and the like pass through as they are.
A damaged frame, an unmatched packet or a doubtful clock is no exception but a value in a row and
a warning; a claim that fails is a verdict. Every message says what, where, the evidence, and what
to do.
"""


class PcaplatError(Exception):
    """Everything that pcaplat raises on purpose."""


class InputError(PcaplatError, ValueError):
    """What you gave cannot be used: a file, an option, a name."""


class OptionError(InputError):
    """The value of an option cannot be read."""

    @classmethod
    def unreadable(cls, what: str, text: str, examples: str) -> "OptionError":
        """Say which kind of value `text` fails to be, and how one is written.

        Example:
            >>> str(OptionError.unreadable("duration", "5 parsecs", "250ns, 1.5us"))
            "'5 parsecs' is no duration; write it like 250ns, 1.5us"
        """
        return cls(f"{text!r} is no {what}; write it like {examples}")


class OutputError(InputError):
    """The place to write to cannot be used."""

    @classmethod
    def not_empty(cls, directory: str, found: str) -> "OutputError":
        """Refuse a folder that holds something already."""
        return cls(
            f"{directory}: is not empty (it holds {found}); choose another folder, "
            "or replace the results in it with --overwrite"
        )

    @classmethod
    def not_a_folder(cls, directory: str) -> "OutputError":
        """Refuse a file where a folder is needed."""
        return cls(f"{directory}: is a file; give the name of a folder, new or empty")


class PointError(InputError):
    """A capture-point profile cannot be used."""

    @classmethod
    def unknown(cls, name: str, known: list[str]) -> "PointError":
        """Say which profiles there are."""
        return cls(f"{name!r} is no capture-point profile; there are: {', '.join(known)}")

    @classmethod
    def wrong_key(cls, where: str, key: str, reason: str) -> "PointError":
        """Say which key of a profile is wrong, and why."""
        return cls(f"{where}: {key}: {reason}")


class TableError(InputError):
    """A table has other columns, or other types, than it should."""

    @classmethod
    def wrong_column(cls, table: str, column: str, reason: str) -> "TableError":
        """Say which column of which table is wrong, and how."""
        return cls(f"table {table}: column {column}: {reason}; see pcaplat.tables")


class EvidenceError(PcaplatError):
    """The captures cannot answer the question: nothing in common, too little, one way only."""


class EngineError(PcaplatError):
    """An engine failed; the cause is chained."""
