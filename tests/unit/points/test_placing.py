"""`--profile`: what a profile says of captures by their names, and nothing more."""

import random
from pathlib import Path

import pytest

from pcaplat.errors import PointError
from pcaplat.points import load_profile
from pcaplat.points.placing import Placing, place_captures
from tests.conftest import ROOT


def placed(profile: str, *files: str, **given: str) -> Placing:
    """Place files; `POINT=FILE` as a keyword, `-` written `_`."""
    captures: list[tuple[str, str | None]] = [(file, None) for file in files]
    captures += [(file, point) for point, file in given.items()]
    return place_captures(load_profile(profile), captures)


def test_one_host_from_the_guest_to_the_wire() -> None:
    placing = placed("linux-vxlan", "c/uplink.pcap.gz", "c/vnet0.pcap", "c/vxlan.pcapng")
    assert placing.names == ["uplink", "tap", "vxlan"]
    assert placing.path == ["tap", "vxlan", "uplink"]
    assert placing.same_clock == [["uplink", "tap", "vxlan"]]
    assert placing.udp_ports == [(4789, "vxlan"), (8472, "vxlan")]


def test_two_hosts_face_each_other_and_the_first_named_is_near() -> None:
    files = ["esx2-vnic.pcap", "esx2-uplink.pcap", "esx1-uplink.pcap", "esx1-vnic.pcap"]
    placing = placed("esxi-nsx-t", *files)
    assert placing.path == ["esx2-vnic", "esx2-uplink", "esx1-uplink", "esx1-vnic"]
    assert placing.same_clock == [["esx2-vnic", "esx2-uplink"], ["esx1-uplink", "esx1-vnic"]]


def test_folders_stand_for_hosts_where_names_are_equal() -> None:
    placing = placed(
        "linux-vxlan", "h1/tap.pcap", "h1/uplink.pcap", "h2/tap.pcap", "h2/uplink.pcap"
    )
    assert placing.path == ["h1/tap", "h1/uplink", "h2/uplink", "h2/tap"]
    assert placing.same_clock == [["h1/tap", "h1/uplink"], ["h2/tap", "h2/uplink"]]


def test_three_hosts_have_no_order_in_the_profile() -> None:
    placing = placed("linux-vxlan", "a-tap.pcap", "b-tap.pcap", "c-tap.pcap")
    assert placing.path is None
    assert placing.same_clock == []


def test_two_devices_have_no_order_in_the_profile() -> None:
    placing = placed("span", "s1-port-a.pcap", "s1-port-b.pcap", "s2-port-a.pcap")
    assert placing.path is None
    assert placing.same_clock == [["s1-port-a", "s1-port-b"]]


def test_two_halves_of_a_place_are_one_point() -> None:
    files = ("VnicTx.pcap", "UplinkRcv.pcap", "VnicRx.pcap", "UplinkSnd.pcap")
    placing = placed("esxi-vds", *files)
    assert placing.names == ["vnic", "uplink", "vnic", "uplink"]
    assert placing.path == ["vnic", "uplink"]
    assert {point.id for point in placing.points["vnic"]} == {"VnicTx", "VnicRx"}


def test_one_half_keeps_its_own_name_and_its_place_in_the_order() -> None:
    placing = placed("esxi-vds", "UplinkRcv.pcap", "PortOutput-switchport.pcap", "VnicRx.pcap")
    assert placing.path == ["VnicRx", "PortOutput-switchport", "UplinkRcv"]


def test_both_sides_of_the_firewall_each_way_are_two_points() -> None:
    files = ("PreDVFilter-tx", "PostDVFilter-tx", "PreDVFilter-rx", "PostDVFilter-rx")
    placing = placed("esxi-nsx-v", *(f"{file}.pcap" for file in files))
    assert placing.names == ["dfw-vm", "dfw-switch", "dfw-switch", "dfw-vm"]
    assert placing.path == ["dfw-vm", "dfw-switch"]


def test_points_in_the_same_order_both_ways_get_no_order_but_a_note() -> None:
    placing = placed("esxi-vds", "EtherswitchOutput.pcap", "EtherswitchDispath.pcap")
    assert placing.path is None
    assert "EtherswitchDispath comes before EtherswitchOutput" in placing.notes[0]


