"""Digests: what is in them, what is not, and that merging them says what captures say."""

from __future__ import annotations

import re
import shutil
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import HAO, IPv6, IPv6ExtHdrDestOpt
from scapy.layers.l2 import ARP, Ether
from scapy.utils import PcapReader, PcapWriter, wrpcap

import pcaplat
from pcaplat.errors import InputError, OutputError
from tests.conftest import ROOT

SAMPLES = ROOT / "samples"
N_HEADER = 18
SETS = sorted(each.name for each in SAMPLES.iterdir() if len([*each.glob("*.pcap*")]) > 1)

HOST, PEER = "198.51.100.77", "203.0.113.99"
MAC = "02:ab:cd:ef:01:23"
SECRET = b"attack at dawn, not at noon!"
TO = Ether(src=MAC, dst="02:ab:cd:ef:01:24")
QUOTED = IP(src=PEER, dst=HOST, id=9, frag=5) / SECRET
LEAKS = {
    "redirect": TO
    / IP(src=PEER, dst=HOST)
    / ICMP(type=5, code=1, gw=HOST)
    / IP(src=PEER, dst=HOST),
    "quoted fragment": TO / IP(src=PEER, dst=HOST) / ICMP(type=3, code=1) / QUOTED,
    "unknown ICMP": TO / IP(src=PEER, dst=HOST) / ICMP(type=40, id=0x6174, seq=0x7461) / SECRET,
    "TCP option": TO / IP(src=PEER, dst=HOST) / TCP(options=[(254, socket.inet_aton(HOST))]),
    "NAT64": TO / IPv6(src="64:ff9b::198.51.100.77", dst="2001:db8::1") / UDP(),
    "mapped": TO / IPv6(src="::ffff:198.51.100.77", dst="::203.0.113.99") / UDP(),
    "solicited": TO / IPv6(src="fe80::ab:cdff:feef:123", dst="ff02::1:ffef:123") / UDP(),
    "home address": TO
    / IPv6(src="2001:db8::1", dst="2001:db8::2")
    / IPv6ExtHdrDestOpt(options=[HAO(hoa="2001:db8:77::99")])
    / UDP(),
    "GUE extension": TO
    / IP(src="192.0.2.1", dst="192.0.2.2")
    / UDP(sport=50_000, dport=6080, chksum=0)
    / (bytes([2, 4, 0, 0]) + socket.inet_aton(HOST) + SECRET[:4])
    / IP(src=HOST, dst=PEER)
    / UDP(sport=1000, dport=2000)
    / SECRET,
    "reserved": TO / IP(src="240.198.51.100", dst=PEER) / UDP(),
}
HIDDEN = [
    SECRET[:4],
    socket.inet_aton(HOST),
    socket.inet_aton(PEER),
    bytes.fromhex("02abcdef0123"),
    bytes.fromhex("ef0123"),
    bytes.fromhex("20010db8"),
    bytes([240, 198, 51, 100]),
]


def captures_of(name: str) -> list[Path]:
    return sorted((SAMPLES / name).glob("*.pcap*"))


def digests(files: list[Path], folder: Path, **options: Any) -> list[str]:  # noqa: ANN401 - of any kind
    rows = pcaplat.digest(files, output=folder, **options)["digests"]
    return [row["digest"] for row in rows]


def decompressed(file: Path) -> bytes:
    return bytes(pa.CompressedInputStream(str(file), "zstd").read())


def figures(document: dict[str, Any]) -> dict[str, Any]:
    """What is counted and timed; bands and ends of intervals hang on which address is smaller."""
    counted = ("from", "to", "direction", "class", "n", "n_lost", "n_late", "n_reordered")
    rows = [{name: row[name] for name in counted if name in row} for row in document["segments"]]
    return {name: document[name] for name in ("path", "matching", "points")} | {"segments": rows}


