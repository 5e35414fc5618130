"""The folder that files are written into: complete, or as it was before."""

import errno
import fcntl
import glob
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from pcaplat.errors import OutputError, with_path
from pcaplat.text import printable

PARTIAL = ".partial"
RANDOM = "?" * 8
"""What tempfile puts between prefix and suffix; `out` is not `out-2`."""

OF_FILES = {".csv", ".html", ".json", ".md", ".parquet", ".pcap", ".pcapng", ".png", ".svg", ".txt"}
"""No folder is called so on purpose."""

FOLDERS = {"unmatched": "*.pcapng"}
"""Folders among the files, and what in them is of a result: anything else there stays."""


@contextmanager
def new_folder(target: Path, files: Sequence[str], *, overwrite: bool) -> Iterator[Path]:
    """Give a folder to write `files` into, which take their place only when all are complete."""
    check_directory(target, overwrite=overwrite, files=files)
    with _scratch(target) as scratch:
        try:
            yield scratch
        except OSError as problem:
            raise with_path(problem, str(target)) from None
        if not overwrite and (found := _others(target)):  # somebody filled it meanwhile
            raise OutputError.not_empty(printable(str(target)), printable(found[0]))
        _publish(scratch, target, files)


def replaced(target: Path, files: Sequence[str]) -> Iterator[Path]:
    """Give the places that a result's files take in a folder, and those of an earlier one's."""
    for name in files:
        place = target / name
        if name in FOLDERS and place.is_dir() and not place.is_symlink():
            yield from place.glob(FOLDERS[name])
        else:
            yield place


def check_directory(directory: Path, *, overwrite: bool, files: Sequence[str] = ()) -> None:
    """Refuse a folder that `files` cannot be written into, before any work is done.

    Raises:
        OutputError: The folder holds something already, or is a file, or lies behind one; or one
            of the files would take the place of a folder.
        OSError: Nothing can be written there.
    """
    if directory.is_symlink() and not directory.exists():
        raise OutputError.link_to_nowhere(printable(str(directory)))
    if directory.suffix in OF_FILES and not directory.exists():
        raise OutputError.file_for_folder(printable(str(directory)))
    nearest = check_place(directory)
    found = _others(directory) if nearest == directory else []
    if found and not overwrite:
        raise OutputError.not_empty(printable(str(directory)), printable(found[0]))
    for place in replaced(directory, files):
        if place.is_dir() and not place.is_symlink():
            raise OutputError.not_a_file(printable(str(place)))


def check_file(file: Path, beside: Path | None = None) -> None:
    """Refuse a file that cannot be written, before any work is done.

    Args:
        file: What is to be written.
        beside: The folder of a result that is written first; it need not be there.

    Raises:
        OutputError: It is a folder, or lies behind a file, or its folder is not there.
        OSError: Nothing can be written there.
    """
    if file.is_dir():
        raise OutputError.folder_for_file(printable(str(file)))
    if beside is None or file.parent.absolute() != beside.absolute():
        if not file.parent.exists() and not any(one.is_file() for one in file.parents):
            raise OutputError.no_folder(printable(str(file)), printable(str(file.parent)))
        check_place(file.parent)


def check_place(directory: Path) -> Path:
    """Refuse a folder that nothing can be written into, or that cannot be made.

    Returns:
        The folder that exists, this one or the nearest above it.

    Raises:
        OutputError: It is a file, or lies behind one.
        OSError: Nothing can be written there.
    """
    nearest = _nearest_folder(directory)
    # what no permission tells: file systems of the kernel, names that are too long
    probe = _scratch_folder(directory, nearest)
    with suppress(FileNotFoundError):  # another run took it for a leftover
        probe.rmdir()
    return nearest


