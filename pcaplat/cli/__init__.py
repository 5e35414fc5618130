"""The command line: one module per subcommand, and what they share.

Results go to standard output, everything else to standard error. Exit status: 0 done, 1 a claim is
refuted, 2 nothing could be measured, 3 a claim is undecided, 130 interrupted. A user's mistake is
one line, never a traceback.
"""

import errno
import importlib
import os
import re
import resource
import signal
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from inspect import signature
from io import TextIOWrapper
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, TextIO, cast, get_args

import typer

from pcaplat.cli.coercion import PlainCommand, PlainGroup
from pcaplat.cli.help import MEASURE, PROVE
from pcaplat.errors import OutputError, PcaplatError, PcaplatWarning, with_path
from pcaplat.outputs import formats, show
from pcaplat.text import printable

if TYPE_CHECKING:
    from types import FrameType

    from pcaplat.outputs.report import Topic

COMMANDS = {
    "merge": "merge",
    "validate": "validate",
    "plan": "plan",
    "init": "init",
    "compare": "compare",
    "rfc2544": "rfc2544",
    "audit": "audit",
    "lint": "lint",
    "capture": "capture",
    "read": "read",
    "points": "points",
    "report": "report",
    "trace": "trace",
    "wireshark": "wireshark",
    "digest": "digest",
}
PANELS = dict.fromkeys(COMMANDS, MEASURE) | dict.fromkeys(
    ("validate", "plan", "init", "compare", "rfc2544", "audit"), PROVE
)
EXAMPLES = (
    "pcaplat lint *.pcap                     problems that affect the figures",
    "pcaplat merge *.pcap                    where the time went, segment by segment",
    "pcaplat merge vm=a.pcap uplink=b.pcap --same-clock all",
    "pcaplat points                          where to capture, and the commands for it",
)
REMEDIES = {
    errno.ENOENT: "check the name",
    errno.EACCES: "check its permissions, or run as a user who has them",
    errno.EISDIR: "give the files in it, e.g. FOLDER/*.pcap (compare, validate, init: folders)",
    errno.ELOOP: "it is a link that leads to itself: unlink it, or give the file itself",
    errno.ENOSPC: "free some space, or write elsewhere (temporary files: TMPDIR)",
    errno.EDQUOT: "free some space, or write elsewhere (temporary files: TMPDIR)",
    errno.EFBIG: "lift the limit (ulimit -f), or write less, e.g. with --from and --to",
    errno.EROFS: "write elsewhere",
    errno.ENXIO: "give a capture file",
    errno.EIO: "the disk may be damaged; copy the file elsewhere, and give the copy",
    errno.ENAMETOOLONG: "give a shorter one",
    errno.EMFILE: "raise the limit of open files (ulimit -n), or give fewer files at once",
    errno.ENFILE: "the whole system has too many open files: close some, or raise fs.file-max",
    errno.EAGAIN: "raise the limit of processes and threads (ulimit -u), or that of the container",
}
SHORTAGES = (
    (
        re.compile(r"spawn.*threads?\b|start new thread", re.IGNORECASE),
        "the system gave no further thread: raise the limit (ulimit -u), or give fewer cores",
    ),
    (
        re.compile("too many open files", re.IGNORECASE),
        f"too many open files: {REMEDIES[errno.EMFILE]}",
    ),
)
"""What libraries say where they get no thread or file, which is no error of its own to them."""

SLIPS = {
    r"[*?]": "no file has such a name; leave out quotation marks, so that the shell finds files",
    ",": "check the name; captures are separated by spaces",
    r":\d+: $": "check the name; FILE:FRAME stands last, behind the captures",
}
"""What is likely meant by a name that no file has, by a sign in it."""

OK, UNUSABLE, INTERRUPTED = 0, 2, 130
KILLED_BY = 128
"""Exit status of who is ended by a signal, less the signal's number."""
TRACEBACK = "PCAPLAT_TRACEBACK"
INTERRUPTS: list[int] = []
"""The interrupts so far."""
AGAIN_S = 0.01
"""After so long, what asked the program to end is said again where nobody could hear it."""
OUTPUT = "Output"
"""A group of options in the help."""
Format = Annotated[
    str, typer.Option("--format", help="Format of standard output.", rich_help_panel=OUTPUT)
]


