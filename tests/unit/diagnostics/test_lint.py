"""Lint: every code has captures that make it, and the same captures without the cause do not."""

from __future__ import annotations

import json
import re
import struct
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pcaplat import _native, lint, merge
from pcaplat.cli import run
from pcaplat.diagnostics.catalogue import BY_CODE, CODES, OF_COMPARISONS, OF_TRIALS, SEVERITIES
from pcaplat.run.engines.local import LocalEngine
from tests.support.shelf import CAPTURES
from tests.support.shelf import ROOT as SHELF
from tests.unit.diagnostics import lint_by_hand as by_hand
from tests.unit.diagnostics.lint_cases import CASES

if TYPE_CHECKING:
    from pcaplat.model.matched import Matched
    from tests.unit.diagnostics.lint_by_hand import Set, Simulated, Written
    from tests.unit.diagnostics.lint_causes import Translated

    Captures = Set | Simulated | Written | Translated

SAMPLES = sorted(path.parent for path in (SHELF / "samples").glob("*/truth.json"))
LAB = sorted(path.parent for path in (CAPTURES / "lab").glob("*/manifest.json"))
TRUE_OF_LAB = {
    "graph-late-start": {"partial-capture"},
    "vxlan": {"order-doubtful"},
    "vxlan-snap96": {"short-packet-id"},
    "vxlan-tso": {"segmentation-offload", "offload-signs"},
    "vxlan-tso-gro": {"segmentation-offload", "offload-signs"},
}
"""What is true of the lab's captures besides: their clocks are one, and nobody said so."""


def interrupt(given: Captures, capture: Path, change: pytest.MonkeyPatch) -> None:
    """Let something become of a capture between its two readings."""
    meanwhile, match = getattr(given, "meanwhile", None), LocalEngine.match

    def interrupted(*given: Any, **options: Any) -> Matched:  # noqa: ANN401 - of match
        if meanwhile:
            meanwhile(capture)
        return match(*given, **options)

    change.setattr(LocalEngine, "match", interrupted)


def codes_of(by: str, given: Captures, folder: Path, change: pytest.MonkeyPatch) -> set[str]:
    captures = given.save(folder)
    if most := getattr(given, "most_sessions", None):
        # a million pairs of flows would take minutes to write
        change.setattr(_native, "learn", partial(_native.learn, most_sessions=most))
    if by == "merge":
        interrupt(given, Path(captures[0]), change)
        with merge(captures, **given.options, keep_rows=False) as result:
            return {row["code"] for row in result.document["warnings"]}
    return {row["code"] for row in lint(captures, **given.options)["findings"]}


def test_every_code_in_the_source_is_in_the_catalogue() -> None:
    raised = re.compile(r'\b(?:Diagnostic|diagnose)\(\s*"([a-z-]+)"')
    sources = (path.read_text("utf-8") for path in (SHELF / "pcaplat").rglob("*.py"))
    found = {code for text in sources for code in raised.findall(text)}
    assert len(found) > 40
    assert found <= BY_CODE.keys() | {code.code for code in OF_COMPARISONS}


def test_every_code_has_its_cases() -> None:
    # of 2^18 connections, in tests/hostile/test_bounded_memory.py
    assert CASES.keys() == BY_CODE.keys() - {"transactions-not-reported"}


