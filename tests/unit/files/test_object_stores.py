"""Captures and results in an object store, with a server that speaks S3 on loopback."""

from __future__ import annotations

import json
import os
import re
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyarrow.fs import FileSelector, S3FileSystem
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

import pcaplat
from pcaplat.errors import InputError
from tests.conftest import ROOT
from tests.support.counting_proxy import counting

NAMES = ("host1-vm", "host1-up")
FILES = [ROOT / "samples" / "vxlan" / f"{name}.pcap" for name in NAMES]


@dataclass(frozen=True)
class Server:
    """An S3 server, what it keeps, and what it was asked."""

    options: str
    store: S3FileSystem
    log: Path

    def asked(self) -> list[str]:
        """Objects that were read, once for each range."""
        return re.findall(r"GET /captures/(\w[^ ?]*) HTTP", self.log.read_text())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    log = tmp_path_factory.mktemp("s3") / "log"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with log.open("wb") as out:
        running = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
            stdout=out,
            stderr=out,
        )
    try:
        store = S3FileSystem(
            access_key="one",
            secret_key="a secret",  # noqa: S106 - of nothing
            endpoint_override=f"127.0.0.1:{port}",
            scheme="http",
            region="us-east-1",
            allow_bucket_creation=True,
        )
        _wait(port)
        store.create_dir("captures")
        for file in FILES:
            with store.open_output_stream(f"captures/run/{file.name}") as stream:
                stream.write(file.read_bytes())
        yield Server(
            f"?endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1", store, log
        )
    finally:
        running.terminate()
        running.wait()


def _wait(port: int) -> None:
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail("the server did not begin")


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "one")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a secret")


def test_a_merge_from_s3_equals_one_from_disk_and_reads_each_byte_once(server: Server) -> None:
    far = [f"s3://captures/run/{file.name}{server.options}" for file in FILES]
    n_before = len(server.asked())
    of_store, of_disk = (pcaplat.merge(files).document for files in (far, FILES))
    assert len(server.asked()) - n_before == len(FILES)
    for name in ("path", "edges", "segments", "matching", "clocks", "round_trips"):
        assert of_store[name] == of_disk[name]
    assert [row["file"] for row in of_store["captures"]] == [
        f"s3://captures/run/{name}.pcap" for name in sorted(NAMES)
    ]


def test_each_byte_is_read_once_from_files_of_several_ranges(
    server: Server, tmp_path: Path
) -> None:
    files = [
        _large_capture(tmp_path / f"{name}.pcap", late_us=7 * at) for at, name in enumerate("ab")
    ]
    n_bytes = sum(file.stat().st_size for file in files)
    for file in files:
        with server.store.open_output_stream(f"captures/large/{file.name}") as stream:
            stream.write(file.read_bytes())
    [port] = re.findall(r":(\d+)&", server.options)
    with counting(int(port)) as proxy:
        options = server.options.replace(port, str(proxy.port))
        far = [f"s3://captures/large/{file.name}{options}" for file in files]
        of_store = pcaplat.merge(far, same_clock=["all"]).document
    of_disk = pcaplat.merge(files, same_clock=["all"]).document
    for name in ("path", "segments", "matching"):
        assert of_store[name] == of_disk[name]
    share = proxy.n_bytes / n_bytes
    sys.stdout.write(f"{n_bytes:,} bytes of captures, {proxy.n_bytes:,} read: {share:.3f} times\n")
    assert 1 < share < 1.5  # a range may be asked for again


def _large_capture(file: Path, late_us: int, n_frames: int = 7_000) -> Path:
    """UDP of 1,400 bytes, a frame each 100 µs: more than the 8 MiB of a range."""
    frame = bytearray(bytes(Ether() / IP(src="10.0.0.1", dst="10.0.0.2") / UDP() / bytes(1_358)))
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1)
    with file.open("wb") as stream:
        stream.write(head)
        for number in range(n_frames):
            frame[18:20] = number.to_bytes(2, "big")
            frame[42:50] = number.to_bytes(8, "big")
            second, us = divmod(number * 100 + late_us, 10**6)
            stream.write(struct.pack("<IIII", 1_700_000_000 + second, us, len(frame), len(frame)))
            stream.write(frame)
    return file


