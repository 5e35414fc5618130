"""Real captures that hold several capture points, those of the lab and public ones."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

import pcaplat
from pcaplat.errors import InputError
from tests.support.shelf import CAPTURES, lab_set

if TYPE_CHECKING:
    from pathlib import Path

LAB = lab_set("vxlan")
NEEDS_LAB = pytest.mark.skipif(not LAB.exists(), reason="needs the lab's captures")


@NEEDS_LAB
def test_captures_of_any_interface_have_the_path_of_the_lab() -> None:
    files = [LAB / f"{host}-any.pcap" for host in ("switch", "host2", "host1")]
    with pcaplat.merge([str(one) for one in files], same_clock=["all"]) as result:
        assert result.document["path"] == [
            *("host1-any/if2", "host1-any/if5", "host1-any/if3"),
            *("switch-any/if2", "switch-any/if3"),
            *("host2-any/if3", "host2-any/if5", "host2-any/if2"),
        ]
        whole = [row for row in result.document["segments"] if row["far"] == "host2-any/if2"]
        matching = result.document["matching"]
    ends = [row for row in whole if row["near"] == "host1-any/if2"]
    assert {row["direction"]: row["n"] for row in ends} == {"forward": 2255, "reverse": 1753}
    assert matching["n_matched"] == matching["n_frames"] == 2 * 12_024 + 8_016


@NEEDS_LAB
def test_no_capture_of_one_point_in_the_lab_is_divided() -> None:
    for path in sorted((CAPTURES / "lab").glob("*/*.pcap")):
        if not path.stem.endswith("-any"):
            with pytest.raises(InputError, match="one capture point alone"):
                pcaplat.merge([path], keep_rows=False)


PUBLIC = CAPTURES / "public"
TWICE = {
    "arkime+arkime/tests/pcap/http-post-upload.pcap": 17,
    "chrissanders+packets/ppa1e/double-vision.pcap": 4,
    "deepflowio+deepflow/agent/resources/test/common/vmware-gre-teb.pcap": 18,
    "ntop+nDPI/tests/cfgs/default/pcap/fix2.pcap": 887,
}
"""Captures of two places of a path, and how many packets both of them saw (tshark)."""

FIELDS = (
    "frame.number",
    "ip.src",
    "ip.dst",
    "ip.id",
    "ip.len",
    "tcp.seq_raw",
    "icmp.seq",
    "icmp.type",
)


def seen_twice(path: Path) -> set[tuple[int, int]]:
    """Pairs of frames that hold one innermost packet, as tshark reads them."""
    command = ["tshark", "-r", str(path), "-Tfields", "-o", "tcp.analyze_sequence_numbers:FALSE"]
    for field in FIELDS:
        command += ["-e", field]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    frames: dict[tuple[str, ...], list[int]] = {}
    for line in text.splitlines():
        number, *rest = line.split("\t")
        inner = tuple(value.split(",")[-1] for value in rest)
        if inner[0]:
            frames.setdefault(inner, []).append(int(number))
    return {(one, other) for one, other, *_ in (same for same in frames.values() if len(same) == 2)}


@pytest.mark.skipif(not PUBLIC.exists(), reason="needs the public captures")
@pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")
@pytest.mark.parametrize("name", TWICE)
def test_public_captures_of_two_places_match_what_tshark_sees_twice(name: str) -> None:
    with pcaplat.merge([PUBLIC / name]) as result:
        pairs = result.matches.select("up_frame", "down_frame").collect().iter_rows()
        found = {(min(pair), max(pair)) for pair in pairs}
        assert [point.rpartition("/")[2] for point in result.document["path"]] == ["hop1", "hop2"]
    assert found == seen_twice(PUBLIC / name)
    assert len(found) == TWICE[name]


@pytest.mark.skipif(not PUBLIC.exists(), reason="needs the public captures")
def test_tunnels_of_overlapping_networks_are_kept_apart() -> None:
    folder = "zeek+zeek/doc/advanced/devel/plugins/connkey-vxlan-fivetuple-plugin-src/Traces"
    with pcaplat.merge([PUBLIC / folder / "vxlan-overlapping-http-get.pcap"]) as result:
        of_tunnel = result.packets.select("point", "tunnel_id").unique().collect().sort("point")
    labels = [point.rpartition("/")[2] for point in of_tunnel["point"]]
    assert labels == ["inner", "outer-tunnel4242", "outer-tunnel4711"]
    assert of_tunnel["tunnel_id"].to_list() == [None, 4242, 4711]
