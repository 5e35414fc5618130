"""The fourteen tests of the method's reference, by their numbers: what must never break.

Where another test has the whole of it, the one here is its shortest form.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import pcaplat
from pcaplat.stages.align import align
from pcaplat.stages.align.knots import N_KNOTS
from tests.recovery.simulate_nat import Traffic as Translated
from tests.recovery.simulate_nat import Translator, legs_of, record
from tests.recovery.simulate_offload import Bulk
from tests.recovery.simulate_twins import Twins
from tests.recovery.simulator import Clock, Link, Point, Score, Traffic, Truth, run
from tests.recovery.simulator import Scenario as Path_
from tests.recovery.test_offload import merged as merged_offload
from tests.recovery.test_offload import test_every_wire_segment_is_found as find_every_segment
from tests.recovery.test_translation import OFFSETS_NS, ports
from tests.recovery.test_translation import found as found_translated
from tests.recovery.test_translation import merged as merged_translated
from tests.recovery.test_twins import counted
from tests.studies.clock_scenarios import SECOND_NS, Scenario, plain
from tests.studies.clock_studies import inside_frac, relate
from tests.studies.coverage_studies import Shape, study
from tests.support.alignments import START_NS, findings_of, one_bound
from tests.support.frames import UDP
from tests.unit.diagnostics.lint_cases import CASES
from tests.unit.published.test_audit import SINGLE, cells
from tests.unit.validating.test_validate import effect, verdict

if TYPE_CHECKING:
    from pathlib import Path

EFFECT_NS = 14_500


def merged(path: Path_, folder: Path, *options: str) -> tuple[Truth, pcaplat.Result]:
    outcome = run(path)
    folder.mkdir(exist_ok=True)
    files = [str(file) for file in outcome.save(folder)]
    return Truth(outcome), pcaplat.merge(files, same_clock=options)


def test_01_sent_and_received_by_two_clocks_is_told_and_not_averaged(tmp_path: Path) -> None:
    case = CASES["two-clocks-in-file"].wrong
    document = pcaplat.merge(case.save(tmp_path)).document
    assert "two-clocks-in-file" in [warning["code"] for warning in document["warnings"]]
    assert all(row["mean_ns"] is None for row in document["segments"])
    assert document["round_trips"] == []


def test_02_an_effect_is_within_50_ns_at_microsecond_stamps(tmp_path: Path) -> None:
    near = Clock(resolution_ns=1_000)
    far = Clock(1_200_000_000, 50, resolution_ns=1_000)
    points = (Point("a", near), Point("b", far))
    means_ns = []
    for more_ns in (0, EFFECT_NS):
        links = (Link(8_000 + more_ns // 2, 11_000 + more_ns // 2, 3_000),)
        shares = (("tcp", 0.5), ("udp", 0.5))
        traffic = Traffic(24_000, gap_ns=60_000, shares=shares)
        _, result = merged(Path_(points, links, traffic, seed=5), tmp_path / str(more_ns))
        (row,) = result.document["round_trips"]
        assert row["n"] >= 10_000
        means_ns.append(row["mean_ns"])
    assert means_ns[1] - means_ns[0] == pytest.approx(EFFECT_NS, abs=50)


def test_03_closure_does_not_tighten_neighbours_in_a_line() -> None:
    steps = [(0, 1, 5_000), (1, 0, 6_000), (1, 2, 7_000), (2, 1, 8_000)]
    # the same packets take at least the sum of the steps' least times
    whole = [(0, 2, 12_500), (2, 0, 15_000)]
    found = align(findings_of([0, 0, 0]), [0, 1, 2], [one_bound(*one) for one in steps + whole])
    at = N_KNOTS // 2
    for near, far, most, least in ((0, 1, 5_000, -6_000), (1, 2, 7_000, -8_000)):
        relation = found.relation(near, far)
        assert (round(relation.lo_ns[at]), round(relation.hi_ns[at])) == (least, most)
    ends = found.relation(0, 2)
    assert (round(ends.lo_ns[at]), round(ends.hi_ns[at])) == (-14_000, 12_000)


def quiet(seed: int) -> Scenario:
    """Dense traffic, short queues: steps of half a microsecond can be seen."""
    one = plain(np.random.default_rng(seed))
    one.span_ns, one.rate, one.tail_ns, one.floors_ns = 40e9, 1_200.0, 1_500, [8_000.0, 11_000.0]
    return one


@pytest.mark.parametrize("seed", range(5))
def test_04_half_a_microsecond_is_a_step(seed: int) -> None:
    one = quiet(seed)
    one.clock = lambda t: np.where(t >= 19e9, 500.0, 0.0)
    one.step = (19e9, 500.0)
    one.travel()
    (step,) = relate(one).steps
    assert step.before_ns - START_NS <= 19e9 <= step.after_ns - START_NS
    assert step.size_ns == pytest.approx(500, abs=100)


@pytest.mark.parametrize("direction", [0, 1])
@pytest.mark.parametrize("seed", range(5))
def test_04_load_of_one_direction_is_none(seed: int, direction: int) -> None:
    one = quiet(seed)
    one.change = (direction, 19e9, 5_000.0)
    one.travel()
    relation = relate(one)
    assert not relation.steps
    assert inside_frac(one, relation) == 1


@pytest.mark.parametrize("seed", range(5))
def test_05_a_clock_that_wanders_stays_inside(seed: int) -> None:
    one = quiet(seed)
    one.span_ns, one.rate = 600e9, 90.0
    turns = 2 * np.pi / (60 * SECOND_NS)
    one.clock = lambda t: 0.05e-6 / turns * np.sin(turns * t + seed)
    one.travel()
    assert inside_frac(one, relate(one)) == 1


@pytest.mark.parametrize("kind", ["udp6", "ack4"])
def test_06_equal_packets_with_loss_are_never_mistaken(kind: str, tmp_path: Path) -> None:
    found = counted(Twins(kind=kind, n=2_000, lost_share=0.001, spacing_ns=20_000), tmp_path)
    assert found.n_wrong == 0
    assert found.n_right > 0.85 * found.n_possible


def test_06_what_cannot_be_told_is_counted_as_ambiguous(tmp_path: Path) -> None:
    twins = Twins(n=2_000, lost_share=0.001, spacing_ns=200, keeps_order=False)
    found = counted(twins, tmp_path)
    assert found.n_wrong == 0
    assert found.n_ambiguous > 0


def test_07_numbers_wrap_in_a_super_segment_that_is_cut(tmp_path: Path) -> None:
    bulk = Bulk(first_seq=2**32 - 40_000)
    recorded, _ = merged_offload(bulk, tmp_path)
    spans = [frame.span for frame in recorded.captures[0] if frame.pieces]
    assert any(first > end for first, end in spans), "no super-segment wraps"
    scratch = tmp_path / "again"
    scratch.mkdir()
    find_every_segment("wrap", scratch)


@pytest.mark.parametrize("protocol", [6, UDP])
def test_08_translated_packets_without_an_ip_id_are_found(protocol: int, tmp_path: Path) -> None:
    packets = [(replace(one, ident=0), to) for one, to in Translated(protocol).packets()]
    recorded = record(
        packets, [None, Translator(legs_of(packets, ports)), None], offsets_ns=OFFSETS_NS
    )
    assert found_translated(recorded, merged_translated(recorded, tmp_path)) == (1.0, 0)


def test_09_an_ip_id_alone_tells_no_packets_apart_at_a_million_a_second(tmp_path: Path) -> None:
    # one flow, one length: behind the snap length the IP ID is all that differs
    points = tuple(Point(name, snap=34) for name in ("a", "b"))
    traffic = Traffic(60_000, gap_ns=1_000, n_at_once=1, n_turns=10**6, idents="random")
    traffic = replace(traffic, shares=(("udp", 1.0),), ip6_share=0.0, reply_share=0.0)
    truth, result = merged(Path_(points, (Link(),), traffic), tmp_path, "all")
    score = Score(truth, result)
    assert score.n_wrong == 0
    assert [w["code"] for w in result.document["warnings"]] == ["short-packet-id"]


def test_10_intervals_allow_for_neighbours_that_are_alike() -> None:
    # autoregressive, 0.9: as if there were a nineteenth of the packets; counting all covers 44 %
    shape = Shape("AR(1)", lambda u, _: np.asarray(5_000 - 3_000 * np.log1p(-u)), time=19)
    n_seeds = 80
    counts = study(shape, 50_000, range(n_seeds), shape.truth())
    for name in ("p50", "p99"):
        printed, held = (
            sum(counter[name, is_approximate] for is_approximate in (False, True))
            for counter in (counts.printed, counts.held)
        )
        assert printed >= n_seeds / 2
        assert held >= 0.92 * printed


@pytest.mark.parametrize(
    ("text", "value_us", "se_us", "bias_us", "word"),
    [
        ("interval = [8, 14]", 11, 0.25, 0, "held"),
        ("interval = [3, 10]", 11, 0.25, 0, "refuted"),
        ("interval = [13.3, 15.7]", 14.5, 0.25, 4, "undecided"),
    ],
)
def test_11_claims_are_held_refuted_or_unresolvable(
    text: str, value_us: float, se_us: float, bias_us: float, word: str
) -> None:
    found = verdict(text, effect(value_us, se_us, bias_us=bias_us))
    assert found.word == word
    assert found.reason.startswith("unresolvable") == (bias_us > 0)


def test_12_a_cut_through_switch_may_send_before_it_received(tmp_path: Path) -> None:
    # stamped at the last bit in and the first bit out (RFC 1242, section 3.8): less than nothing
    ahead = Clock(offset_ns=-1_100)
    points = (Point("in"), Point("out", ahead))
    links = (Link(300, 300, 50),)
    truth, result = merged(Path_(points, links, Traffic(2_000)), tmp_path, "all")
    forward = next(r for r in result.document["segments"] if r["direction"] == "forward")
    mean_ns = truth.named("in", "out", "forward").packets_ns.mean() - 1_100
    assert forward["n_lost"] == 0
    assert forward["mean_ns"] == pytest.approx(mean_ns, abs=2)
    assert forward["max_ns"] < 0 or forward["p50_ns"] < 0


def test_13_what_was_seen_after_a_point_but_not_there_is_no_loss(tmp_path: Path) -> None:
    points = (Point("a"), Point("b", missed_share=0.05), Point("c"))
    links = (Link(), Link())
    truth, result = merged(Path_(points, links, Traffic(2_000)), tmp_path, "all")
    assert not any(row["n_lost"] for row in result.document["segments"])
    n_jumped = result.matches.filter(pl.col("up_point") + pl.col("down_point") == "ac")
    assert n_jumped.collect().height == pytest.approx(0.05 * 1_000, rel=0.4)
    assert truth.named("a", "c", "forward").lost_at_ns["packet"].size == 0


def test_14_the_published_tables_are_recomputed() -> None:
    # a frame takes its bytes and 20 more (IEEE 802.3) on the wire
    rows = cells("edge-single")
    for size, (gbps, fps, *_) in SINGLE.items():
        found = rows[str(size), "throughput_gbps"]
        assert found["recomputed"] == pytest.approx(int(fps) * 8 * (size + 20) / 1e9)
        assert found["published_lo"] == float(gbps)
    # and none of the draft's percentages is what its own numbers give
    draft = cells("vxlan-draft-cpu-server1")
    assert draft
    assert not any(cell["agrees"] for cell in draft.values())
