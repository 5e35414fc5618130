"""Times inside frames: found by what proves them, used in place of the file's, never guessed."""

import json
import struct
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import polars as pl
import pytest

import pcaplat
from pcaplat import _native
from pcaplat.model.sampled import StampFacts
from tests.support.oracle_decode import read_frames
from tests.support.stamped_frames import SECOND, STAMPS, TRAILERS, UDP, erspan_3, metamako, udp
from tests.unit.cli.test_process import PCAPLAT

T_NS = 1_700_000_000 * SECOND


def save(path: Path, records: Iterable[tuple[int, bytes]], *, cut: int = 0) -> Path:
    """Write a capture of nanoseconds; `cut` octets at each frame's end were not captured."""
    with path.open("wb") as out:
        out.write(struct.pack("<IHHIIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1))
        for t_ns, frame in records:
            n = len(frame) - cut
            out.write(struct.pack("<IIII", t_ns // SECOND, t_ns % SECOND, n, len(frame)))
            out.write(frame[:n])
    return path


def rows(path: Path) -> pl.DataFrame:
    return pl.DataFrame(pcaplat.read(path))


def facts(path: Path) -> StampFacts | None:
    """What the survey's reading says of the stamps of a file with one interface."""
    sample = _native.sample([path], _native.Settings(), 4096)
    return sample.facts[0].interfaces[0].stamps


def series(
    stamp: Callable[[bytes, int], bytes], n: int, offset_ns: int = 0
) -> list[tuple[int, bytes]]:
    """Frames 777 ms apart, each seen by the file 1 to 40 ms after its stamp."""
    times = [T_NS + i * 777_777_777 for i in range(n)]
    return [
        (ns + 1_000_000 + i * 7919 % 39_000_000, stamp(udp(i), ns + offset_ns))
        for i, ns in enumerate(times)
    ]


def merged_of(folder: Path) -> pcaplat.Result:
    """Merge a.pcap and b.pcap, whose clock is one."""
    captures = [folder / "a.pcap", folder / "b.pcap"]
    return pcaplat.merge(captures, path=["a", "b"], same_clock=["all"])


@pytest.mark.parametrize("name", STAMPS)
def test_stamps_are_found_and_unfolded(name: str, tmp_path: Path) -> None:
    path = save(tmp_path / "a.pcap", series(STAMPS[name], 200))
    table = rows(path)
    assert table["stamp_ns"].to_list() == [T_NS + i * 777_777_777 for i in range(200)]
    assert set(table["dst"]) == {"10.0.0.2"}
    found = facts(path)
    assert found is not None
    assert (found.name, found.n_stamped, found.n_damaged) == (name, 200, 0)


@pytest.mark.parametrize("name", sorted(STAMPS.keys() - {"erspan3"}))
def test_tai_is_told_by_its_distance(name: str, tmp_path: Path) -> None:
    tai = facts(save(tmp_path / "tai.pcap", series(STAMPS[name], 50, 37 * SECOND)))
    utc = facts(save(tmp_path / "utc.pcap", series(STAMPS[name], 50)))
    assert tai
    assert utc
    assert (tai.timescale, utc.timescale) == ("tai", "utc")
    table = rows(tmp_path / "tai.pcap")
    assert table["stamp_ns"][0] == T_NS + 37 * SECOND


@pytest.mark.parametrize("name", TRAILERS)
def test_a_cut_frame_has_no_stamp(name: str, tmp_path: Path) -> None:
    path = save(tmp_path / "a.pcap", series(STAMPS[name], 50), cut=3)
    assert rows(path)["stamp_ns"].null_count() == 50
    assert facts(path) is None


@pytest.mark.parametrize("name", STAMPS)
def test_damaged_stamps_are_counted_and_not_used(name: str, tmp_path: Path) -> None:
    records = series(STAMPS[name], 200)
    for i in range(20, 200, 20):
        t_ns, frame = records[i]
        records[i] = (t_ns, STAMPS[name](udp(i), T_NS + i * 777_777_777 + 2_000_000_123))
        assert len(frame) == len(records[i][1])
    path = save(tmp_path / "a.pcap", records)
    table = rows(path)
    assert table.filter(pl.col("stamp_ns").is_null())["frame"].to_list() == list(range(21, 200, 20))
    found = facts(path)
    assert found is not None
    assert (found.n_stamped, found.n_damaged, found.n_without) == (191, 9, 0)


def test_a_trailer_is_no_part_of_a_frame_that_is_not_ip(tmp_path: Path) -> None:
    """Frames of an EtherType that nobody knows are matched by all their data."""
    plain = [UDP[:12] + b"\x88\xb7" + struct.pack(">H", i) + bytes(range(44)) for i in range(100)]
    times = [T_NS + i * 10**7 for i in range(100)]
    save(tmp_path / "a.pcap", zip(times, plain, strict=True))
    stamped = [(ns + 10**6, metamako(one, ns + 500)) for ns, one in zip(times, plain, strict=True)]
    save(tmp_path / "b.pcap", stamped)
    result = merged_of(tmp_path)
    matches = result.matches.collect()
    assert len(matches) == 100
    assert set(matches["latency_ns"]) == {500.0}


@pytest.mark.parametrize("name", STAMPS)
def test_latency_comes_from_stamps(name: str, tmp_path: Path) -> None:
    """What the files say wobbles by 39 ms; the stamps are 1234 ns apart."""
    save(tmp_path / "a.pcap", series(STAMPS[name], 400))
    later = [
        (t_ns + 5_000_000 * (i % 3), STAMPS[name](udp(i), T_NS + i * 777_777_777 + 1234))
        for i, (t_ns, _) in enumerate(series(STAMPS[name], 400))
    ]
    save(tmp_path / "b.pcap", later)
    result = merged_of(tmp_path)
    assert {row["stamp"] for row in result.document["captures"]} == {name}
    assert {row["n_stamped"] for row in result.document["captures"]} == {400}
    matches = result.matches.collect()
    assert len(matches) == 400
    assert set(matches["latency_ns"]) == {1234.0}
    packets = result.packets.collect()
    assert packets["stamp_ns"].null_count() == 0
    assert packets.filter(pl.col("aligned_ns") != pl.col("stamp_ns")).is_empty()
    result.write_merged(tmp_path / "merged.pcapng")
    merged = read_frames(tmp_path / "merged.pcapng")
    assert [one.t_ns for one in merged] == sorted(packets["aligned_ns"].to_list())
    json.dumps(result.document)


def test_frames_without_the_stamp_are_matched_with_none(tmp_path: Path) -> None:
    records = series(metamako, 300)
    bare = {i for i in range(300) if i % 10 == 5}
    mixed = [(t, udp(i)) if i in bare else (t, frame) for i, (t, frame) in enumerate(records)]
    save(tmp_path / "a.pcap", mixed)
    save(tmp_path / "b.pcap", series(metamako, 300))
    result = merged_of(tmp_path)
    assert len(result.matches.collect()) == 270
    odd = result.packets.collect().filter(pl.col("stamp_ns").is_null(), point="a")
    assert set(odd["frame"] - 1) == bare
    assert set(odd["status"]) == {"unmatched"}
    assert odd["aligned_ns"].null_count() == 30
    assert "timestamps-missing" in {one["code"] for one in result.document["warnings"]}


def test_where_most_frames_lack_a_stamp_the_file_holds(tmp_path: Path) -> None:
    records = series(erspan_3, 300)
    mixed = [(t, frame if i % 3 == 0 else udp(i)) for i, (t, frame) in enumerate(records)]
    save(tmp_path / "a.pcap", mixed)
    save(tmp_path / "b.pcap", [(t + 1000, udp(i)) for i, (t, _) in enumerate(records)])
    result = merged_of(tmp_path)
    assert {row["stamp"] for row in result.document["captures"]} == {None}
    assert set(result.matches.collect()["latency_ns"]) == {1000.0}
    assert result.packets.collect()["stamp_ns"].null_count() == 600
    assert "timestamps-unused" in {one["code"] for one in result.document["warnings"]}


@pytest.mark.parametrize(("name", "at"), [("gigamon-fields", -1), ("ixia", -5), ("vss", -4)])
def test_trailers_that_say_they_are_damaged_are_counted(name: str, at: int, tmp_path: Path) -> None:
    """A checksum that does not hold, more nanoseconds than a second has."""
    records = series(STAMPS[name], 100)
    for i in (30, 60):
        t_ns, frame = records[i]
        changed = bytearray(frame)
        changed[at] = 0xFF
        records[i] = (t_ns, bytes(changed))
    found = facts(save(tmp_path / "a.pcap", records))
    assert found is not None
    assert (found.name, found.n_stamped, found.n_damaged) == (name, 98, 2)


def payload(frame: bytes, extra: bytes) -> bytes:
    """The packet with more data inside: what it sends, not what was put behind it."""
    length = struct.pack(">H", 30 + len(extra))
    return frame[:16] + length + frame[18:44] + extra


@pytest.mark.parametrize("name", [one for one in TRAILERS if one not in ("metamako", "exablaze")])
def test_what_a_packet_sends_is_no_stamp(name: str, tmp_path: Path) -> None:
    def sends(frame: bytes, ns: int) -> bytes:
        return payload(frame, STAMPS[name](frame, ns)[60:])

    path = save(tmp_path / "a.pcap", series(sends, 100))
    assert facts(path) is None
    assert rows(path)["stamp_ns"].null_count() == 100


def test_a_time_in_a_frame_that_is_not_ip_is_no_stamp(tmp_path: Path) -> None:
    """PTP over Ethernet: its origin time ends the frame, but for two octets of padding."""

    def ptp(_: bytes, ns: int) -> bytes:
        head = bytes.fromhex("011b19000000020000000001 88f7") + bytes(34)
        return head + struct.pack(">HIIH", 0, ns // SECOND, ns % SECOND, 0)

    assert facts(save(tmp_path / "a.pcap", series(ptp, 100))) is None


@pytest.mark.parametrize("n_stamped", [7, 40])
def test_few_times_behind_packets_are_no_stamps(n_stamped: int, tmp_path: Path) -> None:
    """A time that nothing names has to be in most frames, and in eight at least."""
    n = 7 if n_stamped == 7 else 100
    every = zip(range(n), series(STAMPS["vss"], n), series(lambda one, _: one, n), strict=True)
    records = [stamped if i < n_stamped else bare for i, stamped, bare in every]
    assert facts(save(tmp_path / "a.pcap", records)) is None


def test_other_uses_of_the_tags_types_are_left_alone(tmp_path: Path) -> None:
    def other(ether_type: int) -> Callable[[bytes, int], bytes]:
        return lambda one, _: one[:12] + struct.pack(">H", ether_type) + one[14:]

    for ether_type in (0x8988, 0x22E5, 0xD28B):
        path = save(tmp_path / f"{ether_type}.pcap", series(other(ether_type), 50))
        assert facts(path) is None
        assert rows(path)["stamp_ns"].null_count() == 50


def test_a_pipe_is_spooled_and_its_stamps_are_found(tmp_path: Path) -> None:
    path = save(tmp_path / "a.pcap", series(metamako, 20))
    with path.open("rb") as pipe:
        done = subprocess.run(
            [*PCAPLAT, "read", "-", "--format", "json"], stdin=pipe, capture_output=True, check=True
        )
    found = [json.loads(line)["stamp_ns"] for line in done.stdout.splitlines()]
    assert found == [T_NS + i * 777_777_777 for i in range(20)]
