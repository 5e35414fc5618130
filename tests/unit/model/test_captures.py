"""Captures as the user names them, and the points and clocks in them."""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from pcaplat.errors import InputError
from pcaplat.model.files.captures import (
    Capture,
    clock_domains,
    parse_captures,
    point_index,
    resolution_ns,
    stem,
)
from pcaplat.model.files.files_to_points import find_points
from tests.support.capture_facts import facts, interface

if TYPE_CHECKING:
    from pathlib import Path

    from pcaplat.model.points import Point
    from pcaplat.model.sampled import FileFacts, InterfaceFacts


class TestNames:
    def parse(self, tmp_path: Path, *given: str) -> list[tuple[str, str | None]]:
        return [(one.name, one.point) for one in parse_captures(given, tmp_path)]

    def test_a_path_and_a_named_path(self, tmp_path: Path) -> None:
        found = self.parse(tmp_path, "a.pcap", "uplink=/x/b.pcap")
        assert found == [("a.pcap", None), ("/x/b.pcap", "uplink")]

    def test_an_equals_sign_in_a_file_name_is_no_name(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "rate=10.pcap").touch()
        found = self.parse(tmp_path, "rate=10.pcap", "x=rate=11.pcap", "dir/rate=12.pcap")
        assert found == [
            ("rate=10.pcap", None),
            ("rate=11.pcap", "x"),
            ("dir/rate=12.pcap", None),
        ]

    def test_empty_halves_are_no_names(self, tmp_path: Path) -> None:
        assert self.parse(tmp_path, "=a", "b=") == [("=a", None), ("b=", None)]

    def test_standard_input_is_spooled(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "piped").write_bytes(b"frames")
        with (tmp_path / "piped").open(encoding="ascii") as standard:
            monkeypatch.setattr(sys, "stdin", standard)
            (one,) = parse_captures(["vm=-"], tmp_path)
        assert (one.name, one.point) == ("stdin", "vm")
        assert (tmp_path / "pipe1").read_bytes() == b"frames"
        assert one.path == str(tmp_path / "pipe1")

    def test_a_pipe_is_spooled_and_keeps_its_name(self, tmp_path: Path) -> None:
        pipe = tmp_path / "live.pcap"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_bytes, args=(b"frames",))
        writer.start()
        (one,) = parse_captures([pipe], tmp_path)
        writer.join()
        assert one.name == str(pipe)
        assert (tmp_path / "pipe1").read_bytes() == b"frames"

    def test_a_file_given_twice_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "a").touch()
        (tmp_path / "link").symlink_to("a")
        for again in ("a", "link", "../" + tmp_path.name + "/a"):
            with pytest.raises(InputError, match="is given twice"):
                parse_captures([tmp_path / "a", f"other={tmp_path / again}"], tmp_path)

    def test_a_hard_link_is_the_same_file(self, tmp_path: Path) -> None:
        (tmp_path / "a").touch()
        (tmp_path / "hard").hardlink_to(tmp_path / "a")
        with pytest.raises(InputError, match="hard: is given twice"):
            parse_captures([tmp_path / "a", tmp_path / "hard"], tmp_path)

    def test_a_points_name_may_be_long_but_has_no_slash(self, tmp_path: Path) -> None:
        long = "x" * 300
        assert self.parse(tmp_path, f"{long}=a.pcap") == [("a.pcap", long)]
        (tmp_path / "a.pcap").touch()
        with pytest.raises(InputError, match=r"x/y cannot be a point's name.* x-y="):
            self.parse(tmp_path, f"x/y={tmp_path / 'a.pcap'}")

    def test_two_files_of_equal_bytes_are_two(self, tmp_path: Path) -> None:
        for name in "ab":
            (tmp_path / name).write_bytes(b"same")
        assert len(parse_captures([tmp_path / "a", tmp_path / "b"], tmp_path)) == 2

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("/x/sw.a.pcapng.zst", "sw.a"),
            ("a.cap.gz", "a"),
            ("a.pcap1", "a.pcap1"),
            ("a.gz", "a"),
            ("v1.2", "v1.2"),
        ],
    )
    def test_a_stem_is_without_folder_compression_and_format(
        self, name: str, expected: str
    ) -> None:
        assert stem(name) == expected


