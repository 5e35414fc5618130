"""How each pair was matched, and why each frame was not."""

import struct
from collections.abc import Container
from pathlib import Path

import polars as pl
import pytest

import pcaplat
from pcaplat.model.matches.reasons import MEANINGS
from tests.recovery.simulator.effects import scenario
from tests.recovery.simulator.outcome import run
from tests.recovery.simulator.score import Score
from tests.recovery.simulator.truth import Truth


def scored(name: str, folder: Path, n_packets: int = 2_000) -> Score:
    outcome = run(scenario(name, n_packets, seed=1))
    files = [str(file) for file in outcome.save(folder)]
    return Score(Truth(outcome), pcaplat.merge(files, same_clock=["all"]))


def evidence(score: Score) -> pl.DataFrame:
    columns = ("up_point", "down_point", "kind", "matched_by", "probability", "identity")
    return score.result.matches.select(columns).collect()


def test_packets_unlike_each_other_are_unique(tmp_path: Path) -> None:
    found = evidence(scored("plain", tmp_path))
    assert found["matched_by"].unique().to_list() == ["unique"]
    assert found["identity"].unique().to_list() == ["whole"]
    assert found["probability"].null_count() == len(found)


def test_equal_packets_are_told_by_a_posterior(tmp_path: Path) -> None:
    found = evidence(scored("identical packets, loss", tmp_path))
    told = found.filter(matched_by="posterior")
    assert len(told) > len(found) / 3
    assert told.filter(pl.col("probability").is_between(0.9995, 1)).height == len(told)
    assert found["probability"].null_count() == len(found) - len(told)


def test_bytes_stand_where_packets_were_cut_or_joined(tmp_path: Path) -> None:
    found = evidence(scored("cut and joined", tmp_path))
    by_kind = dict(found.group_by("kind").agg(pl.col("matched_by").unique()).iter_rows())
    assert set(by_kind) == {"packet", "first-byte", "last-byte", "overlap"}
    packets = by_kind.pop("packet")
    assert "bytes" not in packets
    assert all(of == ["bytes"] for of in by_kind.values())


def test_only_pairs_across_the_translator_are_translated(tmp_path: Path) -> None:
    found = evidence(scored("SNAT", tmp_path))
    ends = pl.concat_list("up_point", "down_point").list.sort().list.join("-")
    across = found.filter(identity="translated").select(ends=ends)["ends"]
    assert across.unique().to_list() == ["leaf-spine"]
    between = found.filter(ends == "leaf-spine")
    assert len(between.filter(identity="translated")) > 0.8 * len(between)


def test_what_a_snap_length_leaves_little_of_is_short(tmp_path: Path) -> None:
    # behind VXLAN 96 bytes leave 12 of UDP, and all that tells TCP apart
    score = scored("snap 96, vxlan", tmp_path)
    pairs = score.result.matches.filter(identity="short").select("up_point", "up_frame")
    packets = score.result.packets.select("point", "frame", "protocol")
    joined = pairs.join(packets, left_on=["up_point", "up_frame"], right_on=["point", "frame"])
    assert joined.collect()["protocol"].unique().to_list() == [17]


@pytest.mark.parametrize("name", ["everything", "fragments, cut on the way", "esp"])
def test_reasons_add_up_to_their_status(name: str, tmp_path: Path) -> None:
    document = scored(name, tmp_path).result.document
    for point in document["points"]:
        for status in ("unmatched", "ambiguous", "coalesced", "undecoded"):
            mine = [row for row in point["reasons"] if row["status"] == status]
            assert sum(row["n"] for row in mine) == point[f"n_{status}"]
        assert all((row["status"], row["reason"]) in MEANINGS for row in point["reasons"])


def reasons(document: dict[str, object], name: str) -> dict[str, int]:
    rows = document["points"]
    assert isinstance(rows, list)
    of_point = next(row for row in rows if row["point"] == name)
    return {row["reason"]: row["n"] for row in of_point["reasons"] if row["status"] == "unmatched"}


def keep(file: Path, wanted: Container[int]) -> None:
    """Keep some records of a pcap file."""
    data, at, records = file.read_bytes(), 24, []
    while at < len(data):
        (n_bytes,) = struct.unpack_from("<I", data, at + 8)
        records.append(data[at : at + 16 + n_bytes])
        at += 16 + n_bytes
    kept = [record for place, record in enumerate(records) if place in wanted]
    file.write_bytes(data[:24] + b"".join(kept))


def test_what_came_before_all_captured_is_outside_the_common_time(tmp_path: Path) -> None:
    files = run(scenario("2 points", 2_000, seed=1)).save(tmp_path)
    first = next(file for file in files if file.stem == "p0")
    keep(first, range(1_000, 1_000_000))
    document = pcaplat.merge([str(file) for file in files], same_clock=["all"]).document
    found = reasons(document, "p1")
    assert found["outside-common-time"] > 900
    assert found["outside-common-time"] == sum(found.values())


def test_lost_packets_have_no_partner(tmp_path: Path) -> None:
    files = run(scenario("2 points", 2_000, seed=1)).save(tmp_path)
    second = next(file for file in files if file.stem == "p1")
    keep(second, [at for at in range(10_000) if at % 50])
    document = pcaplat.merge([str(file) for file in files], same_clock=["all"]).document
    assert 30 <= reasons(document, "p0")["no-partner"] <= 41


def test_the_page_names_every_reason() -> None:
    page = Path("docs/method/match.md").read_text(encoding="utf-8")
    assert [name for _, name in MEANINGS if f"`{name}`" not in page] == []
