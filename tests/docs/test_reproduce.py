"""Measure-it-yourself pages: their study files run, their commands make captures that are known."""

from __future__ import annotations

import csv
import re
import struct
from typing import TYPE_CHECKING

import pytest

from pcaplat.points import load_profile
from pcaplat.points.placing import place_captures
from pcaplat.published import load_published, published_names
from pcaplat.study.file import load_study
from pcaplat.validating import validate
from tests.docs.kits import KITS, PAGES, TABLE, TABLE_PAGE, Kit, rows, table
from tests.support.frames import UDP, ip, udp, write_pcap
from tests.support.shelf import lab_set

if TYPE_CHECKING:
    from pathlib import Path

START_NS = 1_760_000_000_000_000_000
PROFILES = re.compile(r"`(esxi-[a-z0-9-]+|linux-vxlan|nsx-edge)`")
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CAPTURES = re.compile(r"(?:-o|-w|file) (\S+\.pcap)")
KIT_IDS = [kit.name for kit in KITS]


def commands(kit: Kit) -> str:
    return "".join(SHELL.findall(kit.page))


def test_every_document_has_a_page() -> None:
    assert sorted(KIT_IDS) == sorted(published_names())


@pytest.mark.parametrize("kit", KITS, ids=KIT_IDS)
def test_a_page_has_all_that_it_takes(kit: Kit) -> None:
    headings = re.findall(r"^## (.+)$", kit.page, re.MULTILINE)
    assert headings == [
        *("Points", "Commands", "Study file", "Traffic and runs", "Pitfalls"),
        "What cannot be reproduced",
    ]
    assert "](protocol.md)" in kit.page
    assert "tcpdump " in commands(kit)
    assert "pktcap-uw " in commands(kit) or "start capture interface " in commands(kit)