class TestPoints:
    def names(self, captures: list[Capture], found: list[FileFacts]) -> list[str]:
        return [point.name for point in find_points(captures, found)[0]]

    def test_a_file_of_one_interface_is_one_point(self) -> None:
        captures = [Capture("/x/a.pcap", "/x/a.pcap", None), Capture("b", "b", "uplink")]
        found = [facts(interface(0, "eth0")), facts(interface())]
        points, point_of = find_points(captures, found)
        assert [point.name for point in points] == ["a", "uplink"]
        assert point_of == [[0], [1]]

    def test_a_file_of_several_interfaces_is_several_points(self) -> None:
        several = facts(interface(0, "vnic"), interface(2), interface(3, "uplink"))
        points, point_of = find_points([Capture("h.pcapng", "h.pcapng", "esx")], [several])
        assert [point.name for point in points] == ["esx/vnic", "esx/if2", "esx/uplink"]
        assert point_of == [[0, None, 1, 2]]

    def test_equal_stems_are_told_apart_by_their_folders(self) -> None:
        captures = [Capture(name, name, None) for name in ("h1/up.pcap", "h2/up.pcap", "x.pcap")]
        assert self.names(captures, [facts(interface())] * 3) == ["h1/up", "h2/up", "x"]

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            (["a.pcap", "a.pcap.gz"], ["a.pcap", "a.pcap.gz"]),
            (["d/a.pcap", "d/a.pcap.gz"], ["d/a.pcap", "d/a.pcap.gz"]),
            (["1/d/a.pcap", "2/d/a.pcap"], ["1/d/a.pcap", "2/d/a.pcap"]),
            (["a=x.pcap", "a.pcap"], ["a", "a.pcap"]),
            (["a=x.pcap", "a=y.pcap"], ["a"]),
        ],
    )
    def test_only_a_name_given_twice_joins_files(
        self, given: list[str], expected: list[str], tmp_path: Path
    ) -> None:
        captures = parse_captures(given, tmp_path)
        assert self.names(captures, [facts(interface())] * len(given)) == expected

    def test_rotated_files_are_one_point_with_the_facts_of_all(self) -> None:
        captures = [Capture(name, name, "up") for name in ("up0", "up1")]
        first = interface(first_t_ns=5, last_t_ns=50, disorder_ns=3)
        second = interface(first_t_ns=51, last_t_ns=99, declared_resolution_ns=1000.0)
        (point,), point_of = find_points(captures, [facts(first), facts(second)])
        assert point.sources == ((0, 0), (1, 0))
        assert (point.first_t_ns, point.last_t_ns, point.disorder_ns) == (5, 99, 3)
        assert point.resolution_ns == 1000.0
        assert point_of == [[0], [0]]

    @pytest.mark.parametrize(
        ("facts_of_both", "second"),
        [
            ({"clock": 0}, (5, 99)),
            ({"clock": None}, (40, 50)),
            ({"clock": 0, "is_aligned": True}, (40, 50)),
        ],
    )
    def test_what_one_program_captured_covers_the_time_it_ran(
        self, facts_of_both: dict[str, Any], second: tuple[int, int]
    ) -> None:
        busy = interface(0, "x", first_t_ns=5, last_t_ns=99, **facts_of_both)
        quiet = interface(1, "y", first_t_ns=40, last_t_ns=50, **facts_of_both)
        points, _ = find_points([Capture("many", "many", None)], [facts(busy, quiet)])
        covers = [(point.first_t_ns, point.last_t_ns) for point in points]
        assert covers == [(5, 99), second]

    def test_a_file_without_frames_is_no_point(self) -> None:
        captures = [Capture("a", "a", None), Capture("b", "b", None)]
        points, point_of = find_points(captures, [facts(), facts(interface())])
        assert [point.name for point in points] == ["b"]
        assert point_of == [[], [0]]

    @pytest.mark.parametrize(
        ("declared", "observed", "n", "expected"),
        [(1.0, 1000, 500, 1000.0), (1.0, 1000, 99, 1.0), (1000.0, 1, 500, 1000.0)],
    )
    def test_resolution_is_the_coarser_of_what_is_declared_and_shown(
        self, declared: float, observed: int, n: int, expected: float
    ) -> None:
        one = interface(
            declared_resolution_ns=declared, observed_resolution_ns=observed, n_frames=n
        )
        assert resolution_ns(one) == expected


class TestClocks:
    def points(self) -> list[Point]:
        captures = [Capture(name, name, None) for name in ("a", "b", "c", "many")]
        found = [facts(interface())] * 3 + [facts(interface(0, "x"), interface(1, "y"))]
        return find_points(captures, found)[0]

    def test_points_of_one_file_share_a_clock(self) -> None:
        assert clock_domains(self.points()) == [0, 1, 2, 3, 3]

    @pytest.mark.parametrize(
        ("interfaces", "domains"),
        [
            ([interface(0, "x", clock=None), interface(1, "y", clock=None)], [0, 1]),
            ([interface(0, "x", clock=0), interface(1, "y", clock=2)], [0, 1]),
            ([interface(0, "x", clock=2), interface(1, "y", clock=2)], [0, 0]),
            # a section each, and one interface of both
            ([interface(i, n, clock=i // 2) for i, n in enumerate("xyyz")], [0, 0, 0]),
            # a program that captures several interfaces names them
            ([interface(0, "x"), interface(1)], [0, 1]),
        ],
    )
    def test_a_file_says_which_points_share_one(
        self, interfaces: list[InterfaceFacts], domains: list[int]
    ) -> None:
        points, _ = find_points([Capture("many", "many", None)], [facts(*interfaces)])
        assert clock_domains(points) == domains

    def test_declared_groups_share_a_clock_and_overlapping_groups_are_one(self) -> None:
        assert clock_domains(self.points(), [["a", "c"]]) == [0, 1, 0, 2, 2]
        assert clock_domains(self.points(), [["a", "c"], ["c", "many/y"]]) == [0, 1, 0, 0, 0]

    @pytest.mark.parametrize("names", [["a"], ["a", "a"]])
    def test_one_point_alone_shares_its_clock_with_nobody(self, names: list[str]) -> None:
        with pytest.raises(InputError, match="one point alone"):
            clock_domains(self.points(), [names])

    @pytest.mark.parametrize("everyone", [["all"], [["all"]]])
    def test_all_share_a_clock(self, everyone: list[Any]) -> None:
        assert clock_domains(self.points(), everyone) == [0] * 5

    def test_a_point_that_is_not_there_is_refused(self) -> None:
        with pytest.raises(InputError, match=r"--same-clock d: .*a, b, c, many/x, many/y"):
            clock_domains(self.points(), [["a", "d"]])
        with pytest.raises(InputError, match="--reference"):
            point_index(self.points(), "--reference", "d")
