"""What was learned of translations is told: on the console, and where it was too much to keep."""

from __future__ import annotations

from functools import partial
from io import StringIO
from typing import TYPE_CHECKING

from pcaplat import _native
from pcaplat.outputs import show
from pcaplat.units import format_instant
from tests.recovery.simulate_nat import Traffic, Translator, legs_of, record
from tests.recovery.test_translation import found, merged, ports

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_more_flows_than_are_kept_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packets = Traffic(gap_ns=100_000).packets()
    recorded = record(packets, [Translator(legs_of(packets, ports))], offsets_ns=[0, 0])
    monkeypatch.setattr(_native, "learn", partial(_native.learn, most_sessions=60))
    result = merged(recorded, tmp_path)
    told = [w for w in result.document["warnings"] if w["code"] == "translations-left-out"]
    first_ns = sorted({(p.src if way else p.dst): p.at_ns for p, way in reversed(packets)}.values())
    assert len(told) == 1
    milliseconds = format_instant(first_ns[60])[:-7]  # at whichever point
    assert f"from {milliseconds}" in told[0]["text"]
    assert "800 packets" in told[0]["text"]
    assert "--from, --to" in told[0]["text"]
    assert len(result.document["translations"]) == 60
    assert found(recorded, result)[1] == 0


def test_what_was_learned_is_shown(tmp_path: Path) -> None:
    packets = Traffic(n_flows=7).packets()
    legs = legs_of(packets, ports)
    recorded = record(packets, [Translator(legs, shift=123_456_789)], offsets_ns=[0, 0])
    result = merged(recorded, tmp_path)
    show("table", "merge", result, stream := StringIO(), is_verbose=True)
    text = stream.getvalue()
    assert "Translated flows, the first 5 of 7" in text
    assert (
        "p2 → p1 changes 7 flows: source address of 7, source port of 7, sequence numbers of 7"
        in text
    )
    row = result.document["translations"][0]
    lines = [line.split() for line in text.splitlines()]
    client, server = (row["near_src"], str(row["near_src_port"])), (row["near_dst"], "443")
    shown = next(line for line in lines if line[:1] == ["p2"] and client[0] in line)
    assert shown[:6] == ["p2", *client, "→", *server]
    assert shown[6:8] == ["20", format_instant(row["first_t_ns"])[11:26]]
    behind = lines[lines.index(shown) + 1]
    assert behind[:3] == ["p1", "198.51.100.7", str(row["far_src_port"])]
    assert behind[-1] == "123,456,789"
