"""A run's files of other instruments, as a study file names them, read."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from pcaplat.instruments import CrossCheck, UsageSamples
from pcaplat.instruments.iperf3 import read_iperf3
from pcaplat.instruments.mistakes import InstrumentError
from pcaplat.instruments.netperf import read_netperf
from pcaplat.instruments.sar import read_sar
from pcaplat.instruments.table import Mapping, read_esxtop, read_table
from pcaplat.records import dataclass

FORMATS = ("sar", "esxtop", "csv")


@dataclass(frozen=True)
class SampleFile:
    """How samples are written: `format` is one of FORMATS.

    `offset_ns` is the instrument's clock less the captures'.
    """

    files: Sequence[str]
    format: str
    mapping: Mapping
    column: str = ""
    offset_ns: int = 0
    is_memory: bool = False


@dataclass(frozen=True)
class Wanted:
    """The patterns of files in a run's folder, by instrument."""

    netperf: Sequence[str] = ()
    iperf3: Sequence[str] = ()
    cpu: SampleFile | None = None
    memory: SampleFile | None = None


def cross_checks_in(folder: Path, wanted: Wanted) -> list[CrossCheck]:
    """Read what netperf and iperf3 say of a run.

    Raises:
        InstrumentError: A file is not there, or cannot be used.
    """
    readers: tuple[tuple[Sequence[str], Callable[[str, str], list[CrossCheck]]], ...] = (
        (wanted.netperf, read_netperf),
        (wanted.iperf3, read_iperf3),
    )
    return [
        check
        for patterns, read in readers
        for file in _files(folder, patterns)
        for check in read(_text(file), str(file))
    ]


def samples_in(folder: Path, wanted: SampleFile) -> UsageSamples:
    """Read a run's samples of CPU, or of memory, their times on the captures' clock.

    Raises:
        InstrumentError: A file is not there, there are several, or it cannot be used.
    """
    files = _files(folder, wanted.files)
    if len(files) > 1:
        names = ", ".join(file.name for file in files)
        kind = "memory" if wanted.is_memory else "CPU"
        what = f"several files are {kind} samples of one run: {names}"
        raise InstrumentError.at(str(folder), None, what, "name one")
    found = _samples(_text(files[0]), str(files[0]), wanted)
    return replace(found, end_ns=[end - wanted.offset_ns for end in found.end_ns])


def _samples(text: str, where: str, wanted: SampleFile) -> UsageSamples:
    is_memory = wanted.is_memory
    if wanted.format == "sar":
        return read_sar(text, where, wanted.mapping.zone, is_memory=is_memory)
    if wanted.format == "esxtop":
        return read_esxtop(text, where, wanted.column, is_memory=is_memory)
    return read_table(text, where, wanted.mapping)


def _files(folder: Path, patterns: Sequence[str]) -> list[Path]:
    chosen = []
    for pattern in patterns:
        files = sorted(folder.glob(pattern))
        if not files:
            there = ", ".join(sorted(one.name for one in folder.iterdir())[:5])
            what = f"there is no {pattern} in it (there are {there})"
            raise InstrumentError.at(str(folder), None, what, "correct [instruments] of the study")
        chosen += files
    return chosen


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except UnicodeDecodeError as problem:
        what = f"byte {problem.start} is no UTF-8"
        raise InstrumentError.at(str(file), None, what, "save it as UTF-8 text") from None
