"""The command `validate`: exit statuses, what it prints and writes, mistakes in one line."""

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from pcaplat.cli import run as run_command
from pcaplat.study.errors import StudyError
from pcaplat.validating import validate as validate_files
from tests.conftest import ROOT
from tests.recovery.simulator import Link, Point, Traffic, run
from tests.recovery.simulator import Scenario as Path_

ANY_ORDER = "--accept-order"
"""The simulator has all runs begin at one time."""

TWO_WAY = 'metric = "two-way-contribution"\nscope = { kind = "path" }\nunit = "us"\n'


@pytest.fixture
def runs(tmp_path: Path) -> dict[str, Path]:
    found = {}
    for name, forward_ns in (("l2", 3000), ("vxlan", 9000)):
        found[name] = tmp_path / name
        for at in range(5):
            folder = tmp_path / name / f"run{at}"
            folder.mkdir(parents=True)
            links = (Link(forward_ns=forward_ns),)
            seed = at if name == "l2" else 50 + at
            traffic = Traffic(n_packets=400, shares=(("udp", 0.6), ("icmp", 0.4)))
            run(Path_((Point("a"), Point("b")), links, traffic, seed=seed)).save(folder)
    return found


def claims_file(folder: Path, *bounds: str) -> Path:
    scope = 'scope = { kind = "difference", treatment = "vxlan", baseline = "l2" }'
    path = folder / "claims.toml"
    text = "".join(
        f'[[claims]]\nid = "c{at}"\nsentence = "VXLAN & co <1>"\nsource.document = "d"\n'
        f'metric = "rtt"\n{scope}\nunit = "us"\n{bound}\n'
        for at, bound in enumerate(bounds)
    )
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("bounds", "status"),
    [
        (["interval = [5, 7]"], 0),
        (["interval = [5, 7]", "at_most = 5"], 1),
        (["interval = [5, 7]", "interval = [5.9999, 6.0001]"], 3),
        (["interval = [5.9999, 6.0001]", "at_most = 5"], 1),
    ],
)
def test_exit_statuses(
    runs: dict[str, Path], tmp_path: Path, bounds: list[str], status: int
) -> None:
    sources = [f"{name}={folder}" for name, folder in runs.items()]
    path = str(claims_file(tmp_path, *bounds))
    assert run_command(["validate", path, *sources, ANY_ORDER]) == status


def test_what_the_command_writes_can_be_read(
    runs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = claims_file(tmp_path, "interval = [5, 7]", "at_most = 5", "interval = [5.9999, 6.0001]")
    arguments = ["validate", str(path), *map(str, runs.values()), ANY_ORDER]
    arguments += ["-o", str(tmp_path / "out")]
    assert run_command([*arguments, "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads((tmp_path / "out" / "verdicts.json").read_text())
    assert document["schema"] == "pcaplat.verdicts/1"
    assert [row["verdict"] for row in document["verdicts"]] == ["held", "refuted", "undecided"]
    assert {row["n_runs"] for row in document["verdicts"]} == {5}
    suites = ET.parse(tmp_path / "out" / "verdicts.junit.xml").getroot()  # noqa: S314 - ours
    assert suites.attrib == {"tests": "3", "failures": "1", "errors": "0", "skipped": "1"}
    marks = [[child.tag for child in case] for case in suites.iter("testcase")]
    assert marks == [["system-out"], ["failure"], ["skipped"]]
    (failure,) = suites.iter("failure")
    assert failure.attrib["message"] == document["verdicts"][1]["reason"]
    assert "VXLAN & co <1>" in (failure.text or "")
    for name in ("table", "csv", "markdown"):
        assert run_command([*arguments[:-2], "--format", name]) == 1
        text = capsys.readouterr().out
        assert all(word in text for word in ("c0", "held", "c1", "refuted", "c2", "undecided"))
        if name == "csv":
            assert [row["id"] for row in csv.DictReader(io.StringIO(text))] == ["c0", "c1", "c2"]


def test_a_study_file_says_it_all(
    runs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claims_file(tmp_path, "interval = [5, 7]")
    scenarios = "".join(f'[scenarios.{name}]\nruns = ["{name}/*"]\n' for name in runs)
    study = tmp_path / "study.toml"
    study.write_text(f'claims = ["claims.toml"]\npath = ["a", "b"]\n{scenarios}')
    assert run_command(["validate", str(study), ANY_ORDER, "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["verdicts"]
    assert row["replication"] == "runs"
    assert run_command(["validate", str(tmp_path / "claims.toml"), str(study), ANY_ORDER]) == 0
    assert run_command(["validate", str(study)]) == 3


def test_captures_are_one_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        '[[claims]]\nid = "wire"\nsentence = "s"\nsource.document = "d"\n'
        'metric = "rtt"\nunit = "us"\n'
        'scope = { kind = "segment", near = "sw-a", far = "sw-b" }\nat_most = 1\n'
    )
    captures = sorted(map(str, (ROOT / "samples" / "vxlan-delay200").glob("*.pcap.gz")))
    assert run_command(["validate", str(path), *captures, "--format", "json"]) in {1, 3}
    (row,) = json.loads(capsys.readouterr().out)["verdicts"]
    assert row["estimate"] == pytest.approx(407, abs=3)
    assert row["n_runs"] == 1
    assert "within this run" in row["reason"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nsx-dfw-latency"], "give captures of each scenario (l2=FOLDER dfw=FOLDER) or a study"),
        (["nosuch"], "nosuch' is neither a .toml file"),
        (["nsx", "samples/l2"], "'nsx' is neither a .toml file nor one that ships"),
        (
            ["nsx-dfw-latency", "samples/l2", "--claim", "nsx-dfw"],
            "--claim nsx-dfw: there is no such claim; did you mean nsx-dfw-rtt?",
        ),
        (["nsx-dfw-latency", "samples/l2", "samples/l2"], "l2: is given twice"),
        (
            ["nsx-dfw-latency", "ddfw=samples/l2"],
            "ddfw: none of the claims is about this",
        ),
        (
            ["nsx-dfw-latency", "samples/l2", "samples/l2/sw-a.pcap.gz"],
            "sw-a.pcap.gz: is no folder, and others are",
        ),
    ],
)
def test_a_mistake_is_one_line_and_status_2(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)
    assert run_command(["validate", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert message in said.err
    assert said.err.count("\n") == 1


def test_a_study_without_claims_asks_for_some(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text('[scenarios.a]\nruns = ["a"]\n')
    with pytest.raises(StudyError, match="names no claims; add claims"):
        validate_files(tmp_path / "study.toml")
