"""The same captures in other clothes: files shuffled, packed, split, timed otherwise, doubled.

What they hold is the same, so the pairs must be, and the path.
"""

from __future__ import annotations

import gzip
import random
import struct
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pcaplat
from tests.laws.retimed import SetClock, retimed
from tests.support.oracle_decode import Frame, read_frames
from tests.support.shelf import lab_set, public_sets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PUBLIC = public_sets()
pytestmark = pytest.mark.skipif(not PUBLIC, reason="the shared captures are not here")

NAMES = (
    *("AWB-c355163", "AWB-15856e9", "CS-dns", "KAO-ah-tunnel-route", "KAO-l2tp-ip"),
    *("PX-openvpn-tap_udp-openvpn_ftps", "PX-wireguard-wireguard_ssh", "VINET-nat", "any"),
)
Place = tuple[str, int]
"""A file of the set as it is, by its stem, and a frame of it."""


@dataclass(frozen=True)
class Variant:
    """What is given to merge, and which place each frame of each file is."""

    given: list[str]
    place: Callable[[Path, int], Place | None]


@cache
def files_of(name: str) -> tuple[Path, ...]:
    if name == "any":
        return tuple(sorted(lab_set("vxlan").glob("*-any.pcap")))
    return tuple(sorted(PUBLIC[name].files.values()))


def merged(variant: Variant) -> tuple[list[str], set[frozenset[Place]]]:
    """The path, and every two places that hold one packet."""
    with pcaplat.merge(variant.given, intervals=False) as result:
        columns = ("file", "frame", "trajectory_id", "status")
        rows = result.packets.select(columns).collect().iter_rows()
        path = result.document["path"]
    of: dict[int, list[Place]] = {}
    for file, frame, trajectory, status in rows:
        place = variant.place(Path(file), frame)
        if trajectory is not None and status != "duplicate" and place:
            of.setdefault(trajectory, []).append(place)
    return path, {frozenset(two) for places in of.values() for two in combinations(places, 2)}


def as_it_is(files: Iterable[Path]) -> Variant:
    return Variant(
        [str(file) for file in files], lambda file, frame: (file.name.split(".pcap")[0], frame)
    )


@cache
def wanted(name: str) -> tuple[list[str], set[frozenset[Place]]]:
    return merged(as_it_is(files_of(name)))


def write(path: Path, frames: list[Frame], stamps_ns: list[int]) -> None:
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, frames[0].link))
        for one, t_ns in zip(frames, stamps_ns, strict=True):
            head = struct.pack("<IIII", *divmod(t_ns, 10**9), len(one.data), one.wire_bytes)
            file.write(head + one.data)


def shuffled(files: tuple[Path, ...], _: Path) -> Variant:
    order = list(files)[::-1]
    random.Random(3).shuffle(order)  # noqa: S311 - the same shuffle every time
    return as_it_is(order if order != list(files) else order[::-1])


def packed(files: tuple[Path, ...], folder: Path) -> Variant:
    given = [folder / f"{file.name}.gz" for file in files]
    for file, to in zip(files, given, strict=True):
        to.write_bytes(gzip.compress(file.read_bytes(), 1))
    return as_it_is(given)


def an_hour_apart(files: tuple[Path, ...], folder: Path) -> Variant:
    first = folder / f"{files[0].stem}.pcap"
    retimed(files[0], first, SetClock(3_601_234_567_000))
    return as_it_is([first, *files[1:]])


def split(files: tuple[Path, ...], folder: Path) -> Variant:
    """The first point's file in two, one after the other."""
    frames, stem = read_frames(files[0]), files[0].stem
    half = len(frames) // 2
    parts = [folder / "part1.pcap", folder / "part2.pcap"]
    for part, some in zip(parts, (frames[:half], frames[half:]), strict=True):
        write(part, some, [one.t_ns for one in some])
    before = {parts[0]: 0, parts[1]: half}

    def place(file: Path, frame: int) -> Place:
        return (stem, frame + before[file]) if file in before else (file.stem, frame)

    return Variant([f"{stem}={part}" for part in parts] + [str(file) for file in files[1:]], place)


def doubled(files: tuple[Path, ...], folder: Path) -> Variant:
    """The first point's mirror gives every frame twice, 5 µs apart."""
    frames, first = read_frames(files[0]), folder / f"{files[0].stem}.pcap"
    both = sorted((one.t_ns + more, one.number, more) for one in frames for more in (0, 5_000))
    write(first, [frames[number - 1] for _, number, _ in both], [t_ns for t_ns, *_ in both])
    original = {at + 1: number for at, (_, number, more) in enumerate(both) if not more}

    def place(file: Path, frame: int) -> Place | None:
        if file != first:
            return file.stem, frame
        return (file.stem, original[frame]) if frame in original else None

    return Variant([str(first), *map(str, files[1:])], place)


@pytest.mark.parametrize("dress", [shuffled, packed, an_hour_apart, split, doubled])
@pytest.mark.parametrize("name", NAMES)
def test_pairs_and_path_are_the_same(
    name: str, dress: Callable[[tuple[Path, ...], Path], Variant], tmp_path: Path
) -> None:
    path, pairs = merged(dress(files_of(name), tmp_path))
    assert pairs == wanted(name)[1]
    assert path == wanted(name)[0]
