"""`pcaplat points`: the capture-point profiles, and how to capture there."""

from typing import TYPE_CHECKING, Annotated

from typer import Argument

from pcaplat.cli import standard_output
from pcaplat.points import load_profile, profile_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pcaplat.points import Point, Profile


def command(
    name: Annotated[str | None, Argument(metavar="[NAME]", help="A profile, or a file.")] = None,
) -> None:
    """List the capture-point profiles, or show one with the commands that capture there."""
    lines = _list() if name is None else _show(load_profile(name))
    with standard_output() as stream:
        stream.writelines(f"{line}\n" for line in lines)


def _list() -> "Iterator[str]":
    profiles = [load_profile(name) for name in profile_names()]
    width = max(len(profile.name) for profile in profiles)
    for profile in profiles:
        yield f"{profile.name.ljust(width)}  {profile.summary}"


def _show(profile: "Profile") -> "Iterator[str]":
    yield f"{profile.name}: {profile.summary}"
    yield f"platform: {profile.platform}"
    for point in sorted(profile.points, key=lambda point: (point.order_tx is None, point.order_tx)):
        yield ""
        yield from _describe(point)


def _describe(point: "Point") -> "Iterator[str]":
    order = "not on the path" if point.order_tx is None else f"{point.order_tx} on the way out"
    yield f"{point.id}  ({point.side}, {order}; {point.confidence})"
    yield f"  encapsulated: {point.encapsulated}; segmentation: {point.segmentation}"
    yield f"  checksums: {point.l4_checksum}; VLAN tags: {point.vlan}; seen: {point.multiplicity}"
    yield f"  clock: {point.clock.domain}, {point.clock.timescale}, from the {point.clock.source}"
    yield f"  stamped: {point.stamp_position}"
    yield f"  capture: {point.command}"
    for source in point.sources:
        yield f"  source: {source}"
