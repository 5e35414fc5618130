"""A profile's schema: what is unknown, wrong, missing or contradictory is refused, and named."""

from pathlib import Path

import pytest

from pcaplat.errors import PointError
from pcaplat.points import load_profile
from pcaplat.points.patterns import find, overlap
from tests.conftest import ROOT

LAB = (ROOT / "capture_points" / "lab.toml").read_text("utf-8")
MISTAKES = [
    ('side = "mirror"', 'side = "left"', "points[2]: side: 'left' is none of pre_vtep"),
    ('side = "mirror"', 'side = "miror"', "'miror' is none of .*; did you mean mirror?"),
    ("order_tx = 1", "ordre_tx = 1", "points[0]: ordre_tx: is unknown; did you mean order_tx?"),
    ("order_tx = 1", 'order_tx = "1"', "points[0]: order_tx: is str and should be int from 0 on"),
    ("order_tx = 1", "order_tx = -1", "points[0]: order_tx: is int and should be int from 0 on"),
    ("order_tx = 1", "order_tx = true", "points[0]: order_tx: is bool and should be"),
    ("order_tx = 1\n", "order_tx = 2\n", "order_tx: host1-vm and host1-up both have 2"),
    ('id = "sw-b"\n', "", "points[3]: id: is missing"),
    ('id = "sw-b"', 'id = "SW-A"', "SW-A: the name SW-A is taken by sw-a"),
    ('id = "sw-b"', 'id = ""', "points[3]: id: is empty and should be str"),
    ("[[points]]", "[[points", "is no TOML"),
    ("timescale", "time_scale", "defaults: clock: time_scale: is unknown; did you mean timescale?"),
    (
        'source = "record"',
        'source = "trailer"',
        "clock: source: 'trailer' is none of record, trailer:NAME",
    ),
    ('source = "record"', 'source = "recrd"', "did you mean record?"),
    (
        '"record", shared',
        '"record", freq_hz = 1, shared',
        "modulus_ticks and freq_hz belong together",
    ),
    (
        'encaps = [{ kind = "vxlan"',
        'encaps = [{ knd = "vxlan"',
        "points[1]: encaps: knd: is unknown",
    ),
    (
        "udp_ports = [4789]",
        'udp_ports = ["4789"]',
        "udp_ports: is list of str and should be list of int",
    ),
    (
        'files = ["sw-b"]',
        'files = ["SW-?"]',
        "a name can match both 'sw-a' of sw-a and 'SW-?' of sw-b",
    ),
    (
        'rewrites = ["macs", "ttl"]',
        'rewrites = ["macs", "tll"]',
        "rewrites: 'tll' is none of .*mean ttl?",
    ),
    ('sources = ["lab"]', 'sources = ["lap"]', "'lap' has no line in [sources]; did you mean lab?"),
    ("[sources]", '[sources]\nother = "x"', "sources: no point names 'other'"),
    ("[defaults]", '[defaults]\nid = "x"', "defaults: id: differs from point to point"),
    ("[defaults]", "[default]", "default: is unknown; did you mean defaults?"),
    ("platform =", 'name = "x"\nplatform =', "name: is unknown"),
    ('id = "sw-b"', 'id = "sw-b"\nkind = "x"', "points[3]: kind: there is no [kinds.x]"),
    ('id = "sw-b"', 'id = "sw-b"\nassumed = ["vlam"]', "'vlam' is no key; did you mean vlan?"),
    (
        'extent = "path"',
        'extent = "pth"',
        "extent: 'pth' is none of host, device, path; did you mean path?",
    ),
    (
        'platform = "Linux',
        'base = "lap"\nplatform = "Linux',
        "base: 'lap' is no capture-point profile",
    ),
]


def refused(tmp_path: Path, text: str) -> str:
    profile = tmp_path / "mine.toml"
    profile.write_text(text, "utf-8")
    with pytest.raises(PointError) as problem:
        load_profile(str(profile))
    assert str(problem.value).startswith(str(profile))
    return str(problem.value)


