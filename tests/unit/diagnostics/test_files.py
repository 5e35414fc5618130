"""Facts of the capture files themselves: their rows, their clocks, what is wrong with them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pcaplat.diagnostics.files import (
    capture_rows,
    check_files,
    check_overlap,
    refuse_damage,
    unseen_clock_rows,
)
from pcaplat.errors import InputError
from pcaplat.model.files.captures import Capture
from pcaplat.model.files.files_to_points import FoundPoints, find_points
from pcaplat.model.files.stamping import Stamping
from tests.support.capture_facts import facts, interface

if TYPE_CHECKING:
    from pcaplat.model.sampled import FileFacts

A = Capture("a.pcap", "a.pcap", "vm")


def test_rows_say_what_each_interface_holds() -> None:
    found = [facts(interface(link=113, n_undecoded=4), interface(1, link=99))]
    points, point_of = find_points([A], found)
    rows = capture_rows([A], found, FoundPoints(points, point_of, [None], ["vm"], {}), [Stamping()])
    assert [row["point"] for row in rows] == ["vm/if0", "vm/if1"]
    assert [row["link"] for row in rows] == ["linux-sll", "link type 99"]
    assert rows[0]["n_undecoded"] == 4


def test_an_empty_file_has_a_row_too() -> None:
    (row,) = capture_rows([A], [facts()], FoundPoints([], [[]], [None], ["vm"], {}), [Stamping()])
    assert (row["point"], row["n_frames"], row["resolution_ns"]) == ("vm", 0, None)


def test_the_clock_of_an_empty_file_has_a_row_too() -> None:
    known = {"point": "a", "reference": "a", "offset_ns": 0.0, "quality": "same-clock"}
    rows = unseen_clock_rows([{"point": "a"}, {"point": "b"}, {"point": "b"}], [known])
    assert rows == [
        {
            "point": "b",
            "domain": "b",
            "reference": "a",
            "offset_ns": None,
            "quality": "none",
            "steps": [],
        }
    ]


def test_a_link_type_that_is_not_decoded_is_known_of_its_point() -> None:
    unread = interface(link=99, why_unread="link type 99 is not read")
    found = [
        facts(replace(unread, n_undecoded=unread.n_frames)),
        facts(unread),  # the user said how
        facts(interface(link=113)),
    ]
    captures = [A, Capture("b", "b", None), Capture("c", "c", None)]
    points, _ = find_points(captures, found)
    assert [point.is_decoded for point in points] == [False, True, True]


@pytest.mark.parametrize(
    ("found", "code", "words"),
    [
        (facts(damage=[(24, "cut in mid-record")]), "damaged-capture", "byte 24"),
        (facts(), "empty-capture", "holds no frame"),
        (
            facts(interface(link=99, why_unread="link type 99 is not read", n_undecoded=200)),
            "unknown-link",
            "type 99",
        ),
        (facts(interface(n_dropped=1234)), "capture-drops", "dropped 1,234 packets"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_once(found: FileFacts, code: str, words: str) -> None:
    (warning,) = check_files([A], [found])
    assert (warning.code, warning.point) == (code, "vm")
    assert words in warning.text
    assert "\n" not in warning.text


def test_a_good_file_gives_no_warning() -> None:
    assert check_files([A], [facts(interface())]) == []
    refuse_damage([A], [facts(interface())])


@pytest.mark.parametrize(("start_ns", "n"), [(899, 1), (900, 0), (895, 0)])
def test_files_of_one_point_that_overlap_are_told(start_ns: int, n: int) -> None:
    captures = [Capture(name, name, "up") for name in ("up1", "up0")]
    disorder_ns = 10 if start_ns < 899 else 0
    before = facts(interface(last_t_ns=900, disorder_ns=disorder_ns))
    found = [facts(interface(first_t_ns=start_ns, last_t_ns=2_000)), before]
    points, _ = find_points(captures, found)
    warnings = check_overlap(captures, found, points, [None] * len(captures))
    assert [(one.code, one.point) for one in warnings] == [("overlapping-files", "up")] * n
    assert all("up0 and up1 cover the same time" in one.text for one in warnings)


def test_damage_can_be_refused() -> None:
    with pytest.raises(InputError, match=r"a\.pcap: byte 24: cut"):
        refuse_damage([A], [facts(damage=[(24, "cut")])])
