"""`pcaplat validate`: claims → verdicts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Exit, Option

from pcaplat.cli import OK, Format, print_found
from pcaplat.cli.compare import AcceptOrder, WarmUp, prepare, warm_up_of
from pcaplat.cli.options import OF_MEASURING, OutputDir, Overwrite, Quiet, offering
from pcaplat.outputs import save
from pcaplat.study.errors import StudyError

EXAMPLES = (
    "pcaplat validate claims.toml *.pcap",
    "pcaplat validate claims.toml baseline=runs/a treatment=runs/b",
)


REFUTED, UNDECIDED = 1, 3

ClaimsFile = Annotated[
    str,
    Argument(
        metavar="CLAIMS",
        show_default=False,
        help="A TOML file, one that ships with pcaplat, or a study file that names some.",
    ),
]
Results = Annotated[
    list[str] | None,
    Argument(
        metavar="[CAPTURE|DIR]...",
        show_default=False,
        help="Captures of one run; or scenarios, each SCENARIO=DIR or DIR; or a study file.",
    ),
]
ClaimIds = Annotated[
    list[str] | None, Option("--claim", metavar="ID", help="Judge this claim only. Repeatable.")
]
ScenarioName = Annotated[
    str | None,
    Option(
        "--scenario",
        metavar="NAME",
        help="Scenario of the captures, for claims that name a scenario.",
    ),
]


@offering(OF_MEASURING)
def command(
    claims: ClaimsFile,
    captures: Results = None,
    claim: ClaimIds = None,
    scenario: ScenarioName = None,
    *,
    accept_order: AcceptOrder = False,
    output_dir: OutputDir = None,
    overwrite: Overwrite = False,
    format_: Format = "table",
    warm_up: WarmUp = None,
    options: dict[str, Any],
    quiet: Quiet = False,
) -> None:
    """Test claims against captures: each is held, refuted, or undecided, with the reason."""
    del quiet
    prepare(output_dir, overwrite=overwrite)
    from pcaplat.validating import validate

    document = validate(
        claims,
        results_of(captures or (), scenario),
        only=claim or (),
        accepts_order=accept_order,
        warm_up_ns=warm_up_of(warm_up),
        options=options,
    )
    if output_dir:
        save("validate", document, output_dir, overwrite=overwrite)
    print_found(format_, "validate", document)
    raise Exit(status_of(document))


def results_of(given: Sequence[str], scenario: str | None = None) -> Any:  # noqa: ANN401 - one of what `validate` takes
    """Tell scenarios from the captures of one run, and from a study file.

    Args:
        given: What stands behind the claims.
        scenario: What all of it is of, if that is said.
    """
    if not given:
        return None
    if len(given) == 1 and given[0].endswith(".toml"):
        return {scenario: f"{given[0]}:{scenario}"} if scenario else given[0]
    split = [_named(one) for one in given]
    are_folders = [Path(folder).is_dir() or ".toml:" in folder for _, folder in split]
    if not any(are_folders):
        return {scenario: list(given)} if scenario else list(given)
    if not all(are_folders):
        raise StudyError.files_among_folders(given[are_folders.index(False)])
    if scenario:
        return {scenario: list(given) if len(given) > 1 else given[0]}
    found = dict(split)
    if len(found) < len(split):
        twice = next(name for name, _ in split if [n for n, _ in split].count(name) > 1)
        raise StudyError.scenario_twice(twice)
    return found


def _named(text: str) -> tuple[str, str]:
    """Split SCENARIO=DIR; a folder by itself has the name it has."""
    name, is_given, folder = text.partition("=")
    if is_given and not Path(text).exists():
        return name, folder
    return Path(text).resolve().name.rpartition(":")[2], text


def status_of(document: Mapping[str, Any]) -> int:
    """Give the exit status that verdicts come to."""
    words = {row["verdict"] for row in document["verdicts"]}
    if "refuted" in words:
        return REFUTED
    return UNDECIDED if "undecided" in words else OK
