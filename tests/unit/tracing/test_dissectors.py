"""Frames in the hands of scapy and tshark: the same bytes, the same fields, and back."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import polars as pl
import pytest
from scapy.layers.inet import IP
from scapy.layers.vxlan import VXLAN

import pcaplat
from pcaplat.stages.read import frames_at
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = ROOT / "samples" / "vxlan" / "host1-up.pcap"


@pytest.fixture(scope="module")
def packets() -> pl.DataFrame:
    return pl.DataFrame(pcaplat.read(SAMPLE))


def test_scapy_sees_what_the_row_says(packets: pl.DataFrame) -> None:
    for row in packets.head(40).iter_rows(named=True):
        packet = pcaplat.to_scapy(row)
        inner = packet[VXLAN].payload
        assert (inner[IP].src, inner[IP].dst) == (row["src"], row["dst"])
        assert packet[VXLAN].vni == row["tunnel_id"]
        assert int(packet.time * 10**9) == row["t_ns"]
        assert packet.wirelen == row["wire_bytes"]


def test_there_and_back_nothing_is_lost(packets: pl.DataFrame) -> None:
    rows = packets.head(20)
    # whole frames only: scapy writes lengths anew
    whole = rows.filter(pl.col("captured_bytes") == pl.col("wire_bytes"))
    sent = [pcaplat.to_scapy(row) for row in whole.iter_rows(named=True)]
    back = pcaplat.from_scapy(sent, point="again")
    same = ["t_ns", "layers", "src", "dst", "src_port", "dst_port", "tunnel_id", "wire_bytes"]
    assert back.select(same).equals(whole.select(same))
    assert set(back["point"]) == {"again"}
    assert len(whole) > 5


@pytest.mark.oracle
@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
@pytest.mark.filterwarnings("ignore")
def test_tshark_shows_the_fields_of_the_row(packets: pl.DataFrame) -> None:
    row = packets.row(3, named=True)
    shown = pcaplat.to_pyshark(row)
    assert [layer.layer_name for layer in shown.layers][:4] == ["eth", "ip", "udp", "vxlan"]
    assert int(shown.vxlan.vni) == row["tunnel_id"]
    assert int(shown.length) == row["wire_bytes"]
    [frame] = frames_at(SAMPLE, [row["frame"]])
    assert int(shown.captured_length) == len(frame.data)


def test_a_row_of_another_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(pcaplat.InputError, match=r"to_scapy: the row names no file and frame"):
        pcaplat.to_scapy({"up_file": "a.pcap", "up_frame": 1})
    with pytest.raises(pcaplat.InputError, match="has no frame 9999"):
        pcaplat.to_scapy({"file": str(SAMPLE), "frame": 9999})
    with pytest.raises(FileNotFoundError):
        pcaplat.to_scapy({"file": str(tmp_path / "gone.pcap"), "frame": 1})
