"""Whose address is the smaller one changes no answer, nor does the order of files."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

import pcaplat
from tests.recovery.networks import KINDS
from tests.support.renamed import rename, renamed, reserved, turned
from tests.support.rewritten import records
from tests.support.shelf import SAMPLES

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.renamed import Naming

NETWORKS = (
    *("star of 4", "tree of 3 receivers", "ECMP, spines seen one way", "another way back"),
    *("two tenants", "two tenants, own words", "pairs one way only", "translated one way"),
    *("NAT, IDs kept there, rewritten back", "no NAT, IDs rewritten both ways"),
    *("the same twice, a minute apart", "neighbour discovery"),
)
NAMES = ("captures", "error_budget", "translations")
"""Parts of the document that name files or addresses, or follow the order of files."""


def answer(files: list[Path]) -> dict[str, Any]:
    """What the summary says, but for names."""
    with pcaplat.merge([str(file) for file in files], intervals=False) as result:
        told = json.loads(json.dumps(result.document, default=str))
    return {name: part for name, part in told.items() if name not in NAMES}


def sample(name: str, folder: Path) -> None:
    """Copy the captures of a sample, uncompressed."""
    for file in sorted((SAMPLES / name).glob("*.pcap*")):
        data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        (folder / file.name.removesuffix(".gz")).write_bytes(data)


def differences(folder: Path, name: Naming = turned) -> list[str]:
    """Which parts of the answer change with the addresses and the order of files."""
    files = sorted(folder.glob("*.pcap"))
    told = answer(files)
    for file in files:
        rename(file, name)
    other = answer(files[::-1])
    return [name for name, part in told.items() if other[name] != part]


def test_addresses_are_in_the_other_order() -> None:
    _, frame = records(SAMPLES / "vxlan" / "host1-vm.pcap")[5]
    ends = [each[at : at + 4] for each in (frame, renamed(frame)) for at in (26, 30)]
    assert (ends[0] < ends[1]) != (ends[2] < ends[3])
    assert renamed(renamed(frame)) == frame


@pytest.mark.parametrize("name", ["l2", "vxlan"])
def test_the_answer_of_a_sample_hangs_on_no_address(name: str, tmp_path: Path) -> None:
    sample(name, tmp_path)
    assert differences(tmp_path) == []


def test_reserved_addresses_are_hosts(tmp_path: Path) -> None:
    """A digest's pseudonyms are of them, too."""
    sample("vxlan", tmp_path)
    assert differences(tmp_path, reserved) == []


@pytest.mark.parametrize("clocks", ["one clock", "own clocks"])
@pytest.mark.parametrize("name", NETWORKS)
def test_the_answer_of_a_network_hangs_on_no_address(
    name: str, clocks: str, tmp_path: Path
) -> None:
    KINDS[name](600, 1, has_own_clocks=clocks == "own clocks").save(tmp_path)
    assert differences(tmp_path) == []
