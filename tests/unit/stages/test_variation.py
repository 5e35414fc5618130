"""Delay variation, loss, order and copies of each segment, against sums in plain Python."""

from __future__ import annotations

import itertools
from math import ceil
from typing import TYPE_CHECKING

import pytest
from scipy.stats import beta  # type: ignore[import-untyped]

import pcaplat
from tests.recovery.simulator import START_NS
from tests.unit.diagnostics.lint_by_hand import Packet, pcap, requests

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Took = Callable[[int], int]

PATH_NS, N = 10_000, 2_000


def took_ns(at: int) -> int:
    """A queue that fills and empties, and a tail."""
    return PATH_NS + at * 37 % 1_009 + (8_000 if at % 131 == 7 else 0)


def overtaking_ns(at: int) -> int:
    """Now and then a packet takes so long that others overtake it."""
    return took_ns(at) + (90_000 if at % 50 == 3 else 0)


def lost(at: int) -> bool:
    return at % 40 == 11


def talk() -> list[Packet]:
    """One flow, sent every 20 to 21 µs."""
    return [
        Packet(START_NS + at * 20_000 + at * 7 % 1_000, one.frame, is_forward=True)
        for at, one in enumerate(requests(N))
    ]


def captures(folder: Path, took: Took, *, copies: bool = False, clock_ns: int = 0) -> list[str]:
    """What near sends, and far receives: late, lost or, every 60th, twice."""
    sent = talk()
    received = [(one.t_ns + took(at), one.frame) for at, one in enumerate(sent) if not lost(at)]
    if copies:
        received += [
            (one.t_ns + took(at) + 300, one.frame)
            for at, one in enumerate(sent)
            if at % 60 == 5 and not lost(at)
        ]
    pcap(folder / "near.pcap", [(one.t_ns, one.frame) for one in sent])
    pcap(folder / "far.pcap", [(t_ns + clock_ns, frame) for t_ns, frame in sorted(received)])
    return [str(folder / "near.pcap"), str(folder / "far.pcap")]


def segment(files: list[str], *same_clock: str) -> dict[str, float]:
    found = pcaplat.merge(files, path=["near", "far"], same_clock=same_clock, by=["size"])
    row: dict[str, float]
    (row,) = found.document["segments"]
    assert found.matches.collect().height == row["n"]
    return row


def quantile(values: list[int], share: float) -> int:
    """The smallest that as many do not exceed (Hyndman and Fan's type 1)."""
    return sorted(values)[ceil(share * len(values)) - 1]


ARRIVED = [at for at in range(N) if not lost(at)]


@pytest.mark.parametrize("same_clock", [["all"], []], ids=["one clock", "two clocks"])
def test_delay_variation_is_rfc_5481s(same_clock: list[str], tmp_path: Path) -> None:
    clock_ns = 0 if same_clock else 5_000_000
    row = segment(captures(tmp_path, took_ns, clock_ns=clock_ns), *same_clock)
    took = [took_ns(at) for at in ARRIVED]
    # PDV(i) = D(i) - D(min); IPDV(i) = D(i) - D(i - 1), its size
    above = [one - min(took) for one in took]
    apart = [abs(after - before) for before, after in itertools.pairwise(took)]
    # a latency is kept to 2^-11 of itself, whatever is taken off it; a drift is bounded, not known
    near_ns = max(took) / 2**11 if same_clock else 20
    for name, share in (("p50", 0.5), ("p99", 0.99), ("p999", 0.999)):
        assert row[f"pdv_{name}_ns"] == pytest.approx(
            quantile(above, share), rel=2**-9, abs=near_ns
        )
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        assert row[f"ipdv_{name}_ns"] == pytest.approx(
            quantile(apart, share), rel=2**-9, abs=near_ns
        )
    assert (row["mean_ns"] is None) == (not same_clock)


def test_order_is_rfc_4737s(tmp_path: Path) -> None:
    row = segment(captures(tmp_path, overtaking_ns), "all")
    sent = talk()
    order = sorted(ARRIVED, key=lambda at: sent[at].t_ns + overtaking_ns(at))
    n_reordered, next_expected = 0, 0
    for at in order:
        if at < next_expected:
            n_reordered += 1
        else:
            next_expected = at + 1
    assert n_reordered > 30
    assert row["n_reordered"] == n_reordered
    assert row["reordered_frac"] == n_reordered / len(order)


def test_copies_are_rfc_5560s(tmp_path: Path) -> None:
    row = segment(captures(tmp_path, took_ns, copies=True), "all")
    n = len(ARRIVED)
    n_copies = sum(at % 60 == 5 and not lost(at) for at in range(N))
    assert (row["n"], row["n_duplicated"]) == (n, n_copies)
    # RFC 5560 section 5.1: counts over packets that arrived, less 1
    assert row["duplicated_frac"] == pytest.approx((n + n_copies) / n - 1)


def test_the_loss_ratio_has_its_interval(tmp_path: Path) -> None:
    row = segment(captures(tmp_path, took_ns), "all")
    # the packets after far's last one are not covered by it
    n_lost = sum(lost(at) for at in range(N))
    assert row["n_lost"] in (n_lost, n_lost - 1)
    assert 0.99 * row["n"] < row["n_waited"] <= row["n"]
    assert row["lost_frac"] == row["n_lost"] / (row["n"] + row["n_lost"])
    # Clopper and Pearson, or wider
    lo = beta.ppf(0.025, row["n_lost"], row["n_waited"] + 1)
    hi = beta.ppf(0.975, row["n_lost"] + 1, row["n_waited"])
    assert row["lost_lo_frac"] <= lo * 1.001
    assert row["lost_hi_frac"] >= hi * 0.999
    assert row["lost_hi_frac"] - row["lost_lo_frac"] < 3 * (hi - lo)
