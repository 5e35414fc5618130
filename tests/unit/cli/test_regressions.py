"""Change over time: a history of comparisons tells a regression, and the exit status a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from pcaplat.cli import run as run_command
from tests.support.request_runs import RequestRun, RequestStudy

if TYPE_CHECKING:
    from pathlib import Path

SHORT = RequestRun(n=150)
CHANGES = ("regression", "change point", "slower since", "changed")


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("limit", "status"), [("2us", 1), ("10%", 1), ("10us", 0), ("90%", 0), ("2000ns", 1)]
)
def test_a_limit_sets_the_exit_status(tmp_path: Path, limit: str, status: int) -> None:
    """4 µs more, of 12: a third."""
    folders = RequestStudy(like=SHORT).save(tmp_path)
    both = [str(folders["plain"]), str(folders["slow"])]
    assert run_command(["compare", *both, "--fail-above", limit]) == status
    # what got faster fails no limit
    assert run_command(["compare", *both[::-1], "--fail-above", limit]) == 0


@pytest.mark.parametrize("limit", ["2", "2 parsecs", "%", "-5%", "nan%", "infus"])
def test_a_limit_that_is_none_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], limit: str
) -> None:
    folders = RequestStudy(like=SHORT, n_runs=1).save(tmp_path)
    both = [str(folders["plain"]), str(folders["slow"])]
    assert run_command(["compare", *both, f"--fail-above={limit}"]) == 2
    said = capsys.readouterr().err
    assert "--fail-above" in said
    assert "no such option" not in said.lower()


def test_a_comparison_is_a_test_suite_too(tmp_path: Path) -> None:
    folders = RequestStudy(like=SHORT).save(tmp_path / "s")
    both = [str(folders["plain"]), str(folders["slow"])]
    arguments = ["compare", *both, "--fail-above", "2us", "-o", str(tmp_path / "out")]
    assert run_command(arguments) == 1
    (file,) = (tmp_path / "out").glob("*.junit.xml")
    assert int(ET.parse(file).getroot().attrib["failures"]) >= 1  # noqa: S314 - ours


def nights(folder: Path, capsys: pytest.CaptureFixture[str], means_ns: list[float]) -> list[str]:
    """What each night's comparison prints, all with one history."""
    said = []
    baseline = RequestStudy(n_runs=3, like=SHORT, seed=900).save(folder / "base")["plain"]
    for night, mean_ns in enumerate(means_ns):
        study = RequestStudy(mean_ns, n_runs=3, like=SHORT, seed=night, run_sd_ns=100.0)
        slow = study.save(folder / f"night{night}")["slow"]
        arguments = ["compare", str(baseline), str(slow), "--history", str(folder / "history")]
        assert run_command(arguments) in {0, 1}
        said.append(capsys.readouterr().out.lower())
    return said


def test_a_step_in_the_history_is_told_with_its_false_alarm_rate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = nights(tmp_path, capsys, [0.0] * 8 + [5000.0] * 4)
    assert not any(word in said[7] for word in CHANGES)
    assert any(word in said[-1] for word in CHANGES)
    assert "false alarm" in said[-1]


def test_a_steady_history_raises_no_alarm(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = np.random.default_rng(1)
    said = nights(tmp_path, capsys, [100 * chance.normal() for _ in range(12)])
    assert not any(word in text for word in CHANGES[:2] for text in said)
