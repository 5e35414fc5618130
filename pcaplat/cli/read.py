"""`pcaplat read`: captures → the columns of packets.parquet, streamed."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Annotated, Any

from typer import Option

from pcaplat.cli import note, refuse_replacing, standard_output
from pcaplat.cli.options import OF_READ, Captures, Strict, offering
from pcaplat.errors import InputError, OptionError
from pcaplat.outputs import output, outputs_with
from pcaplat.outputs.folder import check_file, new_file

EXAMPLES = ("pcaplat read a.pcap | head", "pcaplat read *.pcap -o frames.parquet")


@offering(OF_READ)
def command(
    captures: Captures,
    format_: Annotated[
        str | None,
        Option(
            "--format",
            help="Format of standard output: csv (default), or json, one object per line.",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        Option("--output", "-o", metavar="FILE", help="Write FILE.csv, FILE.json or FILE.parquet."),
    ] = None,
    *,
    options: dict[str, Any],
    details: Annotated[
        bool, Option("--details", help="Further columns: IP ID, TTL, TCP numbers, marks of pcapng.")
    ] = False,
    follow: Annotated[
        bool, Option("--follow", help="Wait for what is still being written to CAPTURE.")
    ] = False,
    strict: Strict = False,
) -> None:
    """Decode captures: one row per frame, as packets.parquet has it."""
    options |= {"details": details, "strict": strict}
    if follow:
        _follow(captures, file, format_ or "csv", options)
        return
    if file:
        name = _format_of(file, format_)
        refuse_replacing([file], captures)
        check_file(file)
        with new_file(file) as stream:
            _write(name, captures, options, stream)
        return
    with standard_output() as stream:
        _write(format_ or "csv", captures, options, stream.buffer)


def _format_of(file: Path, asked: str | None) -> str:
    names = sorted(outputs_with("save_rows"))
    found = next((name for name in names if file.suffix.lower() == f".{name}"), None)
    if found is None or asked not in (None, found):
        *endings, last = (f".{name}" for name in names)
        raise OptionError(
            f"--output {file}: the format is unknown; the name must end in {', '.join(endings)} or "
            f"{last}" + (f" (and --format {asked} contradicts it)" if found else "")
        )
    return found


def _write(name: str, captures: Sequence[str], options: dict[str, Any], stream: IO[bytes]) -> None:
    batches = _batches(captures, **options)
    # the first batch is where an unreadable capture shows, before anything is written
    first = next(batches, None)
    output(name).save_rows(() if first is None else chain([first], batches), stream)


def _batches(
    captures: Sequence[str],
    *,
    strict: bool,
    **options: Any,  # noqa: ANN401 - those of pcaplat.read
) -> Iterator[Any]:
    import pcaplat
    from pcaplat.model.files.captures import by_their_names, parse_captures, point_names
    from pcaplat.run.folder import RunFolder
    from pcaplat.stages.read import batches_of

    with RunFolder() as folder:
        given = parse_captures(captures, Path(folder.name))
        paths, files = [one.path for one in given], [one.name for one in given]
        with by_their_names(given):
            stream = pcaplat.read(paths, points=point_names(given), files=files, **options)
            yield from batches_of(stream)
    _tell(strict, stream.damage())


def _follow(captures: Sequence[str], file: Path | None, name: str, options: dict[str, Any]) -> None:
    if file:
        raise OptionError("--follow never ends a file: leave out --output, and use standard output")
    if len(captures) > 1:
        raise OptionError("--follow reads one capture; run one pcaplat read for each")
    with standard_output() as stream:
        output(name).save_rows(_rows_as_they_come(captures[0], options, stream), stream.buffer)


def _rows_as_they_come(capture: str, options: dict[str, Any], stream: IO[str]) -> Iterator[Any]:
    import pyarrow as pa  # noqa: F401 - slow: now, while nothing waits for it

    import pcaplat
    from pcaplat.model.files.captures import parse_live, point_names
    from pcaplat.stages.read import batches_of

    strict = options.pop("strict")
    given = parse_live(capture)
    [point] = point_names([given])
    following = pcaplat.follow(given.path, point=point, file=given.name, **options)
    while rows := following.rows():
        yield from batches_of(rows)
        stream.flush()
        _tell(strict, [(given.name, *damage) for damage in following.damage()])
    _tell(strict, [(given.name, *damage) for damage in following.damage()])


def _tell(strict: bool, damage: Sequence[tuple[str, int, str]]) -> None:
    for file, at_byte, text in damage:
        if strict:
            raise InputError.damaged(f"{file}: byte {at_byte}", text)
        note(f"damaged-capture: {file}: byte {at_byte}: {text}", is_quiet=False)
