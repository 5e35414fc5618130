"""A merge as a whole: what it refuses, what it makes do with, what it leaves behind."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import pcaplat
from pcaplat.errors import EvidenceError, InputError
from pcaplat.run import scan
from tests.recovery.simulator import (
    START_NS,
    Clock,
    Link,
    Point,
    Scenario,
    Traffic,
    Truth,
    Tunnel,
    run,
)
from tests.support.frames import UDP, ip, udp, write_pcap

if TYPE_CHECKING:
    from collections.abc import Iterator

HEADER = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
SECOND_NS = 10**9
WATCHERS = (Point("vm"), Point("up", tunnel=Tunnel("vxlan")), Point("far"))
THREE = Scenario(WATCHERS, (Link(), Link(7_000)))


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("three")
    run(THREE).save(folder)
    return folder


@pytest.fixture
def spill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go."""
    folder = tmp_path / "spill"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def files(folder: Path, *names: str) -> list[str]:
    return [str(folder / f"{name}.pcap") for name in (names or ("vm", "up", "far"))]


def codes(document: dict[str, Any]) -> list[str]:
    return [warning["code"] for warning in document["warnings"]]


class TestTooLittle:
    def empty(self, folder: Path, name: str = "empty") -> str:
        path = folder / f"{name}.pcap"
        path.write_bytes(HEADER)
        return str(path)

    def test_one_capture_alone(self, three: Path) -> None:
        with pytest.raises(InputError, match=r"one capture point alone \(vm\)"):
            pcaplat.merge(files(three, "vm"))

    def test_no_capture(self) -> None:
        with pytest.raises(InputError, match="is no list of captures"):
            pcaplat.merge([])

    def test_one_point_in_several_files(self, three: Path) -> None:
        a, b = files(three, "vm", "up")
        with pytest.raises(InputError, match=r"one capture point alone \(x\)"):
            pcaplat.merge([f"x={a}", f"x={b}"])

    def test_a_header_only_among_good_ones_is_a_warning(self, three: Path, tmp_path: Path) -> None:
        document = pcaplat.merge([*files(three), self.empty(tmp_path)]).document
        assert document["path"] == ["vm", "up", "far"]
        assert ("empty-capture", "empty") in [(w["code"], w["point"]) for w in document["warnings"]]
        assert {c["point"]: c["n_frames"] for c in document["captures"]}["empty"] == 0

    def test_header_only_captures_alone_are_no_evidence(self, tmp_path: Path) -> None:
        given = [self.empty(tmp_path, name) for name in "ab"]
        with pytest.raises(EvidenceError, match=r"no frame in .*a\.pcap, .*b\.pcap"):
            pcaplat.merge(given)

    def test_a_single_capture_with_frames_is_no_evidence(self, three: Path, tmp_path: Path) -> None:
        given = [*files(three, "vm"), self.empty(tmp_path)]
        with pytest.raises(EvidenceError, match=r"no frame in .*empty\.pcap, only in vm;"):
            pcaplat.merge(given)

    def test_a_filter_that_nothing_passes(self, three: Path) -> None:
        with pytest.raises(EvidenceError, match=r"packets compared: far 0, up 0, vm 0"):
            pcaplat.merge(files(three), bpf="udp port 1")

    def test_missing_files_are_named(self, three: Path) -> None:
        with pytest.raises(FileNotFoundError, match=r"nowhere\.pcap"):
            pcaplat.merge([*files(three), str(three / "nowhere.pcap")])


