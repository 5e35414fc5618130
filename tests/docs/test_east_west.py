"""The study that ships: its figures in full, and what is said of it had it been recorded badly."""

from __future__ import annotations

import json
import math
import statistics
import struct
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from pcaplat.comparing import compare
from pcaplat.metrics.contrasts import IN_A_ROW
from pcaplat.validating import validate
from tests.docs.kits import GOLDEN, STUDY, golden

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MAX_RUN_BYTES = 300_000
MAX_STUDY_BYTES = 3_000_000
HEADER_BYTES, RECORD_BYTES = 24, 16
FIRST_VM = bytes([10, 0, 1, 1])
SOURCE = slice(26, 30)
NUMBERS = slice(18, 46)
"""IP identification, addresses, ports, and TCP numbers or the start of a payload."""
"""Of a frame of Ethernet and IPv4: where it comes from."""

BOTH = ("l2", "vxlan")
T_OF_8_RUNS = 2.3646
"""0.975 of Student's t on 7 degrees of freedom."""

ALL_CLOCKS = {"same_clock": ["all"]}
Moved = tuple[int, int]
"""What is added to the stamps of a run, and to those of its forward packets at the far end."""


found = cache(golden)


@pytest.mark.parametrize(
    "name", [pytest.param("verdicts.json", marks=pytest.mark.slow), "comparison.json"]
)
def test_every_figure_and_every_reason(name: str) -> None:
    """Floats may differ in the last digits by the processor."""
    expected = json.loads((GOLDEN / name).read_text("utf-8"))
    assert _rounded(json.loads(json.dumps(found(name)))) == _rounded(expected), (
        "python -m tests.docs.kits writes it; look at what changed"
    )


def _rounded(value: object) -> object:
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


@pytest.mark.slow
def test_some_claims_hold_some_do_not_and_some_are_open() -> None:
    rows = found("verdicts.json")["verdicts"]
    assert {row["verdict"] for row in rows} == {"held", "refuted", "undecided"}
    assert {(row["n_runs"], row["replication"]) for row in rows} == {(8, "runs")}


def test_runs_are_small_and_there_are_enough() -> None:
    runs = [run for scenario in STUDY.iterdir() if scenario.is_dir() for run in scenario.iterdir()]
    assert len(runs) == 7 * 8
    sizes = [sum(file.stat().st_size for file in run.iterdir()) for run in runs]
    assert max(sizes) < MAX_RUN_BYTES
    assert sum(sizes) < MAX_STUDY_BYTES


def test_the_script_that_made_it_names_its_scenarios() -> None:
    script = (STUDY / "record.sh").read_text("utf-8")
    readme = (STUDY / "README.md").read_text("utf-8")
    for scenario in (one.name for one in STUDY.iterdir() if one.is_dir()):
        assert f'"{scenario} ' in script
        assert f"| `{scenario}` |" in readme


# ---- the same runs, had they been recorded otherwise


@cache
def frames_of(file: Path) -> tuple[bytes, list[tuple[int, bytes]]]:
    """The bytes of a capture, and where its records start, with their frames."""
    with pa.input_stream(str(file), compression="zstd") as stream:
        data = bytes(stream.read())
    at, found = HEADER_BYTES, []
    while at < len(data):
        (n_bytes,) = struct.unpack_from("<I", data, at + 8)
        found.append((at, data[at + RECORD_BYTES : at + RECORD_BYTES + n_bytes]))
        at += RECORD_BYTES + n_bytes
    return data, found


@cache
def requests_before(file: Path) -> dict[bytes, int]:
    """Of each frame at the receiver how many requests had come, itself counted."""
    n, found = 0, dict[bytes, int]()
    for _, frame in frames_of(file)[1]:
        n += frame[SOURCE] == FIRST_VM
        found[frame[NUMBERS]] = n
    return found


def restamped(file: Path, to: Path, moved: Moved, n_before: dict[bytes, int]) -> None:
    """Copy a capture as if every request had taken longer, and all behind it had waited for it."""
    whole, records = frames_of(file)
    data, n = bytearray(whole), 0
    for at, frame in records:
        n = n_before.get(frame[NUMBERS], n)
        is_sent = "host1-vm" in file.name and frame[SOURCE] == FIRST_VM
        seconds, ns = struct.unpack_from("<II", data, at)
        stamp = divmod(seconds * 10**9 + ns + moved[0] + (n - is_sent) * moved[1], 10**9)
        struct.pack_into("<II", data, at, *stamp)
    to.write_bytes(data)


# ---- the same figures by another way


def seen_at(run: Path, point: str) -> dict[bytes, tuple[int, bool]]:
    """When each packet of a VM was seen, and whether the first VM sent it; equal ones left out."""
    data, records = frames_of(run / f"{point}.pcap.zst")
    found: dict[bytes, tuple[int, bool]] = {}
    again = set[bytes]()
    for at, frame in records:
        seconds, ns = struct.unpack_from("<II", data, at)
        key = frame[NUMBERS]
        again |= {key} & found.keys()
        found[key] = (seconds * 10**9 + ns, frame[SOURCE] == FIRST_VM)
    return {key: one for key, one in found.items() if key not in again}


def common_time(run: Path) -> tuple[int, int]:
    """First and last instant that all points saw."""
    ends = []
    for file in run.iterdir():
        data, records = frames_of(file)
        stamps = [struct.unpack_from("<II", data, at) for at, _ in records]
        times = [seconds * 10**9 + ns for seconds, ns in stamps]
        ends.append((min(times), max(times)))
    return max(first for first, _ in ends), min(last for _, last in ends)