def main() -> NoReturn:
    """Run the command line and leave with its exit status."""
    handlers = {
        signal.SIGINT: _interrupt,
        signal.SIGTERM: _terminate,
        signal.SIGHUP: _terminate,
    }
    for number, handler in handlers.items():
        # nohup wants to be left alone
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)
    _hear_all()
    if sys.stderr is None:
        # or what is said would go to standard output
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the end
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    # each command shows them in a place of its own
    warnings.simplefilter("ignore", PcaplatWarning)
    sys.exit(run(sys.argv[1:]))


def _hear_all() -> None:
    """Raise again what was raised where Python drops it: in a finalizer, an import's callbacks."""
    dropped: list[BaseException] = []

    def tell(unraisable: "sys.UnraisableHookArgs") -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt | SystemExit):
            sys.__unraisablehook__(unraisable)
            return
        dropped.append(unraisable.exc_value or unraisable.exc_type())
        signal.setitimer(signal.ITIMER_REAL, AGAIN_S)

    def raise_again(number: int, frame: "FrameType | None") -> NoReturn:
        del number, frame
        raise dropped[-1]

    signal.signal(signal.SIGALRM, raise_again)
    sys.unraisablehook = tell


MOST_OPEN_FILES = 1 << 16
"""No run needs more."""


def run(arguments: Sequence[str]) -> int:
    """Run one command; give the exit status."""
    _raise_open_files()
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    try:
        app = application(needed(arguments))
        status = app(args=list(arguments), prog_name="pcaplat", standalone_mode=False)
    except SystemExit:
        raise
    except BaseException as problem:  # a panic of a native library is no Exception
        # what an import makes of an interrupt need not be one
        if INTERRUPTS or isinstance(problem, KeyboardInterrupt):
            return INTERRUPTED
        if os.environ.get(TRACEBACK):
            raise
        if not arguments and isinstance(problem, typer.TyperException):
            print(problem.format_message(), file=sys.stderr)
            return UNUSABLE
        print(f"pcaplat: {one_line(_message(problem))}", file=sys.stderr)
        return UNUSABLE
    return status if isinstance(status, int) else OK


def _raise_open_files() -> None:
    """Take as many open files as this process may: many cores spill into many files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # some systems allow less than they say
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _message(problem: BaseException) -> str:
    match problem:
        case typer.TyperException():
            return f"{_sentence(problem)}; see {_help_for(problem)}"
        case PcaplatError():
            return str(problem)
        case OSError():
            return _system_message(problem)
        case MemoryError():
            return "out of memory; give less at once, e.g. with --from and --to"
    for sign, message in SHORTAGES:
        if sign.search(str(problem)):
            return message
    return (
        f"a bug in pcaplat, {type(problem).__name__}: {problem}; please report this line, and the "
        f"output with {TRACEBACK}=1 in the environment"
    )


def needed(arguments: Sequence[str]) -> Sequence[str]:
    """Give the subcommands that must be imported: all, unless the first argument says which.

    Example:
        >>> needed(["merge", "a.pcap", "b.pcap"]), needed(["--version"]), len(needed(["--help"]))
        (['merge'], [], 15)
    """
    first, *_ = [*arguments, ""]
    if first == "--version":
        return []
    return [first] if first in COMMANDS else [*COMMANDS]


def application(names: Sequence[str] = (*COMMANDS,)) -> typer.Typer:
    """Give the command line of some subcommands, or of all, imported."""
    app = typer.Typer(
        name="pcaplat",
        cls=PlainGroup,
        no_args_is_help=True,
        rich_markup_mode=None,
        epilog="\n".join(EXAMPLES),
        add_completion=len(names) == len(COMMANDS),
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_about)
    for name in names:
        module = importlib.import_module(f"pcaplat.cli.{COMMANDS[name]}")
        command: Callable[..., None] = module.command
        examples = "\n".join(module.EXAMPLES)
        app.command(name, cls=PlainCommand, epilog=examples, rich_help_panel=PANELS[name])(
            with_formats(name, command)
        )
    return app


def with_formats(name: str, command: Callable[..., None]) -> Callable[..., None]:
    """Let `--format` of a subcommand be one that the outputs offer for it."""
    own = signature(command, eval_str=True)
    if given := own.parameters.get("format_"):
        annotated, literal = cast("Any", (Annotated, Literal))
        kind, *about = get_args(given.annotation)
        offered = literal[tuple(formats(name))]
        offered = annotated[offered | None if NoneType in get_args(kind) else offered, *about]
        command.__annotations__["format_"] = offered
        parameters = {**own.parameters, "format_": given.replace(annotation=offered)}
        vars(command)["__signature__"] = own.replace(parameters=[*parameters.values()])
    return command


def _show_version(is_asked: bool) -> None:
    if is_asked:
        import pcaplat

        print(f"pcaplat {pcaplat.__version__}")
        raise typer.Exit


def _about(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Find the same packet in several captures of one path, and where the microseconds went."""


