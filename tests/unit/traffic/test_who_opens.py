"""The client is who opens, by the whole capture: not who spoke first where all points cover it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pcaplat.run.merge import merge
from tests.support.frames import TCP, UDP, ip, udp
from tests.support.request_runs import CLIENT, SERVER, RequestRun, RequestStudy
from tests.support.rewritten import records, rewrite
from tests.support.verdicts import PATH, Validate, claim, words, write_claims

if TYPE_CHECKING:
    from pathlib import Path

RUN = RequestRun(n=400, gap_ns=209_000)
"""A request is answered after 62 µs, and asked again 147 µs later."""
ANSWERED_NS = 62_000


def rows_of(folder: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Transactions as the traffic's table has them, and as the requests' has them; at near."""
    with merge(sorted(folder.iterdir()), same_clock=["all"]) as result:
        traffic = result.traffic_rows["transactions"]
        times = result.document["transaction_times"]
    return [[dict(row) for row in rows if row["point"] == "near"] for rows in (traffic, times)]  # type: ignore[return-value]


@pytest.mark.parametrize("n_missed", [0, 1, 2, 3])
def test_who_sent_the_first_request_is_the_client(tmp_path: Path, n_missed: int) -> None:
    traffic, times = rows_of(RUN.save(tmp_path / "run", n_missed))
    ((row,), (time,)) = traffic, times
    assert (row["client"], row["server"]) == (CLIENT, SERVER)
    assert row["mean_ns"] == pytest.approx(ANSWERED_NS, rel=0.02)
    assert time["mean_ns"] == pytest.approx(row["mean_ns"], rel=0.02)


@pytest.mark.parametrize("protocol", [UDP, TCP])
def test_transactions_and_requests_agree(tmp_path: Path, protocol: int) -> None:
    run = RequestRun(n=400, gap_ns=209_000, protocol=protocol)
    traffic, times = rows_of(run.save(tmp_path / "run"))
    means = {round(row["mean_ns"], -3) for row in [*traffic, *times]}
    assert len(means) == 1


@pytest.mark.parametrize(
    ("bound", "word"), [("at_most = 70", "held"), ("at_least = 100", "refuted")]
)
def test_a_claim_of_transactions_is_judged_by_the_right_time(
    validate: Validate, tmp_path: Path, bound: str, word: str
) -> None:
    runs = RequestStudy(0.0, n_runs=6, like=RUN).save(tmp_path)["plain"]
    path = write_claims(tmp_path, claim(bound, PATH, metric="transaction-time"))
    assert words(validate(path, runs)) == [word]


NO_KIND = ("mixed", "unknown-client")
EARLIER = ip("10.0.0.8", "10.0.0.9", UDP, 1, 64, udp((999, 40_001), b"another flow"))
CUTS = [(1, 0), (1, 1), (1, 2), (2, 1), (3, 3)]
"""Frames that near and far missed at the start: their captures were begun in the middle."""


def begun_in_the_middle(run: RequestRun, folder: Path, cut: tuple[int, int]) -> Path:
    run.save(folder)
    for name, n_missed in zip(("near", "far"), cut, strict=True):
        file = folder / f"{name}.pcap"
        rewrite(file, records(file)[n_missed:])
    return folder


@pytest.mark.parametrize("protocol", [UDP, TCP])
@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_no_point_takes_the_server_for_the_client(
    tmp_path: Path, protocol: int, cut: tuple[int, int]
) -> None:
    """Port 7 tells it, and so does what the other point saw; else it is better not told."""
    run = replace(RUN, protocol=protocol)
    folder = begun_in_the_middle(run, tmp_path / "run", cut)
    with merge([folder / "near.pcap", folder / "far.pcap"], same_clock=["all"]) as result:
        traffic = result.traffic_rows["transactions"]
        times = result.document["transaction_times"]
    assert {row["client"] for row in traffic if row["kind"] not in NO_KIND} == {CLIENT}
    assert {(row["point"], row["side"]) for row in times} == {("near", "client"), ("far", "server")}
    for rows in (traffic, times):
        (mean_ns,) = [row["mean_ns"] for row in rows if row["point"] == "near"]
        assert mean_ns == pytest.approx(ANSWERED_NS, rel=0.02)


@pytest.mark.parametrize("protocol", [UDP, TCP])
@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_where_ports_tell_nothing_nobody_is_taken_for_the_client(
    tmp_path: Path, protocol: int, cut: tuple[int, int]
) -> None:
    run = replace(RUN, protocol=protocol, ports=(40_000, 50_000), has_syn=False)
    folder = begun_in_the_middle(run, tmp_path / "run", cut)
    with merge([folder / "near.pcap", folder / "far.pcap"], same_clock=["all"]) as result:
        traffic = result.traffic_rows["transactions"]
        times = result.document["transaction_times"]
        (share,) = result.document["round_trips_by_kind"][:1]
    assert times == []
    # whoever asks, the path adds the same there and back
    assert share["mean_ns"] == pytest.approx(12_000, rel=0.02)
    assert {(row["kind"], row["mode"], row["mean_ns"]) for row in traffic} == {
        ("unknown-client", None, None)
    }


@pytest.mark.parametrize("protocol", [UDP, TCP])
@pytest.mark.parametrize("late", [(0, 0), (0, 1), (1, 0)], ids=str)
def test_who_spoke_first_tells_where_one_capture_ran_before(
    tmp_path: Path, protocol: int, late: tuple[int, int]
) -> None:
    """Ports tell nothing; the one capture saw another packet before, the other may be late."""
    run = replace(RUN, protocol=protocol, ports=(40_000, 50_000), has_syn=False)
    run.save(tmp_path)
    for name, is_late in zip(("near", "far"), late, strict=True):
        file = tmp_path / f"{name}.pcap"
        before = [] if is_late else [(RUN.start_ns - 10**9, EARLIER)]
        rewrite(file, [*before, *records(file)[is_late:]])
    with merge([tmp_path / "near.pcap", tmp_path / "far.pcap"], same_clock=["all"]) as result:
        traffic = result.traffic_rows["transactions"]
        times = result.document["transaction_times"]
    assert {(row["point"], row["client"], row["kind"]) for row in traffic} == {
        ("near", CLIENT, "rr"),
        ("far", CLIENT, "rr"),
    }
    assert {(row["point"], row["side"]) for row in times} == {("near", "client"), ("far", "server")}


@pytest.mark.parametrize("cut", [(1, 0), (1, 1), (3, 3)], ids=str)
def test_captures_begun_in_the_middle_refute_no_true_claim(
    validate: Validate, tmp_path: Path, cut: tuple[int, int]
) -> None:
    for number in range(6):
        run = replace(RUN, seed=number, start_ns=RUN.start_ns + number * 10**12)
        begun_in_the_middle(run, tmp_path / "runs" / f"run{number}", cut)
    path = write_claims(tmp_path, claim("at_most = 70", PATH, metric="transaction-time"))
    rows = validate(path, tmp_path / "runs", "--path", "near,far")
    assert words(rows) != ["refuted"]


@pytest.fixture
def validate(capsys: pytest.CaptureFixture[str]) -> Validate:
    return Validate(capsys)