def test_results_go_there_whole_and_are_not_replaced_unasked(
    server: Server, tmp_path: Path
) -> None:
    result = pcaplat.merge(FILES)
    far = f"s3://captures/results/one{server.options}"
    pcaplat.write(result, far)
    pcaplat.write(result, tmp_path / "near")
    found = server.store.get_file_info(FileSelector("captures/results/one"))
    near = {each.name: each for each in (tmp_path / "near").iterdir()}
    assert {one.base_name for one in found} == {*near}
    with server.store.open_input_file("captures/results/one/summary.json") as stream:
        assert stream.read() == near["summary.json"].read_bytes()
    with pytest.raises(InputError, match=r"s3://captures/results/one: is not empty .*--overwrite"):
        pcaplat.write(result, far)
    pcaplat.write(result, far, overwrite=True)


def test_on_the_command_line(server: Server) -> None:
    port = re.findall(r":(\d+)&", server.options)[0]
    command = [sys.executable, "-m", "pcaplat", "merge", "--quiet"]
    far = [f"{name}=s3://captures/run/{name}.pcap" for name in NAMES]
    own = os.environ | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_REGION": "us-east-1"}
    done = subprocess.run(
        [*command, *far, "-o", "s3://captures/results/two"],
        env=own,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "host1-vm" in done.stdout
    found = server.store.get_file_info(FileSelector("captures/results/two"))
    assert "summary.json" in {one.base_name for one in found}


def test_no_file_of_a_result_holds_what_is_secret_in_a_name(server: Server, tmp_path: Path) -> None:
    """The command that gives the same result is in most of them."""
    names = [f"s3://one:hunter22@captures/run/{file.name}{server.options}" for file in FILES]
    pcaplat.write(pcaplat.merge([f"near={names[0]}", names[1]]), tmp_path / "out")
    files = [*(tmp_path / "out").iterdir()]
    command = json.loads((tmp_path / "out" / "provenance.json").read_text())["command"]
    assert f"near=s3://captures/run/{FILES[0].name} s3://captures/run/{FILES[1].name}" in command
    assert len(files) > 5
    for file in files:
        assert b"hunter22" not in file.read_bytes(), file.name
        assert b"endpoint_override" not in file.read_bytes(), file.name


@pytest.mark.parametrize(
    "name",
    [
        "s3://me:a/hunter22@captures/a.pcap",
        "s3://me:hunter22@captures/a b.pcap",
        "s3://me:hunter22@captures:99999/a.pcap",
        "s3://me@captures/a.pcap?secret=hunter22%zz",
    ],
)
def test_what_is_no_name_is_told_without_secrets(name: str) -> None:
    with pytest.raises(InputError, match=r"s3://captures\S*/a.* cannot be read") as told:
        pcaplat.merge([name, *FILES])
    assert "hunter22" not in str(told.value)


def test_what_is_given_twice_is_told_without_secrets(server: Server) -> None:
    name = f"s3://one:hunter22@captures/run/{FILES[0].name}{server.options}"
    with pytest.raises(InputError, match=rf"s3://captures/run/{FILES[0].name}: is given twice"):
        pcaplat.merge([name, name])


def test_what_cannot_be_read_is_told_without_secrets(server: Server) -> None:
    with pytest.raises(FileNotFoundError, match=r"s3://captures/run/none\.pcap"):
        pcaplat.merge([f"s3://captures/run/none.pcap{server.options}", *FILES])
    nowhere = "s3://me:hunter22@captures/a.pcap?endpoint_override=127.0.0.1:1&scheme=http"
    with pytest.raises(InputError, match=r"s3://captures/a.pcap: cannot be read") as told:
        pcaplat.merge([nowhere, *FILES])
    assert "hunter22" not in str(told.value)
