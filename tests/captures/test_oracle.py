"""Every frame of every public capture, as this project reads it and as tshark and scapy do."""

from __future__ import annotations

import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import pcaplat
from pcaplat.errors import InputError
from tests.conftest import ROOT
from tests.support.scapy_facts import MAX_FRAMES, scapy_rows
from tests.support.shelf import CAPTURES
from tests.support.tshark import NAMES, Facts, listed

if TYPE_CHECKING:
    from pathlib import Path

PUBLIC = CAPTURES / "public"
pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(not PUBLIC.exists(), reason="the shared captures are not here"),
]

MAX_EXCEPTED_FRAC = 0.001
EXCEPTIONS = tomllib.loads((ROOT / "tests" / "data" / "oracle_exceptions.toml").read_text())[
    "exception"
]
LAYERS = set(NAMES.values())
OTHER_NAMES = {"sll2": "sll"}
SCAPY_LAYERS = {"ethernet", "vlan", "ipv4", "tcp", "udp", "icmp", "vxlan", "gre"}
"""Of what is more than these, scapy guesses more than it knows."""
SLICE = 80
"""Of so many files, the default suite compares one: small, and spread over all."""
MAX_SLICE_BYTES = 60_000
MAX_SAMPLE_BYTES = 1_000_000
MIN_SAMPLED_FRAMES = 3_000
NOT_OF_SCAPY = "vxlan-non-zero-reserved-fields"
"""RFC 7348 §5: reserved bits are ignored on receipt; scapy takes such a packet for none."""


@cache
def files() -> list[Path]:
    return sorted(path for path in PUBLIC.rglob("*") if path.is_file())


def file_slice() -> list[Path]:
    small = [path for path in files() if path.stat().st_size <= MAX_SLICE_BYTES]
    return small[7::SLICE]


def read(path: Path) -> list[Facts]:
    """What this project reads; nothing of what it refuses."""
    try:
        table = pl.DataFrame(pcaplat.read(path, details=True))
    except InputError:
        return []
    return [_facts_of(row) for row in table.iter_rows(named=True)]


def _facts_of(row: dict[str, Any]) -> Facts:
    layers = [OTHER_NAMES.get(layer, layer) for layer in row["layers"].split("/")]
    return Facts(
        row["frame"],
        row["wire_bytes"],
        row["captured_bytes"],
        row["t_ns"],
        tuple(layer for layer in layers if layer in LAYERS),
        tuple(row[end] for end in ("src", "dst") if row[end]),
        tuple(str(row[end]) for end in ("src_port", "dst_port") if row[end] is not None),
        row["ip_id"],
        row["ttl"],
        row["tcp_seq"],
        row["tcp_ack"],
        row["payload_bytes"],
    )


Difference = tuple[str, str, dict[str, tuple[object, object]]]


def differences(path: Path) -> tuple[int, list[Difference]]:
    """How many frames tshark lists, and those of which the two say different things.

    What tshark leaves open is not compared: TCP numbers of cut headers, blocks without a time.
    Where it gives up, what this project reads behind that is not compared either.
    """
    theirs, is_whole = listed(path)
    ours = read(path)
    found: list[Difference] = []
    for (protocols, facts), mine in zip(theirs, ours, strict=False):
        unlike = _unlike(facts, mine) if facts != mine and facts.t_ns is not None else {}
        if unlike:
            found.append((f"{path}#{facts.number}", protocols, unlike))
    n_ours = len(ours) if is_whole else min(len(ours), len(theirs))
    return len(theirs), found + _lacking(path, theirs, n_ours)


def _lacking(path: Path, theirs: list[tuple[str, Facts]], n_ours: int) -> list[Difference]:
    missed = [number + 1 for number in range(n_ours, len(theirs))]
    invented = [number + 1 for number in range(len(theirs), n_ours)]
    pairs: list[tuple[object, object]] = [
        *((number, None) for number in missed),
        *((None, number) for number in invented),
    ]
    return [(f"{path}#{one or other}", "", {"number": (one, other)}) for one, other in pairs]


def _unlike(facts: Facts, mine: Facts) -> dict[str, tuple[object, object]]:
    said, read = asdict(facts), asdict(mine)
    may_be_open = ("tcp_seq", "tcp_ack", "payload_bytes")
    is_open = {name for name in may_be_open if said[name] is None}
    return {
        name: (value, read[name])
        for name, value in said.items()
        if value != read[name] and name not in is_open
    }


def excuse(difference: Difference) -> str | None:
    """Why this difference is no mistake, if it is none."""
    where, protocols, unlike = difference
    for one in EXCEPTIONS:
        is_there = "frames" not in one or where.endswith(tuple(one["frames"]))
        is_of_it = f":{one['protocol']}:" in f":{protocols}:" if "protocol" in one else True
        if is_there and is_of_it and set(unlike) <= set(one.get("fields", unlike)):
            return str(one["why"])
    return None


def compare(paths: list[Path]) -> tuple[Counter[str], int]:
    """Compare files; give what was excused, and the number of frames."""
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(differences, paths))
    unlike = [one for _, of_file in found for one in of_file]
    mistakes = [one for one in unlike if excuse(one) is None]
    assert not mistakes, f"{len(mistakes)}: {mistakes[:20]}"
    return Counter(excuse(one) or "" for one in unlike), sum(n_frames for n_frames, _ in found)


@pytest.mark.slow
def test_no_frame_is_read_otherwise_than_tshark_does() -> None:
    excused, n_frames = compare(files())
    agree_frac = 1 - excused.total() / n_frames
    print(f"\n{n_frames} frames, {agree_frac:.4%} agree on every field; {excused.total()} do not:")  # noqa: T201 - it is for who asks with -s
    for why, n_excused in excused.most_common():
        print(f"{n_excused:5} {why}")  # noqa: T201
    assert excused.total() <= MAX_EXCEPTED_FRAC * n_frames
    assert set(excused) == {one["why"] for one in EXCEPTIONS}


def test_a_slice_is_read_as_tshark_does() -> None:
    _, n_frames = compare(file_slice())
    assert n_frames > 100


@pytest.mark.slow
def test_samples_are_read_as_scapy_does() -> None:
    samples = [path for path in files() if path.stat().st_size < MAX_SAMPLE_BYTES]
    assert _compare_with_scapy(samples) > MIN_SAMPLED_FRAMES


def test_a_slice_is_read_as_scapy_does() -> None:
    assert _compare_with_scapy(file_slice()) > 20


def _compare_with_scapy(paths: list[Path]) -> int:
    found = [one for path in paths for one in _scapy_differences(path)]
    assert not [one for one in found if one]
    return len(found)


def _scapy_differences(path: Path) -> list[str]:
    """What scapy says otherwise, for each frame that it knows enough of; empty where it agrees."""
    theirs = scapy_rows(path)
    try:
        ours = pl.DataFrame(pcaplat.read(path, details=True)) if any(theirs) else pl.DataFrame()
    except InputError:
        return []
    if len(theirs) != min(len(ours), MAX_FRAMES) or NOT_OF_SCAPY in str(path):
        return []  # scapy leaves out blocks that are counted here
    return [
        "" if {name: row[name] for name in facts} == facts else f"{path}#{row['frame']}: {facts}"
        for row, facts in zip(ours.iter_rows(named=True), theirs, strict=False)
        if facts and row["status"] != "undecoded" and set(row["layers"].split("/")) <= SCAPY_LAYERS
    ]
