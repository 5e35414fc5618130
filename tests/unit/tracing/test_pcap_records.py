"""Records at known places are those that are found by reading everything before them."""

from pathlib import Path

import polars as pl

from pcaplat.stages.read import frames_at, read
from pcaplat.tracing.pcap_records import records_at
from tests.conftest import ROOT

FILE = str(ROOT / "samples" / "vxlan" / "sw-a.pcap")


def test_they_are_those_of_a_whole_reading(tmp_path: Path) -> None:
    table = pl.DataFrame(read(FILE))
    rows = {row["frame"]: row for row in table.to_dicts()}
    sums = table["captured_bytes"].cum_sum().to_list()
    before = dict(zip(rows, [0, *sums[:-1]], strict=True))
    found = records_at(FILE, rows, before)
    wanted = {frame.number: (frame.link, frame.data) for frame in frames_at(FILE, [*rows])}
    assert found == wanted
    shifted = {number: at + 1 for number, at in before.items()}
    assert records_at(FILE, rows, shifted) == {}
    other = tmp_path / "other.pcap"
    other.write_bytes(b"\n\r\r\n" + Path(FILE).read_bytes()[4:])
    assert records_at(str(other), rows, before) == {}