@pytest.mark.parametrize("kit", KITS, ids=KIT_IDS)
def test_its_study_file_names_every_scenario_of_its_claims(kit: Kit, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(kit.study, "utf-8")
    study = load_study(tmp_path / "study.toml")
    assert study.claims == [kit.name]
    scopes = [claim.scope for claim in load_published(kit.name).claims]
    asked = {name for s in scopes for name in (s.treatment, s.baseline, s.scenario) if name}
    assert asked <= set(study.scenarios)
    assert set(study.scenarios) == set(kit.scenarios)
    assert study.options["profile"] in PROFILES.findall(kit.page)


@pytest.mark.parametrize("kit", KITS, ids=KIT_IDS)
def test_profiles_know_the_captures_that_the_commands_make(kit: Kit) -> None:
    profiles = [load_profile(name) for name in dict.fromkeys(PROFILES.findall(kit.page))]
    for file in CAPTURES.findall(commands(kit)):
        names = [place_captures(profile, [(file, None)]).names[0] for profile in profiles]
        assert any(names), file
    points = {point.id for profile in profiles for point in profile.points}
    for given in re.findall(r"--capture (\S+)", commands(kit)):
        assert set(given.split(",")) <= points


@pytest.mark.parametrize("kit", KITS, ids=KIT_IDS)
def test_claims_that_a_page_names_are_there(kit: Kit) -> None:
    known = {claim.id for claim in load_published(kit.name).claims}
    assert set(re.findall(r"--claim (\S+?)[`\s]", kit.page)) <= known


def test_claims_of_a_page_are_judged_as_the_table_says() -> None:
    kit = next(kit for kit in KITS if kit.name == "nsx-dfw-latency")
    assert rows(kit) in TABLE_PAGE.read_text("utf-8"), "python -m tests.docs.kits writes it"


@pytest.mark.slow
def test_every_claim_is_judged_as_the_table_says() -> None:
    text = TABLE_PAGE.read_text("utf-8")
    found = TABLE.search(text)
    assert found
    assert found[0] == f"{found[1]}{table()}{found[2]}", "python -m tests.docs.kits writes it"
    assert "needs runs of scenario" not in text
    assert "does not say in which scenario" not in text


def test_pages_are_linked_from_the_table() -> None:
    text = TABLE_PAGE.read_text("utf-8")
    assert all(f"({kit.name}.md)" in text for kit in KITS)
    assert (PAGES / "protocol.md").exists()


@pytest.mark.skipif(not lab_set("l2").exists(), reason="the shared captures are not here")
def test_a_claim_on_loss_by_what_a_forwarder_dropped() -> None:
    captures = sorted(str(file) for file in lab_set("vxlan-loss-dup").glob("*.pcap"))
    options = {"same_clock": ["all"]}
    given = {"vxlan": captures}
    document = validate("vxlan-draft", given, only=["vxlan-draft-loss"], options=options)
    with (lab_set("vxlan-loss-dup") / "delay.csv").open() as log:
        dropped = [row["what"] == "drop" for row in csv.DictReader(log)]
    (row,) = document["verdicts"]
    # one run decides nothing of others
    assert row["verdict"] == "undecided"
    assert "within this run" in row["reason"]
    assert row["lo"] < 100 * sum(dropped) / len(dropped) < row["hi"]


# ---- the edge's claims, by frames of the sizes that they are about


def geneve(frame: bytes, ident: int) -> bytes:
    """Wrap a frame as the white paper's sizes say: 8 bytes of options, 58 in all."""
    header = struct.pack(">BBHI", 2, 0, 0x6558, 5001 << 8) + struct.pack(">HBBI", 0x0104, 0, 1, 7)
    inside = udp((50_000, 6081), header + frame)
    return ip("172.16.0.1", "172.16.0.2", UDP, ident, 64, inside)


def edge_run(folder: Path, seed: int) -> None:
    """3,000 frames of 256 bytes with FCS from the overlay to the uplink, and as many back."""
    folder.mkdir(parents=True)
    overlay, uplink = [], []
    for at in range(6000):
        src, dst = ("10.0.0.1", "192.0.2.9")[:: 1 if at % 2 else -1]
        payload = struct.pack(">II", at, seed).ljust(210, b"x")
        inner = ip(src, dst, UDP, at, 64, udp((4000, 4000), payload))
        t_ns, delay_ns = START_NS + seed * 10**10 + at * 1000, 3000 + 37 * (at * seed % 11)
        overlay.append((t_ns + (0 if at % 2 else delay_ns), geneve(inner, at)))
        uplink.append((t_ns + (delay_ns if at % 2 else 0), inner))
    for name, records in (("overlay", overlay), ("uplink", uplink)):
        write_pcap(folder / f"{name}.pcap", sorted(records))


def test_the_edges_claims_are_judged_by_frames_of_their_size(tmp_path: Path) -> None:
    (kit,) = [kit for kit in KITS if kit.name == "nsx-bare-metal-edge"]
    for seed in range(1, 6):
        edge_run(tmp_path / "single-256" / f"run{seed}", seed)
    for seed in range(6, 9):
        edge_run(tmp_path / "single-512" / f"run{seed}", seed)
    for other in set(kit.scenarios) - {"single-256", "single-512"}:
        (tmp_path / other).symlink_to(tmp_path / "single-256")
    (tmp_path / "study.toml").write_text(kit.study, "utf-8")
    ids = [f"edge-{name}" for name in ("single-256b-throughput", "single-256b-packet-rate")]
    ids += ["edge-loss", "edge-geneve-overhead", "edge-single-512b-throughput"]
    rows = {row["id"]: row for row in validate(tmp_path / "study.toml", only=ids)["verdicts"]}
    words = {name: row["verdict"] for name, row in rows.items()}
    assert words == {
        "edge-single-256b-throughput": "undecided",
        "edge-single-256b-packet-rate": "undecided",
        "edge-loss": "undecided",
        "edge-geneve-overhead": "held",
        "edge-single-512b-throughput": "undecided",
    }
    assert "1280 flows" in rows["edge-loss"]["reason"]
    assert "have the claim's size" in rows["edge-single-512b-throughput"]["reason"]
    # 500,000 frames a second each way, of 256 bytes and 20 of preamble and gap
    rate = rows["edge-single-256b-throughput"]["estimate"]
    assert rate == pytest.approx(0.5e6 * 276 * 8 / 1e9, rel=0.01)