@pytest.mark.parametrize("name", SETS)
def test_a_merge_of_digests_says_what_one_of_captures_says(name: str, tmp_path: Path) -> None:
    files = captures_of(name)
    of_captures = pcaplat.merge(files, same_clock="all")
    key = tmp_path / "fixed.key"
    # a packet or two hang on which of two addresses is the smaller: the same each time
    key.write_text("the same pseudonyms in every run of the tests")
    of_digests = pcaplat.merge(digests(files, tmp_path, key=key), same_clock="all")
    assert figures(of_digests.document) == figures(of_captures.document)
    for one, other in zip(
        of_digests.document["segments"], of_captures.document["segments"], strict=True
    ):
        assert one["mean_ns"] == pytest.approx(other["mean_ns"], rel=0.001, abs=5)


@pytest.mark.parametrize("name", SETS)
def test_frames_are_as_they_were_but_for_payload_and_addresses(name: str, tmp_path: Path) -> None:
    kept = [
        "frame", "t_ns", "status", "layers", "protocol", "src_port", "dst_port", "wire_bytes",
    ]  # fmt: skip
    for file in captures_of(name):
        (made,) = digests([file], tmp_path)
        captured, digested = (pcaplat.scan(each).collect() for each in (str(file), made))
        names = [each for each in kept if each in captured.columns]
        assert len(names) > 5
        assert digested.select(names).equals(captured.select(names))
        shown = {*captured["src"].drop_nulls()} & {*digested["src"].drop_nulls()}
        assert shown <= {"::", "0.0.0.0"}  # noqa: S104 - no host's
        assert captured["src"].n_unique() == digested["src"].n_unique()


def test_no_payload_and_no_address_is_in_a_digest(tmp_path: Path) -> None:
    secret, mac = b"attack at dawn, not at noon!", "02:ab:cd:ef:01:23"
    to = Ether(src=mac, dst="02:ab:cd:ef:01:24")
    ip = IP(src="198.51.100.77", dst="203.0.113.99", id=7)
    quoted = IP(src="203.0.113.99", dst="198.51.100.77", id=9) / UDP(sport=1, dport=2) / secret
    frames = [
        to / ip / TCP(sport=1000, dport=2000, seq=5) / secret,
        to / ip / UDP(sport=1000, dport=2000) / secret,
        to / ip / ICMP(type=8, id=3, seq=4) / secret,
        to / ip / ICMP(type=3, code=3) / quoted,
        to / ARP(psrc="198.51.100.77", pdst="203.0.113.99", hwsrc=mac),
        to / IP(src="198.51.100.77", dst="203.0.113.99", proto=132) / secret,
        Ether(src=mac, dst="02:ab:cd:ef:01:24", type=0x88B5) / secret,
    ]
    wrpcap(str(tmp_path / "a.pcap"), frames)
    (made,) = digests([tmp_path / "a.pcap"], tmp_path)
    pcap = tmp_path / "back.pcapng"
    plain = decompressed(Path(made))
    bytes_of_frames = b"".join(_frames(made, pcap))
    for hidden in (
        secret[:4],
        secret[-6:],
        bytes([198, 51, 100, 77]),
        bytes([203, 0, 113, 99]),
        bytes.fromhex(mac.replace(":", "")),
    ):
        assert hidden not in plain
        assert hidden not in bytes_of_frames


