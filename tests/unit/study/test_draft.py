"""The study file that init writes: what captures show, and taken as it is by the commands."""

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pcaplat.errors import InputError
from pcaplat.study.draft import draft_study
from pcaplat.study.file import load_study
from tests.conftest import ROOT

SAMPLES = ROOT / "samples" / "vxlan"
CLAIM = """
[document]
title = "Loss"

[[claims]]
id = "loss"
sentence = "At most 1 % of the packets is lost"
source = { section = "here" }
metric = "loss-ratio"
scope = { kind = "path", scenario = "tunnel" }
at_most = 1
unit = "%"
"""
POINTS = ["host1-vm", "host1-up", "sw-a", "sw-b", "host2-up", "host2-vm"]


def pcaplat(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pcaplat", *words]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two scenarios with two runs each."""
    for scenario, own in (("plain", "l2"), ("tunnel", "vxlan")):
        for run in ("run1", "run2"):
            shutil.copytree(ROOT / "samples" / "east-west" / own / run, tmp_path / scenario / run)
    return tmp_path


def test_captures_become_one_scenario_that_is_left_to_be_named(tmp_path: Path) -> None:
    captures = sorted(map(str, SAMPLES.glob("*.pcap")))
    text = draft_study(captures, tmp_path)
    written = tomllib.loads(text)
    assert written["path"] == POINTS
    assert written["points"] == {name: f"{name}.pcap" for name in POINTS}
    [run] = written["scenarios"]["unnamed"]["runs"]
    assert {(tmp_path / one.partition("=")[2]).resolve() for one in run} == {
        Path(one).resolve() for one in captures
    }
    assert "# The order was inferred" in text
    assert "#   host1-vm: the reference" in text


def test_what_is_commented_out_is_a_study_file_too(tmp_path: Path) -> None:
    """But for running text, which has a blank behind its sign and no equals sign or bracket."""
    text = draft_study([str(SAMPLES / "host1-vm.pcap"), str(SAMPLES / "host2-vm.pcap")], tmp_path)
    offered = [line for line in text.splitlines() if line.startswith(("# same_clock", "# warm_up"))]
    offered += [line for line in text.splitlines() if line.startswith("# clock_accuracy")]
    assert len(offered) == 3
    study = tmp_path / "study.toml"
    study.write_text("".join(f"{line[2:]}\n" for line in offered) + text, "utf-8")
    assert load_study(study).warm_up == 10**9


def test_merge_compare_and_validate_take_it_as_it_is(runs: Path) -> None:
    assert pcaplat(runs, "init", "plain", "tunnel").returncode == 0
    written = tomllib.loads((runs / "study.toml").read_text("utf-8"))
    assert written["scenarios"] == {"plain": {"runs": ["plain"]}, "tunnel": {"runs": ["tunnel"]}}
    merged = pcaplat(runs, "merge", "study.toml", "-o", "results", "--quiet")
    assert merged.returncode == 0, merged.stderr
    assert (runs / "results" / "tunnel" / "run2" / "summary.json").exists()
    compared = pcaplat(runs, "compare", "study.toml", "--format", "json")
    assert compared.returncode == 0, compared.stderr
    (runs / "claims.toml").write_text(CLAIM, "utf-8")
    validated = pcaplat(runs, "validate", "claims.toml", "study.toml", "--format", "json")
    assert validated.returncode in {0, 3}, validated.stderr
    assert [one["id"] for one in json.loads(validated.stdout)["verdicts"]] == ["loss"]


def test_a_rotated_capture_is_one_point_of_several_files(tmp_path: Path) -> None:
    given = [f"a={SAMPLES / 'host1-vm.pcap'}", f"b={SAMPLES / 'host2-vm.pcap'}"]
    given.append(f"b={SAMPLES / 'host2-up.pcap'}")
    written = tomllib.loads(draft_study(given, tmp_path))
    assert written["points"]["b"] == ["host2-vm.pcap", "host2-up.pcap"]


def test_names_of_strangers_stay_in_their_comment_and_key(tmp_path: Path) -> None:
    captures = []
    for name, file in (('a"\n[evil]', "host1-vm.pcap"), ("b.c", "host2-vm.pcap")):
        shutil.copy(SAMPLES / file, tmp_path / f"{name}.pcap")
        captures.append(str(tmp_path / f"{name}.pcap"))
    written = tomllib.loads(draft_study(captures, tmp_path))
    assert "evil" not in written
    assert len(written["points"]) == len(written["path"]) == 2
    assert "b.c" in written["points"]


def test_it_does_not_write_over_a_study(runs: Path) -> None:
    (runs / "study.toml").write_text("precious", "utf-8")
    done = pcaplat(runs, "init", "plain")
    assert done.returncode == 2
    assert "is there already" in done.stderr
    assert (runs / "study.toml").read_text("utf-8") == "precious"


def test_captures_and_folders_are_not_mixed(runs: Path) -> None:
    with pytest.raises(InputError, match="not both"):
        draft_study([str(runs / "plain"), str(SAMPLES / "host1-vm.pcap")], runs)
    (runs / "empty").mkdir()
    with pytest.raises(InputError, match="holds no captures"):
        draft_study([str(runs / "empty")], runs)