class TestOptions:
    def test_the_reference_must_be_on_the_path(self, three: Path, tmp_path: Path) -> None:
        lone = tmp_path / "x.pcap"
        stranger = ip("192.0.2.1", "192.0.2.2", UDP, 1, 64, udp((5, 6), b"of other traffic"))
        write_pcap(lone, [(START_NS + n, stranger) for n in range(9)])
        given = [*files(three), str(lone)]
        assert "unrelated-point" in codes(pcaplat.merge(given).document)
        with pytest.raises(InputError, match=r"--reference x: .*choose one of: vm, up, far"):
            pcaplat.merge(given, reference="x")
        with pytest.raises(InputError, match=r"--reference z: .*there are: far, up, vm, x"):
            pcaplat.merge(given, reference="z")

    @pytest.mark.parametrize("reference", ["vm", "up", "far"])
    def test_times_are_given_on_the_reference_clock(self, tmp_path: Path, reference: str) -> None:
        watchers = (
            Point("vm"),
            Point("up", Clock(37 * SECOND_NS)),
            Point("far", Clock(-5 * SECOND_NS, 20)),
        )
        outcome = run(Scenario(watchers, (Link(), Link())))
        result = pcaplat.merge(outcome.save(tmp_path), reference=reference)
        of_reference = next(p for p in watchers if p.name == reference)
        packets = result.packets.collect()
        for point in watchers:
            rows = packets.filter(point=point.name).sort("frame")
            true_ns = of_reference.clock.stamps_ns(outcome.true_ns(point.name))
            off_ns = np.abs(rows["aligned_ns"].to_numpy() - true_ns)
            assert off_ns.max() < 8_000  # half a round trip and what drift leaves open

    def test_an_unknown_point_of_accuracy(self, three: Path) -> None:
        with pytest.raises(InputError, match="--clock-accuracy z"):
            pcaplat.merge(files(three), clock_accuracy=[("z", 5)])

    def test_an_unknown_engine(self, three: Path) -> None:
        with pytest.raises(pcaplat.EngineError, match="local"):
            pcaplat.merge(files(three), engine="abacus")

    def test_progress_is_told_of_both_passes(self, three: Path) -> None:
        told: list[tuple[int, int, str]] = []

        class Told:
            def update(self, done_bytes: int, total_bytes: int, stage: str) -> None:
                told.append((done_bytes, total_bytes, stage))

        pcaplat.merge(files(three), progress=Told())
        n_bytes = sum(Path(name).stat().st_size for name in files(three))
        totals = {stage: {total for _, total, one in told if one == stage} for *_, stage in told}
        # what follows the reading has no bytes to count
        assert totals.pop("intervals") == {0}
        assert all(found == {n_bytes} for found in totals.values())
        assert {*totals} <= {"surveying", "matching"}


