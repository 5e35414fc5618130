"""Frames of STT in segments, as this project and tshark put them together."""

from __future__ import annotations

import random
import struct
import subprocess
from typing import TYPE_CHECKING

import polars as pl
import pytest

import pcaplat

if TYPE_CHECKING:
    from pathlib import Path

MACS = bytes.fromhex("020000000002020000000001")
OUTER = bytes.fromhex("c0000201c0000202")
INNER = bytes.fromhex("0a0000010a000002")
PORT = 7471
STT_BYTES = 18
IP_BYTES = TCP_BYTES = 20
MSS = 1_400


def ipv4(total_bytes: int, ends: bytes) -> bytes:
    """A header with a checksum that holds (RFC 791 §3.1); its identification is that of TCP."""
    words = struct.pack(">BBHHHBBH", 0x45, 0, total_bytes, 1, 0, 64, 6, 0) + ends
    total = sum(struct.unpack(">10H", words))
    total = (total & 0xFFFF) + (total >> 16)
    return words[:10] + struct.pack(">H", 0xFFFF - total) + words[12:]


def tunnelled(sequence: int, payload_bytes: int) -> bytes:
    """The STT header (draft-davie-stt §3.2) and a frame with a TCP segment."""
    stt = struct.pack(">BBBBHHQH", 0, 0x0C, 34, 0, MSS, 0, 5001, 0)
    tcp = struct.pack(">HHIIBBHHH", 40_000, 40_001, sequence, 1, 0x50, 0x18, 1024, 0, 0)
    whole = IP_BYTES + TCP_BYTES + payload_bytes
    return stt + MACS + b"\x08\x00" + ipv4(whole, INNER) + tcp + bytes(payload_bytes)


def segments(number: int, body: bytes, part_bytes: int) -> list[bytes]:
    """The packets of one frame: its length and each offset stand for the sequence number."""
    packets = []
    for offset in range(0, len(body), part_bytes):
        part = body[offset : offset + part_bytes]
        looks = struct.pack(
            *(">HHHHIBBHHH", 51_000, PORT, len(body), offset, number, 0x50, 0x10, 0xFFFF, 0, 0)
        )
        ip = ipv4(IP_BYTES + TCP_BYTES + len(part), OUTER)
        packets.append(MACS + b"\x08\x00" + ip + looks + part)
    return packets


def save(packets: list[bytes], path: Path) -> Path:
    """A pcap of packets 10 µs apart."""
    records = [
        struct.pack("<IIII", 1_700_000_000, 10_000 * at, len(packet), len(packet)) + packet
        for at, packet in enumerate(packets)
    ]
    path.write_bytes(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65_535, 1) + b"".join(records))
    return path


def sequences(capture: Path) -> list[int | None]:
    """By frame, the sequence number of the innermost TCP that tshark finds."""
    options = ["-o", "ip.try_heuristic_first:TRUE", "-o", "stt.reassemble:TRUE"]
    fields = ["-T", "fields", "-e", "frame.protocols", "-e", "tcp.seq_raw"]
    command = ["tshark", "-n", "-r", str(capture), *options, *fields]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = (line.split("\t") for line in done.stdout.splitlines())
    return [int(found) if "tcp" in layers.split(":") else None for layers, found in rows]


@pytest.mark.oracle
def test_tshark_finds_the_same_frames_in_the_same_places(tmp_path: Path) -> None:
    """Any number of segments, in any order, those of two frames at a time mixed; some are lost.

    None has 20 bytes or fewer: tshark 4.0.17 takes a frame for whole that lacks only so many.
    """
    draw = random.Random(7471)  # noqa: S311 - the same every time
    packets: list[bytes] = []
    for number in range(0, 120, 2):
        mixed = []
        for one in (number, number + 1):
            body = tunnelled(1_000 + one, 100 * draw.randrange(90))
            parts = segments(one, body, draw.choice([600, MSS, 8_900]))
            if len(parts) > 1 and draw.random() < 0.1:
                parts.pop(draw.randrange(len(parts)))
            mixed.extend(parts)
        draw.shuffle(mixed)
        packets.extend(mixed)
    capture = save(packets, tmp_path / "stt.pcap")
    rows = pl.DataFrame(pcaplat.read(capture, details=True))
    inside = rows["layers"].str.ends_with("stt/ethernet/ipv4/tcp") & (rows["status"] != "coalesced")
    ours = [
        seq if is_inside else None for seq, is_inside in zip(rows["tcp_seq"], inside, strict=True)
    ]
    theirs = sequences(capture)
    assert sum(seq is not None for seq in theirs) > 100
    assert ours == theirs
    assert set(rows.filter(inside)["tunnel_id"]) == {5001}


def test_a_tunnel_point_matches_the_frames_before_it(tmp_path: Path) -> None:
    """A super-segment that went in five packets, one of which came late, is the one it was."""
    bodies = [tunnelled(1_000 + 6_000 * at, 6_000) for at in range(50)]
    plain = save([body[STT_BYTES:] for body in bodies], tmp_path / "vnic.pcap")
    parts = [part for at, body in enumerate(bodies) for part in segments(at, body, MSS)]
    uplink = save(parts, tmp_path / "uplink.pcap")
    result = pcaplat.merge([str(plain), str(uplink)], same_clock=["all"])
    frames = result.packets.collect()
    at_uplink = frames.filter(pl.col("point") == "uplink")["status"].to_list()
    assert at_uplink.count("matched") == len(bodies)
    assert at_uplink.count("coalesced") == len(parts) - len(bodies)
    [text] = [w["text"] for w in result.document["warnings"] if w["code"] == "outer-fragments"]
    assert "uplink.pcap: 50 tunnel packets were put together from fragments" in text
