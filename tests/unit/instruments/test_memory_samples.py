"""Samples of memory, and samples of sar that cannot be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pcaplat.instruments.loading import SampleFile, samples_in
from pcaplat.instruments.mistakes import InstrumentError
from pcaplat.instruments.sar import read_sar
from pcaplat.instruments.table import Mapping, read_table
from tests.unit.instruments.test_instruments import REAL, SECOND

if TYPE_CHECKING:
    from pathlib import Path


def test_memory_of_each_instrument(tmp_path: Path) -> None:
    sar = read_sar((REAL / "sar.json").read_text("utf-8"), "s", is_memory=True)
    assert (sar.unit, sar.busy) == ("MiB", [n / 1024 for n in (1627792, 1654736, 1726652)])
    text = "when,used\n1,3\n2,5\n"
    for unit, factor in (("KiB", 1 / 1024), ("GiB", 1024.0), ("B", 2.0**-20)):
        assert read_table(text, "t", Mapping("when", "used", unit)).busy == [5 * factor]
    column = r"Group Memory(7:vm1)\Memory Consumed Size MBytes"
    head = r'"(PDH-CSV 4.0) (UTC)(0)","\\esx\Group Memory(7:vm1)\Memory Consumed Size MBytes"'
    lines = [head, '"11/20/2026 18:00:00","4096.0"', '"11/20/2026 18:00:02","4100.5"']
    (tmp_path / "esxtop.csv").write_text("\n".join(lines))
    wanted = SampleFile(["*.csv"], "esxtop", Mapping(), column, is_memory=True)
    found = samples_in(tmp_path, wanted)
    assert (found.unit, found.busy, found.length_ns) == ("MiB", [4100.5], [2 * SECOND])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"interval": 1', '"intervall": 1', "the time of sample 1 cannot be used"),
        ('"interval": 1', '"interval": 0', "sample 1 took 0 s"),
        ("18:42:39", "18:42:38", "sample 2 is not after"),
        ("18:42:39", "25:42:38", "the time of sample 2 cannot be used"),
        ('"idle": 0.00', '"idle": NaN', "sample 1 has no idle"),
        ('"idle": 0.00', '"busy": 0.00', "sample 1 has no idle"),
        ('"cpu": "all"', '"cpu": "0"', "no cpu-load of all"),
        ('"number-of-cpus": 2', '"number-of-cpus": "x"', "no sysstat.hosts"),
        ('"utc": 1, ', "", 'no time zone; add zone = "UTC"'),
    ],
)
def test_samples_of_sar_that_cannot_be_used(old: str, new: str, said: str) -> None:
    text = (REAL / "sar.json").read_text("utf-8")
    assert old in text
    with pytest.raises(InstrumentError, match=said):
        read_sar(text.replace(old, new), "s")


def test_sar_without_statistics() -> None:
    for rows in ("null", "7"):
        text = '{"sysstat": {"hosts": [{"number-of-cpus": 2, "statistics": ' + rows + "}]}}"
        with pytest.raises(InstrumentError, match=r"no sysstat\.hosts"):
            read_sar(text, "s")