def there_and_back_ns(run: Path) -> float:
    """Mean forward plus mean reverse between the VMs, without a twentieth at either end."""
    near, far = (seen_at(run, point) for point in ("host1-vm", "host2-vm"))
    start_ns, end_ns = common_time(run)
    length_ns = -(-(end_ns - start_ns) // 256)
    n_out = math.ceil(0.05 * 256)
    took_ns: dict[bool, list[int]] = {True: [], False: []}
    for key in near.keys() & far.keys():
        (at_near, is_forward), (at_far, _) = near[key], far[key]
        sent, came = (at_near, at_far) if is_forward else (at_far, at_near)
        if n_out <= (sent - start_ns) // length_ns < 256 - n_out:
            took_ns[is_forward].append(came - sent)
    return sum(sum(some) / len(some) for some in took_ns.values())


def test_the_comparison_is_what_frames_say_without_pcaplat() -> None:
    """Matched by addresses, ports and numbers alone, and compared by Student's paired t."""
    rows = json.loads((GOLDEN / "comparison.json").read_text("utf-8"))["round_trips"]
    (row,) = (one for one in rows if (one["near"], one["far"]) == ("host1-vm", "host2-vm"))
    runs = [f"run{number}" for number in range(1, 9)]
    plain, vxlan = ([there_and_back_ns(STUDY / name / run) for run in runs] for name in BOTH)
    assert statistics.mean(plain) == pytest.approx(row["baseline_mean_ns"], rel=0.001)
    assert statistics.mean(vxlan) == pytest.approx(row["treatment_mean_ns"], rel=0.001)
    differences = [after - before for before, after in zip(plain, vxlan, strict=True)]
    half_width_ns = T_OF_8_RUNS * statistics.stdev(differences) / math.sqrt(8)
    # what changes with the rounds is out of the golden one
    assert statistics.mean(differences) == pytest.approx(row["delta_mean_ns"], rel=0.02)
    assert half_width_ns == pytest.approx((row["hi_ns"] - row["lo_ns"]) / 2, rel=0.1)


def compared(folder: Path, of_run: Callable[[str, int], Moved]) -> dict[str, Any]:
    """Compare `l2` and `dfw` after `of_run` moved the stamps of each of their runs."""
    for scenario in ("l2", "dfw"):
        for number in range(1, 9):
            run = folder / scenario / f"run{number}"
            run.mkdir(parents=True)
            recorded = STUDY / scenario / run.name
            n_before = requests_before(recorded / "host2-vm.pcap.zst")
            for name in ("host1-vm.pcap", "host2-vm.pcap"):
                moved = of_run(scenario, number)
                restamped(recorded / f"{name}.zst", run / name, moved, n_before)
    return {**compare(folder / "l2", folder / "dfw", options=ALL_CLOCKS)}


def texts(document: dict[str, Any]) -> list[str]:
    return [warning["text"] for warning in document["warnings"]]


def width_us(document: dict[str, Any]) -> float:
    whole = document["round_trips"][-1]
    return float(whole["hi_ns"] - whole["lo_ns"]) / 1000


@pytest.fixture(scope="module")
def as_recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return compared(tmp_path_factory.mktemp("recorded"), lambda _, __: (0, 0))


def test_runs_as_they_were_recorded_are_interleaved(as_recorded: dict[str, Any]) -> None:
    found = texts(as_recorded)
    assert IN_A_ROW not in found
    assert not any("unlike" in text for text in found)


def test_runs_in_a_row_decide_nothing(tmp_path: Path) -> None:
    hour_ns = 3_600 * 10**9
    in_a_row = compared(tmp_path, lambda name, _: (hour_ns * (name == "dfw"), 0))
    assert IN_A_ROW in texts(in_a_row)
    assert {row["lo_ns"] for row in in_a_row["round_trips"]} == {None}
    runs = {name: tmp_path / name for name in ("l2", "dfw")}
    (row,) = validate("nsx-dfw-latency", runs, options=ALL_CLOCKS)["verdicts"]
    assert (row["verdict"], row["lo"]) == ("undecided", None)
    assert IN_A_ROW in row["reason"]
    (row,) = validate("nsx-dfw-latency", runs, options=ALL_CLOCKS, accepts_order=True)["verdicts"]
    assert row["verdict"] == "refuted"
    assert "--accept-order" in row["reason"]


def begun_ns(name: str, number: int) -> int:
    """When a run was recorded."""
    data, records = frames_of(STUDY / name / f"run{number}" / "host1-vm.pcap.zst")
    seconds, ns = struct.unpack_from("<II", data, records[0][0])
    return int(seconds * 10**9 + ns)


def test_a_drift_that_meets_both_alike_is_taken_out(tmp_path: Path) -> None:
    """200 ns a second slower, run after run."""
    first_ns = begun_ns("l2", 1)
    drifting = compared(
        tmp_path, lambda name, at: (0, (begun_ns(name, at) - first_ns) // 5_000_000)
    )
    whole = drifting["round_trips"][-1]
    assert whole["baseline_mean_ns"] > 20_000
    assert whole["lo_ns"] < 2_850 < whole["hi_ns"]
    assert width_us(drifting) < 3


@pytest.mark.parametrize("number", [1, 5])
def test_one_bad_run_is_named(tmp_path: Path, number: int) -> None:
    found = compared(tmp_path, lambda name, at: (0, 30_000 * ((name, at) == ("dfw", number))))
    (odd,) = [text for text in texts(found) if "is an outlier of" in text]
    assert odd.startswith(f"dfw: run{number} is an outlier of 8 runs")
