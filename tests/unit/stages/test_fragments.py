"""Packets in fragments and frames cut short: read, matched, and said."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import polars as pl
import pytest

import pcaplat
from tests.recovery.simulator import Score, Truth, run
from tests.recovery.simulator.effects import (
    LOSS,
    NAMES,
    at,
    base,
    scenario,
    together,
    traffic,
    tunnel,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.recovery.simulator.effects import Contrast

MTU = 1_500


def merged(
    effect: Contrast, folder: Path, n_packets: int = 1_000, seed: int = 1
) -> tuple[Score, pcaplat.Result]:
    """Simulate, save and merge; clocks are right."""
    outcome = run(effect(base(n_packets, seed)))
    result = pcaplat.merge([str(file) for file in outcome.save(folder)], same_clock=["all"])
    return Score(Truth(outcome), result), result


def warnings(result: pcaplat.Result, code: str) -> list[tuple[str | None, str]]:
    """The points and texts of the warnings with a code."""
    return [(w["point"], w["text"]) for w in result.document["warnings"] if w["code"] == code]


def protocols(capture: Path) -> list[str]:
    """What tshark sees in each frame, with IP reassembly."""
    fields = ["-T", "fields", "-e", "frame.protocols"]
    done = subprocess.run(
        ["tshark", "-r", str(capture), "-o", "ip.defragment:TRUE", *fields],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Points before and behind a tunnel whose packets do not fit the MTU."""
    outcome = run(scenario("outer fragments", 600))
    return {file.stem: file for file in outcome.save(tmp_path_factory.mktemp("fragments"))}


def test_tshark_sees_the_inside_in_the_same_frames(captures: dict[str, Path]) -> None:
    rows = pl.DataFrame(pcaplat.read(captures["up"]))
    is_part = rows["status"] == "coalesced"
    assert 100 < is_part.sum() < len(rows) / 2
    # it leaves the first fragment closed too until the last one is there
    theirs = pl.Series(["vxlan" not in line for line in protocols(captures["up"])])
    assert is_part.to_list() == theirs.to_list()
    inside = rows.filter(~is_part)
    assert inside["layers"].str.contains("vxlan/ethernet").all()
    assert (rows["wire_bytes"] <= MTU + 14).all()


def test_what_is_lost_in_part_is_lost(tmp_path: Path) -> None:
    lossy = together(
        traffic(ip6_share=0.0, shares=(("bulk", 0.5), ("udp", 0.5))),
        tunnel("vxlan", ("leaf", "spine"), mtu=MTU),
        LOSS,
    )
    score, result = merged(lossy, tmp_path)
    assert score.n_wrong == 0
    assert score.counts()["all"].recall > 0.999
    assert all(row.n_lost == 0 for row in score.figures)
    [(_, text), _] = warnings(result, "outer-fragments")
    assert "put together from fragments" in text
    assert "not read" not in text


def without(capture: Path, frames: set[int], to: Path) -> Path:
    """A copy of a pcap without some frames."""
    data = capture.read_bytes()
    kept, at_byte, number = [data[:24]], 24, 0
    while at_byte < len(data):
        n_bytes = 16 + int.from_bytes(data[at_byte + 8 : at_byte + 12], "little")
        number += 1
        if number not in frames:
            kept.append(data[at_byte : at_byte + n_bytes])
        at_byte += n_bytes
    to.write_bytes(b"".join(kept))
    return to


def test_a_missing_fragment_leaves_the_packet_out(
    captures: dict[str, Path], tmp_path: Path
) -> None:
    rows = pl.DataFrame(pcaplat.read(captures["up"]))
    parts = rows.filter(pl.col("status") == "coalesced")["frame"].to_list()
    holed = without(captures["up"], set(parts[20:25]), tmp_path / "up.pcap")
    files = [str(captures["vm"]), str(holed), str(captures["far"])]
    result = pcaplat.merge(files, same_clock=["all"])
    [(point, text)] = warnings(result, "outer-fragments")
    assert point == "up"
    assert "not read: 5 whose fragments are incomplete" in text
    frames = result.packets.collect()
    assert frames.filter(pl.col("point") == "vm")["status"].to_list().count("matched") == len(
        frames.filter(pl.col("point") == "vm")
    )


CUTS = {
    "at one point, 64": (at(("leaf",), snap=64), "leaf", "TCP over IPv6", "10 bytes"),
    "behind geneve, 96": (
        together(tunnel("geneve"), at(NAMES, snap=96)),
        None,
        "TCP over IPv4",
        "4 bytes",
    ),
}


@pytest.mark.parametrize("name", CUTS)
def test_what_is_cut_too_short_is_ambiguous_and_said(name: str, tmp_path: Path) -> None:
    effect, point, kind, left = CUTS[name]
    score, result = merged(together(effect, LOSS), tmp_path)
    assert score.n_wrong == 0
    told = [text for where, text in warnings(result, "short-packet-id") if where == point]
    assert any(text.startswith(f"{kind}: ") and left in text for text in told)


def test_headers_that_are_cut_are_said(tmp_path: Path) -> None:
    _, result = merged(together(tunnel("vxlan", ("up",)), at(("up",), snap=96)), tmp_path, 600)
    n_undecoded = result.document["matching"]["n_undecoded"]
    assert n_undecoded > 100
    told = [text for where, text in warnings(result, "short-packet-id") if where == "up"]
    assert any(f"{n_undecoded:,} frames are cut before" in text for text in told)


def test_enough_is_not_complained_about(tmp_path: Path) -> None:
    score, result = merged(at(NAMES, snap=128), tmp_path, 600)
    assert score.counts()["all"].recall == 1
    assert not warnings(result, "short-packet-id")
    assert not warnings(result, "outer-fragments")