def test_points_without_a_rank_leave_the_order_open_and_are_noted() -> None:
    placing = placed("esxi-nsx-t", "PreDVFilter.pcap", "PostDVFilter.pcap", "uplink.pcap")
    assert placing.path is None
    assert "gives PreDVFilter, PostDVFilter no place in the order" in placing.notes[0]


def test_a_name_that_no_point_has_is_noted_and_leaves_the_order_open() -> None:
    placing = placed("lab", "host1-vm.pcap", "elsewhere.pcap", "sw-a.pcap")
    assert placing.names == ["host1-vm", None, "sw-a"]
    assert placing.path is None
    assert placing.same_clock == [["host1-vm", "sw-a"]]
    assert len(placing.notes) == 1
    assert (
        "write POINT=elsewhere.pcap, and see the names with: pcaplat points lab" in placing.notes[0]
    )


def test_a_point_that_was_given_keeps_its_name() -> None:
    placing = placed("linux-vxlan", "tap.pcap", uplink="a.pcap", mine="b.pcap")
    assert placing.names == ["tap", "uplink", "mine"]
    assert set(placing.points) == {"tap", "uplink"}
    assert not any("no point of" in note for note in placing.notes)


def test_files_of_one_rotated_capture_are_one_point() -> None:
    files = ("tap_00001_20260101.pcap", "tap_00002_20260101.pcap", "uplink.pcap")
    placing = placed("linux-vxlan", *files)
    assert placing.names == ["tap", "tap", "uplink"]
    given = place_captures(load_profile("lab"), [("a", "sw-a"), ("b", "sw-a"), ("c", "sw-b")])
    assert given.names == ["sw-a", "sw-a", "sw-b"]


@pytest.mark.parametrize("files", [("vnet0.pcap", "tap.pcap"), ("a/tap.pcap", "a/tap.pcapng")])
def test_two_captures_of_one_point_are_refused(files: tuple[str, str]) -> None:
    with pytest.raises(PointError, match=r"are both tap by their names; write POINT=PATH"):
        placed("linux-vxlan", *files)


def test_a_place_and_one_of_its_halves_are_refused() -> None:
    with pytest.raises(PointError, match=r"uplink\.pcap and UplinkSnd\.pcap are both UplinkSnd"):
        placed("esxi-vds", "uplink.pcap", "UplinkSnd.pcap")


def test_clocks_that_the_profile_does_not_share_are_not_joined() -> None:
    assert placed("endace", "port-a.erf", "port-b.erf").same_clock == []
    assert placed("aws-mirroring", "a-eni.pcap", "b-eni.pcap").same_clock == []
    guest = placed("linux-vxlan", "guest.pcap", "tap.pcap", "uplink.pcap")
    assert guest.same_clock == [["tap", "uplink"]]


def test_a_common_clock_that_nobody_confirmed_is_noted() -> None:
    assert placed("lab", "sw-a.pcap", "sw-b.pcap").notes == []
    notes = placed("esxi-vds", "vnic.pcap", "uplink.pcap").notes
    assert len(notes) == 1
    assert "vnic, uplink share a clock is what profile esxi-vds assumes" in notes[0]


def test_the_order_of_the_captures_changes_no_order_of_points() -> None:
    files = [f"{point.id}.pcap" for point in load_profile("lab").points]
    expected = placed("lab", *files).path
    for seed in range(20):
        shuffled = random.Random(seed).sample(files, len(files))  # noqa: S311 - no secret
        assert placed("lab", *shuffled).path == expected


def test_a_format_of_the_profile_ends_a_name() -> None:
    assert placed("endace", "port-a.erf", "dag1.erf").names == ["port-a", "port-b"]
    assert placed("lab", "sw-a.erf").names == [None]


def test_layers_that_are_only_documented_open_no_port(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    lab = (ROOT / "capture_points" / "lab.toml").read_text("utf-8")
    mine.write_text(lab.replace("extent =", 'documented = ["vxlan"]\nextent ='), "utf-8")
    files = [("host1-vm.pcap", None), ("host1-up.pcap", None)]
    assert place_captures(load_profile("lab"), files).udp_ports == [(4789, "vxlan")]
    assert place_captures(load_profile(str(mine)), files).udp_ports == []
