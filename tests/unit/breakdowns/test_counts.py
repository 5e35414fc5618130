"""Loss, duplication, reordering and delay variation by key: sums, and what was sent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pcaplat
from pcaplat.breakdowns import KINDS
from pcaplat.breakdowns.losses import apportioned
from pcaplat.cli import run as command
from pcaplat.errors import InputError
from tests.conftest import ROOT
from tests.recovery.simulator import run
from tests.recovery.simulator.effects import EFFECTS, LOSS, base, scenario, together
from tests.support.dialogues import START_NS, Dialogues
from tests.support.frames import UDP, udp

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.recovery.simulator.effects import Contrast

Row = dict[str, Any]
SEGMENT = ("near", "far", "direction")
COUNTS = ("n", "n_lost", "n_duplicated", "n_reordered")
LOSSY: dict[str, Contrast] = {
    name: together(LOSS, EFFECTS[name])
    for name in (
        *("plain", "vxlan", "DSCP rewritten", "reordering", "doubled on the way"),
        *(
            "mirror drops 20 %",
            "ECMP",
            "LAG, packet by packet",
            "SNAT",
            "clocks apart",
            "a clock is set",
        ),
        *("cut and joined", "any capture"),
    )
}


def broken(files: Iterable[Any], **options: Any) -> Row:  # noqa: ANN401 - options of merge
    with pcaplat.merge(list(files), by=KINDS, **options) as result:
        return result.document


def by_segment(rows: Iterable[Row]) -> dict[tuple[str, ...], list[Row]]:
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in SEGMENT), []).append(row)
    return found


def check_sums(document: Row) -> None:
    """Of every segment, and the whole path, keys add up to what the segment counts."""
    packets = [one for one in document["segments"] if one["class"] == "packet"]
    whole = {key: one for key, [one] in by_segment(packets).items()}
    for kind in KINDS:
        parts = by_segment(document["breakdowns"][f"by_{kind}"])
        assert set(parts) == set(whole)
        for segment, rows in parts.items():
            sums = {name: sum(row[name] for row in rows) for name in COUNTS}
            assert sums == {name: whole[segment][name] for name in COUNTS}, (kind, segment)
            if whole[segment]["mean_ns"] is not None and sums["n"]:
                mean_ns = sum(row["n"] * row["mean_ns"] for row in rows if row["n"]) / sums["n"]
                assert mean_ns == pytest.approx(whole[segment]["mean_ns"], abs=2), (kind, segment)
            for row in rows:
                assert row["n"] + row["n_lost"] > 0
                assert row["n_waited"] <= row["n"]
                assert row["lost_frac"] == row["n_lost"] / (row["n"] + row["n_lost"])
                assert row["lost_lo_frac"] <= row["lost_frac"] <= row["lost_hi_frac"]
                if n := row["n_waited"] + row["n_lost"]:
                    assert row["lost_lo_frac"] <= row["n_lost"] / n <= row["lost_hi_frac"]


@pytest.mark.parametrize("name", LOSSY)
def test_keys_add_up_to_their_segment(name: str, tmp_path: Path) -> None:
    document = broken(run(LOSSY[name](base(900, 3))).save(tmp_path))
    assert sum(row["n_lost"] for row in document["segments"]) > 20
    check_sums(document)


def test_keys_add_up_where_everything_happens(tmp_path: Path) -> None:
    check_sums(broken(run(scenario("everything", 1_500, 2)).save(tmp_path)))


# ---- what was sent

PORTS = (4_000, 5_000, 6_000)
EVERY = {4_000: (7, True, 0), 5_000: (5, True, 1), 6_000: (4, False, 0)}
"""By port: one in so many is lost, of this direction, after so many points."""
PLACES = {("a", "b"): (0, 1), ("b", "c"): (1, 2), ("a", "c"): (0, 2)}


def spoken(path: Dialogues) -> list[tuple[int, bool, list[int]]]:
    """Flows that lose packets in ways of their own; port, forward or not, when points saw each."""
    found = []
    for number in range(1_000):
        for at, port in enumerate(PORTS):
            one_in, is_forward, after = EVERY[port]
            is_inside = 20 < number < 980
            for forward in (True, False):
                is_lost = is_inside and forward == is_forward and number % one_in == 0
                path.extra_ns = 130_000 if port == 5_000 and number % 11 == 0 else 0
                ports = (port, 80) if forward else (80, port)
                data = udp(ports, number.to_bytes(4, "big") + bytes(40 + 100 * at))
                t_ns = START_NS + 60_000 * number + 9_000 * at + 4_000 * forward
                seen = path.send(
                    t_ns, UDP, data, forward=forward, lost_after=after if is_lost else 99
                )
                found.append((port, forward, seen))
    return found


def truth(seen: list[list[int]], up: int, down: int) -> Row:
    """What a segment did to the packets of a flow, by the definitions."""
    entered = [at for at in seen if at[up]]
    arrived = sorted((at for at in entered if at[down]), key=lambda at: at[down])
    n_late, newest, before, sizes = 0, 0, None, []
    for at in arrived:
        if at[up] < newest:
            n_late += 1
            continue
        newest, took = at[up], at[down] - at[up]
        if before is not None:
            sizes.append(abs(took - before))
        before = took
    n_lost = len(entered) - len(arrived)
    p50, p99 = np.quantile(sizes, (0.5, 0.99), method="inverted_cdf")
    counts = {"n": len(arrived), "n_lost": n_lost, "n_reordered": n_late, "n_duplicated": 0}
    return counts | {"ipdv_p50_ns": p50, "ipdv_p99_ns": p99}


@pytest.mark.parametrize("offsets_ns", [(0, 0, 0), (37_000_000_123, 0, -5_000_000)])
def test_flows_have_what_was_sent_of_them(tmp_path: Path, offsets_ns: tuple[int, ...]) -> None:
    path = Dialogues(offsets_ns=offsets_ns)
    sent = spoken(path)
    is_one_clock = not any(offsets_ns)
    same_clock = ["all"] if is_one_clock else []
    document = broken(path.save(tmp_path), path=["a", "b", "c"], same_clock=same_clock)
    # between clocks the drift of neighbours' stamps is not known to the nanosecond
    off_ns = 2 if is_one_clock else 150
    rows = document["breakdowns"]["by_flow"]
    assert len(rows) == len(PORTS) * len(PLACES) * 2
    for row in rows:
        forward = row["direction"] == "forward"
        [port] = {row["src_port"], row["dst_port"]} & set(PORTS)
        ends = PLACES[row["near"], row["far"]][:: 1 if forward else -1]
        true = truth([seen for one, way, seen in sent if (one, way) == (port, forward)], *ends)
        for name in COUNTS:
            assert row[name] == true[name], (name, row)
        for name in ("ipdv_p50_ns", "ipdv_p99_ns"):
            assert row[name] == pytest.approx(true[name], rel=2**-11, abs=off_ns), (name, row)
    assert sum(row["n_lost"] for row in rows if row["far"] != "c" or row["near"] != "a") > 500
    assert sum(row["n_reordered"] for row in rows) > 100
    check_sums(document)
    # each flow has a size of its own
    for row in document["breakdowns"]["by_size"]:
        of_flows = [one for one in rows if all(one[name] == row[name] for name in SEGMENT)]
        assert row["n_lost"] in {0, *(one["n_lost"] for one in of_flows)}


def test_windows_have_the_losses_of_their_time(tmp_path: Path) -> None:
    path = Dialogues()
    sent = spoken(path)
    with pcaplat.merge(path.save(tmp_path), path=["a", "b", "c"], by=["window=10ms"]) as result:
        rows = result.document["breakdowns"]["by_window"]
    for row in rows:
        forward = row["direction"] == "forward"
        up, down = PLACES[row["near"], row["far"]][:: 1 if forward else -1]
        if forward and row["near"] == "a":
            lost = [at for _, way, at in sent if way == forward and at[up] and not at[down]]
            end_ns = row["start_ns"] + row["length_ns"]
            assert row["n_lost"] == sum(row["start_ns"] <= at[0] < end_ns for at in lost)
    back = [row for row in rows if (row["near"], row["direction"]) == ("b", "reverse")]
    # one in four of one flow of three: a packet every 60 us
    full = [row["n_lost"] for row in back[2:-1]]
    assert len(full) >= 3
    assert all(abs(n - 10_000 / 60 / 4) < 3 for n in full), full


def test_losses_behind_a_translator_are_of_the_flow_before_it(tmp_path: Path) -> None:
    """In reverse a lost packet was seen with the far side's addresses only."""
    lossy = together(LOSS, EFFECTS["SNAT"])
    document = broken(run(lossy(base(3_000, 5))).save(tmp_path))
    assert document["translations"]
    rows = document["breakdowns"]["by_flow"]
    n_lost = [0, 0]
    for part in by_segment(rows).values():
        known = {row["key"] for row in part if row["n"]}
        for row in part:
            n_lost[row["key"] in known] += row["n_lost"]
    n_in_reverse = sum(row["n_lost"] for row in rows if row["direction"] == "reverse")
    assert n_in_reverse > 20
    # a flow may have lost all its packets of one direction
    assert n_lost[False] < 0.05 * n_lost[True]