@pytest.mark.parametrize(("right", "wrong", "message"), MISTAKES)
def test_a_wrong_profile_says_which_key(
    tmp_path: Path, right: str, wrong: str, message: str
) -> None:
    assert right in LAB
    said = refused(tmp_path, LAB.replace(right, wrong, 1))
    *parts, last = message.split(".*")
    assert all(part in said for part in parts)
    assert last in said


@pytest.mark.parametrize("key", ["commands", "sources"])
def test_a_point_without_commands_or_sources_is_refused(tmp_path: Path, key: str) -> None:
    head, mark, tail = LAB.partition('id = "sw-a"\n')
    tail = tail.replace("commands = [", f"{key} = []\nfile_formats = [", 1)
    tail = tail if key == "commands" else tail.replace('file_formats = ["ip', 'commands = ["ip', 1)
    said = refused(tmp_path, head + mark + tail)
    assert f"points[2]: {key}: is empty" in said


def test_a_profile_without_points_is_refused(tmp_path: Path) -> None:
    assert "points: is missing" in refused(tmp_path, LAB.partition("[[points]]")[0])


def test_a_profile_adds_to_its_base(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(
        'base = "lab"\nplatform = "mine"\nsummary = "mine"\nextent = "path"\npitfalls = ["New."]\n'
        '[[points]]\nid = "sw-a"\nmeaning = "mine"\nside = "underlay"\norder_tx = 3\norder_rx = 4\n'
        'encapsulated = "no"\nsegmentation = "none"\nl4_checksum = "valid"\ncommands = ["true"]\n',
        "utf-8",
    )
    lab, profile = load_profile("lab"), load_profile(str(mine))
    assert [point.id for point in profile.along("tx")] == [point.id for point in lab.along("tx")]
    changed = {point.id: point for point in profile.points}["sw-a"]
    assert (changed.meaning, changed.side, changed.clock) == (
        "mine",
        "underlay",
        lab.points[2].clock,
    )
    assert profile.pitfalls == [*lab.pitfalls, "New."]
    assert profile.version_range is None


@pytest.mark.parametrize("line", ['sources = "x"', "pitfalls = {}", "kinds = []", "defaults = 1"])
def test_a_wrong_type_is_not_lost_in_the_base(tmp_path: Path, line: str) -> None:
    head = 'base = "lab"\nplatform = "mine"\nsummary = "mine"\nextent = "path"\n'
    assert line.split(maxsplit=1)[0] in refused(tmp_path, f"{head}{line}\n")


def test_what_is_less_certain_adds_up() -> None:
    points = {point.id: point for point in load_profile("esxi-nsx-t").points}
    assert {"clock", "stamp_position", "place"} <= set(points["PreDVFilter-tx"].inferred)


@pytest.mark.parametrize(
    ("pattern", "name", "host", "part"),
    [
        ("uplink", "uplink", "", ""),
        ("uplink", "UPLINK_00003", "", "_00003"),
        ("uplink", "uplink_00003_20260101120000", "", "_00003_20260101120000"),
        ("uplink", "uplink.pcap12", "", ".pcap12"),
        ("uplink", "esx-1.site-uplink", "esx-1.site", ""),
        ("eth?", "eth0", "", ""),
        ("veth*", "h1_veth12ab-3", "h1", ""),
    ],
)
def test_a_name_is_host_pattern_and_part(pattern: str, name: str, host: str, part: str) -> None:
    found = find(pattern, name)
    assert found
    assert (found.host, found.part) == (host, part)


@pytest.mark.parametrize("name", ["uplinks", "myuplink", "uplink2", "uplink-b", ""])
def test_a_name_that_only_resembles_is_none(name: str) -> None:
    assert find("uplink", name) is None


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("a", "a", True),
        ("A", "a", True),
        ("a?", "a", False),
        ("a*", "a", True),
        ("a*c", "ab*", True),
        ("a*c", "b*", False),
        ("*x", "x*", True),
        ("?", "??", False),
        ("a[b]", "ab", False),
    ],
)
def test_patterns_overlap_where_a_name_matches_both(one: str, other: str, expected: bool) -> None:  # noqa: FBT001 - a table's column
    assert overlap(one, other) is expected
    assert overlap(other, one) is expected
