"""`pcaplat points`: every profile is readable at any width, and nothing of it is lost."""

import re
from pathlib import Path

import pytest

from pcaplat.cli import run
from pcaplat.points import load_profile, profile_names

WIDTHS = (80, 120)
FOLDED = re.compile(r" [\\`]\n +")


def shown(
    arguments: list[str],
    width: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    assert run(["points", *arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("width", WIDTHS)
def test_the_list_names_every_profile(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = shown([], width, capsys, monkeypatch)
    first = [line.split()[0] for line in text.splitlines()[2:] if line[:1].strip()]
    assert first[:-1] == profile_names()
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", profile_names())
def test_a_profile_is_shown_whole(
    name: str, width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = load_profile(name)
    text = shown([name], width, capsys, monkeypatch)
    assert max(map(len, text.splitlines())) <= width
    unfolded = FOLDED.sub(" ", text)
    flowing = " ".join(text.split())
    for point in profile.points:
        assert f"\n{point.id}  (" in text
        assert point.meaning in flowing
        for command in point.commands:
            assert f"  $ {command}\n" in unfolded
        assert all(pitfall in flowing for pitfall in point.pitfalls)
    assert all(pitfall in flowing for pitfall in profile.pitfalls)
    assert all(source in flowing for source in profile.sources.values())


def test_the_path_stands_in_order_both_ways(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = shown(["lab"], 120, capsys, monkeypatch)
    out = "host1-vm → host1-up → sw-a → sw-b → host2-up → host2-vm"
    back = " → ".join(reversed(out.split(" → ")))
    assert text.index(out) < text.index(back) < text.index("\nhost1-vm  (")


def test_what_all_points_have_in_common_is_said_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = shown(["lab"], 120, capsys, monkeypatch)
    assert text.count("shared by all points") == 1
    assert text.count("encapsulated in vxlan on UDP 4789") == 4


def test_names_in_a_profile_cannot_move_the_cursor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = (Path(__file__).parents[3] / "capture_points" / "lab.toml").read_text("utf-8")
    mine = tmp_path / "mine.toml"
    mine.write_text(lab.replace("A VXLAN path", "A \\u001b[2J path"), "utf-8")
    assert "\x1b" not in shown([str(mine)], 80, capsys, monkeypatch)
