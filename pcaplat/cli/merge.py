"""`pcaplat merge`: captures of one path → matched packets, per-segment latency."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from typer import Option

from pcaplat.cli import (
    OUTPUT,
    Format,
    need_standard_output,
    note,
    print_found,
    refuse_replacing,
    standard_output,
)
from pcaplat.cli.options import (
    OF_MERGE,
    Captures,
    EngineName,
    NoProgress,
    OutputDir,
    Overwrite,
    Quiet,
    Resume,
    Slices,
    is_study,
    offering,
)
from pcaplat.cli.progress import ProgressLine, progress_line
from pcaplat.errors import OptionError
from pcaplat.model.files.object_stores import check_target, is_remote
from pcaplat.outputs import output, result_files, write
from pcaplat.outputs.folder import check_directory, check_file, replaced
from pcaplat.records import dataclass
from pcaplat.tables import TABLES

if TYPE_CHECKING:
    from pcaplat.outputs.report import Topic
    from pcaplat.run.result import Result


EXAMPLES = (
    "pcaplat merge *.pcap                                    points: the file names",
    "pcaplat merge vm=a.pcap uplink=b.pcap --same-clock all",
    "pcaplat merge *.pcap --filter 'tcp port 443' -o out     files in the folder out",
)
Pcapng = Annotated[
    bool, Option("--pcapng", help="With -o: write merged.pcapng too.", rich_help_panel=OUTPUT)
]
Unmatched = Annotated[
    bool,
    Option(
        "--unmatched",
        help="With -o: write the frames that no other point captured, too.",
        rich_help_panel=OUTPUT,
    ),
]
Lost = Annotated[
    Path | None,
    Option(
        "--lost",
        metavar="FILE.pcapng",
        help="Write the lost packets, each as its last point captured it.",
        rich_help_panel=OUTPUT,
    ),
]
Plot = Annotated[
    Path | None,
    Option(
        "--plot",
        metavar="FILE",
        help="Draw the path: FILE.svg, FILE.png or FILE.html.",
        rich_help_panel=OUTPUT,
    ),
]
Table = Annotated[
    str | None,
    Option(
        "--table",
        metavar="NAME",
        help="With --format csv: the table to print, e.g. matches.",
        rich_help_panel=OUTPUT,
    ),
]
LARGE = ("packets", "matches", "lost")
NO_LIST = ("details", "slowest", "clock_bands")
"""Tables that are no list of summary.json, nor rows of a result."""
Verbose = Annotated[
    bool,
    Option(
        "--verbose",
        "-v",
        help="Show --clocks, --requests, --budget, distributions and notes.",
        rich_help_panel=OUTPUT,
    ),
]
ShowClocks = Annotated[
    bool, Option("--clocks", help="Show the clock of each point.", rich_help_panel=OUTPUT)
]
ShowRequests = Annotated[
    bool,
    Option(
        "--requests",
        help="Show round trips per segment and kind of transaction.",
        rich_help_panel=OUTPUT,
    ),
]
ShowBudget = Annotated[
    bool,
    Option(
        "--budget",
        help="Show the largest source of uncertainty of each mean.",
        rich_help_panel=OUTPUT,
    ),
]


@offering(OF_MERGE)
def command(
    captures: Captures,
    output_dir: OutputDir = None,
    overwrite: Overwrite = False,
    format_: Format = "table",
    *,
    options: dict[str, Any],
    table: Table = None,
    pcapng: Pcapng = False,
    unmatched: Unmatched = False,
    lost: Lost = None,
    plot: Plot = None,
    engine: EngineName = "local",
    slices: Slices = None,
    resume: Resume = False,
    verbose: Verbose = False,
    clocks: ShowClocks = False,
    requests: ShowRequests = False,
    budget: ShowBudget = False,
    quiet: Quiet = False,
    no_progress: NoProgress = False,
) -> None:
    """Match the packets of several captures of one path, and report the latency per segment."""
    folder = ResultFolder(output_dir, overwrite, pcapng, unmatched, lost, resume)
    topics = _topics(clocks=clocks, requests=requests, budget=budget)
    printed = Printed(format_, table, verbose, topics, quiet)
    _check(folder, printed, plot, captures)
    where = {"engine": engine, "slices": slices, "resume": folder.state}
    kept = {"keep_rows": folder.needs_rows or printed.needs_rows, "keep_crossings": False}
    jobs = _jobs(captures, options | kept | where, folder)
    with progress_line(is_wanted=not (quiet or no_progress)) as line:
        for name, files, chosen in jobs:
            result = _merge(files, chosen | {"progress": line}, writes=bool(output_dir))
            folder.write(result, name, line)
            if name:
                result.close()
                note(f"{output_dir}/{name}: written", is_quiet=quiet)
    if plot:
        _draw(result, plot)
    if not name and not (output_dir and sys.stdout is None):
        printed.show(result)


@dataclass(frozen=True)
class Printed:
    """What standard output gets of a result."""

    format: str
    table: str | None
    is_verbose: bool
    topics: Sequence["Topic"]
    is_quiet: bool

    @property
    def needs_rows(self) -> bool:
        """Whether what is known of single packets is printed."""
        return self.table in LARGE or getattr(output(self.format), "NEEDS_ROWS", False)

    def check(self) -> None:
        """Refuse a table that there is not, before any work is done."""
        known = [table.name for table in TABLES if table.name not in NO_LIST]
        if self.table and self.table not in known:
            raise OptionError.unknown_table("--table", self.table, known)
        if self.table and self.format != "csv":
            raise OptionError("--table: needs --format csv")

    def show(self, result: "Result") -> None:
        """Print it, and warnings that rows have no place for beside it."""
        if self.table:
            with standard_output() as stream:
                output(self.format).show_rows(self.table, result, stream)
            return
        warnings = () if self.is_quiet else result.document["warnings"]
        is_verbose, topics = self.is_verbose, self.topics
        print_found(self.format, "merge", result, warnings, is_verbose=is_verbose, topics=topics)


def _topics(**asked: bool) -> "list[Topic]":
    return [cast("Topic", name) for name, is_asked in asked.items() if is_asked]


def _check(
    folder: "ResultFolder", printed: Printed, plot: Path | None, captures: Sequence[str]
) -> None:
    """Refuse what cannot be written, drawn or printed, before any work is done."""
    folder.check(captures)
    printed.check()
    if plot:
        from pcaplat.outputs.page.picture import check_picture

        check_picture(plot, folder.path)
        refuse_replacing([plot], captures)
        if is_study(captures):
            raise OptionError("--plot draws one run; give captures in place of a study file")


def _draw(result: "Result", plot: Path) -> None:
    from pcaplat.outputs.page.picture import write_picture

    write_picture(result.plot.measured, plot)


@dataclass(frozen=True)
class ResultFolder:
    """Where the result's files are written, if anywhere, and which."""

    path: Path | None
    overwrite: bool
    pcapng: bool
    unmatched: bool
    lost: Path | None
    resumes: bool

    @property
    def state(self) -> Path | None:
        """Where tasks that are done are kept until it is written, if they are."""
        if not (self.resumes and self.path):
            return None
        return self.path.with_name(f"{self.path.name}.unfinished")

    @property
    def needs_rows(self) -> bool:
        """Whether what is known of single packets is written."""
        return self.path is not None or self.lost is not None

    def check(self, captures: Sequence[str]) -> None:
        """Refuse what cannot be written, before any work is done."""
        if self.resumes and (self.path is None or is_remote(str(self.path))):
            raise OptionError("--resume needs --output DIR, a folder on this machine")
        if self.resumes and is_study(captures):
            raise OptionError("--resume goes on with one merge; give the captures of a single run")
        if self.lost:
            check_file(self.lost, self.path)
            refuse_replacing([self.lost], captures)
        if self.path and is_remote(str(self.path)):
            check_target(str(self.path), overwrite=self.overwrite)
        elif self.path:
            check_directory(self.path, overwrite=self.overwrite, files=result_files())
            refuse_replacing(replaced(self.path, result_files()), captures)
        elif self.pcapng or self.unmatched:
            option = "pcapng" if self.pcapng else "unmatched"
            raise OptionError(f"--{option} needs --output DIR, the folder to write into")
        else:
            need_standard_output()

    def write(self, result: "Result", name: str, line: ProgressLine | None = None) -> None:
        """Write a result's files; `name` is its folder's among those of several."""
        if self.path:
            if line:
                line.update(0, 0, "writing")
            kept = {"pcapng": self.pcapng, "unmatched": self.unmatched}
            write(result, self.path / name, overwrite=self.overwrite, **kept)
        if self.lost:
            result.write_lost(self.lost)
        if self.state:
            from pcaplat.run.engines.unfinished import forget

            forget(self.state)


def _jobs(
    captures: Sequence[str], options: dict[str, Any], folder: ResultFolder
) -> list[tuple[str, Sequence[str], dict[str, Any]]]:
    """Give what to merge: the captures, or each run of a study file, and its folder's name."""
    if not is_study(captures):
        return [("", captures, options)]
    from pcaplat.study.scenarios import runs_at

    where = captures[0]
    found = runs_at(where, options)
    several = len(found) > 1
    if several and folder.lost:
        raise OptionError(f"{where}: has {len(found)} runs; --lost FILE is of one")
    if several and folder.path is None:
        raise OptionError(f"{where}: has {len(found)} runs; write them with --output DIR")
    return [
        (f"{name}/{run.name}" if several else "", run.captures, own) for name, run, own in found
    ]


def _merge(captures: Sequence[str], options: dict[str, Any], *, writes: bool) -> "Result":
    from pcaplat.run.merge import merge, merge_to_write

    if not writes:
        return merge(captures, **options)
    from pcaplat.plots.render import start

    # what draws report.html starts meanwhile
    start()
    return merge_to_write(captures, **options)
