"""Simulated studies from runs to verdicts: how often is a false claim held, a true one refuted?

Each study is a few runs with blocks of their packets, and goes through `validate`.
`python -m tests.studies.false_verdict_studies` writes the table of
docs/evaluation/decision_studies.md (some ten minutes).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from pcaplat.published import parse_published
from pcaplat.validating.verdicts import validate
from tests.studies.decision_studies import NAMES, PAGE, written
from tests.studies.run_studies import SHAPES, Design, claim_text, study

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pcaplat.published.claims import Claim

N_STUDIES = 2000
NUMBERS = (1, 2, 3, 4, 6, 12)
ORDERS = {"interleaved": "in turn", "row": "in a row"}
CELLS = [Design(shape, n_runs, order) for shape in SHAPES for order in ORDERS for n_runs in NUMBERS]
FAR_US, LEAST_US = 40.0, 0.001
"""How far a claim's other end is from the truth, and by how little a false claim is false."""


@lru_cache
def claims_at_the_edge() -> Sequence[Claim]:
    """Give a claim that is false by a nanosecond where there is no effect, and one that is true."""
    false = claim_text(-FAR_US, -LEAST_US, name="false")
    true = claim_text(-FAR_US, 0, name="true")
    return parse_published((false + true).encode(), "simulated").claims


def false_verdicts(design: Design, n_studies: int = N_STUDIES) -> tuple[int, int]:
    """Count studies that hold the false claim, and those that refute the true one."""
    held = refuted = 0
    for seed in range(n_studies):
        # each verdict is that of the claim by itself, whatever the other's
        false, true = validate(claims_at_the_edge(), study(design, 0.0, seed))["verdicts"]
        held += false["verdict"] == "held"
        refuted += true["verdict"] == "refuted"
    return held, refuted


def table(found: Mapping[Design, tuple[int, int]]) -> str:
    """A row for each shape and order, a column for each number of runs; percent of studies."""
    columns = " | ".join(map(str, NUMBERS))
    lines = [f"| runs a scenario | {columns} |", f"|{' --- |' * (len(NUMBERS) + 1)}"]
    for shape in SHAPES:
        for order, name in ORDERS.items():
            cells = [found[Design(shape, n, order)] for n in NUMBERS]
            shown = [" / ".join(f"{100 * n / N_STUDIES:.2f}" for n in cell) for cell in cells]
            lines.append(f"| {NAMES[shape]}, {name} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run all studies and write the table."""
    found = {design: false_verdicts(design) for design in CELLS}
    PAGE.write_text(written(PAGE.read_text("utf-8"), {"judged": table(found)}))


if __name__ == "__main__":
    main()
