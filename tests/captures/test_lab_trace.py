"""Packets of the lab, followed: a plain look-up finds the same, and tshark the same changes."""

from __future__ import annotations

import random
import subprocess
from collections import Counter
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import pcaplat
from pcaplat.tracing.journey import journeys_of, packets_of
from pcaplat.tracing.stored_result import FrameName, StoredResult
from tests.captures.lab_merge import captures_of
from tests.support.shelf import lab_set

if TYPE_CHECKING:
    from pathlib import Path

N_PACKETS = 1000
Frame = tuple[str, int]

pytestmark = pytest.mark.skipif(
    not lab_set("l2").exists(), reason="the shared captures are not here"
)


def written(name: str, folder: Path) -> Path:
    captures = map(str, captures_of(lab_set(name)).values())
    with pcaplat.merge([*captures], same_clock=["all"]) as result:
        pcaplat.write(result, folder)
    return folder


@pytest.fixture(scope="module", params=["vxlan-loss-dup", "vxlan-tso-gro", "vxlan-routed"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(request.param, tmp_path_factory.mktemp(request.param) / "out")


class LookUp:
    """Both tables as dictionaries, and nothing cleverer."""

    def __init__(self, folder: Path) -> None:
        packets = pl.read_parquet(folder / "packets.parquet").to_dicts()
        self.rows: dict[Frame, dict[str, Any]] = {(r["file"], r["frame"]): r for r in packets}
        self.of_whole: dict[int, set[Frame]] = {}
        for frame, row in self.rows.items():
            if row["trajectory_id"] is not None:
                self.of_whole.setdefault(row["trajectory_id"], set()).add(frame)
        self.matches: dict[tuple[Frame, Frame], dict[str, Any]] = {}
        self.n_matches: Counter[int] = Counter()
        self.before: dict[Frame, set[Frame]] = {}
        self.behind: dict[Frame, set[Frame]] = {}
        for row in pl.read_parquet(folder / "matches.parquet").to_dicts():
            up = (row["up_file"], row["up_frame"])
            down = (row["down_file"], row["down_frame"])
            self.matches[up, down] = row
            self.n_matches[row["trajectory_id"]] += 1
            if row["trajectory_id"] is None:
                self.behind.setdefault(up, set()).add(down)
                self.before.setdefault(down, set()).add(up)

    def frames_of(self, start: Frame) -> set[Frame]:
        whole = self.rows[start]["trajectory_id"]
        own = {start} | self.of_whole.get(whole, set())
        found = set(own)
        for onward in (self.before, self.behind):
            ends = set(own)
            while ends:
                ends = {next_ for end in ends for next_ in onward.get(end, ())} - found
                found |= ends
        return found


def test_a_thousand_random_packets_agree_with_a_plain_look_up(folder: Path) -> None:
    known = LookUp(folder)
    chance = random.Random(folder.parent.name)  # noqa: S311 - the same packets every time
    starts = chance.sample(sorted(known.rows), min(N_PACKETS, len(known.rows)))
    result = StoredResult(folder)
    for at in range(0, len(starts), 250):
        asked = starts[at : at + 250]
        journeys = journeys_of(result, [FrameName(*start) for start in asked])
        packets, problems = packets_of(result, journeys)
        assert problems == []
        followed: set[Frame] = set()
        for packet in packets:
            frames = {(row["file"], row["frame"]) for row in packet["sightings"]}
            start = next(start for start in asked if start in frames and start not in followed)
            if packet["trajectory_id"] is not None:
                assert len(packet["segments"]) >= known.n_matches[packet["trajectory_id"]]
            assert frames == known.frames_of(start)
            followed |= frames
            for row in packet["segments"]:
                ends = (row["up_file"], row["up_frame"]), (row["down_file"], row["down_frame"])
                match = known.matches[ends]
                assert row["latency_ns"] == match["latency_ns"]
                assert (row["latency_lo_ns"], row["latency_hi_ns"]) == (
                    match["latency_lo_ns"],
                    match["latency_hi_ns"],
                )
        assert {*asked} <= followed


FIELDS = ("ip.ttl", "ip.id", "ip.checksum", "eth.src", "eth.dst", "tcp.checksum")


def tshark_fields(path: str, frame: int) -> dict[str, str]:
    """The innermost value of each field, as tshark reads it."""
    names = [word for name in FIELDS for word in ("-e", name)]
    command = ["tshark", "-n", "-r", path, "-Y", f"frame.number == {frame}", "-T", "fields"]
    done = subprocess.run([*command, *names], capture_output=True, text=True, check=True)
    values = [value.split(",")[-1] for value in done.stdout.rstrip("\n").split("\t")]
    return dict(zip(FIELDS, values, strict=True))


@pytest.mark.oracle
def test_what_changed_between_points_is_what_tshark_reads(tmp_path: Path) -> None:
    folder = written("vxlan-routed", tmp_path / "out")
    document = pcaplat.trace(folder, "host1-vm:40")
    [packet] = document["packets"]
    ends = [
        tshark_fields(packet["sightings"][at]["file"], packet["sightings"][at]["frame"])
        for at in (0, -1)
    ]
    told: dict[str, tuple[str, str]] = {}
    names = {"ipv4 ttl": "ip.ttl", "ipv4 checksum": "ip.checksum", "ethernet source": "eth.src"}
    names |= {"ethernet destination": "eth.dst", "tcp checksum": "tcp.checksum"}
    for segment in packet["segments"]:
        for change in segment["changes"]:
            name = names.get(f"{change['layer']} {change['field']}")
            if name:
                first = told.get(name, (change["before"],))[0]
                told[name] = (first, change["after"])
    differing = {name for name in FIELDS if ends[0][name] != ends[1][name]}
    assert {name for name, (first, last) in told.items() if first != last} == differing
    assert "ip.ttl" in differing
    assert told["ip.ttl"] == (ends[0]["ip.ttl"], ends[1]["ip.ttl"])
