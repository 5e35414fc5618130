"""Comparing: two scenarios in, what the second one costs out."""

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, cast

from pcaplat.comparing.comparison import compare as compare_scenarios
from pcaplat.comparing.history import history_row, keep, kept_in
from pcaplat.comparing.limits import parse_limit
from pcaplat.statistics.intervals import CONFIDENCE
from pcaplat.study.copies import refuse_copies
from pcaplat.study.errors import StudyError
from pcaplat.study.file import is_study
from pcaplat.study.scenarios import scenario_at, study_at
from pcaplat.study.sources import RunReader, ScenarioSource
from pcaplat.tables.documents import ComparisonDocument


def compare(  # noqa: PLR0913 - each is an option of its own
    baseline: ScenarioSource | Sequence[ScenarioSource],
    treatment: ScenarioSource | Sequence[ScenarioSource] | None = None,
    *,
    confidence: float = CONFIDENCE,
    accepts_order: bool = False,
    warm_up_ns: int | None = None,
    fail_above: str | None = None,
    history: str | PathLike[str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> ComparisonDocument:
    """Compare two scenarios: the difference of each figure, with its interval.

    Args:
        baseline: One run: a folder or list of captures, a folder that `merge -o` wrote, or a result
            of `merge` made with its rows. Several runs: a folder of folders, a list of any of
            these, or "study.toml:SCENARIO".
        treatment: The other scenario, in the same forms; not needed for a study of two scenarios.
        confidence: Confidence level of every interval.
        accepts_order: Return intervals for runs that are not interleaved, too.
        warm_up_ns: Time to leave out at each end of a run; by default 1 s or 2 %, at most 5 %.
        fail_above: How much slower the treatment may be: "5%" or "2us"; `limits` judges it.
        history: A folder of earlier comparisons; `history` reports since when it is slower.
        options: Arguments of `merge` for captures, e.g. {"same_clock": ["all"]}.

    Returns:
        The document `pcaplat.comparison/1` (docs/method/compare.md, pcaplat.tables.documents).

    Raises:
        InputError: An argument cannot be used.
        EvidenceError: No segment was measured in both.

    Assumes:
        The same points have the same names in both.

    Example:
        >>> document = compare("samples/l2", "samples/vxlan")
        >>> document["replication"], document["round_trips"][-1]["far"]
        ('within-run', 'host2-vm')
    """
    if not 0 < confidence < 1:
        raise StudyError.no_confidence(confidence)
    limit = None if fail_above is None else parse_limit(fail_above)
    if history is not None:
        kept_in(Path(history))
    reader = RunReader(options or {}, warm_up_ns)
    sources = [baseline, treatment] if treatment is not None else _both_of(baseline)
    both = [scenario_at(source, reader) for source in sources]
    refuse_copies(both)
    found = compare_scenarios(
        *both, confidence=confidence, accepts_order=accepts_order, limit=limit
    )
    found["history"] = None if history is None else history_row(keep(Path(history), found))
    return cast("ComparisonDocument", found)


def _both_of(
    source: ScenarioSource | Sequence[ScenarioSource],
) -> list[ScenarioSource | Sequence[ScenarioSource]]:
    where = fspath(source) if isinstance(source, str | PathLike) else "one result"
    names = study_at(where).names if is_study(where) else []
    if len(names) != len(("baseline", "treatment")):
        raise StudyError.two_scenarios(where, names)
    return [f"{where}:{name}" for name in names]