@given(
    st.lists(st.floats(-3, 50, allow_subnormal=False), min_size=1, max_size=30),
    st.integers(0, 10_000),
)
def test_shares_of_losses_are_whole_and_add_up(parts: list[float], total: int) -> None:
    found = apportioned(np.array(parts), total)
    some = np.maximum(parts, 0)
    assert found.min() >= 0
    if some.sum():
        assert found.sum() == total
        assert np.abs(found - some * (total / some.sum())).max() < 1 + 1e-9
        counts = np.floor(some)
        if counts.sum():
            assert (apportioned(counts, int(counts.sum())) == counts).all()


# ---- where they are shown

SAMPLE = sorted((ROOT / "samples" / "vxlan").glob("*.pcap"))


def test_the_console_has_losses_where_there_are_any(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    path = Dialogues()
    spoken(path)
    assert command(["merge", *path.save(tmp_path), "--path", "a,b,c", "--by", "flow"]) == 0
    text = capsys.readouterr().out
    shown = text[text.index("Latency by flow") :].split("\n\n")[0].splitlines()
    assert shown[1].split()[-1] == "lost"
    [row] = [line for line in shown[3:] if "4000" in line and "a → b" in line]
    assert re.search(r" 13\.7\d? %$", row), row
    assert command(["merge", *map(str, SAMPLE), "--same-clock", "all", "--by", "dscp"]) == 0
    text = capsys.readouterr().out
    shown = text[text.index("Latency by dscp") :].split("\n\n")[0].splitlines()
    assert "lost" not in shown[1]


def test_what_was_not_kept_cannot_be_broken_down(tmp_path: Path) -> None:
    with pcaplat.merge(SAMPLE, same_clock=["all"], keep_crossings=False) as result:
        assert not [*tmp_path.glob("crossed-*")]
        with pytest.raises(InputError, match=r"by=\[...\]"):
            result.by("flow")
    with pcaplat.merge(SAMPLE, same_clock=["all"]) as result:
        assert result.by("flow")["n_lost"].dtype.is_integer()
