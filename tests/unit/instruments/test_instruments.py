"""Other instruments: what they really printed, what cannot be used, and their figures joined."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from pcaplat.instruments.instants import parse_zone
from pcaplat.instruments.iperf3 import read_iperf3
from pcaplat.instruments.loading import SampleFile, samples_in
from pcaplat.instruments.mistakes import InstrumentError
from pcaplat.instruments.netperf import read_netperf
from pcaplat.instruments.sar import read_sar
from pcaplat.instruments.table import Mapping, read_esxtop, read_table
from pcaplat.study.errors import StudyError
from pcaplat.study.file import load_study
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path


REAL = ROOT / "tests" / "data" / "instruments"
SAMPLE = ROOT / "samples" / "instruments"
SECOND = 1_000_000_000


def text_of(name: str) -> str:
    return (REAL / name).read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "metric", "value"),
    [
        ("rr", "transaction-rate", 17695.64),
        ("udprr", "transaction-rate", 18893.86),
        ("crr", "transaction-rate", 4730.73),
        ("rrv2", "transaction-rate", 17673.59),
        ("rrc", "transaction-rate", 20438.76),
        ("st", "goodput", 9614.98e6),
        ("stv2", "goodput", 9087.02e6),
        ("maerts", "goodput", 10356.09e6),
        ("udps", "goodput", 6514.59e6),
        ("omnicsv", "transaction-rate", 23362.78),
        ("omnik", "transaction-rate", 20154.73),
    ],
)
def test_netperfs_results_are_read(name: str, metric: str, value: float) -> None:
    (found,) = read_netperf(text_of(f"netperf-{name}.txt"), name)
    assert found.metric == metric
    assert found.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("omnih", "omni's own columns"),
        ("rrP0", "no test of netperf is named"),
        ("rrO", "no line of numbers"),
    ],
)
def test_netperfs_other_columns_are_refused(name: str, said: str) -> None:
    with pytest.raises(InstrumentError, match=f"{name}.*{said}.*; "):
        read_netperf(text_of(f"netperf-{name}.txt"), name)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no test of netperf"),
        ("TCP REQUEST/RESPONSE TEST\n16384 131072 1 1 1.0\n", "f:2: 5 numbers"),
        ("UDP STREAM TEST\n212992 65507 1.01 69489 0 36229.87\n", "f:2: 0 numbers"),
        ("THROUGHPUT=12\n", "THROUGHPUT is in no unit"),
        ("THROUGHPUT=12\nTHROUGHPUT_UNITS=KBytes/s\n", "is in KBytes/s"),
        ("THROUGHPUT=x\nTHROUGHPUT_UNITS=Trans/s\n", "'x' is no number"),
        ("ELAPSED_TIME=1\n", "no selector of it is a rate"),
    ],
)
def test_broken_netperf_results(text: str, said: str) -> None:
    with pytest.raises(InstrumentError, match=said):
        read_netperf(text, "f")


def test_iperf3s_results_are_read() -> None:
    tcp = {w.metric: w.value for w in read_iperf3(text_of("iperf3-tcp.json"), "tcp")}
    assert tcp == {"goodput": pytest.approx(3833617184.5), "rtt": pytest.approx(736_000)}
    udp = {w.metric: w.value for w in read_iperf3(text_of("iperf3-udp.json"), "udp")}
    assert udp == {"goodput": pytest.approx(20051238.9), "loss-ratio": 0}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{\n]", "f:2: no JSON"),
        ("[]", "no result of iperf3"),
        ('{"error": "unable to connect"}', "iperf3 reports: unable to connect"),
        ('{"end": {}}', "no end.sum_received"),
        ('{"end": {"sum_received": {"bits_per_second": "x"}}}', "bits_per_second is 'x'"),
        ('{"end": {"sum_received": {}}}', "bits_per_second is None"),
    ],
)
def test_broken_iperf3_results(text: str, said: str) -> None:
    with pytest.raises(InstrumentError, match=said):
        read_iperf3(text, "f")


def test_sars_samples_are_read() -> None:
    found = read_sar(text_of("sar.json"), "sar.json")
    first = datetime(2026, 11, 20, 18, 42, 38, tzinfo=UTC)
    assert found.end_ns == [int(first.timestamp() + k) * SECOND for k in range(3)]
    assert found.length_ns == [SECOND] * 3
    # two cores, never idle
    assert found.busy == [2.0, 2.0, 2.0]


def test_sars_local_times_need_a_zone() -> None:
    text = text_of("sar.json").replace('"utc": 1', '"utc": 0')
    with pytest.raises(InstrumentError, match="no time zone; add zone"):
        read_sar(text, "f")
    here = read_sar(text, "f", parse_zone("+02:00")).end_ns
    there = read_sar(text_of("sar.json"), "f").end_ns
    assert [a - b for a, b in zip(here, there, strict=True)] == [-7200 * SECOND] * 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "f:1: no JSON"),
        ("{}", "no sysstat.hosts"),
        ('{"sysstat": {"hosts": []}}', "no sysstat.hosts"),
        (text_of("sar.json").replace('"cpu": "all"', '"cpu": "0"'), "no cpu-load"),
        (text_of("sar.json").replace('"idle": 0.00', '"idle": "x"'), "sample 1 has no idle"),
        (text_of("sar.json").replace('"time": "18', '"time": "99'), "the time of sample 1"),
    ],
)
def test_broken_sar_results(text: str, said: str) -> None:
    with pytest.raises(InstrumentError, match=said):
        read_sar(text, "f")


HEAD = r'"(PDH-CSV 4.0) (UTC)(0)","\\esx1\Physical Cpu(0)\% Util Time",'
HEAD += r'"\\esx1\Physical Cpu(1)\% Util Time","\\esx1\Physical Cpu(_Total)\% Util Time",'
HEAD += r'"\\esx1\Group Cpu(7:vm1)\% Used"'
LINES = [
    '"11/20/2026 18:00:00","10.0","30.0","20.0","35.0"',
    '"11/20/2026 18:00:05","50.0","70.0","60.0","110.0"',
    '"11/20/2026 18:00:10","40.0","80.0","60.0","100.0"',
]


def esxtop(head: str = HEAD, lines: list[str] | None = None) -> str:
    return "\n".join([head, *(LINES if lines is None else lines)]) + "\n"


def test_esxtops_batch_is_read() -> None:
    found = read_esxtop(esxtop(), "e")
    end = datetime(2026, 11, 20, 18, 0, 5, tzinfo=UTC)
    assert found.end_ns == [int(end.timestamp()) * SECOND, int(end.timestamp() + 5) * SECOND]
    assert found.length_ns == [5 * SECOND] * 2
    assert found.busy == [pytest.approx(1.2)] * 2
    assert read_esxtop(esxtop(), "e", r"Group Cpu(7:vm1)\% Used").busy == [1.1, 1.0]
    # the minutes that UTC is ahead of a zone: as Windows writes a zone east of it
    there = read_esxtop(esxtop(HEAD.replace("(UTC)(0)", "(CEST)(-120)")), "e")
    assert there.end_ns[0] == found.end_ns[0] - 7200 * SECOND


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no line of samples"),
        (esxtop(lines=[]), "no line of samples"),
        (esxtop("time,a,b,c,d"), "e:1: the first heading is 'time'"),
        (esxtop(HEAD.replace("_Total", "_All")), "e:1: there is no column .* did you mean"),
        (esxtop(HEAD.replace("Cpu(0)", "Cpu").replace("Cpu(1)", "Cpu")), "number of cores"),
        (esxtop(lines=[*LINES, '"11/20/2026 18:00:15","1"']), "e:5: 2 cells"),
        (esxtop(lines=[*LINES, '"20.11.2026","1","1","1","1"']), "e:5: '20.11.2026' is no time"),
        (esxtop(lines=[*LINES, LINES[-1]]), "e:5: its time is not after"),
        (esxtop(lines=[LINES[0].replace("20.0", "-1"), *LINES[1:]]), "e:2: '-1' is no load"),
        (esxtop(lines=LINES[:1]), "one sample, and how long"),
        (esxtop(lines=["x" * 140_000]), "e: it is no CSV"),
    ],
)
def test_broken_esxtop_results(text: str, said: str) -> None:
    with pytest.raises(InstrumentError, match=said):
        read_esxtop(text, "e")


@pytest.mark.parametrize(
    ("stamps", "zone"),
    [
        (("2026-11-20T18:00:00Z", "2026-11-20T18:00:01.5Z"), None),
        (("2026-11-20 20:00:00", "2026-11-20 20:00:01.5"), "+02:00"),
        (("2026-11-20 19:00:00", "2026-11-20 19:00:01.5"), "Europe/Berlin"),
        (("1795197600", "1795197601.5"), None),
    ],
)
def test_any_csv_by_a_mapping(stamps: tuple[str, str], zone: str | None) -> None:
    text = f"when,load\n{stamps[0]},150\n{stamps[1]},50\n"
    mapping = Mapping("when", "load", "%", None if zone is None else parse_zone(zone))
    found = read_table(text, "t", mapping)
    assert found.end_ns == [1_795_197_601_500_000_000]
    assert (found.length_ns, found.busy, found.unit) == ([1_500_000_000], [0.5], "core")
    both = read_table(text, "t", replace(mapping, interval_ns=SECOND))
    assert both.busy == [1.5, 0.5]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("when,lood\n1,2\n", "t:1: there is no column 'load'; did you mean 'lood'"),
        ("when,load\n2026-11-20 18:00:00,2\n", "t:2: the time .* no time zone; add zone"),
        ("when,load\nyesterday,2\n", "t:2: the time 'yesterday'"),
        ("when,load\n1,nan\n", "t:2: 'nan' is no load"),
        ("when,load\n1\n", "t:2: 1 cells"),
        ("when,load\n2,1\n1,1\n", "t:3: its time is not after"),
        ("when,load\n99999999999999,1\n", "t:2: the time '99999999999999': it is after 2262"),
        ("when,load\n9999-01-01T00:00:00Z,1\n", "t:2: the time .* it is after 2262"),
    ],
)
def test_broken_csv(text: str, said: str) -> None:
    with pytest.raises(InstrumentError, match=said):
        read_table(text, "t", Mapping("when", "load"))


@pytest.mark.parametrize("rate", ["nan", "inf", "-5"])
def test_rates_that_are_none(rate: str) -> None:
    with pytest.raises(InstrumentError, match=r"is no (number|rate)"):
        read_netperf(f"THROUGHPUT={rate}\nTHROUGHPUT_UNITS=Trans/s", "n")


def test_clock_offset_and_files_that_are_not_there(tmp_path: Path) -> None:
    shutil.copy(REAL / "sar.json", tmp_path)
    plain, late = (
        samples_in(tmp_path, SampleFile(["sar*"], "sar", Mapping(), "", off)) for off in (0, 5)
    )
    assert [a - b for a, b in zip(plain.end_ns, late.end_ns, strict=True)] == [5] * 3
    with pytest.raises(InstrumentError, match=r"there is no x\.json in it \(there are sar\.json\)"):
        samples_in(tmp_path, SampleFile(["x.json"], "sar", Mapping()))
    (tmp_path / "sar2.json").write_bytes(b"\xff")
    with pytest.raises(InstrumentError, match=r"several files .* sar\.json, sar2\.json"):
        samples_in(tmp_path, SampleFile(["sar*"], "sar", Mapping()))
    with pytest.raises(InstrumentError, match="no UTF-8"):
        samples_in(tmp_path, SampleFile(["sar2*"], "sar", Mapping()))


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('netpurf = "x"', "4: instruments.netpurf: is unknown; did you mean netperf"),
        ('cpu = { file = "x", format = "csv" }', "is missing, and CSV needs"),
        ('cpu = { file = "x", format = "sar", zone = "Mars" }', "'Mars' is no time zone"),
        ('cpu = { file = "x", format = "top" }', "instruments.cpu.format"),
        ('memory = { file = "x", format = "esxtop" }', "column: is missing, and esxtop has many"),
        ('memory = { file = "x", format = "sar", unit = "core" }', "instruments.memory.unit"),
    ],
)
def test_mistakes_in_a_study_are_told(tmp_path: Path, lines: str, said: str) -> None:
    path = tmp_path / "study.toml"
    path.write_text(f'[scenarios.a]\nruns = ["a"]\n[instruments]\n{lines}\n')
    with pytest.raises(StudyError, match=said):
        load_study(path)
