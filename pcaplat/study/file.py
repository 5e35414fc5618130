"""Study files: scenarios, their runs, points and clocks, and the claims to judge, in TOML."""

import tomllib
from collections.abc import Callable, Iterator, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    BeforeValidator,
    Field,
    PlainValidator,
    ValidationError,
    create_model,
    model_validator,
)

from pcaplat.errors import OptionError
from pcaplat.instruments.instants import parse_zone
from pcaplat.instruments.loading import SampleFile, Wanted
from pcaplat.instruments.table import Mapping
from pcaplat.model.files.stamping import parse_convention, parse_rate_bps
from pcaplat.published.checks import StrictModel, Text, kind, mistake
from pcaplat.published.formula import nearest
from pcaplat.published.mistakes import explain, explain_bytes, explain_syntax
from pcaplat.run.options import MergeOptions, options_of
from pcaplat.run.values import (
    CLOCK_ACCURACIES,
    DURATION,
    GROUPS,
    LINK_RATES,
    MOST_PORT,
    NAMES,
    PORTS,
    STAMPED_AT,
    TEXT,
    TEXTS,
    WAIT,
    ValueKind,
)
from pcaplat.study.errors import StudyError
from pcaplat.toml import read_toml
from pcaplat.units import parse_duration_ns

CLAIMS_FILE = ("document", "tables")
Value = TypeVar("Value")


def _text_or_texts(value: object) -> str | list[str]:
    """Read one text, or a list of them."""
    listed = value if isinstance(value, list) else [value]
    for one in listed:
        if not (isinstance(one, str) and one):
            raise mistake(f"is {kind(one)} and should be text" if one != "" else "is empty")
    if not listed:
        raise mistake("is an empty list")
    return value if isinstance(value, str) else [str(one) for one in listed]


def _duration_ns(value: object) -> int:
    return _said(value, parse_duration_ns, "1s", "text with a unit")


def _said(
    value: object, parse: Callable[[str], Value], example: str, wanted: str = "text"
) -> Value:
    if not isinstance(value, str):
        raise mistake(f'is {kind(value)} and should be {wanted}, like "{example}"')
    try:
        return parse(value)
    except OptionError as error:
        raise mistake(str(error)) from None


def _convention(value: object) -> str:
    return _said(value, parse_convention, "last-bit")


def _rate_bps(value: object) -> int:
    return _said(value, parse_rate_bps, "10 Gbit/s", "text with a unit")


def _signed_ns(value: object) -> int:
    if isinstance(value, str) and value.startswith("-"):
        return -_duration_ns(value[1:])
    return _duration_ns(value)


def _zone(value: object) -> tzinfo:
    try:
        return parse_zone(str(value))
    except ValueError as problem:
        raise mistake(str(problem)) from None


Texts = Annotated[str | list[str], PlainValidator(_text_or_texts)]
Duration = Annotated[int, BeforeValidator(_duration_ns)]
SignedDuration = Annotated[int, BeforeValidator(_signed_ns)]
Zone = Annotated[tzinfo, PlainValidator(_zone)]
StampedAt = Annotated[str, BeforeValidator(_convention)]
Rate = Annotated[int, BeforeValidator(_rate_bps)]
Port = Annotated[int, Field(ge=1, le=MOST_PORT)]


class Runs(StrictModel):
    """One scenario: each of `runs` is a folder (`*` stands for any), or a list of captures."""

    runs: list[Texts] = Field(min_length=1)


class Samples(StrictModel):
    """Samples of each run: a file in its folder."""

    file: Texts
    format: Literal["sar", "esxtop", "csv"]
    column: Text | None = None
    time: Text | None = None
    value: Text | None = None
    zone: Zone | None = None
    offset: SignedDuration = 0
    interval: Duration | None = None

    @model_validator(mode="after")
    def _maps_a_csv(self) -> Self:
        for key in ("time", "value"):
            if self.format == "csv" and getattr(self, key) is None:
                raise mistake("is missing, and CSV needs to know its column", key)
        return self


class CpuSamples(Samples):
    """How busy its processors were."""

    unit: Literal["core", "MHz", "%"] = "core"


class MemorySamples(Samples):
    """How much memory was used."""

    unit: Literal["B", "KiB", "MiB", "GiB"] = "MiB"

    @model_validator(mode="after")
    def _names_a_column(self) -> Self:
        if self.format == "esxtop" and self.column is None:
            raise mistake("is missing, and esxtop has many of memory, in MBytes", "column")
        return self


class Instruments(StrictModel):
    """Files of other instruments in each run's folder."""

    netperf: Texts | None = None
    iperf3: Texts | None = None
    cpu: CpuSamples | None = None
    memory: MemorySamples | None = None

    @property
    def wanted(self) -> Wanted:
        """Give the same as reading them takes it."""
        files = _sample_file(self.cpu), _sample_file(self.memory)
        return Wanted(_listed(self.netperf), _listed(self.iperf3), *files)


