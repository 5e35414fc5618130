"""What the screen says of few frames, of losses in a shorter time, and of an order half given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pcaplat
from pcaplat import _native
from pcaplat.cli import run
from pcaplat.diagnostics.catalogue import diagnose
from pcaplat.diagnostics.identities import ALIKE, SHORT, counted
from pcaplat.outputs.reports.merge.frames import frame_sections
from pcaplat.run.answer.sentences import answer_lines
from pcaplat.run.answer.view import LatencyView
from tests.support.frames import UDP, ip, udp, write_pcap
from tests.support.results import document
from tests.support.shelf import SAMPLES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pytest

CAPTURES = sorted(map(str, (SAMPLES / "vxlan").glob("*.pcap")))
NAMES = ["host1-vm", "host1-up", "sw-a", "sw-b", "host2-up", "host2-vm"]


def screen(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert run(["merge", *CAPTURES, "--same-clock", "all", "--quiet", *options]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_an_order_of_some_points_is_not_taken_for_that_of_all(
    capsys: pytest.CaptureFixture[str],
) -> None:
    some = screen(capsys, "--path", "host1-vm,sw-b")
    assert "6 points (order of host1-vm → sw-b as given, of the others as found);" in some
    assert "Path of 6 points;" in screen(capsys, "--path", ",".join(NAMES))
    assert "Path of 6 points;" in screen(capsys)


def test_a_short_capture_is_told_with_what_came_of_it() -> None:
    one = diagnose(SHORT, "a", "too short", consequence=ALIKE)
    other = diagnose(SHORT, "a", "of another kind")
    reasons = [[0] * len(_native.REASONS) for _ in range(2)]
    assert [each.consequence for each in counted([one, other], reasons)] == [
        "no frame of these captures stayed without a match for it",
        other.consequence,
    ]
    for at, (_, reason) in enumerate(_native.REASONS):
        reasons[1][at] = 3
        reasons[0][at] = 5 if reason == SHORT else 0
    n = sum(reason == SHORT for _, reason in _native.REASONS) * 8
    assert counted([one], reasons)[0].consequence.startswith(f"{n} frames of these")


def lines_of_frames(counts: Sequence[tuple[str, str, int]], only: str) -> str:
    made = document()
    reasons = [{"status": status, "reason": reason, "n": n} for status, reason, n in counts]
    made["points"] = [{"point": "a", "n_frames": 1_000, "reasons": reasons}]
    for status, _, n in counts:
        made["matching"][f"n_{status}"] = n
    return repr([one for one in frame_sections(made) if getattr(one, "only", "") == only])


def test_few_frames_without_a_match_are_remarked_upon() -> None:
    few = [("ambiguous", "equal-packets", 3), ("matched", "", 997)]
    assert "mbiguous frames have no latency; reasons with --verbose" in lines_of_frames(
        few, "brief"
    )
    assert "3 ambiguous: identical packets too close" in lines_of_frames(few, "verbose")
    many = [("ambiguous", "equal-packets", 30)]
    assert "reasons with --verbose" not in lines_of_frames(many, "brief")
    assert "30 ambiguous (3 %): identical packets" in lines_of_frames(many, "brief")


def test_matched_frames_that_are_of_no_segment_are_told() -> None:
    for n, seen in ((0, ""), (5, "verbose"), (50, "brief")):
        made = document()
        made["matching"] |= {"n_frames": 1_000, "n_without_direction": n}
        for only in ("brief", "verbose"):
            frames = repr([one for one in frame_sections(made) if getattr(one, "only", "") == only])
            assert (f"{n} matched, but of no segment" in frames) == (
                bool(n) and only in {seen, "verbose"}
            )


NO_ADDRESS = "0.0.0.0"  # noqa: S104 - an address, not one to listen at
HERE, THERE = "10.0.0.1", "10.0.0.2"


def test_what_has_no_direction_is_counted(tmp_path: Path) -> None:
    """Too few packets of no sender for the survey to give them a direction."""
    sent = [
        (
            1_760_000_000_000_000_000 + i * 1_000_000,
            ip(
                NO_ADDRESS if i % 40 == 3 else HERE, THERE, UDP, i + 1, 64, udp((5, 6), b"%08d" % i)
            ),
        )
        for i in range(200)
    ]
    answers = [
        (at_ns + 400_000, ip(THERE, HERE, UDP, i + 1, 64, udp((6, 5), b"%08d" % i)))
        for i, (at_ns, _) in enumerate(sent)
    ]
    for name, delay_ns in (("near", 0), ("far", 5_000)):
        frames = [(at_ns + delay_ns, data) for at_ns, data in sent]
        frames += [(at_ns + 5_000 - delay_ns, data) for at_ns, data in answers]
        write_pcap(tmp_path / f"{name}.pcap", sorted(frames))
    with pcaplat.merge([tmp_path / "near.pcap", tmp_path / "far.pcap"]) as result:
        matching, segments = result.document["matching"], result.document["segments"]
    assert matching["n_matched"] == matching["n_frames"] == 800
    assert matching["n_without_direction"] == 2 * 5
    counted = [row for row in segments if row["direction"] in {"forward", "reverse"}]
    assert sorted(row["n"] for row in counted) == [195, 200]


def test_losses_of_the_time_that_all_points_captured_are_said_to_be_of_it() -> None:
    made = document()
    for row in made["segments"]:
        row["n_lost"], row["lost_frac"] = 1, 0.01
    warning = {"code": "partial-capture", "point": "sw-a", "message": "begins late"}
    for warnings in ([], [warning]):
        told = "\n".join(answer_lines(made | {"warnings": warnings}, LatencyView.of(made)))
        assert "Lost packets: →" in told
        assert ("while all points captured" in told) == bool(warnings)
