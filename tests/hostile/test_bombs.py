"""Files that promise more than they are: read or refused within limits that the system enforces."""

from __future__ import annotations

import json
import lzma
import resource
import struct
import subprocess
import sys
import zlib
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import pcaplat
from pcaplat.linting import lint
from pcaplat.model.files.captures import COMPRESSED
from tests.conftest import ROOT
from tests.hostile.fuzzing.captures import UDP, frame

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MAX_MB = 256
MAX_ADDRESS_BYTES = 3 << 30
MAX_CPU_S = 30
MAX_EMPTY = 65_536
READ = """
import json, sys
from pathlib import Path
import pyarrow as pa
import pcaplat
told = {}
for path in sys.argv[1:]:
    try:
        stream = pcaplat.read(path)
        n = sum(batch.num_rows for batch in pa.RecordBatchReader.from_stream(stream))
        told[path] = n, [text for _, _, text in stream.damage()]
    except pcaplat.InputError as problem:
        told[path] = 0, [str(problem)]
status = Path("/proc/self/status").read_text("ascii")
told["peak_mb"] = int(status.partition("VmHWM:")[2].split()[0]) // 1024
print(json.dumps(told))
"""
PCAP = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1)
RECORD = struct.pack("<IIII", 1_700_000_000, 5, 60, 60) + bytes(range(60))
CODECS = {".gz": "gzip", ".zst": "zstd", ".lz4": "lz4", ".bz2": "bz2", ".xz": ""}
NOT_READ = "was not read; what came before is used"


def packed(suffix: str, data: bytes) -> bytes:
    """One member of a compressed file."""
    if suffix == ".xz":
        return lzma.compress(data, preset=0)
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, CODECS[suffix]) as stream:
        stream.write(data)
    return bytes(sink.getvalue())


def bomb(path: Path, head: bytes, filling: bytes) -> Path:
    """A file of a gigabyte of `filling` behind a head, in the compression that its name says."""
    member = packed(path.suffix, filling * ((16 << 20) // len(filling)))
    path.write_bytes(packed(path.suffix, head) + member * 64)
    return path


def limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MAX_ADDRESS_BYTES, MAX_ADDRESS_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_S, MAX_CPU_S))


def read(*paths: Path) -> list[tuple[int, list[str]]]:
    """How many frames a process with limits reads of each file, and what it says of it."""
    told = json.loads(limited(READ, *paths))
    assert told["peak_mb"] < MAX_MB
    return [(n, texts) for n, texts in (told[str(path)] for path in paths)]


def limited(program: str, *paths: Path) -> bytes:
    """What a process with limits prints."""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, paths)],
        cwd=ROOT,
        capture_output=True,
        check=False,
        preexec_fn=limit,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_gigabyte_of_zeros_costs_what_is_worth_reading(tmp_path: Path) -> None:
    assert set(CODECS) == set(COMPRESSED)
    paths = [bomb(tmp_path / f"zeros.pcap{suffix}", PCAP + RECORD, bytes(1)) for suffix in CODECS]
    for n, texts in read(*paths):
        assert n == 1 + MAX_EMPTY
        assert "zeros where records should be" in texts[0]
        assert f"zeros, more than the {MAX_EMPTY} records that are listed" in texts[1]
        assert NOT_READ in texts[1]


@pytest.mark.parametrize("octet", [1, 255])
def test_any_format_gives_up_behind_its_header(tmp_path: Path, octet: int) -> None:
    seeds = ROOT / "rust" / "fuzz" / "corpus" / "reader"
    heads = {name: (seeds / name).read_bytes() for name in ("ng-le-us", "snoop")}
    heads |= {"pcap": PCAP, "none": b""}
    paths = [bomb(tmp_path / f"{name}.gz", head, bytes([octet])) for name, head in heads.items()]
    found = dict(zip(heads, read(*paths), strict=True))
    assert found["none"][0] == found["pcap"][0] == 0
    assert "not a capture" in found["none"][1][0]
    assert found["ng-le-us"][0] == 1
    assert found["snoop"][0] == 3
    assert all(texts for _, texts in found.values())


def test_records_go_on_behind_zeros(tmp_path: Path) -> None:
    path = tmp_path / "hole.pcap"
    hole = bytes(1_000_001)
    path.write_bytes(PCAP + RECORD * 3 + hole + RECORD * 4 + bytes(64 << 10))
    [(n, texts)] = read(path)
    assert n == 7 + len(hole) // 16 + (64 << 10) // 16, "as many as Wireshark lists"
    assert "zeros where records should be" in texts[0]
    assert "behind the zeros is no record; 1 bytes are lost, reading goes on" in texts[1]
    assert "zeros where records should be" in texts[2]


def xz_with_a_dictionary(bits: int) -> bytes:
    """A block that claims 2^(bits / 2 + 12) bytes of dictionary (.xz file format, 5.3.1)."""
    head_at, filter_at, n_check = 12, 14, 4
    data = bytearray(packed(".xz", PCAP + RECORD))
    assert data[filter_at : filter_at + 2] == b"\x21\x01", "LZMA2, with one octet of properties"
    data[filter_at + 2] = bits
    end = head_at + (data[head_at] + 1) * 4 - n_check
    data[end : end + n_check] = zlib.crc32(data[head_at:end]).to_bytes(n_check, "little")
    return bytes(data)


def zstd_with_a_window(log: int) -> bytes:
    """A frame that claims a window of so many bits (RFC 8878 section 3.1.1.1.2)."""
    content = PCAP + RECORD
    block = (len(content) << 3 | 1).to_bytes(3, "little") + content
    return bytes.fromhex("28b52ffd00") + bytes([log - 10 << 3]) + block


