"""Digests: captures without payload and addresses, which `merge` takes in place of captures.

Two who hold captures of one path make digests under one key, and either can compare both:
docs/digest.md says what a digest holds, and what it still tells.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import cast

from pcaplat import _native
from pcaplat.digesting.keys import secret_of
from pcaplat.digesting.options import DigestOptions
from pcaplat.errors import OutputError
from pcaplat.model.files.captures import Capture, parse_captures, stem
from pcaplat.model.files.object_stores import shown
from pcaplat.run.folder import RunFolder
from pcaplat.run.options import taking
from pcaplat.tables.columns import Row
from pcaplat.text import printable

SCHEMA = "pcaplat.digest/1"
SUFFIX = ".digest"


@taking(DigestOptions)
def digest(options: DigestOptions) -> Row:
    """Write a digest of each capture: what matching asks, without payload and addresses.

    Args:
        captures: PATH, POINT=PATH, or "-" for standard input.
        options: One by one in pcaplat.run.options.

    Returns:
        The document `pcaplat.digest/1`. Per capture: the digest's file, frames and bytes, and
        `n_hidden`, the frames with a header that counts as payload.

    Raises:
        InputError: An argument cannot be used: a key of less than 16 bytes, a digest.
        OutputError: A digest is there already, or is one of the captures.
        OSError: A file cannot be read or written.

    Assumes:
        Times inside of frames, behind their packets, are not carried over.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     made = digest("samples/vxlan/sw-a.pcap", output=folder)
        >>> [(Path(one["digest"]).name, one["n_frames"]) for one in made["digests"]]
        [('sw-a.digest', 328)]
    """
    with RunFolder() as folder:
        captures = parse_captures(cast("Sequence[str]", options.captures), Path(folder.name))
        places = _places(captures, Path(options.output), overwrite=options.overwrite)
        secret, is_new = secret_of(options.key)
        rows = [
            _digest(one, place, options, secret)
            for one, place in zip(captures, places, strict=True)
        ]
    return {"schema": SCHEMA, "is_new_key": is_new, "digests": rows}


def _places(captures: Sequence[Capture], folder: Path, *, overwrite: bool) -> list[Path]:
    """Give the place of each digest; refuse what would be lost."""
    if not folder.is_dir():
        name = printable(shown(str(folder)))
        raise OutputError(f"{name}: is no folder; make it, or give another")
    names = [one.point or stem(one.name) for one in captures]
    times = Counter(names)
    names = [
        stem(one.name) if times[name] > 1 else name
        for name, one in zip(names, captures, strict=True)
    ]
    places = [folder / f"{name.replace(os.sep, '-')}{SUFFIX}" for name in names]
    for place, n in Counter(places).items():
        if n > 1:
            raise OutputError(
                f"{printable(str(place))}: {n} captures would have this digest; "
                "name them POINT=PATH"
            )
    for place in filter(Path.exists, places):
        if any(place.samefile(one.path) for one in captures):
            raise OutputError.replaces_capture(printable(str(place)))
        if not overwrite:
            raise OutputError(
                f"{printable(str(place))}: is there already; choose another folder, or replace it "
                "with --overwrite"
            )
    return places


def _digest(capture: Capture, place: Path, options: DigestOptions, secret: bytes) -> Row:
    ports = [f"udp.port={port}:vxlan" for port in options.vxlan_ports]
    settings = _native.Settings(decode=[*ports, *options.decode])
    n_total, progress = Path(capture.path).stat().st_size, options.progress

    def tell(n_done: int) -> None:
        if progress:
            progress.update(n_done, n_total, "digesting")

    with _beside(place) as partial:
        n_frames, n_hidden, n_bytes = _native.write_digest(
            capture.path,
            settings,
            partial,
            secret,
            keep_addresses=options.keep_addresses,
            tell=tell if progress else None,
        )
    return {
        "capture": capture.name,
        "digest": str(place),
        "n_frames": n_frames,
        "n_hidden": n_hidden,
        "n_bytes": n_bytes,
    }


@contextmanager
def _beside(place: Path) -> Iterator[Path]:
    """Give a file to write to, which takes its place only when it is complete."""
    partial = place.with_name(f".{place.name}-{os.urandom(4).hex()}.partial")
    try:
        yield partial
        partial.replace(place)
    finally:
        with suppress(FileNotFoundError):
            partial.unlink()
