"""Every frame of every public capture, as this project reads it and as tshark does."""

from __future__ import annotations

import ipaddress
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl
import pytest

import pcaplat
from pcaplat.errors import InputError
from tests.shelf import CAPTURES

if TYPE_CHECKING:
    from pathlib import Path

PUBLIC = CAPTURES / "public"
pytestmark = [
    pytest.mark.oracle,
    pytest.mark.slow,
    pytest.mark.skipif(not PUBLIC.exists(), reason="the shared captures are not here"),
]

MAX_FRAMES = 50_000
MAX_EXCEPTED_FRAC = 0.001
FIELDS = [
    *("frame.number", "frame.protocols", "frame.len", "frame.cap_len", "frame.time_epoch"),
    *("ip.src", "ip.dst", "ipv6.src", "ipv6.dst"),
    *("tcp.srcport", "tcp.dstport", "udp.srcport", "udp.dstport"),
]
OPTIONS = [
    *("-o", "ip.defragment:FALSE", "-o", "ipv6.defragment:FALSE"),
    *("-o", "tcp.desegment_tcp_streams:FALSE", "-d", "udp.port==8472,vxlan"),
    *("-E", "occurrence=a", "-E", "aggregator=;"),
]
NETWORKS = ("ip", "ipv6", "arp")
QUOTES = ("icmp", "icmpv6")

# what tshark lists of a frame, and why this project rightly reads it otherwise
EXCEPTIONS = {
    "ipcomp": "RFC 3173 §2: compressed; tshark inflates it, what travels are the compressed bytes",
    "wlan": "IEEE 802.11: refused with a reason, also within PPI, CAPWAP and GRE",
    "lisp": "RFC 9301 §5.6: a control message that quotes a packet is not that packet",
    "lisp-data": "RFC 9300 §5: a layer of a later issue",
    "ayiya": "draft-massar-v6ops-ayiya §3: a layer of a later issue",
    "nhrp": "RFC 2332 §5.2.7: an error that quotes a packet is not that packet",
    "gtpprime": "3GPP TS 32.295 §6.1: carries records, not packets; tshark guesses",
    "macsec": "IEEE 802.1AE §9.3: authenticated, a layer of a later issue",
    "avsp": "Arista's time stamp tag: read where in-packet stamps are",
    "fddi": "ANSI X3.139: refused with a reason",
    "arcnet": "ANSI/ATA 878.1: refused with a reason",
    "ipnet": "LINKTYPE_IPNET: refused with a reason",
    "ieee8021ah": "IEEE 802.1Q §9.7: deeper than 32 layers, which stops with a value",
    "erf": "Endace ERF, type 27: describes the capture, holds no frame",
    "l2tp": "RFC 3931 §4.1: the cookie is not in the packet; tshark needs to be told what follows",
    "udp:data": "draft-ietf-intarea-gue §3: GUE, which tshark 4.0.17 does not know",
    "gre:ip": "Cisco WCCP: its redirect header precedes the packet; a layer of a later issue",
}
# files that are broken on purpose: what tshark makes of nonsense is no specification
BROKEN = (
    "/Fuzzers/",
    "fuzz",
    "cve20",
    "decode-too-small",
    "tcp-reassembly",
    "invalid",
    "malformed",
    "trunc",
    "erspan-type-iii-pb",
)


@dataclass(frozen=True)
class Facts:
    """What both readings say of a frame."""

    number: int
    wire_bytes: int
    captured_bytes: int
    t_ns: int | None
    addresses: tuple[str, ...]
    ports: tuple[str, ...]


def listed(path: Path) -> tuple[list[tuple[str, Facts]], bool]:
    """What tshark lists: protocols and facts of each frame; and whether it read to the end."""
    fields = [word for name in FIELDS for word in ("-e", name)]
    limit = ["-c", str(MAX_FRAMES)]
    command = ["tshark", "-n", "-r", str(path), *limit, *OPTIONS, "-T", "fields", *fields]
    done = subprocess.run(command, capture_output=True, check=False, timeout=600)
    rows = [line.split("\t") for line in done.stdout.decode(errors="replace").splitlines()]
    return [(row[1], facts_of(row)) for row in rows], done.returncode == 0


