"""Losses that copies, an unknown direction or equal bytes may hide: intervals hold them."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

import pcaplat
from tests.support.frames import UDP, ip, udp, write_pcap

if TYPE_CHECKING:
    from pathlib import Path

START_NS, LINK_NS, TAIL_NS, COPY_NS = 1_760_000_000_000_000_000, 3_000, 500, 4_000
TCP, ACK = 6, 0x10
POINTS = ("p0", "p1", "p2")
ENDS = ("10.1.0.1", "10.2.0.1")
Sent = tuple[int, bool, bytes]
"""When, whether forward, and the frame."""


@dataclass(frozen=True)
class Hidden:
    """Equal packets of one flow, forward, in trains, beside others both ways that are unlike."""

    n: int = 0
    gap_ns: int = 8_000
    train: int = 0
    has_stream_bytes: bool = False
    n_unlike: int = 1_200
    lost_share: float = 0.03
    copied_shares: tuple[float, float, float] = (0.0, 0.0, 0.0)


CASES = {
    "mirrors that copy nearly all": Hidden(
        n_unlike=2_000, lost_share=0.02, copied_shares=(0.95, 0.95, 0.95)
    ),
    "mirrors that copy half": Hidden(
        n_unlike=2_000, lost_share=0.02, copied_shares=(0.5, 0.5, 0.5)
    ),
    "trains, either way": Hidden(2_400, 800, train=60, n_unlike=600, lost_share=0.1),
    "bytes of a stream": Hidden(3_000, 3_000, has_stream_bytes=True, n_unlike=800),
    "copies behind the loss": Hidden(1_500, copied_shares=(0.0, 0.0, 1.0)),
    "some copies behind the loss": Hidden(1_500, copied_shares=(0.0, 0.0, 0.3)),
}


def sent_by(case: Hidden, chance: random.Random) -> list[Sent]:
    equal = ip(*ENDS, UDP, 0, 64, udp((9_000, 9_001), b"the same again"))
    if case.has_stream_bytes:
        header = struct.pack(">HHIIBBHHH", 9_000, 9_001, 1_000, 5_000, 0x50, ACK, 8_192, 0, 0)
        equal = ip(*ENDS, TCP, 0, 64, header + b"\0")
    sent: list[Sent] = []
    t_ns = START_NS + 1_000_000
    for number in range(case.n):
        t_ns += int(chance.expovariate(1 / case.gap_ns))
        t_ns += 2_500_000 if case.train and number % case.train == 0 else 0
        sent.append((t_ns, True, equal))
    span_ns = max(t_ns - START_NS, 50_000_000)
    for number in range(case.n_unlike):
        way, ports = (ENDS, (4_000, 7_000)) if number % 2 else (ENDS[::-1], (7_000, 4_000))
        at_ns = START_NS + number * span_ns // case.n_unlike + chance.randrange(1_000)
        payload = udp(ports, chance.randbytes(16))
        sent.append((at_ns, number % 2 == 1, ip(*way, UDP, number + 1, 64, payload)))
    return sorted(sent)


def captured(case: Hidden, folder: Path) -> tuple[list[str], dict[tuple[str, str], float]]:
    """Files, and the share that was lost by the points that a packet came from and went to."""
    chance = random.Random(1)  # noqa: S311 - no secret
    seen: list[list[tuple[int, bytes]]] = [[] for _ in POINTS]
    n_at = dict.fromkeys([(point, way) for point in range(3) for way in (True, False)], 0)
    sent = sent_by(case, chance)
    for is_forward in (True, False):
        now = [(t_ns, frame) for t_ns, way, frame in sent if way == is_forward]
        order = (0, 1, 2) if is_forward else (2, 1, 0)
        for point in order:
            if point != order[0]:
                now = crossed(now, case.lost_share, chance)
            n_at[point, is_forward] = len(now)
            seen[point] += now
            is_copied = [chance.random() < case.copied_shares[point] for _ in now]
            again = [one for one, copied in zip(now, is_copied, strict=True) if copied]
            seen[point] += [(t + COPY_NS + chance.randrange(200), frame) for t, frame in again]
    files = [str(folder / f"{name}.pcap") for name in POINTS]
    for file, frames in zip(files, seen, strict=True):
        write_pcap(folder / file, sorted(frames))
    lost = {
        (POINTS[up], POINTS[down]): 1 - n_at[down, up < down] / n_at[up, up < down]
        for up in range(3)
        for down in range(3)
        if up != down
    }
    return files, lost


def crossed(
    now: list[tuple[int, bytes]], lost_share: float, chance: random.Random
) -> list[tuple[int, bytes]]:
    """What arrives at the next point, in the same order."""
    arrived: list[tuple[int, bytes]] = []
    last_ns = 0
    for t_ns, frame in now:
        if chance.random() >= lost_share:
            last_ns = max(t_ns + LINK_NS + int(chance.expovariate(1 / TAIL_NS)), last_ns + 80)
            arrived.append((last_ns, frame))
    return arrived


@pytest.mark.parametrize("name", CASES)
def test_losses_that_may_be_hidden_are_in_the_interval(name: str, tmp_path: Path) -> None:
    """Also in that of verdicts, which `lost_frac` does not widen."""
    folder = tmp_path / "run"
    folder.mkdir()
    files, lost = captured(CASES[name], folder)
    with pcaplat.merge(files, same_clock=["all"]) as result:
        rows = [row for row in result.document["segments"] if row["class"] == "packet"]
        codes = {row["code"] for row in result.document["warnings"]}
    is_wide = any(row["n_maybe_lost"] > max(row["n_lost"], 3) for row in neighbours(rows))
    assert ("losses-hidden" in codes) == is_wide
    assert len(rows) == len(lost)
    asked = []
    for row in rows:
        way = (row["near"], row["far"])
        true = lost[way if row["direction"] == "forward" else way[::-1]]
        assert row["lost_lo_frac"] <= true <= row["lost_hi_frac"], (way, row["direction"])
        asked.append((row, true))
    assert judged(asked, folder, tmp_path) == []


def neighbours(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The segments, without the whole path."""
    return [row for row in rows if (row["near"], row["far"]) != (POINTS[0], POINTS[-1])]


def judged(asked: list[tuple[dict[str, Any], float]], folder: Path, scratch: Path) -> list[str]:
    """Claims of twice and of half what was lost that are judged wrong."""
    claims, wrong = [], []
    for at, (row, true) in enumerate(asked):
        ends = f'near = "{row["near"]}", far = "{row["far"]}", direction = "{row["direction"]}"'
        for name, bound in (
            ("true", f"at_most = {200 * true}"),
            ("false", f"at_most = {50 * true}"),
        ):
            claims.append(
                f'[[claims]]\nid = "{name}{at}"\nsentence = "x"\nsource.document = "d"\n'
                f'metric = "loss-ratio"\nscope = {{ kind = "run", {ends} }}\nunit = "%"\n{bound}\n'
            )
    (scratch / "claims.toml").write_text("\n".join(claims))
    found = pcaplat.validate(
        str(scratch / "claims.toml"), str(folder), options={"same_clock": ["all"]}
    )
    assert len(found["verdicts"]) == 2 * len(asked)
    for one in found["verdicts"]:
        never = "refuted" if one["id"].startswith("true") else "held"
        if one["verdict"] == never:
            wrong.append(f"{one['id']} {one['verdict']}")
    return wrong