class TestOneDirection:
    def test_clocks_are_one_way_and_latencies_unknown(self, tmp_path: Path) -> None:
        watchers = (Point("a", Clock(3 * SECOND_NS, 15.0)), Point("b"))
        spread = Traffic(8_000, gap_ns=60_000)
        scenario = Scenario(watchers, (Link(tail_ns=2_000),), spread, is_one_way=True)
        outcome = run(scenario)
        result = pcaplat.merge(outcome.save(tmp_path), path=["a", "b"])
        (row,) = result.document["segments"]
        assert row["direction"] == "forward"
        assert row["p50_ns"] is row["mean_ns"] is row["clock_half_width_ns"] is None
        assert row["pdv_p99_ns"] == pytest.approx(2_000 * 4.6, rel=0.15)  # ln 100 of a tail
        other = result.document["clocks"][1]
        assert (other["quality"], other["offset_ns"]) == ("one-way", None)
        assert other["drift_ppm"] == pytest.approx(-15.0, abs=0.5)
        packets = result.packets.collect()
        assert packets.filter(point="b")["aligned_ns"].null_count() == len(
            outcome.records[1].frames
        )
        assert packets.filter(point="a")["aligned_ns"].null_count() == 0
        assert result.matches.select("latency_ns").collect()["latency_ns"].is_null().all()

    def test_under_one_clock_they_are_latencies(self, tmp_path: Path) -> None:
        outcome = run(Scenario((Point("a"), Point("b")), (Link(),), is_one_way=True))
        document = pcaplat.merge(outcome.save(tmp_path), same_clock=["all"]).document
        (row,) = document["segments"]
        truth = np.sort(Truth(outcome).named("a", "b", "forward").packets_ns)
        assert row["min_ns"] == truth[0]
        assert row["max_ns"] == truth[-1]
        assert row["p50_ns"] == pytest.approx(truth[(len(truth) - 1) // 2], rel=6e-4)


class TestWarnings:
    def test_a_clock_that_counts_tai_is_named(self, tmp_path: Path) -> None:
        watchers = (Point("a"), Point("b", Clock(37 * SECOND_NS)))
        document = pcaplat.merge(run(Scenario(watchers, (Link(),))).save(tmp_path)).document
        assert "clock-offset" in codes(document)

    def test_early_arrivals_under_a_wrongly_declared_clock(self, tmp_path: Path) -> None:
        watchers = (Point("a"), Point("b", Clock(-50_000)))
        paths = run(Scenario(watchers, (Link(),))).save(tmp_path)
        document = pcaplat.merge(paths, same_clock=["all"]).document
        (text,) = [w["text"] for w in document["warnings"] if w["code"] == "negative-latency"]
        assert "(100 %, by up to" in text
        # the packet that shows it best is named by its frames
        (up, down) = map(int, re.findall(r"[ab]\.\S+ frame (\d+)", text)[:2])
        matches = pcaplat.merge(paths, same_clock=["all"]).matches.collect()
        named = matches.filter(up_frame=up, down_frame=down, direction="forward")
        forward = matches.filter(direction="forward")
        assert named["latency_ns"].to_list() == [forward["latency_ns"].min()]

    def test_coarse_stamps_are_named(self, tmp_path: Path) -> None:
        watchers = (Point("a", Clock(resolution_ns=1000), kind="pcap-us"), Point("b"))
        paths = run(Scenario(watchers, (Link(),))).save(tmp_path)
        document = pcaplat.merge(paths, same_clock=["all"]).document
        (text,) = [w["text"] for w in document["warnings"] if w["code"] == "low-resolution"]
        assert text.startswith("timestamps at a have a low resolution, 1.00 µs")

    def test_each_warning_is_one_line_and_comes_once(self, three: Path, tmp_path: Path) -> None:
        empty = tmp_path / "e.pcap"
        empty.write_bytes(HEADER)
        warnings = pcaplat.merge([*files(three), str(empty)]).document["warnings"]
        rows = [tuple(warning.values()) for warning in warnings]
        assert len(set(rows)) == len(rows)
        assert not any("\n" in warning["text"] for warning in warnings)


class TestLeftovers:
    def test_a_merge_that_fails_leaves_no_temporary_file(
        self, three: Path, spill: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with pytest.raises(InputError):
            pcaplat.merge(files(three, "vm"))
        assert list(spill.iterdir()) == []

        def fail(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(scan, "align", fail)
        with pytest.raises(KeyboardInterrupt):
            pcaplat.merge(files(three))
        assert list(spill.iterdir()) == []

    def test_a_with_ends_with_its_temporary_files(self, three: Path, spill: Path) -> None:
        with pcaplat.merge(files(three)) as result:
            assert len(list(spill.iterdir())) == 1
            n_matches = result.matches.select(pl.len()).collect().item()
            assert n_matches == sum(row["n"] for row in self.neighbours(result.document))
        assert list(spill.iterdir()) == []

    @staticmethod
    def neighbours(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
        edges = [(edge["near"], edge["far"]) for edge in document["edges"]]
        return (row for row in document["segments"] if (row["near"], row["far"]) in edges)


def test_matches_come_by_trajectory_from_the_sender_on(three: Path) -> None:
    matches = pcaplat.merge(files(three, "up", "far", "vm")).matches.collect()
    trajectories = matches["trajectory_id"].to_list()
    assert trajectories == sorted(trajectories)
    ways = {
        tuple(rows["up_point"])
        for (_,), rows in matches.group_by("trajectory_id", maintain_order=True)
    }
    assert ways <= {("vm", "up"), ("far", "up")}


def test_matches_are_the_same_every_time(three: Path) -> None:
    first, again = (pcaplat.merge(files(three)).matches.collect() for _ in range(2))
    assert first.equals(again)


@pytest.mark.parametrize("reference", ["vm", "far"])
def test_a_part_of_the_time_is_asked_for_in_reference_time(tmp_path: Path, reference: str) -> None:
    watchers = (Point("vm"), Point("far", Clock(37 * SECOND_NS)))
    in_pairs = Traffic(400, gap_ns=60_000, shares=(("udp", 0.5), ("icmp", 0.5)))
    outcome = run(Scenario(watchers, (Link(),), in_pairs))
    paths = outcome.save(tmp_path)
    place = [p.name for p in watchers].index(reference)
    stamps = np.sort(outcome.files[watchers[place].name].stamps_ns).tolist()
    cut_ns = (stamps[99] + stamps[100]) // 2
    since = f"{cut_ns // SECOND_NS}.{cut_ns % SECOND_NS:09d}"
    before, after = (
        pcaplat.merge(paths, reference=reference, start=start, end=end).document["matching"][
            "n_matched"
        ]
        for start, end in ((None, since), (since, None))
    )
    assert before + after == sum(len(record.frames) for record in outcome.records)
    # one packet may be on its way at the cut
    assert abs(before - 200) <= 4
    relative = pcaplat.merge(paths, reference=reference, start="+0s").document
    assert relative["matching"]["n_matched"] == before + after