@pytest.mark.parametrize(
    ("suffix", "modest", "greedy"),
    [
        pytest.param(".xz", xz_with_a_dictionary(24), xz_with_a_dictionary(36), id="xz"),
        pytest.param(".zst", zstd_with_a_window(20), zstd_with_a_window(31), id="zstd"),
    ],
)
def test_more_memory_than_is_worth_it_is_refused(
    tmp_path: Path, suffix: str, modest: bytes, greedy: bytes
) -> None:
    files = [tmp_path / f"{name}.pcap{suffix}" for name in ("modest", "greedy")]
    for file, data in zip(files, (modest, greedy), strict=True):
        file.write_bytes(data)
    (n_modest, said), (n_greedy, told) = read(*files)
    assert (n_modest, said) == (1, [])
    assert n_greedy == 0
    assert "memory" in told[0]


def test_compression_within_compression_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "nested.gz"
    path.write_bytes(packed(".gz", packed(".gz", packed(".gz", PCAP))))
    [(n, [text])] = read(path)
    assert n == 0
    assert "gzip inside another compression inside its gzip compression" in text
    assert text.endswith("unpack it first")


def test_empty_records_and_lengths_that_lie(tmp_path: Path) -> None:
    empty = struct.pack("<IIII", 1_700_000_000, 5, 0, 60)
    lie = struct.pack("<IIII", 1_700_000_000, 5, 0xFFFF_FFFF, 0xFFFF_FFFF)
    files = {
        "empty": PCAP + empty * 100_000,
        "lie": PCAP + RECORD * 2 + lie + RECORD * 2,
        "snaplen": PCAP[:16] + b"\xff" * 4 + PCAP[20:] + RECORD,
        "last": PCAP + RECORD + lie,
    }
    paths = []
    for name, data in files.items():
        paths.append(tmp_path / f"{name}.pcap")
        paths[-1].write_bytes(data)
    found = dict(zip(files, read(*paths), strict=True))
    assert [n for n, _ in found.values()] == [100_000, 4, 1, 1]
    assert "claims 4294967295 captured bytes" in found["lie"][1][0]
    assert not found["snaplen"][1]


def test_interfaces_without_end_are_bounded(tmp_path: Path) -> None:
    name = struct.pack("<HH", 2, 400) + b"n" * 400
    interface = block(1, struct.pack("<HHI", 1, 0, 0) + name)
    section = (ROOT / "rust/fuzz/corpus/reader/ng-le-us").read_bytes()[:28]
    path = tmp_path / "interfaces.pcapng.gz"
    path.write_bytes(packed(".gz", section) + packed(".gz", interface * 2000) * 40)
    [(n, texts)] = read(path)
    assert n == 0
    assert "more than 65536 interfaces" in " ".join(texts)


@pytest.mark.parametrize("verb", [lambda path: pcaplat.merge([path]), lambda path: lint([path])])
def test_points_without_end_are_not_compared_with_each_other(
    tmp_path: Path, verb: Callable[[Path], object]
) -> None:
    interface = block(1, struct.pack("<HHI", 1, 0, 0))
    file = (ROOT / "rust/fuzz/corpus/reader/ng-le-us").read_bytes()[:28]
    for number in range(600):
        file += interface + block(6, struct.pack("<IIIII", number, 0, number, 0, 0))
    path = tmp_path / "interfaces.pcapng"
    path.write_bytes(file)
    with pytest.raises(pcaplat.InputError, match=r"600 capture points.* at most 512"):
        verb(path)


MERGE = """
import json, sys
from pathlib import Path
import pcaplat
try:
    pcaplat.merge(sys.argv[1:])
    told = ""
except pcaplat.InputError as problem:
    told = str(problem)
status = Path("/proc/self/status").read_text("ascii")
print(json.dumps([told, int(status.partition("VmHWM:")[2].split()[0]) // 1024]))
"""


@pytest.mark.parametrize(
    ("n", "n_files", "is_section", "words"),
    [
        (65_536, 3, False, "more than 4096 interfaces"),
        (65_536, 3, True, "more than 4096 interfaces"),
        (4_096, 4, False, "16384 capture points"),
        (4_096, 4, True, ""),
        (1_024, 64, False, "more than 256 interfaces"),
    ],
)
def test_memory_is_bounded_whatever_interfaces_there_are(
    tmp_path: Path, n: int, n_files: int, words: str, *, is_section: bool
) -> None:
    """One packet at each; in sections all of them have one name, and so are one point."""
    paths = [tmp_path / f"{at}.pcapng" for at in range(n_files)]
    for at, path in enumerate(paths):
        path.write_bytes(interfaces(n, at, is_section=is_section))
    told, peak_mb = json.loads(limited(MERGE, *paths))
    assert words in told
    assert bool(words) == bool(told)
    assert peak_mb < MAX_MB


def interfaces(n: int, at: int, *, is_section: bool) -> bytes:
    """As many interfaces, each with a name and a packet, of one section or of a section each."""
    section = (ROOT / "rust/fuzz/corpus/reader/ng-le-us").read_bytes()[:28]
    named, packets = [], []
    for number in range(n):
        name = b"eth0" if is_section else b"e%07d" % number
        option = struct.pack("<HH", 2, len(name)) + name
        named.append(block(1, struct.pack("<HHI", 1, 0, 0) + option))
        sent = frame(UDP, number % 37, number, 64, is_back=number % 2 == 1)
        head = (0 if is_section else number, 406_000, 10 * number + at, len(sent), len(sent))
        packets.append(block(6, struct.pack("<IIIII", *head) + sent + bytes(-len(sent) % 4)))
    if is_section:
        return b"".join(
            part for one in zip(named, packets, strict=True) for part in (section, *one)
        )
    return section + b"".join((*named, *packets))


def block(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length
