"""Study files: what is wrong is told with its line, and what is right names runs and points."""

import json
import re
from pathlib import Path

import pytest

from pcaplat.cli import run as run_command
from pcaplat.comparing import compare
from pcaplat.study.errors import StudyError
from pcaplat.study.file import is_study, load_study
from pcaplat.study.scenarios import scenario_at, study_at
from pcaplat.study.sources import RunReader
from tests.conftest import ROOT
from tests.recovery.simulator import Link, Point, Scenario, Traffic, run

MISTAKES = sorted((ROOT / "tests" / "data" / "claims" / "studies").glob("*.toml"))
STUDY = """
claims = ["nsx-dfw-latency", "ours.toml"]
path = ["a", "b"]
same_clock = [["a", "b"]]
clock_accuracy = { b = "100ns" }
warm_up = "0s"

[points]
a = "first-*.pcap"
b = ["second.pcap"]

[scenarios.plain]
runs = ["plain/*"]

[scenarios.tunnel]
runs = ["tunnel/1", ["a=tunnel/2/first-1.pcap", "b=tunnel/2/second.pcap"]]
"""


def captures(folder: Path, seed: int, forward_ns: int = 3000) -> None:
    folder.mkdir(parents=True)
    links = (Link(forward_ns=forward_ns),)
    traffic = Traffic(n_packets=300, shares=(("udp", 0.6), ("icmp", 0.4)))
    files = run(Scenario((Point("x"), Point("y")), links, traffic, seed=seed)).save(folder)
    files[0].rename(folder / "first-1.pcap")
    files[1].rename(folder / "second.pcap")
    (folder / "README.md").write_text("how it was made")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    for at in (1, 2):
        captures(tmp_path / "plain" / str(at), at)
        captures(tmp_path / "tunnel" / str(at), 10 + at, 8000)
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


@pytest.mark.parametrize("path", MISTAKES, ids=lambda path: path.stem)
def test_a_mistake_gets_its_message(path: Path) -> None:
    expected = path.read_text("utf-8").partition("\n")[0].removeprefix("# expect ")
    with pytest.raises(StudyError) as raised:
        load_study(path)
    assert str(raised.value) == f"{path}{expected}"
    assert re.match(r":\d+: .", expected)


def test_no_text_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_bytes(b"# fine\npath = ['\xff']\n")
    with pytest.raises(StudyError, match=r"study.toml:2: is no UTF-8 text"):
        load_study(tmp_path / "study.toml")


def test_runs_and_points_are_those_of_the_file(study: Path) -> None:
    found = study_at(str(study))
    assert found.names == ["plain", "tunnel"]
    assert found.claims == ["nsx-dfw-latency", str(study.parent / "ours.toml")]
    plain, tunnel = found.runs("plain"), found.runs("tunnel")
    assert [one.name for one in plain] == ["1", "2"]
    folder = study.parent / "plain" / "1"
    assert plain[0].captures == [f"a={folder / 'first-1.pcap'}", f"b={folder / 'second.pcap'}"]
    assert [one.name for one in tunnel] == ["1", "tunnel-2"]
    scenario = found.scenario("tunnel", RunReader())
    assert [one.path for one in scenario.runs] == [["a", "b"], ["a", "b"]]
    (clock,) = {row["quality"] for row in scenario.runs[0].document["clocks"]}
    assert clock == "same-clock"
    # warm_up = "0s": every packet counts
    row = scenario.runs[0].segments["a", "b", "forward"]
    assert scenario.runs[0].blocks["a", "b", "forward"].n_all == row["n"]


def test_a_study_of_two_is_a_comparison(study: Path) -> None:
    by_itself = compare(study)
    assert by_itself == compare(f"{study}:plain", f"{study}:tunnel")
    (row,) = by_itself["round_trips"]
    assert row["delta_mean_ns"] is not None
    assert row["delta_mean_ns"] == pytest.approx(5000, abs=400)
    back = compare(f"{study}:tunnel", f"{study}:plain")["round_trips"][0]
    assert back["delta_mean_ns"] == pytest.approx(-row["delta_mean_ns"])


def test_what_leads_nowhere_is_told(study: Path) -> None:
    with pytest.raises(StudyError, match=r"has no scenario 'tunel'; did you mean tunnel\?"):
        scenario_at(f"{study}:tunel", RunReader())
    with pytest.raises(StudyError, match=r"has several scenarios; write .*study.toml:plain"):
        scenario_at(study, RunReader())
    study.write_text('[scenarios.a]\nruns = ["nowhere/*"]\n')
    with pytest.raises(StudyError, match=r"nowhere/\*: there is no such folder or file"):
        scenario_at(f"{study}:a", RunReader())
    study.write_text('[points]\na = "third*"\n[scenarios.a]\nruns = ["plain/1"]\n')
    with pytest.raises(StudyError, match=r"1/third\*: there is no such folder or file"):
        scenario_at(f"{study}:a", RunReader())
    study.write_text(f"{STUDY}[scenarios.third]\nruns = ['plain/1']\n")
    with pytest.raises(StudyError, match="has not just two scenarios"):
        compare(study)


def test_options_asked_for_win(study: Path) -> None:
    asked = RunReader({"path": ["b", "a"]}, warm_up_ns=1000)
    found = study_at(str(study)).reader(asked)
    assert found.options["path"] == ["b", "a"]
    assert found.options["clock_accuracy"] == [("b", 100)]
    assert found.warm_up_ns == 1000


def test_claims_are_no_study(study: Path, tmp_path: Path) -> None:
    assert is_study(str(study))
    assert not is_study(str(ROOT / "claims" / "vxlan-draft.toml"))
    assert not is_study(str(ROOT / "samples" / "vxlan" / "sw-a.pcap"))
    (tmp_path / "broken.toml").write_text("a = ")
    assert not is_study(str(tmp_path / "broken.toml"))


def test_each_run_is_merged_into_a_folder_of_its_own(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run_command(["merge", str(study)]) == 2
    assert "has 4 runs; write them with --output DIR" in capsys.readouterr().err
    assert run_command(["merge", str(study), "-o", str(out)]) == 0
    assert sorted(str(one.parent.relative_to(out)) for one in out.rglob("summary.json")) == [
        "plain/1",
        "plain/2",
        "tunnel/1",
        "tunnel/tunnel-2",
    ]
    by_results = compare(out / "plain", out / "tunnel", warm_up_ns=0)
    assert by_results["round_trips"] == compare(study)["round_trips"]
    capsys.readouterr()
    study.write_text(STUDY.replace("plain/*", "plain/1"))
    assert run_command(["merge", f"{study}:plain", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["path"] == ["a", "b"]
    study.write_text(f"[scenarios.done]\nruns = ['{out}/plain/1']\n")
    assert run_command(["merge", str(study)]) == 2
    assert "are results of merge already" in capsys.readouterr().err
