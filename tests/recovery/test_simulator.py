"""The simulator itself: its frames are what it says, its truth is what its captures hold."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scapy.layers.inet import IP, TCP
from scapy.utils import PcapReader

from tests.recovery.simulator import Link, Point, Scenario, Traffic, run
from tests.recovery.simulator.effects import EFFECTS, scenario
from tests.recovery.simulator.truth import Truth

if TYPE_CHECKING:
    from pathlib import Path

MALFORMED = "_ws.malformed or ip.checksum.status == 0"
WRONG = "tcp.checksum.status == 0 or udp.checksum.status == 0 or icmp.checksum.status == 0"
CHECKED = [f"-o{name}.check_checksum:TRUE" for name in ("ip", "tcp", "udp")]
WITHOUT_TSHARK = pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")


def complaints(file: Path, expression: str) -> str:
    """The frames for which an expression of tshark holds."""
    alone = ["-oip.defragment:TRUE", "-otcp.desegment_tcp_streams:FALSE"]
    command = ["tshark", "-n", "-r", str(file), *CHECKED, *alone, "-Y", expression]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout


@WITHOUT_TSHARK
@pytest.mark.oracle
def test_tshark_finds_nothing_wrong_with_the_frames(tmp_path: Path) -> None:
    sound: list[str] = []
    partial: list[str] = []
    for name in EFFECTS:
        folder = tmp_path / str(len(sound))
        folder.mkdir()
        outcome = run(scenario(name, 150))
        outcome.save(folder)
        for point in outcome.scenario.points:
            file = str(outcome.path_of(folder, point.file or point.name))
            if not file.endswith((".xz", ".bz2")):  # which tshark does not open
                (partial if point.is_partial else sound).append(file)
    for files, expression in ((sound, f"{MALFORMED} or {WRONG}"), (partial, MALFORMED)):
        whole = tmp_path / f"{len(files)}.pcapng"
        subprocess.run(["mergecap", "-a", "-w", str(whole), *files], check=True)
        assert not complaints(whole, expression)
    assert complaints(whole, WRONG)  # what offload leaves of checksums is not one


@pytest.mark.parametrize("name", sorted(EFFECTS.keys() - {"plain"}))
def test_an_effect_shows_in_the_captures(name: str, tmp_path: Path) -> None:
    assert saved(name, tmp_path) != saved("plain", tmp_path)


def saved(name: str, folder: Path, seed: int = 1) -> dict[str, bytes]:
    """The captures by name."""
    files = run(scenario(name, 300, seed)).save(folder)
    return {file.name: file.read_bytes() for file in files}


def test_one_seed_is_one_outcome(tmp_path: Path) -> None:
    once, again = (saved("everything", tmp_path) for _ in range(2))
    assert once == again


def test_another_seed_is_another_outcome(tmp_path: Path) -> None:
    assert saved("plain", tmp_path, 1) != saved("plain", tmp_path, 2)


def test_frames_hold_the_bytes_that_the_truth_says(tmp_path: Path) -> None:
    """A joined frame is its pieces one after the other, by scapy's reading."""
    outcome = run(scenario("cut and joined, loss", 800))
    files = outcome.save(tmp_path)
    pieces, streams = outcome.journey.pieces, 0
    for at, file in enumerate(files):
        frames, members = outcome.records[at]
        with PcapReader(str(file)) as reader:
            packets = list(reader)
        assert len(packets) == len(frames)
        for packet, frame in zip(packets, frames, strict=True):
            mine = pieces[members[frame["start"] : frame["start"] + frame["n_pieces"]]]
            if TCP in packet and IP in packet and frame["size"]:
                streams += len(mine) > 1
                assert packet[IP].len - 20 - packet[TCP].dataofs * 4 == mine["size"].sum()
                assert packet[TCP].seq == mine["number"][0] % 2**32
    assert streams > 20


def test_latency_loss_and_overtaking_are_what_the_links_do() -> None:
    links = (Link(3_000, 9_000, lost_share=0.05), Link(5_000, held_share=0.1, held_ns=2_000_000))
    points = (Point("vm"), Point("up"), Point("far"))
    truth = Truth(run(Scenario(points, links, Traffic(20_000, shares=(("udp", 1.0),)))))
    there, back = (truth.hop(0, 1, forward=way) for way in (True, False))
    assert there.latencies_ns["packet"].min() >= 3_000
    assert abs(np.median(there.latencies_ns["packet"]) - 3_400) < 100
    assert back.latencies_ns["packet"].min() >= 9_000
    n_lost, n_there = len(there.lost_at_ns["packet"]), len(there.latencies_ns["packet"])
    assert abs(n_lost / (n_lost + n_there) - 0.05) < 0.01
    assert there.n_reordered == 0
    assert truth.hop(1, 2, forward=True).n_reordered > 100


def test_what_a_point_misses_is_not_what_was_lost() -> None:
    links = (Link(3_000, lost_share=0.05), Link(5_000))
    points = (Point("vm"), Point("up", missed_share=0.2), Point("far"))
    truth = Truth(run(Scenario(points, links, Traffic(20_000, shares=(("udp", 1.0),)))))
    into, across = truth.hop(0, 1, forward=True), truth.hop(0, 2, forward=True)
    assert abs(into.captured_frac - 0.8) < 0.02
    assert across.captured_frac == 1
    n_lost = len(into.lost_at_ns["packet"])
    n_arrived = len(into.latencies_ns["packet"]) / into.captured_frac
    assert n_arrived == pytest.approx(len(across.latencies_ns["packet"]), rel=0.001)
    assert abs(n_lost / (n_lost + n_arrived) - 0.05) < 0.01


def test_every_piece_is_seen_where_it_went() -> None:
    outcome = run(scenario("cut and joined, loss", 4_000))
    truth = Truth(outcome)
    times_ns = outcome.journey.times_ns
    assert np.array_equal(truth.seen >= 0, times_ns >= 0)
    assert len(truth.edges.piece) == int(((times_ns >= 0).sum(axis=1) - 1).clip(0).sum())
