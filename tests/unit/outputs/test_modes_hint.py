"""Plain merge counts no messages: where turns are many and alike it says what does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pcaplat.cli import run as command
from tests.support.dialogues import START_NS, UDP, Dialogues
from tests.support.frames import udp

if TYPE_CHECKING:
    from pathlib import Path

TOLD = "--traffic names netperf's mode"


def said(path: Dialogues, folder: Path, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    asked = ["merge", *path.save(folder), "--path", "a,b,c", "--no-intervals", "--verbose", *more]
    assert command(asked) == 0
    return " ".join(capsys.readouterr().out.split())


def turns(n: int, *, is_alike: bool = True) -> Dialogues:
    """Requests and responses of one client, one at a time; or with a server that thinks long."""
    path, t_ns = Dialogues(), START_NS
    for number in range(n):
        body = number.to_bytes(4, "big") + bytes(40)
        asked = path.send(t_ns, UDP, udp((5_000, 7), body), forward=True)
        thinks_ns = 20_000 if is_alike or number % 5 else 3_000_000
        sent_ns = asked[-1] + thinks_ns
        answered = path.send(sent_ns, UDP, udp((7, 5_000), body), forward=False)
        t_ns = answered[0] + 15_000
    return path


def test_many_equal_turns_point_to_their_modes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert TOLD in said(turns(120), tmp_path, capsys)
    assert TOLD not in said(turns(120), tmp_path, capsys, "--traffic")


@pytest.mark.parametrize("path", [turns(60), turns(200, is_alike=False)])
def test_few_turns_or_unlike_ones_do_not(
    path: Dialogues, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = said(path, tmp_path, capsys)
    assert "udp-transaction" in text
    assert TOLD not in text
