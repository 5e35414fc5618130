"""--from and --to: what they mean on the path's clock, and what is refused."""

import pytest

from pcaplat.errors import InputError
from pcaplat.model.files.time_range import asked_range
from tests.support.alignments import START_NS, findings_of

SECOND_NS = 10**9
FINDINGS = findings_of([0, 37 * SECOND_NS], 10 * SECOND_NS)


def test_relative_times_count_from_the_first_frame() -> None:
    assert asked_range(FINDINGS, 0, "+1s", "+2.5s") == (
        START_NS + SECOND_NS,
        START_NS + 2_500_000_000,
    )
    assert asked_range(FINDINGS, 0, None, None) == (None, None)
    assert asked_range(FINDINGS, 0, "1970-01-01", None) == (0, None)


@pytest.mark.parametrize(
    ("start", "end", "what"),
    [
        ("+0.2s", "+0.1s", r"--from \+0.2s --to \+0.1s: ends before it begins"),
        ("+100s", None, r"--from \+100s: no packet was captured then"),
        (None, "2001-01-01", "--to 2001-01-01: no packet was captured then"),
    ],
)
def test_a_range_that_holds_nothing_says_where_the_captures_lie(
    start: str | None, end: str | None, what: str
) -> None:
    with pytest.raises(InputError, match=what) as refused:
        asked_range(FINDINGS, 0, start, end)
    assert "from 2023-11-14T22:13:20.000000000Z to 2023-11-14T22:13:30" in str(refused.value)
    assert str(refused.value).endswith("(+0s to +10.000 s)")


def test_instants_are_those_of_the_reference() -> None:
    ahead_ns = 37 * SECOND_NS
    asked = f"{(START_NS + ahead_ns) // SECOND_NS + 2}"
    assert asked_range(FINDINGS, 1, asked, "+3s") == (
        START_NS + 2 * SECOND_NS,
        START_NS + 3 * SECOND_NS,
    )
    with pytest.raises(InputError, match="from 2023-11-14T22:13:57"):
        asked_range(FINDINGS, 1, None, str(START_NS // SECOND_NS))
