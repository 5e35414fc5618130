"""Profiles from their files. Nothing unknown, wrong, missing or contradictory gets through."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from importlib.resources import files
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

from pcaplat.errors import PointError
from pcaplat.points.patterns import overlap
from pcaplat.points.records import check_keys, near, record, values_of
from pcaplat.points.schema import CARRIERS, Profile, ProfilePoint
from pcaplat.text import plain_name, shortened
from pcaplat.toml import read_toml

TOP = ("base", "defaults", "kinds", *(item.name for item in fields(Profile) if item.name != "name"))
MERGED = {"sources": dict, "defaults": dict, "kinds": dict, "pitfalls": list, "documented": list}
NOT_FOR_ALL = {"id", "aliases", "files", "meaning", "order_tx", "order_rx", "place"}


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
        return _profile(name, f"capture_points/{name}.toml", _shipped(name))
    if name.endswith(".toml"):
        text = Path(name).read_text("utf-8", errors="replace")
        return _profile(plain_name(Path(name).stem), name, text)
    raise PointError.unknown(name, profile_names())


def _shipped(name: str) -> str:
    return (files("pcaplat") / "capture_points" / f"{name}.toml").read_text("utf-8")


def _parsed(where: str, text: str) -> dict[str, Any]:
    try:
        content = read_toml(text)
    except tomllib.TOMLDecodeError as error:
        raise PointError(f"{where}: is no TOML: {error}") from None
    for key in content:
        if key not in TOP:
            raise PointError.wrong_key(where, shortened(key), f"is unknown{near(key, TOP)}")
    base = content.pop("base", None)
    if base is None:
        return content
    if base not in profile_names():
        raise PointError(f"{where}: base: {PointError.unknown(str(base), profile_names())}")
    return _extended(_parsed(f"capture_points/{base}.toml", _shipped(base)), content)


def _extended(base: dict[str, Any], content: dict[str, Any]) -> dict[str, Any]:
    """Add a profile to the one it is based on: tables and points by name, lists at their ends."""
    merged = {**base, **content}
    merged["version_range"] = content.get("version_range")
    for key, kind in MERGED.items():
        both = [one[key] for one in (base, content) if key in one]
        if key in content and not isinstance(content[key], kind):
            continue  # what it is instead is refused with everything else
        if kind is dict:
            merged[key] = {name: row for table in both for name, row in table.items()}
        else:
            merged[key] = [text for texts in both for text in texts]
    own = content.get("points")
    if isinstance(own, list):
        taken = [row.get("id") for row in own if isinstance(row, dict)]
        merged["points"] = [*own, *(row for row in base["points"] if row["id"] not in taken)]
    return merged


def _profile(name: str, where: str, text: str) -> Profile:
    content = _parsed(where, text)
    rows = content.pop("points", None)
    if not isinstance(rows, list) or not rows:
        raise PointError.wrong_key(where, "points", "is missing; write one [[points]] for each")
    shared = _shared_keys(where, content)
    points = tuple(_point(f"{where}: points[{i}]", shared, row) for i, row in enumerate(rows))
    profile: Profile = record(Profile, where, {**content, "name": name, "points": points})
    _check_names(where, points)
    _check_orders(where, profile)
    _check_patterns(where, profile)
    _check_sources(where, profile)
    return profile


def _shared_keys(where: str, content: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Take [defaults], which all points have, and every [kinds.NAME], which a point may name."""
    kinds = content.pop("kinds", {})
    if not isinstance(kinds, Mapping):
        raise PointError.wrong_key(where, "kinds", "is no table")
    named = {kind: (f"kinds.{shortened(kind)}", row) for kind, row in kinds.items()}
    named[""] = ("defaults", content.pop("defaults", {}))
    for title, row in named.values():
        if not isinstance(row, Mapping):
            raise PointError(f"{where}: {title}: is no table")
        check_keys(ProfilePoint, f"{where}: {title}", row)
        for key in sorted(NOT_FOR_ALL & row.keys()):
            reason = "differs from point to point; write it in each"
            raise PointError.wrong_key(f"{where}: {title}", key, reason)
        values_of(ProfilePoint, f"{where}: {title}", row)
    return {kind: dict(row) for kind, (_, row) in named.items()}


