"""Capture-point profiles: what is known of a platform's places to capture at.

A profile is a TOML file in capture_points/; docs/capture_points.md describes its keys.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any, get_type_hints

from pcaplat.errors import PointError

CHOICES = {
    "side": ("pre_vtep", "post_vtep", "mirror", "underlay", "inside_guest"),
    "dir_semantics": ("vswitch_relative", "host_relative", "none"),
    "direction_source": ("epb_flags", "sll_pkttype", "erspan_D", "filename", "mac_table", "none"),
    "encapsulated": ("no", "yes", "both"),
    "segmentation": ("none", "tx_tso", "rx_gro", "both"),
    "l4_checksum": ("valid", "partial", "unknown"),
    "vlan": ("in_bytes", "metadata_lost", "outer_only"),
    "multiplicity": ("once", "per_component", "ingress+egress"),
    "confidence": ("confirmed", "inferred", "assumed"),
    "domain": ("host", "phc", "switch"),
    "timescale": ("utc", "tai", "uptime", "ticks"),
}


@dataclass(frozen=True)
class Clock:
    """Where a point's time comes from."""

    domain: str
    timescale: str
    source: str


@dataclass(frozen=True)
class Encapsulation:
    """What a packet is wrapped in at a point."""

    kind: str
    udp_ports: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Point:
    """One place to capture at; `order_tx` and `order_rx` are null where it is not on that path."""

    id: str
    side: str
    encapsulated: str
    segmentation: str
    l4_checksum: str
    vlan: str
    multiplicity: str
    clock: Clock
    stamp_position: str
    command: str
    confidence: str
    sources: list[str]
    aliases: list[str] = field(default_factory=list)
    order_tx: int | None = None
    order_rx: int | None = None
    dir_semantics: str = "none"
    direction_source: str = "none"
    encaps: list[Encapsulation] = field(default_factory=list)
    rewrites: list[str] = field(default_factory=list)
    default_snaplen: int | None = None
    file_formats: list[str] = field(default_factory=list)
    ts_unit_hint: str | None = None


@dataclass(frozen=True)
class Profile:
    """A platform's capture points."""

    name: str
    summary: str
    platform: str
    points: tuple[Point, ...]
    version_range: str | None = None


def profile_names() -> list[str]:
    """List the profiles that ship with pcaplat.

    Example:
        >>> "lab" in profile_names()
        True
    """
    folder = files("pcaplat") / "capture_points"
    return sorted(
        f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")
    )


def load_profile(name: str) -> Profile:
    """Read a profile.

    Args:
        name: One of `profile_names()`, or the path of a TOML file.

    Raises:
        PointError: There is no such profile, or a key in it is wrong or missing.

    Example:
        >>> [point.id for point in load_profile("lab").points][:3]
        ['host1-vm', 'host1-up', 'sw-a']
    """
    if name in profile_names():
        text = (files("pcaplat") / "capture_points" / f"{name}.toml").read_text("utf-8")
        return _profile(name, f"capture_points/{name}.toml", text)
    if name.endswith(".toml"):
        return _profile(Path(name).stem, name, Path(name).read_text("utf-8"))
    raise PointError.unknown(name, profile_names())


def _profile(name: str, where: str, text: str) -> Profile:
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PointError(f"{where}: is no TOML: {error}") from None
    points = content.pop("points", None)
    if not isinstance(points, list) or not points:
        raise PointError.wrong_key(where, "points", "is missing; write one [[points]] for each")
    rows = tuple(_record(Point, f"{where}: points[{i}]", row) for i, row in enumerate(points))
    profile: Profile = _record(Profile, where, {**content, "name": name, "points": rows})
    return profile


def _record(kind: type[Any], where: str, row: object) -> Any:  # noqa: ANN401 - one of the four
    """Make a dataclass of a TOML table; say which key is unknown, missing or wrong."""
    if not isinstance(row, Mapping):
        raise PointError(f"{where}: is no table")
    known = [item.name for item in fields(kind)]
    for key in row:
        if key not in known:
            near = get_close_matches(key, known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise PointError.wrong_key(where, key, f"is unknown{hint}")
    values = {key: _value(f"{where}: {key}", key, row[key]) for key in row}
    types = get_type_hints(kind)
    for item in fields(kind):
        if item.name in values:
            _check_type(where, item.name, values[item.name], types[item.name])
    try:
        return kind(**values)
    except TypeError as missing:
        raise PointError(f"{where}: {str(missing).partition('__init__() ')[2]}") from None


def _value(where: str, key: str, value: object) -> object:
    if key in CHOICES and value not in CHOICES[key]:
        raise PointError(f"{where}: {value!r} is none of {', '.join(CHOICES[key])}")
    if key == "clock":
        return _record(Clock, where, value)
    if key == "encaps" and isinstance(value, list):
        return [_record(Encapsulation, where, row) for row in value]
    return value


def _check_type(where: str, key: str, value: object, wanted: Any) -> None:  # noqa: ANN401 - a type
    plain = getattr(wanted, "__origin__", wanted)
    if not isinstance(value, plain) or isinstance(value, bool):
        found = type(value).__name__
        raise PointError.wrong_key(where, key, f"is {found} and should be {_type_name(wanted)}")


def _type_name(wanted: Any) -> str:  # noqa: ANN401 - a type
    return getattr(wanted, "__name__", str(wanted))
