"""One thing that may mislead, as a value."""

from pcaplat.records import dataclass


@dataclass(frozen=True)
class Diagnostic:
    """One thing that may mislead: its code (pcaplat.diagnostics.catalogue), where, what to do.

    `evidence` has what was seen, frames and counts; `consequence` says which figure it touches.
    Either of the last two may be empty where the sentence before says it already.
    """

    code: str
    point: str | None
    evidence: str
    consequence: str = ""
    remedy: str = ""
    file: str | None = None

    @property
    def text(self) -> str:
        """All of it in a line: evidence, consequence, and the action behind `Do:`."""
        found = "; ".join(filter(None, (self.evidence, self.consequence)))
        return f"{found}. Do: {self.remedy}" if self.remedy else found