def _point(where: str, shared: Mapping[str, dict[str, Any]], row: object) -> ProfilePoint:
    if not isinstance(row, Mapping):
        raise PointError(f"{where}: is no table")
    kind = row.get("kind", "")
    if not isinstance(kind, str) or kind not in shared:
        known = [name for name in shared if name]
        raise PointError(f"{where}: kind: there is no [kinds.{kind}]{near(kind, known)}")
    own = {key: value for key, value in row.items() if key != "kind"}
    layers = [shared[""], shared[kind] if kind else {}, own]
    merged = {key: value for layer in layers for key, value in layer.items()}
    for key in ("inferred", "assumed"):
        lists = [layer[key] for layer in layers if isinstance(layer.get(key), list)]
        merged[key] = [name for one in lists for name in one] if lists else merged.get(key, [])
    point: ProfilePoint = record(ProfilePoint, where, merged)
    _check_point(where, point)
    return point


def _check_point(where: str, point: ProfilePoint) -> None:
    for key in ("commands", "sources"):
        if not getattr(point, key):
            raise PointError.wrong_key(where, key, "is empty; write at least one")
    known = [item.name for item in fields(ProfilePoint)]
    for key in (*point.inferred, *point.assumed):
        if key not in known:
            raise PointError(f"{where}: inferred and assumed: {key!r} is no key{near(key, known)}")
    clock = f"{where}: clock"
    carrier, colon, name = point.clock.source.partition(":")
    if carrier not in CARRIERS or bool(name) != (carrier != "record") or bool(colon) != bool(name):
        words = "record, trailer:NAME, tag:NAME or carrier:NAME"
        hint = near(carrier, CARRIERS)
        raise PointError(f"{clock}: source: {point.clock.source!r} is none of {words}{hint}")
    if (point.clock.modulus_ticks is None) != (point.clock.freq_hz is None):
        raise PointError(f"{clock}: modulus_ticks and freq_hz belong together")


def _check_names(where: str, points: Iterable[ProfilePoint]) -> None:
    seen: dict[str, str] = {}
    for point in points:
        for name in (point.id, *point.aliases):
            if name != plain_name(name):
                raise PointError(f"{where}: the name {name!r} has characters that are not seen")
            if name.lower() in seen:
                other = seen[name.lower()]
                raise PointError(f"{where}: {point.id}: the name {name} is taken by {other}")
            seen[name.lower()] = point.id


def _check_orders(where: str, profile: Profile) -> None:
    for way in ("tx", "rx"):
        along = profile.along(way)
        for one, other in pairwise(along):
            rank = getattr(one, f"order_{way}")
            if rank == getattr(other, f"order_{way}"):
                pair = f"{one.id} and {other.id}"
                raise PointError(f"{where}: order_{way}: {pair} both have {rank}")


def _check_patterns(where: str, profile: Profile) -> None:
    patterns = [(pattern, point.id) for point in profile.points for pattern in point.patterns]
    patterns += [(place, f"place {place}") for place in profile.places()]
    for (one, of_one), (other, of_other) in combinations(patterns, 2):
        if of_one != of_other and overlap(one, other):
            pair = f"{one!r} of {of_one} and {other!r} of {of_other}"
            raise PointError(f"{where}: files: a name can match both {pair}")


def _check_sources(where: str, profile: Profile) -> None:
    named = {source for point in profile.points for source in point.sources}
    for source in sorted(named - profile.sources.keys()):
        hint = near(source, list(profile.sources))
        raise PointError(f"{where}: sources: {source!r} has no line in [sources]{hint}")
    for source in sorted(profile.sources.keys() - named):
        raise PointError(f"{where}: sources: no point names {source!r}")