def _interrupt(number: int, frame: "FrameType | None") -> NoReturn:
    del frame
    INTERRUPTS.append(number)
    raise KeyboardInterrupt


def _terminate(number: int, frame: "FrameType | None") -> NoReturn:
    """Leave through every `finally`, so that nothing half-written stays."""
    del frame
    sys.exit(KILLED_BY + number)


def one_line(message: str) -> str:
    r"""Put a message on one line, and make the names in it harmless.

    Example:
        >>> one_line("a\x1b:\n  b")
        'a\\x1b: b'
    """
    return printable(" ".join(message.splitlines())).replace("   ", " ")


def _sentence(mistake: typer.TyperException) -> str:
    text = " ".join(mistake.format_message().split()).rstrip(".")
    return text[:1].lower() + text[1:]


def _help_for(mistake: typer.TyperException) -> str:
    context = getattr(mistake, "ctx", None)
    return f"{context.command_path if context else 'pcaplat'} --help"


def _slip(path: str) -> str:
    """Name the likely mistake in the name of a file that is not there."""
    for sign, meant in SLIPS.items():
        if re.search(sign, path):
            return meant
    return REMEDIES[errno.ENOENT]


def _system_message(problem: OSError) -> str:
    where = f"{os.fsdecode(problem.filename)}: " if problem.filename else ""
    what = (os.strerror(problem.errno) if problem.errno else str(problem)).lower()
    remedy = _slip(where) if problem.errno == errno.ENOENT else REMEDIES.get(problem.errno or 0)
    return f"{where}{what}" + (f"; {remedy}" if remedy else "")


def refuse_replacing(files: Iterable[Path], captures: Sequence[str]) -> None:
    """Refuse to write over a capture that is read.

    Raises:
        OutputError: One of the files is one.
    """
    from pcaplat.model.files.captures import is_given

    for file in files:
        if is_given(file, captures):
            raise OutputError.replaces_capture(str(file))


def need_standard_output() -> None:
    """Refuse to work for a standard output that is closed.

    Raises:
        OutputError: It is.
    """
    if sys.stdout is None:
        raise OutputError.no_standard_output()


@contextmanager
def standard_output() -> Iterator[TextIO]:
    """Give standard output; a reader that has had enough (`| head`) is no mistake."""
    need_standard_output()
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_standard_output()
    except OSError as problem:
        if problem.filename is None:
            _forget_standard_output()
        raise with_path(problem, "standard output") from None


def print_found(
    format_: str,
    command: str,
    found: object,
    warnings: Iterable[Mapping[str, Any]] = (),
    *,
    is_verbose: bool = False,
    topics: Collection["Topic"] = (),
) -> None:
    """Write what was found to standard output; warnings that rows have no place for, beside it."""
    with standard_output() as stream:
        show(format_, command, found, stream, is_verbose=is_verbose, topics=topics)
    for warning in warnings if format_ == "csv" else ():
        note(f"{warning['code']}: {warning['text']}", is_quiet=False)


def _forget_standard_output() -> None:
    """Let the interpreter's last flush, on its way out, go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def note(text: str, *, is_quiet: bool) -> None:
    """Say something on standard error that is no result."""
    if not is_quiet:
        print(f"pcaplat: {one_line(text)}", file=sys.stderr)
