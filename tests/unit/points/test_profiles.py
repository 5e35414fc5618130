"""Every profile that ships: what it names exists, and its orders are those of a path."""

import re

import pytest

from pcaplat.points import Profile, ProfilePoint, load_profile, profile_names
from pcaplat.points.placing import place_captures
from tests.conftest import ROOT

ISSUED = {
    "arista-7150", "arista-7280", "arista-metawatch", "aws-gwlb", "aws-mirroring", "azure-vtap",
    "cisco-3550", "endace", "erspan-1", "erspan-2", "erspan-3", "esxi-nsx-t", "esxi-nsx-v",
    "esxi-vds", "gcp-mirroring", "hyperv-pktmon", "k8s-calico", "k8s-cilium-geneve",
    "k8s-cilium-vxlan", "k8s-flannel", "lab", "linux-vxlan", "nsx-edge", "ovs-geneve", "rspan",
    "span",
}  # fmt: skip
PKTCAP_UW = {
    "VnicTx", "VnicRx", "PortInput", "PortOutput", "IOChain", "PreDVFilter", "PostDVFilter",
    "EtherswitchDispath", "EtherswitchOutput", "VdrRxLeaf", "VdrTxLeaf", "VdrRxTerminal",
    "VdrTxTerminal", "PreOverlayOutput", "PostOverlayOutput", "PreOverlayInput",
    "PostOverlayInput", "UplinkSndKernel", "UplinkRcvKernel", "UplinkSnd", "UplinkRcv", "PktFree",
    "TcpipDispatch", "TcpipRx", "TcpipTx", "EnsPortReaderRx", "EnsPortWriterTx",
    "EnsPortWriterQueue", "EnsPortWriterFlush", "Drop", "Dynamic",
}  # fmt: skip
SENTENCE = re.compile(r"[A-Z0-9-].*[.]|[a-z][A-Za-z_0-9-]+ .*[.]", re.DOTALL)
CLI_WIDTH = 76


def decoded() -> set[str]:
    """Names of the layers, stamps and formats that the core declares."""
    sources = [
        path.read_text("utf-8")
        for folder in ("wire", "file", "stamp")
        for path in (ROOT / "rust" / "src" / folder).rglob("*.rs")
    ]
    return {
        name for text in sources for name in re.findall(r'^\s+name: "([\w-]+)"', text, re.MULTILINE)
    }


@pytest.fixture(params=profile_names(), scope="module")
def profile(request: pytest.FixtureRequest) -> Profile:
    return load_profile(request.param)


def test_no_platform_is_missing() -> None:
    assert set(profile_names()) >= ISSUED


def test_every_point_of_pktcap_uw_is_there_in_the_observed_order() -> None:
    nsx = load_profile("esxi-nsx-t")
    named = {re.sub(r"-(tx|rx|uplink|switchport)$", "", point.id) for point in nsx.points}
    assert named >= PKTCAP_UW
    plain = load_profile("esxi-vds")
    assert [point.id for point in plain.along("tx")] == [
        "VnicTx", "PortInput-switchport", "EtherswitchDispath", "EtherswitchOutput",
        "PortOutput-uplink", "UplinkSndKernel", "UplinkSnd", "PktFree",
    ]  # fmt: skip
    assert [point.id for point in plain.along("rx")] == [
        "UplinkRcv", "UplinkRcvKernel", "PortInput-uplink", "EtherswitchDispath",
        "EtherswitchOutput", "PortOutput-switchport", "VnicRx",
    ]  # fmt: skip


def test_what_it_names_is_decoded_or_declared(profile: Profile) -> None:
    known = decoded()
    assert {"vxlan", "geneve", "pcapng"} <= known
    assert profile.names_used() <= known | set(profile.documented)


def test_what_it_declares_it_names(profile: Profile) -> None:
    assert set(profile.documented) <= profile.names_used()


def test_its_texts_are_sentences(profile: Profile) -> None:
    pitfalls = [*profile.pitfalls, *(text for point in profile.points for text in point.pitfalls)]
    assert [text for text in pitfalls if not SENTENCE.fullmatch(text)] == []
    assert len(set(profile.pitfalls)) == len(profile.pitfalls) > 0


def test_its_commands_fit_their_consoles(profile: Profile) -> None:
    for point in profile.points:
        assert all(command.strip() for command in point.commands)
        if point.shell == "cli":
            assert max(map(len, point.commands)) <= CLI_WIDTH, point.id


def test_commands_write_to_names_that_the_profile_knows(profile: Profile) -> None:
    written = re.compile(r"(?:-w|-o|--out|file) ([\w.-]+)\.(?:pcapng|pcap|erf)")
    for point in profile.points:
        for name in written.findall(" ".join(point.commands)):
            if name == "trace":
                continue
            placing = place_captures(profile, [(f"{name}.pcap", None)])
            behind = placing.points.get(placing.names[0] or "", ())
            assert point in behind, (point.id, name)


def test_the_way_back_is_the_way_out_reversed(profile: Profile) -> None:
    """Except inside a switch, where look-up comes before output both ways (EtherswitchDispath)."""
    out = place_of(profile.along("tx"))
    back = [place for place in reversed(place_of(profile.along("rx"))) if place in out]
    kept = [place for place in out if place in back]
    ordered = [place for place in back if not place.startswith("Etherswitch")]
    assert ordered == [place for place in kept if not place.startswith("Etherswitch")]


def place_of(points: list[ProfilePoint]) -> list[str]:
    return [point.place or point.id for point in points]


def test_a_place_is_seen_once_each_way(profile: Profile) -> None:
    for place, points in profile.places().items():
        ways = [(point.order_tx is not None, point.order_rx is not None) for point in points]
        assert sorted(ways) == [(False, True), (True, False)], place


def test_a_tunnel_has_a_kind_and_a_plain_point_has_none(profile: Profile) -> None:
    for point in profile.points:
        assert (point.encapsulated == "yes") <= bool(point.encaps), point.id
        assert bool(point.encaps) <= (point.encapsulated in ("yes", "both")), point.id


def test_a_stamp_in_the_packet_needs_a_clock_that_is_not_the_hosts(profile: Profile) -> None:
    for point in profile.points:
        assert (point.clock.source != "record") == (point.clock.domain == "switch"), point.id
        assert (point.clock.timescale == "ticks") == bool(point.clock.freq_hz), point.id


def test_the_7150_counter_is_31_bits_of_20_over_7_ns() -> None:
    clock = load_profile("arista-7150").points[0].clock
    assert clock.modulus_ticks
    assert clock.freq_hz
    assert clock.freq_hz * 20 == 7 * 10**9
    assert round(clock.modulus_ticks / clock.freq_hz, 4) == 6.1357
