"""Points that packets of both directions pass in one order: steps within a host, not places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pcaplat import merge
from tests.support.steps import (
    NAMES,
    STEP_NS,
    TALK,
    along_a_line,
    backwards,
    capture,
    in_one_order,
    interfaces,
    on_three_hosts,
    on_two_hosts,
    partly,
    twice,
)
from tests.unit.diagnostics.lint_by_hand import pcap

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.diagnostics.lint_by_hand import Packet, Records


def codes(document: dict[str, Any]) -> set[str]:
    return {one["code"] for one in document["warnings"]}


@pytest.mark.parametrize("later_ns", [in_one_order, backwards])
def test_steps_are_in_the_order_of_time_and_all_packets_are_forward(
    later_ns: Callable[[Packet, int], int], tmp_path: Path
) -> None:
    with merge([capture(tmp_path, later_ns)]) as result:
        document = result.document
        assert set(result.matches.collect()["direction"]) == {"forward"}
    names = list(NAMES) if later_ns is in_one_order else list(NAMES[::-1])
    assert [name.split("/")[1] for name in document["path"]] == names
    assert "same-order-both-ways" in codes(document)
    assert not document["round_trips"]
    for row in document["segments"]:
        n_steps = 2 if row["far"].endswith(names[2]) and row["near"].endswith(names[0]) else 1
        assert row["n"] == len(TALK)
        assert row["n_lost"] == 0
        assert row["p50_ns"] == pytest.approx(n_steps * STEP_NS, abs=200)


@pytest.mark.parametrize("later_ns", [along_a_line, on_two_hosts, on_three_hosts, partly])
def test_places_on_a_line_are_no_steps(
    later_ns: Callable[[Packet, int], int], tmp_path: Path
) -> None:
    with merge([capture(tmp_path, later_ns)]) as result:
        assert "same-order-both-ways" not in codes(result.document)
        assert set(result.matches.collect()["direction"]) == {"forward", "reverse"}


def test_clocks_of_several_files_tell_no_steps(tmp_path: Path) -> None:
    files = []
    for at, name in enumerate(NAMES):
        records: Records = [
            (p.t_ns + in_one_order(p, at) + n % 7, p.frame) for n, p in enumerate(TALK)
        ]
        files.append(tmp_path / f"{name}.pcap")
        pcap(files[-1], records)
    with merge(files, same_clock=["all"]) as result:
        assert "same-order-both-ways" not in codes(result.document)


def test_what_comes_again_after_other_points_saw_it_is_no_copy(tmp_path: Path) -> None:
    with merge([twice(tmp_path)]) as result:
        document = result.document
    assert [name.split("/")[1] for name in document["path"]] == list(NAMES)
    again = [one for one in document["warnings"] if one["code"] == "hairpin"]
    assert {one["point"].split("/")[1] for one in again} == {"sent", "received"}
    assert "mirror-duplicates" not in codes(document)


def test_a_copy_that_nobody_saw_in_between_is_one(tmp_path: Path) -> None:
    found = []
    for number, packet in enumerate(TALK):
        for at in range(3):
            t_ns = packet.t_ns + along_a_line(packet, at)
            found.append((t_ns, at, packet.frame))
            if at == 1:
                # few of the copies are so late that the next point saw the packet before
                later_ns = 900 if number % 10 else 2 * STEP_NS
                found.append((t_ns + later_ns, at, packet.frame))
    with merge([interfaces(tmp_path, found)]) as result:
        assert {"mirror-duplicates"} == codes(result.document) & {"mirror-duplicates", "hairpin"}


def test_stamps_of_another_file_are_not_in_between(tmp_path: Path) -> None:
    here, there = tmp_path / "here.pcap", tmp_path / "there.pcap"
    records = [(p.t_ns + again, p.frame) for p in TALK for again in (0, 20_000)]
    pcap(here, sorted(records))
    pcap(there, [(p.t_ns + 10_000 + at % 97, p.frame) for at, p in enumerate(TALK)])
    with merge([str(here), str(there)]) as result:
        assert {"mirror-duplicates"} == codes(result.document) & {"mirror-duplicates", "hairpin"}
