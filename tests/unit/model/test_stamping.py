"""What is said of stamps: first bit, last bit or host; by packets whose first bits take 10 µs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pcaplat
from pcaplat.errors import InputError, OptionError
from pcaplat.metrics.bias import between_scenarios, convention
from pcaplat.metrics.runs import MeasuredRun
from pcaplat.model.files.stamping import parse_link_rate, parse_rate_bps, parse_stamped_at
from tests.recovery.simulator import START_NS
from tests.support.frames import UDP, ip, udp
from tests.unit.diagnostics.lint_by_hand import Packet, Place, Set, in_tunnel

if TYPE_CHECKING:
    from pathlib import Path

Rows = dict[str | None, dict[str, Any]]
PATH_NS = 10_000
GBIT = 10**9
PAYLOADS = (18, 100, 400, 900, 1_400)


def wire_ns(frame: bytes, rate_bps: int) -> int:
    """From the start delimiter to the last bit (RFC 1242 §3.8): padded, with the check sequence."""
    return round((max(len(frame), 60) + 4) * 8e9 / rate_bps)


def talk(n: int = 1_500) -> list[Packet]:
    """Datagrams of many sizes, there and back by turns."""
    chance = np.random.default_rng(11)
    found = []
    for at in range(n):
        is_forward = at % 2 == 0
        ends = ("10.0.0.1", "10.0.0.2") if is_forward else ("10.0.0.2", "10.0.0.1")
        ports = (40_000, 5_000) if is_forward else (5_000, 40_000)
        payload = chance.bytes(PAYLOADS[int(chance.integers(len(PAYLOADS)))])
        frame = ip(*ends, UDP, at + 1, 64, udp(ports, payload))
        found.append(Packet(START_NS + at * 97_003, frame, is_forward=is_forward))
    return found


NEAR, FAR = Place(0, jitter=0), Place(PATH_NS, jitter=0)


def at_last_bit(place: Place, rate_bps: int) -> Place:
    """The same, stamped at the last bit of what it sees."""
    return replace(place, ahead_ns=lambda packet: wire_ns(place.frame(packet), rate_bps))


def save(folder: Path, **places: Place) -> list[str]:
    folder.mkdir(exist_ok=True)
    return Set(places, talk()).save(folder)


def merged(files: list[str], **options: Any) -> pcaplat.Result:  # noqa: ANN401 - merge's own
    return pcaplat.merge(files, path=["near", "far"], same_clock=["all"], **options)


def means(result: pcaplat.Result) -> dict[str, float]:
    rows = result.document["segments"]
    return {row["direction"]: row["mean_ns"] for row in rows if row["class"] == "packet"}


def budget(result: pcaplat.Result) -> Rows:
    return {row["direction"]: row for row in result.document["error_budget"]}


def latencies_by_size(result: pcaplat.Result) -> dict[str, list[int]]:
    """All latencies of each direction, one for each length of frame, as they were at near."""
    joined = result.matches.join(
        result.packets.select("file", "frame", "point", "wire_bytes"),
        left_on=["up_file", "up_frame"],
        right_on=["file", "frame"],
    )
    rows = joined.select("direction", "wire_bytes", "latency_ns").unique().sort("wire_bytes")
    found: dict[str, list[int]] = {}
    for direction, _, latency_ns in rows.collect().iter_rows():
        found.setdefault(direction, []).append(round(latency_ns))
    return found


@pytest.mark.parametrize("rate_bps", [GBIT, 10 * GBIT])
def test_stamps_of_the_last_bit_are_taken_back_to_the_first(tmp_path: Path, rate_bps: int) -> None:
    files = save(tmp_path, near=NEAR, far=at_last_bit(FAR, rate_bps))
    raw = latencies_by_size(merged(files))
    late_ns = [round((max(n + 42, 60) + 4) * 8e9 / rate_bps) for n in PAYLOADS]
    assert raw["forward"] == [PATH_NS + ns for ns in late_ns]
    assert raw["reverse"] == [PATH_NS - ns for ns in late_ns]
    right = merged(
        files,
        stamped_at=[("near", "first-bit"), ("far", "last-bit")],
        link_rate=[("far", rate_bps)],
    )
    # flat in size
    assert latencies_by_size(right) == {
        way: [PATH_NS] * len(PAYLOADS) for way in ("forward", "reverse")
    }
    assert means(right) == {"forward": PATH_NS, "reverse": PATH_NS}
    rows = budget(right)
    assert {row["stamp_convention_ns"] for row in rows.values()} == {0.0}
    text = rows["forward"]["stamp_convention"]
    assert text.startswith("near: first bit; far: last bit, taken back to the first by 8 × length")
    assert f"at {rate_bps // GBIT} Gbit/s (1,446 bytes)" in text
    (far,) = [row for row in right.document["captures"] if row["point"] == "far"]
    assert (far["stamped_at"], far["link_rate_bps"]) == ("last-bit", rate_bps)
    # the file's own times stay what they are; those on the reference clock do not
    packets = right.packets.filter(point="far").collect()
    assert set(packets["t_ns"] - packets["aligned_ns"]) == set(late_ns)


def test_what_a_tunnel_adds_is_taken_back_where_it_is(tmp_path: Path) -> None:
    # both stamp the last bit, of frames that are 50 bytes longer at one of them
    far = replace(FAR, frame=in_tunnel)
    files = save(tmp_path, near=at_last_bit(NEAR, GBIT), far=at_last_bit(far, GBIT))
    assert means(merged(files)) == {"forward": PATH_NS + 400, "reverse": PATH_NS - 400}
    both = [("near", "last-bit"), ("far", "last-bit")]
    right = merged(files, stamped_at=both, link_rate=[("near", GBIT), ("far", GBIT)])
    assert means(right) == {"forward": PATH_NS, "reverse": PATH_NS}
    assert not {ns for of in latencies_by_size(right).values() for ns in of} - {PATH_NS}


def test_clocks_are_bounded_by_first_bits(tmp_path: Path) -> None:
    # of two clocks the offset is found as if all were stamped at first bits
    far = at_last_bit(replace(FAR, clock=lambda t_ns: t_ns + 5_000_000), GBIT)
    files = save(tmp_path, near=NEAR, far=far)
    right = pcaplat.merge(
        files,
        path=["near", "far"],
        stamped_at=[("near", "first-bit"), ("far", "last-bit")],
        link_rate=[("far", GBIT)],
    )
    (row,) = [row for row in right.document["clocks"] if row["point"] == "far"]
    assert row["offset_ns"] == pytest.approx(5_000_000, abs=1)
    assert row["half_width_ns"] == pytest.approx(PATH_NS, abs=200)


@pytest.fixture(scope="module")
def late_far(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("late")
    return save(folder, near=NEAR, far=at_last_bit(FAR, GBIT))


class TestBudget:
    """What is not corrected stands in the budget, with its bound where there is one."""

    def found(self, files: list[str], **said: list[tuple[str, Any]]) -> Rows:
        return budget(merged(files, **said))

    def test_nobody_says(self, late_far: list[str]) -> None:
        rows = self.found(late_far)
        assert {row["stamp_convention_ns"] for row in rows.values()} == {None}
        bounds = "up to 11.57 µs at 1 Gbit/s, 1.16 µs at 10 Gbit/s, 116 ns at 100 Gbit/s"
        assert "near: not declared; the last bit is later" in rows["forward"]["stamp_convention"]
        assert rows["forward"]["stamp_convention"].count(bounds) == 2

    def test_a_rate_alone_bounds_it(self, late_far: list[str]) -> None:
        rows = self.found(late_far, link_rate=[("near", 10 * GBIT), ("far", GBIT)])
        bound_ns = rows["forward"]["stamp_convention_ns"]
        assert bound_ns == pytest.approx(1_446 * 8)
        raw = [ns for of in latencies_by_size(merged(late_far)).values() for ns in of]
        assert max(abs(ns - PATH_NS) for ns in raw) <= bound_ns
        assert rows["forward"]["largest"] == "stamp_convention"
        assert "--stamped-at" in rows["forward"]["remedy"]
        # there and back only the lengths differ
        assert rows[None]["stamp_convention_ns"] == pytest.approx((1_446 - 64) * 8)

    @pytest.mark.parametrize(
        ("said", "text"),
        [
            ("host", "far: by its host, off the wire by what nobody measured"),
            ("last-bit", "far: last bit is later than the first by 8 × length / rate, up to"),
        ],
    )
    def test_what_cannot_be_corrected_is_not(
        self, late_far: list[str], said: str, text: str
    ) -> None:
        given = [("near", "first-bit"), ("far", said)]
        rows = self.found(late_far, stamped_at=given)
        assert rows["forward"]["stamp_convention_ns"] is None
        assert text in rows["forward"]["stamp_convention"]
        assert means(merged(late_far, stamped_at=given)) == means(merged(late_far))


class TestBetweenScenarios:
    def run(self, stamped_at: str | None, link_rate_bps: int | None) -> MeasuredRun:
        row = {"point": "far", "stamped_at": stamped_at, "link_rate_bps": link_rate_bps}
        row |= {"longest_bytes": 1_514}
        return MeasuredRun("run", {"captures": [row | {"point": "near"}, row]}, {})

    def term(self, *runs: MeasuredRun) -> str:
        rows = between_scenarios(runs)
        return next(str(row["between"]) for row in rows if row["term"] == "stamp_convention")

    def test_the_same_at_the_same_points_cancels(self) -> None:
        for said in ((None, None), ("host", None), ("last-bit", None)):
            assert self.term(self.run(*said), self.run(*said)) == "cancels"
        # what was taken back to first bits is like what was stamped there
        first, corrected = self.run("first-bit", None), self.run("last-bit", GBIT)
        assert self.term(first, corrected) == "cancels"

    def test_another_convention_stays(self) -> None:
        first = self.run("first-bit", None)
        for other in ("host", "last-bit", None):
            assert self.term(first, self.run(other, None)) == "stays"
        why = between_scenarios([first, self.run("host", None)])
        assert any("near, far do not mark the same moment" in row["why"] for row in why)

    def test_an_earlier_summary_says_nothing(self) -> None:
        old = MeasuredRun("old", {"captures": [{"point": "far"}]}, {})
        assert convention(old, ("far", "far"), is_two_way=True).ns is None

    def test_the_longest_frame_of_all_files_of_a_point_counts(self) -> None:
        run = self.run(None, GBIT)
        files = [*run.document["captures"], {**run.document["captures"][0], "longest_bytes": 9_014}]
        both = convention(
            replace(run, document={"captures": files}), ("near", "far"), is_two_way=False
        )
        assert both.ns == (9_014 + 4) * 8

    def test_it_cancels_in_what_compare_says(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The treatment adds 700 ns each way; stamps of far are of last bits in both."""
        added_ns, scenarios = 700, []
        for name, path_ns in (("off", PATH_NS), ("on", PATH_NS + added_ns)):
            far = at_last_bit(Place(path_ns, jitter=0), GBIT)
            places = {"near": Place(0, of_ns=path_ns, jitter=0), "far": replace(far, of_ns=path_ns)}
            save(tmp_path / name, **places)
            scenarios.append(tmp_path / name)
        # both are one simulation, at two distances
        monkeypatch.setattr("pcaplat.comparing.refuse_copies", lambda _: None)
        found = pcaplat.compare(
            *scenarios, options={"path": ["near", "far"], "same_clock": ["all"]}
        )
        assert {row["delta_mean_ns"] for row in found["segments"]} == {added_ns}
        (both,) = found["round_trips"]
        assert both["delta_mean_ns"] == 2 * added_ns
        assert {r["between"] for r in found["terms"] if r["term"] == "stamp_convention"} == {
            "cancels"
        }


