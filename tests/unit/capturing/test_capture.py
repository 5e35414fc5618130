"""Live capture in network namespaces with real traffic, and of pipes; scapy reads the files."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scapy.utils import PcapNgReader, PcapReader

from pcaplat import merge
from pcaplat.capturing import CaptureLimits, LiveCapture
from pcaplat.capturing.sources import parse_sources
from pcaplat.errors import InputError
from tests.conftest import ROOT
from tests.support.namespaces import (
    FAR,
    NEAR,
    ROUTER,
    answering,
    may_make_namespaces,
    routed_path,
    send,
)

CLI = [sys.executable, "-m", "pcaplat", "capture"]
SAMPLE = ROOT / "samples" / "vxlan" / "host1-vm.pcap"
PATH = [f"near=netns:{NEAR}/n0", f"mid=netns:{ROUTER}/r0", f"far=netns:{FAR}/f0"]
in_namespaces = pytest.mark.skipif(
    not may_make_namespaces(), reason="network namespaces need root and `ip`"
)


@pytest.fixture(scope="module")
def path() -> Iterator[None]:
    with routed_path(), answering():
        yield


def frames(file: Path) -> list[tuple[int, bytes]]:
    reader = PcapNgReader if file.suffix == ".pcapng" else PcapReader
    with reader(str(file)) as packets:
        return [(round(packet.time * 10**9), bytes(packet)) for packet in packets]


def captured(tmp_path: Path, limits: CaptureLimits, n: int, per_s: float) -> tuple[Any, float]:
    """Send while three points capture, and give their counts and the rate."""
    with LiveCapture(PATH, tmp_path, limits) as capturing:
        rate = send(n, per_s)
        time.sleep(0.2)
    assert capturing.is_over()
    return capturing, rate


def merged(capturing: LiveCapture) -> dict[str, Any]:
    options = {"same_clock": capturing.same_clock(), "path": ["near", "mid", "far"]}
    with merge(capturing.captures(), **options) as result:  # type: ignore[arg-type]
        return result.document


@in_namespaces
@pytest.mark.usefixtures("path")
def test_three_namespaces_capture_every_packet(tmp_path: Path) -> None:
    n = 3000
    limits = CaptureLimits(bpf="udp port 7000")
    capturing, _ = captured(tmp_path, limits, n, 5000)
    n_answers = n // 20
    for counts in capturing.counts():
        assert counts.n_packets == n + n_answers
        assert counts.n_dropped == counts.n_dropped_by_interface == 0
        assert counts.n_received == counts.n_packets + counts.n_outside
        assert counts.clock == "host"
    document = merged(capturing)
    matching = document["matching"]
    assert matching["n_matched"] == matching["n_frames"] == 3 * (n + n_answers)
    assert [segment["n_lost"] for segment in document["segments"]] == [0] * 6


@pytest.mark.slow
@in_namespaces
@pytest.mark.usefixtures("path")
def test_fifty_thousand_packets_a_second_lose_nothing_that_is_not_counted(tmp_path: Path) -> None:
    limits = CaptureLimits(bpf="udp dst port 7000", buffer_bytes=128_000_000)
    n = 500_000
    capturing, rate = captured(tmp_path, limits, n, 60_000)
    assert rate >= 50_000, "the machine is too busy to say"
    for counts in capturing.counts():
        assert counts.n_packets + counts.n_dropped + counts.n_outside == counts.n_received
        assert counts.n_packets + counts.n_dropped == n
    document = merged(capturing)
    n_dropped = sum(counts.n_dropped for counts in capturing.counts())
    assert n_dropped == 0
    assert document["matching"]["n_matched"] == 3 * n


@in_namespaces
@pytest.mark.usefixtures("path")
def test_files_say_what_the_interface_is_and_what_was_dropped(tmp_path: Path) -> None:
    capturing, _ = captured(tmp_path, CaptureLimits(bpf="udp", snap_bytes=60), 100, 1000)
    file = tmp_path / "near.pcapng"
    blocks = pcapng_blocks(file.read_bytes())
    kinds = [kind for kind, _ in blocks]
    assert (kinds[:2], kinds[-1]) == ([0x0A0D0D0A, 1], 5)
    interface, statistics = blocks[1][1], blocks[-1][1]
    options = options_of(interface[8:])
    assert (options[2], options[9], options[11]) == (b"n0", b"\x09", b"\x00udp")
    assert f"netns:{NEAR}/n0, timestamped by the kernel, 1 ns" in options[3].decode()
    told = {
        code: int.from_bytes(value, "little") for code, value in options_of(statistics[12:]).items()
    }
    counts = capturing.counts()[0]
    assert (told[6], told[7], told[8]) == (counts.n_received, 0, counts.n_packets)
    assert {len(data) for _, data in frames(file)} == {60}


def pcapng_blocks(data: bytes) -> list[tuple[int, bytes]]:
    """The blocks of a little-endian pcapng, by the specification alone."""
    found, at = [], 0
    while at < len(data):
        kind, n_bytes = (int.from_bytes(data[at + k : at + k + 4], "little") for k in (0, 4))
        assert data[at + n_bytes - 4 : at + n_bytes] == data[at + 4 : at + 8]
        found.append((kind, data[at + 8 : at + n_bytes - 4]))
        at += n_bytes
    return found


def options_of(data: bytes) -> dict[int, bytes]:
    found, at = {}, 0
    while code := int.from_bytes(data[at : at + 2], "little"):
        n_bytes = int.from_bytes(data[at + 2 : at + 4], "little")
        found[code] = data[at + 4 : at + 4 + n_bytes]
        at += 4 + (n_bytes + 3) // 4 * 4
    return found


@in_namespaces
@pytest.mark.usefixtures("path")
def test_all_points_end_with_the_packet_that_was_asked_for(tmp_path: Path) -> None:
    limits = CaptureLimits(bpf="udp dst port 7000", n_packets=500)
    capturing, _ = captured(tmp_path, limits, 2000, 5000)
    counts = [one.n_packets for one in capturing.counts()]
    assert max(counts) == 500
    assert min(counts) > 400
    ends = [frames(tmp_path / f"{name}.pcapng")[-1][0] for name in ("near", "mid", "far")]
    assert max(ends) - min(ends) < 50_000_000


@in_namespaces
@pytest.mark.usefixtures("path")
def test_a_ring_keeps_its_last_files_and_each_is_whole(tmp_path: Path) -> None:
    limits = CaptureLimits(bpf="udp dst port 7000", ring=(2, 20_000))
    capturing, _ = captured(tmp_path, limits, 3000, 2000)
    files = capturing.counts()[0].files
    assert len(files) == 2
    assert {file.name for file in files} == {path.name for path in tmp_path.glob("near-*")}
    last = [data for file in files for _, data in frames(file)]
    numbers = [int.from_bytes(data[42:50], "big") for data in last]
    assert numbers == [*range(numbers[0], 3000)]
    assert capturing.counts()[0].n_packets == 3000
    for file in files:
        kind, statistics = pcapng_blocks(file.read_bytes())[-1]
        delivered = int.from_bytes(options_of(statistics[12:])[8], "little")
        assert (kind, delivered) == (5, len(frames(file)))


@in_namespaces
@pytest.mark.usefixtures("path")
def test_the_command_ends_by_an_interrupt_with_whole_files_and_merges(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [*CLI, *PATH, "-o", str(out), "--filter", "udp port 7000", "--live", "1s"]
    command += ["--merge", "--format", "json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    ) as running:
        await_files(out, 3)
        send(4000, 1000)
        time.sleep(0.5)
        running.send_signal(signal.SIGINT)
        stdout, stderr = running.communicate(timeout=120)
    assert running.returncode == 0, stderr
    document = json.loads(stdout)
    assert document["matching"]["n_matched"] == document["matching"]["n_frames"] == 3 * 4200
    assert document["segments"][0]["clock_half_width_ns"] == 0
    assert "near → mid" in stderr or "near" in stderr
    assert (out / "result" / "summary.json").exists()
    assert sum(len(frames(file)) for file in out.glob("*.pcapng")) == 3 * 4200


def await_files(folder: Path, n: int) -> None:
    for _ in range(600):
        if len([*folder.glob("*.pcapng")]) == n:
            return
        time.sleep(0.1)
    raise AssertionError(f"{folder} never had {n} files")


def test_standard_input_and_a_named_pipe_are_points(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    out = tmp_path / "out"
    other = ROOT / "samples" / "vxlan" / "host1-up.pcap"
    command = [*CLI, "vm=-", f"up={pipe}", "-o", str(out), "--format", "json", "--quiet"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=False, cwd=ROOT
    ) as running:
        with pipe.open("wb") as stream:
            stream.write(other.read_bytes())
        stdout, _ = running.communicate(SAMPLE.read_bytes(), timeout=120)
    assert running.returncode == 0
    points = json.loads(stdout)["points"]
    assert [(row["point"], row["clock"], row["problem"]) for row in points] == [
        ("vm", None, None),
        ("up", None, None),
    ]
    assert frames(out / "vm.pcapng") == frames(SAMPLE)
    assert frames(out / "up.pcapng") == frames(other)


def test_a_stream_that_is_cut_is_named_and_its_frames_are_kept(tmp_path: Path) -> None:
    whole = SAMPLE.read_bytes()
    done = subprocess.run(
        [*CLI, "vm=-", "-o", str(tmp_path / "out"), "--format", "json"],
        input=whole[:-10],
        capture_output=True,
        check=False,
        cwd=ROOT,
    )
    [point] = json.loads(done.stdout)["points"]
    assert point["n_packets"] == len(frames(SAMPLE)) - 1
    assert "byte" in point["problem"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["a=x", "a=y"], "two points have this name"),
        (["a=-", "b=-"], "standard input can be one point only"),
        (["a=netns:pod1"], "like netns:pod1/eth0"),
        (["../x=eth0"], "cannot have a slash"),
        ([f"a={SAMPLE}"], "is a file, and no interface"),
    ],
)
def test_sources_that_cannot_be_are_refused(given: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_sources(given)


def test_a_namespace_is_named_by_its_path_its_name_or_a_process() -> None:
    sources = parse_sources(["a=netns:/x/ns/e0", "b=netns:pod/e0", f"c=netns:{os.getpid()}/lo"])
    assert [str(one.place) for one in sources] == [
        "/x/ns",
        "/run/netns/pod",
        f"/proc/{os.getpid()}/ns/net",
    ]


@in_namespaces
@pytest.mark.usefixtures("path")
def test_points_without_packets_are_told_by_lint(tmp_path: Path) -> None:
    limits = ["--duration", "100ms", "--filter", "udp port 9", "--format", "json"]
    command = [*CLI, *PATH, "-o", str(tmp_path / "out"), *limits, "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stderr == ""
    findings = json.loads(done.stdout)["findings"]
    assert {(row["code"], row["point"]) for row in findings} == {
        ("empty-capture", name) for name in ("near", "mid", "far")
    }


@pytest.mark.skipif(os.geteuid() != 0, reason="without rights the first refusal is of rights")
@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("x=nothing0", {}, "x=nothing0: there is no such interface; there are: .*lo"),
        ("x=/no/such/pipe", {}, "/no/such/pipe: there is no such named pipe"),
        ("x=netns:no-such/eth0", {}, "there is no network namespace /run/netns/no-such"),
        ("x=lo", {"bpf": "no filter"}, "filter .* see pcap-filter"),
        ("x=lo", {"adapter_clock": ["x"]}, "its adapter timestamps no packets"),
        ("x=lo", {"adapter_clock": ["y"]}, "--adapter-clock y: there is no such capture point"),
    ],
)
def test_what_cannot_be_captured_is_refused_and_leaves_no_file(
    tmp_path: Path, source: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        LiveCapture([source, "other=lo"], tmp_path, CaptureLimits(**options))
    assert not [*tmp_path.iterdir()]


@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv"), reason="rights are taken away by setpriv"
)
@pytest.mark.parametrize(
    ("capability", "source"),
    [("net_raw", "x=lo"), ("sys_admin", f"x=netns:{os.getpid()}/lo")],
    ids=["net_raw", "sys_admin"],  # those of several test processes are to be equal
)
def test_without_rights_the_capability_that_is_missing_is_named(
    tmp_path: Path, capability: str, source: str
) -> None:
    limited = ["setpriv", "--bounding-set", f"-{capability}", "--inh-caps", f"-{capability}"]
    done = subprocess.run(
        [*limited, *CLI, source, "-o", str(tmp_path / "out"), "--duration", "1s"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 2
    assert f"CAP_{capability.upper()}" in done.stderr
    assert not (tmp_path / "out").exists()
