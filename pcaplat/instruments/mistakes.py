"""What is wrong with another instrument's file: which, in which line, and what to do."""

from pcaplat.errors import InputError


class InstrumentError(InputError):
    """A file of another instrument cannot be used."""

    @classmethod
    def at(cls, where: str, line: int | None, what: str, remedy: str) -> "InstrumentError":
        """Say what is wrong in a line of a file; None: in all of it."""
        place = where if line is None else f"{where}:{line}"
        return cls(f"{place}: {what}; {remedy}")
