"""A merge: captures in, the stages in order, a result out.

NumPy and the stages are imported while the first reading runs, which needs neither.
"""

import sys
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING

from pcaplat.model.files.captures import states_of
from pcaplat.run.engines.local import LocalEngine
from pcaplat.run.folder import RunFolder
from pcaplat.run.job import Job
from pcaplat.run.options import MergeOptions, taking

if TYPE_CHECKING:
    from pcaplat.run.result import Result

STAGES = "pcaplat.run.stages"


@taking(MergeOptions)
def merge(options: MergeOptions) -> "Result":
    """Match the packets of several captures of one path, and time every segment.

    Args:
        captures: PATH, POINT=PATH, or "-" for standard input.
        options: One by one in pcaplat.run.options.

    Returns:
        The result; its tables are those of pcaplat.tables.

    Raises:
        InputError: An argument cannot be used.
        EvidenceError: Nothing can be measured with these captures.
        OSError: A file cannot be opened.

    Assumes:
        Every packet keeps its innermost bytes along the path, and its addresses and ports but for
        translations that can be learned; see docs/method/match.md for what may change.

    Example:
        >>> from pathlib import Path
        >>> result = merge(sorted(Path("samples/vxlan").glob("*.pcap")), same_clock=["all"])
        >>> result.document["path"]
        ['host1-vm', 'host1-up', 'sw-a', 'sw-b', 'host2-up', 'host2-vm']
    """
    result = measure(options).completed()
    for warning in result.warnings:
        # of whoever called `merge` with its options as arguments
        warnings.warn(warning, stacklevel=3)
    return result


@taking(MergeOptions)
def merge_to_write(options: MergeOptions) -> "Result":
    """Match as `merge` does, for a result that is written into a folder at once.

    The frames are read for its tables in any case, and the traffic is counted then.
    """
    return measure(options)


def measure(options: MergeOptions) -> "Result":
    """Merge, leave the warnings in the document, and the traffic to `Result.completed`."""
    folder = RunFolder()
    try:
        job = Job.of(options, folder)
        with closing(job.engine):
            result = _measured(job)
        if job.breakdowns:
            result.document["breakdowns"] = result.breakdowns(job.breakdowns)
    except BaseException:
        folder.cleanup()
        raise
    return result


def _measured(job: Job) -> "Result":
    """Read the captures once, meanwhile import the stages, and run these."""
    before = states_of(job.captures)
    # what forks must not do so while a thread imports
    is_apart = isinstance(job.engine, LocalEngine) and STAGES not in sys.modules
    with importing(STAGES) if is_apart else nullcontext():
        job.sampled  # noqa: B018 - it is kept
    from pcaplat.run.stages import run_stages  # noqa: PLC0415 - see above

    return run_stages(job, before)


@contextmanager
def importing(name: str) -> Iterator[None]:
    """Import a module meanwhile, for the core reads without Python's lock."""
    thread = Thread(target=_import, args=[name])
    # without a further thread it is imported where it is needed
    with suppress(RuntimeError):
        thread.start()
    try:
        yield
    finally:
        if thread.ident:
            thread.join()


def _import(name: str) -> None:
    # what is wrong is told where it is needed
    with suppress(Exception):
        import_module(name)
