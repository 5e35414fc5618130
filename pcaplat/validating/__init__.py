"""Judging: claims and what was measured in, verdicts out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from os import PathLike, fspath
from typing import Any, cast

from pcaplat.errors import ClaimError
from pcaplat.metrics.runs import UNNAMED, Scenario
from pcaplat.published import load_published
from pcaplat.published.claims import Claim
from pcaplat.study.choices import choices_of_runs
from pcaplat.study.copies import refuse_copies
from pcaplat.study.errors import StudyError
from pcaplat.study.file import is_study
from pcaplat.study.scenarios import scenario_at, study_at
from pcaplat.study.sources import RunReader, ScenarioSource
from pcaplat.tables.documents import VerdictsDocument
from pcaplat.validating.verdicts import validate as judge


def validate(
    claims: str | PathLike[str] | Sequence[str | PathLike[str]],
    results: ScenarioSource
    | Sequence[ScenarioSource]
    | Mapping[str, ScenarioSource | Sequence[ScenarioSource]]
    | None = None,
    *,
    only: Sequence[str] = (),
    accepts_order: bool = False,
    warm_up_ns: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> VerdictsDocument:
    """Judge claims by captures.

    Args:
        claims: A file of claims (docs/prove/claims.md), one that ships by its name, or several; a
            study file by itself names its own.
        results: One scenario as `compare` takes it; or several by name; or a study file.
        only: Ids of the claims to judge; all by default.
        accepts_order: Judge runs that are not interleaved all the same; the verdicts repeat it.
        warm_up_ns: Time to leave out at each end of a run; by default 1 s or 2 %, at most 5 %.
        options: Arguments of `merge` for captures.

    Returns:
        The document `pcaplat.verdicts/1` (docs/method/validate.md, pcaplat.tables.documents).

    Raises:
        InputError: An argument cannot be used; ClaimError: captures cannot test a claim.

    Example:
        >>> runs = {"l2": "samples/l2", "vxlan": "samples/vxlan"}
        >>> document = validate("nsx-vxlan-dlr-latency", runs, only=["nsx-vxlan-rtt"])
        >>> document["verdicts"][0]["verdict"]
        'undecided'
    """
    reader = RunReader(options or {}, warm_up_ns)
    names = [fspath(one) for one in _listed(claims)]
    if results is None:
        names, results = _of_study(names)
    chosen = chosen_claims(names, only)
    _check_names(results, chosen_claims(names))
    scenarios = scenarios_at(results, chosen, reader)
    refuse_copies(list(scenarios.values()))
    document = judge(chosen, scenarios, accepts_order=accepts_order)
    chosen_options = choices_of_runs(list(scenarios.values()))
    return cast("VerdictsDocument", document | {"options": chosen_options})


def _listed(claims: str | PathLike[str] | Sequence[str | PathLike[str]]) -> list[Any]:
    return [claims] if isinstance(claims, str | PathLike) else list(claims)


def _of_study(names: Sequence[str]) -> tuple[list[str], str]:
    """Take claims and captures from the one study file that is given."""
    if len(names) != 1 or not is_study(names[0]):
        raise StudyError.nothing_to_judge(names, _meant(chosen_claims(names)))
    study = study_at(names[0])
    if not study.claims:
        raise StudyError.without_claims(study.where)
    return study.claims, study.where


def chosen_claims(names: Sequence[str], only: Sequence[str] = ()) -> list[Claim]:
    """Read claims, and keep those that are asked for by id.

    Raises:
        ClaimError: There is none, or none of an id.
    """
    claims = [claim for name in names for claim in load_published(name).claims]
    known = [claim.id for claim in claims]
    for wanted in only:
        if wanted not in known:
            raise ClaimError.unknown_claim(wanted, known)
    chosen = [claim for claim in claims if not only or claim.id in only]
    if not chosen:
        raise ClaimError.no_claims(list(names))
    return chosen


def _check_names(results: object, claims: Sequence[Claim]) -> None:
    """Refuse a scenario that none of the claims is about, and one that a study file misspells."""
    scopes, meant = [claim.scope for claim in claims], _meant(claims)
    is_open = any(scope.kind != "difference" and not scope.scenario for scope in scopes)
    if isinstance(results, Mapping) and not is_open:
        for name in results:
            if name not in meant:
                raise StudyError.no_such_scenario(name, meant)
    if isinstance(results, str | PathLike) and is_study(fspath(results)):
        known = study_at(fspath(results)).names
        for name in meant:
            if name not in known and get_close_matches(name, known, 1):
                raise StudyError.unknown_scenario(fspath(results), name, known)


def _meant(claims: Sequence[Claim]) -> list[str]:
    """Name the scenarios that claims are about."""
    scopes = [claim.scope for claim in claims]
    names = (name for scope in scopes for name in (scope.baseline, scope.treatment, scope.scenario))
    return list(dict.fromkeys(name for name in names if name))


def scenarios_at(
    results: ScenarioSource
    | Sequence[ScenarioSource]
    | Mapping[str, ScenarioSource | Sequence[ScenarioSource]],
    claims: Sequence[Claim],
    reader: RunReader,
) -> dict[str, Scenario]:
    """Measure scenarios by name: of a study file those that claims are about."""
    if isinstance(results, Mapping):
        return {name: replace(scenario_at(one, reader), name=name) for name, one in results.items()}
    if isinstance(results, str | PathLike) and is_study(fspath(results)):
        study = study_at(fspath(results))
        return {name: study.scenario(name, reader) for name in _wanted(claims, study.names)}
    return {UNNAMED: replace(scenario_at(results, reader), name=UNNAMED)}


def _wanted(claims: Sequence[Claim], names: Sequence[str]) -> list[str]:
    """Scenarios that claims are about: others need not be merged."""
    scopes = [claim.scope for claim in claims]
    named = {name for scope in scopes for name in (scope.scenario, scope.treatment, scope.baseline)}
    is_open = any(scope.kind != "difference" and not scope.scenario for scope in scopes)
    return [name for name in names if is_open or name in named]