@pytest.mark.parametrize("code", sorted(CASES))
def test_a_code_is_found_where_its_cause_is(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[code]
    assert code in codes_of(case.by, case.wrong, tmp_path, monkeypatch)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("code", sorted(CASES))
def test_a_code_is_not_found_without_its_cause(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[code]
    assert code not in codes_of(case.by, case.right, tmp_path, monkeypatch)


def test_nothing_is_found_in_clean_captures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert codes_of("lint", by_hand.CLEAN, tmp_path, monkeypatch) == {"clocks-assumed-equal"}


@pytest.mark.parametrize("folder", SAMPLES, ids=lambda folder: folder.name)
def test_nothing_is_found_in_samples_of_one_clock(folder: Path) -> None:
    found = lint(sorted(folder.glob("*.pcap*")), same_clock=["all"])["findings"]
    assert {row["code"] for row in found} <= {"unsorted-frames"}


@pytest.mark.parametrize("folder", LAB, ids=lambda folder: folder.name)
def test_what_is_found_in_the_lab_is_true(folder: Path) -> None:
    found = lint(sorted(folder.glob("*.pcap")), same_clock=["all"])["findings"]
    is_unsorted = any(goes_back(path) for path in folder.glob("*.pcap"))
    expected = {"unsorted-frames"} if is_unsorted else set()
    assert {row["code"] for row in found} == TRUE_OF_LAB.get(folder.name, set()) | expected


def goes_back(path: Path) -> bool:
    """Whether a stamp of a pcap file of nanoseconds is before the one above it."""
    data, at, latest_ns = path.read_bytes(), 24, 0
    while at < len(data):
        seconds, rest_ns, n_bytes = struct.unpack_from("<III", data, at)
        t_ns, at = seconds * 10**9 + rest_ns, at + 16 + n_bytes
        if t_ns < latest_ns:
            return True
        latest_ns = t_ns
    return False


def test_one_capture_alone_is_checked(tmp_path: Path) -> None:
    near, _ = by_hand.CLEAN.save(tmp_path)
    assert lint([near])["findings"] == []


def test_findings_have_all_that_was_promised_gravest_first(tmp_path: Path) -> None:
    wrong = CASES["empty-capture"].wrong
    rows = lint(wrong.save(tmp_path))["findings"]
    severities = [SEVERITIES.index(row["severity"]) for row in rows]
    assert severities == sorted(severities)
    assert set(severities) == {0, 2}
    empty = rows[0]
    assert empty["file"] == str(tmp_path / "middle.pcap")
    assert empty["point"] == "middle"
    assert all(row[name] for row in rows for name in ("code", "evidence", "consequence", "remedy"))


@pytest.mark.parametrize("name", ["table", "json", "csv"])
def test_every_format_says_the_same(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = CASES["capture-drops"].wrong
    captures = wrong.save(tmp_path)
    assert run(["lint", *captures, "--format", name]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for row in lint(captures)["findings"]:
        assert row["code"] in text
        assert row["remedy"] in text
    if name == "json":
        assert json.loads(text)["schema"] == "pcaplat.lint/1"


def test_nothing_found_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", *by_hand.CLEAN.save(tmp_path), "--same-clock", "all"]) == 0
    assert capsys.readouterr().out == "No problem found\n"


def test_damage_is_an_error_only_where_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    captures = CASES["damaged-capture"].wrong.save(tmp_path)
    assert run(["lint", *captures]) == 0
    assert run(["lint", *captures, "--strict"]) == 2
    assert run(["lint", str(tmp_path / "nothing.pcap")]) == 2
    assert "no such file" in capsys.readouterr().err


def test_a_study_file_says_how_its_runs_are_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it says of measuring (reference, window) is nothing for lint."""
    (tmp_path / "run").mkdir()
    by_hand.CLEAN.save(tmp_path / "run")
    study = tmp_path / "study.toml"
    says = 'same_clock = ["all"]\nreference = "far"\nwindow = "1ms"\n'
    study.write_text(f'{says}[scenarios.clean]\nruns = ["run"]\n')
    assert run(["lint", str(study)]) == 0
    assert capsys.readouterr().out == "No problem found\n"


def test_every_code_says_all_of_it() -> None:
    assert len(BY_CODE) == len(CODES)
    for one in CODES:
        assert one.severity in SEVERITIES
        assert all((one.meaning, one.consequence, one.remedy))


def warned_of() -> set[str]:
    """Codes that the sources name, but for those of compare."""
    folder = SHELF / "pcaplat"
    made = re.compile(
        r"(?:Diagnostic|diagnose)\(\s*\"([a-z-]+)\"|yield \"([a-z-]+)\", (?:text|f\")"
    )
    paths = [path for path in folder.rglob("*.py") if path.parent.name != "comparing"]
    found = [match for path in paths for match in made.findall(path.read_text("utf-8"))]
    return {one or other for one, other in found}


def test_every_warning_has_its_row() -> None:
    assert warned_of() == BY_CODE.keys()


def test_every_warning_of_trials_has_its_row() -> None:
    source = (SHELF / "pcaplat" / "benchmarking" / "__init__.py").read_text("utf-8")
    made = set(re.findall(r'_warning\("([a-z-]+)"', source))
    assert made == {code.code for code in OF_TRIALS}
    assert not made & BY_CODE.keys()


def split_by(ahead_ns: int, *, is_sorted: bool = False) -> Set:
    """The middle of three points stamps what goes forward so much ahead."""
    place = replace(
        by_hand.MIDDLE,
        ahead_ns=lambda packet: ahead_ns if packet.is_forward else 0,
        order=sorted if is_sorted else by_hand.Place().order,
    )
    return by_hand.Set({"near": by_hand.NEAR, "middle": place, "far": by_hand.FAR})


@pytest.mark.parametrize("ahead_ns", [37_000_000_000, 1_000_000, 60_000, -37_000_000_000])
def test_a_split_is_measured_and_its_latencies_are_refused(ahead_ns: int, tmp_path: Path) -> None:
    captures = split_by(ahead_ns).save(tmp_path)
    path = ["near", "middle", "far"]
    with merge(captures, path=path, same_clock=["all"], keep_rows=False) as result:
        document = result.document
    said = [row for row in document["warnings"] if row["code"] == "two-clocks-in-file"]
    assert [row["point"] for row in said] == ["middle"]
    assert ("TAI" in said[0]["text"]) == (abs(ahead_ns) == 37_000_000_000)
    for row in document["segments"]:
        assert (row["mean_ns"] is None) == ("middle" in {row["near"], row["far"]})
        assert row["n"] > 500 // 2
    assert [(row["near"], row["far"]) for row in document["round_trips"]] == [("near", "far")]
    assert {row["quality"] for row in document["clocks"] if row["point"] == "middle"} == {"none"}


def test_a_split_in_a_sorted_file_is_found_by_acknowledgments(tmp_path: Path) -> None:
    found = lint(split_by(37_000_000_000, is_sorted=True).save(tmp_path))["findings"]
    assert ("two-clocks-in-file", "middle") in {(row["code"], row["point"]) for row in found}


def test_two_clocks_in_two_files_are_no_split(tmp_path: Path) -> None:
    offset = replace(by_hand.MIDDLE, clock=lambda t_ns: t_ns + 37_000_000_000)
    captures = by_hand.Set({"near": by_hand.NEAR, "middle": offset, "far": by_hand.FAR}).save(
        tmp_path
    )
    assert "two-clocks-in-file" not in {row["code"] for row in lint(captures)["findings"]}


def in_blocks(records: by_hand.Records) -> by_hand.Records:
    """Two queues, one for each direction, that are written in turn every 40 frames."""
    found: by_hand.Records = []
    for start in range(0, len(records), 40):
        block = records[start : start + 40]
        found += sorted(block, key=lambda record: record[1][29])
    return found


def test_queues_written_in_turn_are_unsorted_but_no_split(tmp_path: Path) -> None:
    captures = by_hand.CLEAN.having(near=replace(by_hand.NEAR, order=in_blocks)).save(tmp_path)
    codes = {row["code"] for row in lint(captures, same_clock=["all"])["findings"]}
    assert codes == {"unsorted-frames"}


def test_what_a_filter_keeps_away_is_no_drop(tmp_path: Path) -> None:
    captures = CASES["acked-not-captured"].wrong.save(tmp_path)
    codes = {row["code"] for row in lint(captures, bpf="greater 60")["findings"]}
    assert "acked-not-captured" not in codes


def of_another_connection(packet: by_hand.Packet) -> by_hand.Packet:
    """The same from another port, and of other sequence numbers (both at fixed places)."""
    at, frame = 34 if packet.is_forward else 36, bytearray(packet.frame)
    frame[at : at + 2] = (40_321).to_bytes(2)
    frame[38:46] = bytes(byte ^ 0x2A for byte in frame[38:46])
    return replace(packet, t_ns=packet.t_ns + 17_011, frame=bytes(frame))


def test_connections_that_a_snap_length_makes_one_miss_no_bytes(tmp_path: Path) -> None:
    one = by_hand.turns()
    talk = sorted([*one, *map(of_another_connection, one)], key=lambda packet: packet.t_ns)
    # two bytes behind the IP header: ports are known at near alone
    far = replace(by_hand.FAR, write=partial(by_hand.pcap, snap=36))
    captures = by_hand.Set({"near": by_hand.NEAR, "far": far}, talk).save(tmp_path)
    codes = {row["code"] for row in lint(captures)["findings"]}
    assert "short-packet-id" in codes
    assert "acked-not-captured" not in codes


def test_the_bytes_that_were_never_seen_are_counted(tmp_path: Path) -> None:
    captures = CASES["acked-not-captured"].wrong.save(tmp_path)
    (row,) = (row for row in lint(captures)["findings"] if row["code"] == "acked-not-captured")
    assert " 128 bytes " in row["evidence"]
    assert row["point"] == "near"


def test_zeros_that_a_crash_left_are_no_stamps(tmp_path: Path) -> None:
    def write(path: Path, records: by_hand.Records) -> None:
        by_hand.pcap(path, records)
        # 60 records of nothing at all
        path.write_bytes(path.read_bytes() + bytes(16 * 60))

    captures = by_hand.CLEAN.having(near=replace(by_hand.NEAR, write=write)).save(tmp_path)
    codes = {row["code"] for row in lint(captures, same_clock=["all"])["findings"]}
    assert not codes & {"backward-timestamps", "unsorted-frames", "no-overlap"}