@pytest.mark.parametrize("layer", [UDP, TCP])
@pytest.mark.parametrize("n_bytes", [10, 30, 60, 1000])
def test_captures_that_were_cut_differently_still_agree(
    layer: type[UDP | TCP], n_bytes: int, tmp_path: Path
) -> None:
    sent = [
        Ether(src=MAC, dst="02:ab:cd:ef:01:24")
        / IP(src="198.51.100.77", dst="203.0.113.99", id=number + 1)
        / layer(sport=1000, dport=2000)
        / bytes((number * 31 + at * 7) % 256 for at in range(n_bytes))
        for number in range(40)
    ]
    for number, frame in enumerate(sent):
        frame.time = 1_700_000_000 + number * 1e-3
    wrpcap(str(tmp_path / "whole.pcap"), sent)
    n_headers = len(sent[0]) - n_bytes
    cuts = {n_bytes - 1, n_bytes - 3, 7, 15, 63, 511} & {*range(4, n_bytes)}
    for cut in sorted(cuts):
        _write_cut(tmp_path / "cut.pcap", sent, n_headers + cut)
        files = digests([tmp_path / "whole.pcap", tmp_path / "cut.pcap"], tmp_path, overwrite=True)
        matching = pcaplat.merge(files).document["matching"]
        assert matching["n_matched"] == 2 * len(sent), cut


@pytest.mark.parametrize("header", [bytes([0, 4, 0, 0]), bytes([1, 4, 0, 0, 9, 9, 9, 9]), b""])
def test_packets_in_gue_are_found_where_it_ends(header: bytes, tmp_path: Path) -> None:
    inner = [
        IP(src=HOST, dst=PEER, id=number + 1) / UDP(sport=1000, dport=2000) / bytes([number] * 30)
        for number in range(40)
    ]
    outer = IP(src="192.0.2.1", dst="192.0.2.2") / UDP(sport=50_000, dport=6080, chksum=0)
    wrpcap(str(tmp_path / "inside.pcap"), [TO / each for each in inner])
    wrpcap(str(tmp_path / "tunnel.pcap"), [TO / outer / (header + bytes(each)) for each in inner])
    files = digests([tmp_path / "inside.pcap", tmp_path / "tunnel.pcap"], tmp_path)
    assert pcaplat.merge(files).document["matching"]["n_matched"] == 2 * len(inner)


def _write_cut(file: Path, frames: list[Ether], n_bytes: int) -> None:
    with PcapWriter(str(file)) as out:
        for frame in frames:
            whole = bytes(frame)
            second, part = divmod(float(frame.time) + 5e-6, 1)
            out.write_header(frame)
            out.write_packet(whole[:n_bytes], second, round(part * 1e6), n_bytes, len(whole))


@pytest.mark.parametrize("name", LEAKS)
def test_places_where_addresses_and_payload_hide(name: str, tmp_path: Path) -> None:
    # a merge needs a packet that goes from one to another
    plain = TO / IP(src="192.0.2.1", dst="192.0.2.2", id=1) / UDP()
    wrpcap(str(tmp_path / "a.pcap"), [plain, LEAKS[name]])
    whole = bytes(LEAKS[name])
    (made,) = digests([tmp_path / "a.pcap"], tmp_path)
    shown = decompressed(Path(made)) + b"".join(_frames(made, tmp_path / "back.pcapng"))
    tried = [hidden for hidden in HIDDEN if hidden in whole]
    assert tried
    assert not [hidden for hidden in tried if hidden in shown]


def test_hostile_numbers_are_damage(tmp_path: Path) -> None:
    (made,) = digests([captures_of("vxlan")[0]], tmp_path)
    plain = decompressed(Path(made))
    at = plain.index(b"I", N_HEADER)
    for n_bytes, value in ((7, struct.pack("<d", float("nan"))), (7, struct.pack("<d", 1e300))):
        Path(made).write_bytes(plain[: at + n_bytes] + value + plain[at + n_bytes + 8 :])
        assert len(pcaplat.scan(made).collect()) == 0
    # frames of an interface that is not there
    n_interface = 5 + int.from_bytes(plain[at + 1 : at + 5], "little")
    Path(made).write_bytes(plain[:at] + plain[at + n_interface :])
    assert len(pcaplat.scan(made).collect()) == 0