class TestSaying:
    """On the command line, in a study file and in a profile."""

    @pytest.mark.parametrize("text", ["10", "fast", "10 GB/s", "0G", "9999999T", "-1G", "\uff110G"])
    def test_a_rate_needs_a_unit(self, text: str) -> None:
        with pytest.raises(OptionError, match="is no rate; write it like 10Gbit/s"):
            parse_rate_bps(text)

    def test_units_are_powers_of_ten(self) -> None:
        rates = {"9600bit/s": 9_600, "64 kbit/s": 64_000, "1.5 Mbps": 1_500_000, "0.4T": 4 * 10**11}
        assert {text: parse_rate_bps(text) for text in rates} == rates

    def test_mistakes_are_told(self) -> None:
        for parse, text, told in (
            (parse_stamped_at, "last-bit", "write it like --stamped-at uplink=last-bit"),
            (parse_stamped_at, "far=end", "'end' is no moment of a frame"),
            (parse_link_rate, "=10G", "write it like --link-rate uplink=10Gbit/s"),
        ):
            with pytest.raises(OptionError, match=told):
                parse(text)

    def test_a_point_must_be_there(self, late_far: list[str]) -> None:
        with pytest.raises(InputError, match=r"--stamped-at middle: .* there are: far, near"):
            merged(late_far, stamped_at=[("middle", "host")])
        with pytest.raises(InputError, match="--link-rate middle"):
            merged(late_far, link_rate=[("middle", GBIT)])

    def test_a_study_file_says_it(
        self, late_far: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        study = tmp_path / "study.toml"
        study.write_text(
            'path = ["near", "far"]\nsame_clock = ["all"]\n'
            'stamped_at = { near = "first-bit", far = "last-bit" }\n'
            'link_rate = { far = "1 Gbit/s" }\n'
            f"[scenarios.one]\nruns = [{json.dumps(late_far)}]\n"
        )
        monkeypatch.setattr("pcaplat.comparing.refuse_copies", lambda _: None)
        found = pcaplat.compare(f"{study}:one", f"{study}:one")
        assert {row["baseline_mean_ns"] for row in found["segments"]} == {PATH_NS}

    def test_a_profile_says_it(self, late_far: list[str], tmp_path: Path) -> None:
        profile = tmp_path / "mine.toml"
        profile.write_text(
            'base = "lab"\n[[points]]\nid = "far"\nmeaning = "a tap"\nside = "underlay"\n'
            'encapsulated = "no"\nsegmentation = "none"\nl4_checksum = "valid"\n'
            'stamped_at = "last-bit"\nlink_rate_bps = 1_000_000_000\ncommands = ["cp far.pcap ."]\n'
        )
        right = merged(late_far, profile=str(profile), stamped_at=[("near", "first-bit")])
        assert means(right) == {"forward": PATH_NS, "reverse": PATH_NS}
        # what is given wins
        other = merged(late_far, profile=str(profile), stamped_at=[("far", "host")])
        assert means(other)["forward"] > PATH_NS
        other = merged(late_far, profile=str(profile), link_rate=[("far", 10 * GBIT)])
        assert means(other)["forward"] > PATH_NS