def _nearest_folder(directory: Path) -> Path:
    """Give the folder that exists, this one or that above it, and can be written into."""
    nearest = next(
        folder for folder in (directory, *directory.absolute().parents) if folder.exists()
    )
    if not nearest.is_dir():
        raise OutputError.not_a_folder(printable(str(nearest)))
    if not os.access(nearest, os.W_OK | os.X_OK):
        is_read_only = os.statvfs(nearest).f_flag & os.ST_RDONLY
        why = errno.EROFS if is_read_only else errno.EACCES
        raise OSError(why, os.strerror(why), str(nearest))
    return nearest


@contextmanager
def _scratch(target: Path) -> Iterator[Path]:
    """Give a folder on the target's file system, beside it if may be, that is gone afterwards."""
    parent = target.absolute().parent
    parent.mkdir(parents=True, exist_ok=True)
    is_beside = not target.is_mount() and os.access(parent, os.W_OK)
    home = parent if is_beside and not target.is_symlink() else target
    with ExitStack() as held:
        with _locked(home, fcntl.LOCK_EX):  # of two that begin at once, one comes second
            for place in {home, target}:  # in the target are those of runs that were killed early
                _remove_leftovers(place, target)
            scratch = _scratch_folder(target, home)
            held.enter_context(_locked(scratch))
        try:
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _scratch_folder(target: Path, home: Path) -> Path:
    """Make a folder; a failure is told of the folder that the user named."""
    try:
        return Path(tempfile.mkdtemp(prefix=f".{target.name}-", suffix=PARTIAL, dir=home))
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror, str(target)) from None


@contextmanager
def _locked(folder: Path, how: int = fcntl.LOCK_EX | fcntl.LOCK_NB) -> Iterator[None]:
    """Hold a lock that ends with this process, however it ends."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, how)
        yield
    finally:
        os.close(opened)


def _remove_leftovers(home: Path, target: Path) -> None:
    """Remove what runs to the same folder left that were killed: nobody holds its lock.

    Raises:
        OutputError: A run that is alive writes into the same folder.
    """
    for left in home.glob(_own(target)):
        try:
            with _locked(left):
                shutil.rmtree(left, ignore_errors=True)
        except BlockingIOError:
            raise OutputError.written_by_another(printable(str(target))) from None
        except OSError:
            pass  # somebody else's, or just gone


def _others(target: Path) -> list[str]:
    """Name what a folder holds, in order, but what runs to it made for themselves."""
    entries = target.iterdir() if target.is_dir() else ()
    return sorted(entry.name for entry in entries if not entry.match(_own(target)))


def _own(target: Path) -> str:
    """Give the pattern of the folders that runs to a folder make for themselves."""
    return f".{glob.escape(target.name)}-{RANDOM}{PARTIAL}"


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """Give a file to write that gets its name only when it is complete."""
    check_file(path)
    with tempfile.NamedTemporaryFile(
        prefix=f".{path.name}-", suffix=PARTIAL, dir=path.parent, delete=False
    ) as stream:
        partial = Path(stream.name)
        try:
            yield stream
            stream.flush()
            partial.chmod(0o666 & ~_umask())
            partial.replace(path)
        except OSError as problem:
            raise with_path(problem, str(path)) from None
        finally:
            partial.unlink(missing_ok=True)


def _publish(scratch: Path, target: Path, files: Sequence[str]) -> None:
    """Move complete files to where they belong.

    A new folder appears at once. In one that exists, the last of the files goes first and comes
    last, so that a folder with a summary is never a mixture of two runs.
    """
    scratch.chmod(0o777 & ~_umask())
    if not target.exists():
        scratch.rename(target)
        return
    for place in replaced(target, files[::-1]):
        place.unlink(missing_ok=True)
    for name in FOLDERS.keys() & files:
        with suppress(OSError):
            (target / name).rmdir()
    for name in files:
        if name in FOLDERS and (target / name).exists():
            # beside what else is in it
            for file in (scratch / name).glob("*"):
                file.replace(target / name / file.name)
        elif (scratch / name).exists():
            (scratch / name).replace(target / name)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
