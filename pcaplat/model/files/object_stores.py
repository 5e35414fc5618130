"""Captures and results in object stores and HDFS: read in ranges, several at once, each byte once.

Credentials and endpoints are those of the environment (AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL, …), or
options behind the name, as pyarrow has them: `s3://bucket/a.pcap?region=eu-central-1`.
"""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pcaplat.errors import InputError
from pcaplat.text import printable

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

REMOTE = re.compile(r"(s3|gs|gcs|abfs|abfss|hdfs|viewfs):/{1,2}(?!/)")
CREDENTIALS = re.compile(r"(?<=://)(?:[^/@:]*:(?!\d+/)[^@]*|[^/@]*)@")
"""Before a bucket: a secret may have slashes. HOST:PORT of HDFS is none."""
RANGE_BYTES = 8 << 20
N_RANGES_AT_ONCE = 8


def is_remote(name: str) -> bool:
    """Tell whether a name is of an object store or of HDFS; a Path has lost one of the slashes.

    Example:
        >>> is_remote("s3://captures/uplink.pcap"), is_remote("s3:/out"), is_remote("uplink.pcap")
        (True, True, False)
    """
    return bool(REMOTE.match(name))


def shown(name: str) -> str:
    """Give a name, or POINT=NAME, without what is secret: keys, and options of the connection.

    Names of files stay as they are.

    Example:
        >>> shown("near=s3://user:a/secret@captures/uplink.pcap?region=eu-central-1")
        'near=s3://captures/uplink.pcap'
        >>> shown("hdfs://host:8020/captures/a@b.pcap"), shown("what?.pcap")
        ('hdfs://host:8020/captures/a@b.pcap', 'what?.pcap')
    """
    point, _, place = name.partition("=")
    if not is_remote(name):
        return f"{point}={shown(place)}" if is_remote(place) else name
    return CREDENTIALS.sub("", _whole(name).partition("?")[0], count=1)


def fetch(name: str, copy: Path) -> None:
    """Copy what has this name into a file.

    Raises:
        FileNotFoundError: There is nothing of that name.
        IsADirectoryError: It is a folder.
        InputError: The store cannot be reached, or refuses.
    """
    with _told(name):
        store, path = _opened(name)
        found = store.get_file_info(path)
    if not found.is_file:
        code = errno.ENOENT if found.type.name == "NotFound" else errno.EISDIR
        raise OSError(code, os.strerror(code), shown(name))
    with _told(name), copy.open("wb") as out, store.open_input_file(path) as source:
        out.truncate(found.size)

        def take(start: int) -> None:
            chunk = source.read_at(min(RANGE_BYTES, found.size - start), start)
            os.pwrite(out.fileno(), chunk, start)

        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - slow, seldom needed

        with ThreadPoolExecutor(N_RANGES_AT_ONCE) as ranges:
            for _ in ranges.map(take, range(0, found.size, RANGE_BYTES)):
                pass


def send(folder: Path, name: str) -> None:
    """Copy a folder's files into a folder of that name, the one that was written last at last.

    Raises:
        InputError: The store cannot be reached, or refuses.
    """
    from pyarrow.fs import LocalFileSystem, copy_files  # noqa: PLC0415 - seldom needed

    files = [one for one in folder.rglob("*") if one.is_file()]
    with _told(name):
        store, path = _opened(name)
        for file in sorted(files, key=lambda one: one.stat().st_mtime_ns):
            copy_files(
                str(file),
                f"{path}/{file.relative_to(folder)}",
                source_filesystem=LocalFileSystem(),
                destination_filesystem=store,
            )


def check_target(name: str, *, overwrite: bool) -> None:
    """Refuse a folder that holds something, before any work is done.

    Raises:
        InputError: Something is there already, or the store cannot be reached, or refuses.
    """
    from pyarrow.fs import FileSelector  # noqa: PLC0415 - seldom needed

    with _told(name):
        store, path = _opened(name)
        found = store.get_file_info(FileSelector(path, allow_not_found=True))
    if found and not overwrite:
        raise InputError(
            f"{shown(name)}: is not empty (it holds {printable(found[0].base_name)}); choose "
            "another folder, or replace the results in it with --overwrite"
        )


def _whole(name: str) -> str:
    return REMOTE.sub(r"\1://", name, count=1)


def _opened(name: str) -> "tuple[FileSystem, str]":
    from pyarrow.fs import FileSystem  # noqa: PLC0415 - for what is far away alone

    store, path = FileSystem.from_uri(_whole(name))
    return store, path.rstrip("/")


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Tell what a store says of the name that was given; its sentences are long."""
    try:
        yield
    except (OSError, ValueError) as problem:
        if isinstance(problem, InputError):
            raise
        # an error of syntax quotes the name, and so the key in it
        unquoted = str(problem).replace(_whole(name), shown(name))
        said = printable(" ".join(unquoted.split()))
        raise InputError(
            f"{shown(name)}: cannot be read or written there: {said}; check credentials, region "
            "and endpoint (AWS_ACCESS_KEY_ID, AWS_REGION, AWS_ENDPOINT_URL, or ?region=…)"
        ) from None