def _frames(capture: str, out: Path) -> list[bytes]:
    """The frames as the project reads them, through its own pcapng."""
    again = out.with_name("again.digest")
    again.write_bytes(Path(capture).read_bytes())
    pcaplat.merge([capture, str(again)], same_clock="all").write_merged(out)
    with PcapReader(str(out)) as reader:
        return [bytes(frame) for frame in reader]


def test_keys(tmp_path: Path) -> None:
    near, far, *_ = captures_of("vxlan")
    key = tmp_path / "shared.key"
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
    a = digests([near], one, key=key)
    assert key.stat().st_mode & 0o777 == 0o600
    assert key.read_bytes().strip() not in Path(a[0]).read_bytes()
    b = digests([far], other, key=key)
    assert pcaplat.merge([*a, *b]).document["path"]
    c = digests([far], one)
    with pytest.raises(InputError, match=r"digests of different keys.*--key FILE"):
        pcaplat.merge([*a, *c])
    with pytest.raises(InputError, match=r"a capture and a digest.*make a digest of"):
        pcaplat.merge([*a, far])
    for no_file in (str(tmp_path), ""):
        with pytest.raises(InputError, match=r"--key .*is no file; give the name of a file"):
            digests([far], other, key=no_file, overwrite=True)
    (tmp_path / "short.key").write_text("guess me\n")
    with pytest.raises(InputError, match="holds 8 bytes; a key has 16 to"):
        digests([far], other, key=tmp_path / "short.key", overwrite=True)


def test_places(tmp_path: Path) -> None:
    near = captures_of("vxlan")[0]
    (tmp_path / "else").mkdir()
    (made,) = digests([near], tmp_path)
    before = Path(made).read_bytes()
    with pytest.raises(OutputError, match="is there already"):
        digests([near], tmp_path)
    with pytest.raises(OutputError, match="is no folder"):
        digests([near], tmp_path / "nowhere", key=tmp_path / "a.key")
    assert not (tmp_path / "a.key").exists()
    with pytest.raises(OutputError, match="2 captures would have this digest"):
        digests([near, Path(shutil.copy(near, tmp_path / "else"))], tmp_path)
    with pytest.raises(OutputError, match="is one of the captures"):
        digests([Path(made)], tmp_path, overwrite=True)
    with pytest.raises(InputError, match="is a digest already"):
        digests([Path(made)], tmp_path / "else")
    assert Path(made).read_bytes() == before
    assert {each.name for each in tmp_path.iterdir()} == {"else", Path(made).name}


def test_damaged_digests_are_captures_that_end_there(tmp_path: Path) -> None:
    (made,) = digests([captures_of("vxlan")[0]], tmp_path)
    plain = decompressed(Path(made))
    n_frames = len(pcaplat.scan(made).collect())
    for cut in (0, 1, 8, 17, 18, 22, len(plain) // 2, len(plain) - 1):
        Path(made).write_bytes(plain[:cut])
        if cut < N_HEADER:
            with pytest.raises(InputError, match=r"empty file|cut in its header|not a capture"):
                pcaplat.scan(made).collect()
        else:
            assert len(pcaplat.scan(made).collect()) <= n_frames
    for at in range(N_HEADER, len(plain), len(plain) // 200 + 1):
        Path(made).write_bytes(plain[:at] + bytes([plain[at] ^ 0xFF]) + plain[at + 1 :])
        assert len(pcaplat.scan(made).collect()) <= n_frames + 4096


def test_on_the_command_line(tmp_path: Path) -> None:
    near = captures_of("vxlan")[0]
    shutil.copy(near, tmp_path)
    run = [sys.executable, "-m", "pcaplat", "digest", near.name]
    made = subprocess.run(
        [*run, "--key", "k"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    assert "a new key; give it to who makes the other digests" in made.stderr
    assert re.search(rf"{near.name}\s+\S+\.digest", made.stdout)
    assert {each.name for each in tmp_path.iterdir()} == {
        near.name,
        "k",
        f"{near.name.split('.')[0]}.digest",
    }
