"""Translators that are busy: many flows, ports used again at once, numbers shifted, TCP cut."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import pcaplat
from tests.recovery.networks import queries
from tests.recovery.networks.judge import merge_network, pairs_wrong
from tests.recovery.simulate_nat import START_NS, End, Packet, Traffic, Translator, record
from tests.recovery.simulator.effects import (
    CUT,
    JOINED,
    LOSS,
    ONE_SWITCH,
    ROUTED,
    at,
    base,
    together,
    traffic,
    translated,
)
from tests.recovery.simulator.outcome import run
from tests.recovery.simulator.score import Score
from tests.recovery.simulator.truth import Truth
from tests.recovery.test_translation import found, merged
from tests.support.frames import TCP, UDP

if TYPE_CHECKING:
    from pathlib import Path

    from tests.recovery.simulator.effects import Contrast

THOUSAND = traffic(n_at_once=1_000, n_turns=10, gap_ns=4_000)
FEW = 20


def scored(effect: Contrast, folder: Path, n_packets: int, seed: int = 1) -> Score:
    outcome = run(effect(base(n_packets, seed)))
    files = [str(file) for file in outcome.save(folder)]
    return Score(Truth(outcome), pcaplat.merge(files, same_clock=["all"]))


def recall_of_long_flows(score: Score) -> float:
    """The share found of the packets that are told apart, of flows of twenty and more."""
    truth = score.truth
    flow = truth.outcome.journey.pieces["flow"]
    is_long = np.bincount(flow)[flow] >= FEW
    counted = (is_long & ~truth.is_identical)[truth.edges.piece]
    assert counted.sum() > 5_000
    return float(score.found[counted].mean())


@pytest.mark.parametrize(
    "effect",
    [
        together(translated("snat", "seq"), LOSS),
        translated("seq"),
        together(CUT, JOINED, translated("seq")),
        together(CUT, JOINED, translated("snat", "seq"), LOSS),
        together(translated("nat64"), traffic(errors_share=0.1)),
        together(translated("snat", "dnat", "seq"), traffic(errors_share=0.1)),
    ],
    ids=["numbers, loss", "numbers only", "cut", "cut, loss", "errors over NAT64", "errors"],
)
def test_what_a_translator_does_is_undone(effect: Contrast, tmp_path: Path) -> None:
    score = scored(effect, tmp_path, 2_000)
    assert score.n_wrong == score.n_jumps == 0
    assert recall_of_long_flows(score) >= 0.998


def test_a_thousand_flows_at_once(tmp_path: Path) -> None:
    effect = together(translated("snat", "seq", reuses_ports=True), THOUSAND)
    score = scored(effect, tmp_path, 20_000)
    assert len(score.truth.outcome.flows) >= 1_000
    assert score.n_wrong == 0
    assert recall_of_long_flows(score) >= 0.998


def test_translated_flows_are_found_as_others_are_under_loss(tmp_path: Path) -> None:
    counts = []
    for name, effect in (("plain", LOSS), ("nat", together(translated("snat"), LOSS))):
        (folder := tmp_path / name).mkdir()
        counts.append(scored(effect, folder, 2_000).counts())
    assert counts[0] == counts[1]


GATEWAY = together(
    at(("leaf",), file="gateway", is_cooked=True, interface=5),
    at(("spine",), file="gateway", is_cooked=True, interface=2),
)


@pytest.mark.parametrize(
    ("effect", "sides"),
    [
        (together(translated("snat"), GATEWAY), ("gateway/if5", "gateway/if2")),
        (together(translated("snat", "dnat"), GATEWAY, LOSS), ("gateway/if5", "gateway/if2")),
        (together(translated("snat"), ROUTED, ONE_SWITCH), ("switch/hop1", "switch/hop2")),
    ],
    ids=["any capture", "any capture, loss", "one port of a router"],
)
def test_one_file_has_both_sides(effect: Contrast, sides: tuple[str, str], tmp_path: Path) -> None:
    score = scored(effect, tmp_path, 2_000)
    assert score.n_wrong == 0
    assert recall_of_long_flows(score) >= 0.998
    rows = score.result.document["translations"]
    assert {(row["near"], row["far"]) for row in rows} == {sides}
    (alone,) = tmp_path.glob(f"{sides[0].split('/')[0]}.*")
    result = pcaplat.merge([str(alone)])
    assert set(result.document["path"]) == set(sides)
    assert result.document["translations"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
@pytest.mark.parametrize("kinds", [("snat",), ("snat", "dnat", "seq"), ("nat64",)])
def test_a_thousand_flows_at_once_lose_packets(
    kinds: tuple[str, ...], seed: int, tmp_path: Path
) -> None:
    scores = []
    for name, effects in (("plain", ()), ("nat", (translated(*kinds, reuses_ports=True),))):
        (folder := tmp_path / name).mkdir()
        scores.append(scored(together(THOUSAND, LOSS, *effects), folder, 20_000, seed))
    # which of two equal acknowledgments was lost is no matter of translation
    assert scores[1].n_wrong <= scores[0].n_wrong <= 2
    assert recall_of_long_flows(scores[1]) >= 0.998


@pytest.mark.parametrize("protocol", [TCP, UDP])
@pytest.mark.parametrize("n_each", [5, 20])
def test_one_port_goes_from_client_to_client(protocol: int, n_each: int, tmp_path: Path) -> None:
    public: End = ("198.51.100.7", 30_000)
    packets: list[tuple[Packet, bool]] = []
    legs = []
    start_ns = START_NS
    for turn in range(2_000 // n_each):
        session = Traffic(protocol, n_flows=1, n_each=n_each, gap_ns=40_000, seed=turn).packets()
        first = session[0][0]
        client = (f"10.0.{turn // 200}.{turn % 200 + 2}", first.src[1] + turn)
        for packet, forward in session:
            moved = replace(packet, at_ns=start_ns + packet.at_ns - first.at_ns)
            moved = replace(moved, src=client) if forward else replace(moved, dst=client)
            packets.append((moved, forward))
        legs.append((start_ns, (client, first.dst), (public, first.dst)))
        start_ns = packets[-1][0].at_ns + 60_000
    recorded = record(packets, [None, Translator(legs)], offsets_ns=[0] * 3, lost_share=0.005)
    result = merged(recorded, tmp_path)
    recall, n_wrong = found(recorded, result)
    assert n_wrong == 0
    assert recall >= (0.998 if n_each >= FEW else 0.99)
    rows = result.document["translations"]
    assert len({row["near_src"] for row in rows}) >= 0.99 * len(legs)
    assert all(row["first_t_ns"] < row["last_t_ns"] for row in rows)


@pytest.mark.parametrize("seed", [1, 2])
def test_equal_queries_of_two_flows_are_two_packets(seed: int, tmp_path: Path) -> None:
    """Of one pair of flows, one is lost here, and the other not captured there."""
    made = queries.queries(
        1_600, seed, has_own_clocks=False, has_ids=False, n_twins=2_000, missed=0.05
    )
    assert pairs_wrong(merge_network(made, tmp_path, ["all"])) == []