def _listed(texts: str | list[str] | None) -> list[str]:
    return [texts] if isinstance(texts, str) else texts or []


def _sample_file(given: CpuSamples | MemorySamples | None) -> SampleFile | None:
    if given is None:
        return None
    mapping = Mapping(given.time or "", given.value or "", given.unit, given.zone, given.interval)
    is_memory = isinstance(given, MemorySamples)
    files, column = _listed(given.file), given.column or ""
    return SampleFile(files, given.format, mapping, column, given.offset, is_memory)


class StudyFile(StrictModel):
    """What a study file says; paths in it begin at its own folder.

    Besides these keys it has those of `KEYS`: options of a merge.
    """

    scenarios: dict[str, Runs] = Field(min_length=1)
    claims: list[Text] = Field(default_factory=list)
    points: dict[str, Texts] = Field(default_factory=dict)
    instruments: Instruments = Field(default_factory=Instruments)
    warm_up: Duration | None = None

    @model_validator(mode="after")
    def _names_points_that_are_there(self) -> Self:
        if not self.points:
            return self
        known = list(self.points)
        for key, (_, kind_of_value) in KEYS.items():
            for name, at in _named_points(kind_of_value, getattr(self, key) or ()):
                _check_point(name, known, key, at)
        return self

    @property
    def options(self) -> dict[str, Any]:
        """Give what it says as arguments of `merge`."""
        return {
            argument: _argument(kind_of_value, value)
            for key, (argument, kind_of_value) in KEYS.items()
            if (value := getattr(self, key))
        }


FORMS: dict[ValueKind, Any] = {
    NAMES: list[Text],
    GROUPS: list[Texts],
    CLOCK_ACCURACIES: dict[str, Duration],
    STAMPED_AT: dict[str, StampedAt],
    LINK_RATES: dict[str, Rate],
    TEXT: Text,
    TEXTS: list[Text],
    DURATION: Duration,
    WAIT: Text,
    PORTS: list[Port],
}
"""How values of a kind are written in a study file."""

KEYS = {
    option.key: (argument, option.kind)
    for argument, option in options_of(MergeOptions).items()
    if option.key
}
"""Options that a study file may say, each with the argument of `merge` that it becomes."""

FIELDS: dict[str, Any] = {key: (FORMS[of], None) for key, (_, of) in KEYS.items()}
WHOLE = create_model("StudyFile", __base__=StudyFile, **FIELDS)


def _named_points(of: ValueKind, value: Any) -> Iterator[tuple[str, str | int]]:  # noqa: ANN401 - a form of a kind
    """Give the points that a value names, and where."""
    if of == NAMES:
        yield from ((name, index) for index, name in enumerate(value))
    elif of == GROUPS:
        groups = [(index, group) for index, group in enumerate(value) if isinstance(group, list)]
        yield from ((name, index) for index, group in groups for name in group)
    elif isinstance(value, dict):
        yield from ((name, name) for name in value)


def _argument(of: ValueKind, value: Any) -> object:  # noqa: ANN401 - a form of a kind
    """Give a value as `merge` takes it."""
    if of == GROUPS and "all" in value:
        return ["all"]
    return list(value.items()) if isinstance(value, dict) else value


def _check_point(name: str, known: Sequence[str], *keys: str | int) -> None:
    if name not in known:
        raise mistake(f"{name!r} is none of the points{nearest(name, list(known))}", *keys)


def is_study(name: str) -> bool:
    """Tell a study file from captures, and from a file of claims."""
    if not name.endswith(".toml") or not Path(name).is_file():
        return False
    try:
        content = read_toml(Path(name).read_text("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        # whichever it is: reading it will say what is wrong
        return False
    claims = content.get("claims", [])
    is_list_of_claims = isinstance(claims, list) and any(isinstance(one, dict) for one in claims)
    return not is_list_of_claims and not any(key in content for key in CLAIMS_FILE)


def load_study(path: str | Path) -> StudyFile:
    """Read a study file.

    Args:
        path: Of the TOML file; docs/prove/study_files.md has its keys.

    Raises:
        StudyError: Something in it is wrong; with its line.
        OSError: It cannot be opened.
    """
    where = str(path)
    try:
        text = Path(path).read_bytes().decode("utf-8").replace("\r\n", "\n")
        return WHOLE.model_validate(read_toml(text))
    except UnicodeDecodeError as error:
        raise explain_bytes(error, where, StudyError) from None
    except tomllib.TOMLDecodeError as error:
        raise explain_syntax(error, where, StudyError) from None
    except ValidationError as error:
        raise explain(error, text, where, WHOLE, StudyError) from None