def facts_of(row: list[str]) -> Facts:
    number, protocols, wire_bytes, captured_bytes, time = row[:5]
    seconds, _, digits = time.partition(".")
    layers = until_quote(protocols.split(":"))
    innermost = [layer for layer in layers if layer in NETWORKS][-1:]
    addresses: tuple[str, ...] = ()
    if innermost and innermost[0] != "arp":
        src = 5 if innermost == ["ip"] else 7
        addresses = tuple(nth(row[at], layers.count(innermost[0])) for at in (src, src + 1))
        layers_above = layers[len(layers) - layers[::-1].index(innermost[0]) :]
    else:
        layers_above = []
    if "eth" in layers_above:  # a frame without IP in a tunnel is the packet
        addresses, layers_above = (), []
    found = next((layer for layer in layers_above if layer in {"tcp", "udp"}), None)
    first = 9 if found == "tcp" else 11
    ports = tuple(nth(row[at], layers.count(found)) for at in (first, first + 1)) if found else ()
    return Facts(
        int(number),
        int(wire_bytes),
        int(captured_bytes),
        int(seconds) * 10**9 + int(digits[:9]) if time else None,
        tuple(str(ipaddress.ip_address(address)) for address in addresses if address),
        tuple(port for port in ports if port),
    )


def until_quote(layers: list[str]) -> list[str]:
    """The layers of the packet itself, without those that an error message quotes."""
    ends = [at for at, layer in enumerate(layers) if layer in QUOTES]
    return layers[: ends[0] + 1] if ends else layers


def nth(values: str, n: int) -> str:
    found = values.split(";")
    return found[n - 1] if len(found) >= n else ""


def read(path: Path) -> list[Facts]:
    """What this project reads; nothing of what it refuses."""
    try:
        table = pl.DataFrame(pcaplat.read(path)).head(MAX_FRAMES)
    except InputError:
        return []
    columns = (
        "frame",
        "wire_bytes",
        "captured_bytes",
        "t_ns",
        "src",
        "dst",
        "src_port",
        "dst_port",
    )
    return [
        Facts(
            row[0],
            row[1],
            row[2],
            row[3],
            tuple(address for address in row[4:6] if address),
            tuple(str(port) for port in row[6:8] if port is not None),
        )
        for row in table.select(columns).iter_rows()
    ]


def differences(path: Path) -> list[tuple[str, str, Facts, Facts]]:
    """The frames that the two see differently: file, protocols, and both readings."""
    theirs, _ = listed(path)
    pairs = zip(theirs, read(path), strict=False)
    return [
        (str(path), protocols, facts, ours)
        for (protocols, facts), ours in pairs
        if facts.t_ns is not None and facts != ours  # else a custom block, or no stamp
    ]


def excuse(path: str, protocols: str) -> str | None:
    """Why this difference is no mistake, if it is none."""
    if any(word in path for word in BROKEN):
        return "broken"
    padded = f":{protocols}:"
    return next((why for layer, why in EXCEPTIONS.items() if f":{layer}:" in padded), None)


@pytest.fixture(scope="module")
def files() -> list[Path]:
    return sorted(path for path in PUBLIC.rglob("*") if path.is_file())


def test_no_frame_is_read_otherwise_than_tshark_does(files: list[Path]) -> None:
    with ThreadPoolExecutor(2) as pool:
        found = [one for of_file in pool.map(differences, files) for one in of_file]
    mistakes = [one for one in found if excuse(one[0], one[1]) is None]
    assert not mistakes
    excused = Counter(excuse(one[0], one[1]) for one in found)
    n_frames = sum(min(MAX_FRAMES, len(read(path))) for path in files)
    assert excused.total() <= MAX_EXCEPTED_FRAC * n_frames, excused
    assert {why for why in excused if why != "broken"} == set(EXCEPTIONS.values())


def test_every_frame_that_tshark_lists_is_listed(files: list[Path]) -> None:
    with ThreadPoolExecutor(2) as pool:
        counts = pool.map(lambda path: (path, *listed(path)), files)
        lacking = [
            f"{path}: {len(read(path))} of {len(theirs)}"
            for path, theirs, _ in counts
            if len(read(path)) < len(theirs) and not any(word in str(path) for word in BROKEN)
        ]
    assert not lacking
