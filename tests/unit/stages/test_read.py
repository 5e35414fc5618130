"""Reading: a capture becomes rows of the packets table, through Arrow, in batches."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.vxlan import VXLAN
from scapy.utils import rdpcap

import pcaplat
from pcaplat.errors import InputError
from pcaplat.tables import DETAILS, PACKETS
from pcaplat.tables.columns import TableSchema
from tests.conftest import ROOT
from tests.support.frames import UDP, ip, udp, vxlan, write_pcap

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = ROOT / "samples" / "vxlan" / "host1-up.pcap"
T_NS = 1_700_000_000_123_456_789
INNER = ip("192.0.2.1", "192.0.2.2", UDP, 7, 64, udp((1111, 2222), b"payload"))


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    path = tmp_path / "uplink.pcap"
    write_pcap(path, [(T_NS, INNER), (T_NS + 5, vxlan(INNER, 1, forward=True))])
    return path


def test_rows_are_those_of_the_packets_table() -> None:
    frame = pl.DataFrame(pcaplat.read(SAMPLE))
    PACKETS.check(frame)
    assert frame["frame"].to_list() == list(range(1, len(frame) + 1))
    assert frame["status"].unique().to_list() == ["unmatched"]
    assert frame["trajectory_id"].is_null().all()
    assert frame["aligned_ns"].is_null().all()


def test_the_innermost_packet_is_named(capture: Path) -> None:
    plain, tunnelled = pl.DataFrame(pcaplat.read(capture)).iter_rows(named=True)
    assert plain["t_ns"] == T_NS
    assert plain["layers"] == "ethernet/ipv4/udp"
    assert tunnelled["layers"] == "ethernet/ipv4/udp/vxlan/ethernet/ipv4/udp"
    for row in (plain, tunnelled):
        assert (row["src"], row["dst"]) == ("192.0.2.1", "192.0.2.2")
        assert (row["src_port"], row["dst_port"], row["protocol"]) == (1111, 2222, UDP)
    assert plain["tunnel_id"] is None
    assert tunnelled["tunnel_id"] is not None
    assert plain["wire_bytes"] == len(INNER)


def test_points_are_named_after_the_files_or_as_asked(capture: Path) -> None:
    assert set(pl.DataFrame(pcaplat.read(capture))["point"]) == {str(capture)}
    named = pl.DataFrame(pcaplat.read([capture, SAMPLE], points=["a", "b"]))
    assert named["point"].unique(maintain_order=True).to_list() == ["a", "b"]
    assert named["file"].n_unique() == 2


def test_filters_choose_by_the_inner_or_the_outer_packet(capture: Path) -> None:
    inner = pl.DataFrame(pcaplat.read(capture, bpf="udp port 2222"))
    outer = pl.DataFrame(pcaplat.read(capture, bpf_outer="udp port 2222"))
    assert (len(inner), len(outer)) == (2, 1)


def test_vxlan_on_another_port_is_found_if_asked_for(tmp_path: Path) -> None:
    frame = bytearray(vxlan(INNER, 1, forward=True))
    at = frame.index(struct.pack(">H", 4789), 34)
    frame[at : at + 2] = struct.pack(">H", 5555)
    path = tmp_path / "odd.pcap"
    write_pcap(path, [(T_NS, bytes(frame))])
    (usual,) = pl.DataFrame(pcaplat.read(path))["layers"]
    (asked,) = pl.DataFrame(pcaplat.read(path, vxlan_ports=[5555]))["layers"]
    assert "vxlan" not in usual
    assert "vxlan" in asked


@pytest.mark.parametrize(
    ("decode", "layers"),
    [
        ([], "ethernet/ipv4/udp"),
        (["udp.port=5555:vxlan"], "ethernet/ipv4/udp/vxlan/ethernet/ipv4/udp"),
        (
            ["udp.port=5555:geneve", "udp.port=0x15b3:vxlan"],
            "ethernet/ipv4/udp/vxlan/ethernet/ipv4/udp",
        ),
        (["ip.proto=17:tcp"], "ethernet/ipv4/tcp"),
    ],
)
def test_what_is_decoded_as_what_can_be_said(
    tmp_path: Path, decode: list[str], layers: str
) -> None:
    frame = bytearray(vxlan(INNER, 1, forward=True))
    at = frame.index(struct.pack(">H", 4789), 34)
    frame[at : at + 2] = struct.pack(">H", 5555)
    path = tmp_path / "odd.pcap"
    write_pcap(path, [(T_NS, bytes(frame))])
    (found,) = pl.DataFrame(pcaplat.read(path, decode=decode))["layers"]
    assert found == layers


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("udp.prt=1:vxlan", r"did you mean \"udp.port\"\? There are: udp.port, "),
        ("udp.port=1:vxlam", r"no layer is called \"vxlam\"; did you mean \"vxlan\"\? There are: "),
        ("udp.port=70000:vxlan", "a number up to 65535"),
        ("udp.port=1", "write it like udp.port=8472:vxlan"),
    ],
)
def test_what_cannot_be_decoded_as_said_is_told_with_the_nearest_right_name(
    text: str, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        pcaplat.read(SAMPLE, decode=[text])


def test_details_are_what_scapy_reads(tmp_path: Path) -> None:
    frame = pl.DataFrame(pcaplat.read(SAMPLE, details=True))
    TableSchema("packets with details", "", PACKETS.columns + DETAILS.columns).check(frame)
    names = ["ip_id", "ttl", "dscp", "tcp_seq", "tcp_ack", "payload_bytes"]
    rows = frame.select(names).rows()
    tcp = 0
    for row, packet in zip(rows, rdpcap(str(SAMPLE)), strict=True):
        inner = packet[VXLAN][IP] if VXLAN in packet and IP in packet[VXLAN] else None
        if inner is None or TCP not in inner:
            continue
        segment = inner[TCP]
        n_payload = inner.len - 4 * inner.ihl - 4 * segment.dataofs
        expected = (inner.id, inner.ttl, inner.tos >> 2, segment.seq, segment.ack, n_payload)
        assert row == expected
        tcp += 1
    assert tcp > 100
    cut = tmp_path / "cut.pcap"
    write_pcap(cut, [(T_NS, vxlan(INNER, 1, forward=True)[:60])])
    whole = bytearray(cut.read_bytes())
    whole[36:40] = struct.pack("<I", 500)  # on the wire
    cut.write_bytes(whole)
    (why,) = pl.DataFrame(pcaplat.read(cut, details=True))["undecoded_because"]
    assert why == "ethernet at byte 50 needs 14 bytes; the capture kept 10"


def test_batches_are_as_large_as_asked_and_read_once() -> None:
    stream = pcaplat.read(SAMPLE, batch_rows=100)
    sizes = [len(batch) for batch in pa.RecordBatchReader.from_stream(stream)]
    assert sum(sizes) == 328
    assert max(sizes) <= 100
    with pytest.raises(InputError):
        pa.RecordBatchReader.from_stream(stream)


def test_a_filter_that_cannot_be_understood_is_refused() -> None:
    with pytest.raises(InputError, match="no such filter"):
        pcaplat.read(SAMPLE, bpf="no such filter")
