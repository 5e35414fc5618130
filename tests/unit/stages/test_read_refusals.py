"""Read: bad files are refused before the first row, damage is told, pipes keep their names."""

import gzip
import io
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import pcaplat
from pcaplat.cli import run
from tests.conftest import ROOT

SAMPLE = ROOT / "samples" / "vxlan" / "sw-a.pcap"
PCAPLAT = [sys.executable, "-m", "pcaplat"]


def spoiled(folder: Path) -> Path:
    text = folder / "text.pcap"
    text.write_text("This is a shopping list, and no capture at all.\n" * 9)
    return text


def cut_gzip(folder: Path) -> Path:
    cut = folder / "cut.pcap.gz"
    whole = gzip.compress(SAMPLE.read_bytes())
    cut.write_bytes(whole[: len(whole) // 2])
    return cut


def test_what_cannot_be_read_is_refused_at_once(tmp_path: Path) -> None:
    for bad in (spoiled(tmp_path), [SAMPLE, spoiled(tmp_path)]):
        with pytest.raises(pcaplat.InputError, match="not a capture: text"):
            pcaplat.read(bad)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        pcaplat.read([SAMPLE, tmp_path / "nowhere.pcap"])


def test_the_command_says_what_merge_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spoiled(tmp_path)
    for name in ("nowhere.pcap", "text.pcap"):
        said = []
        for command in ("read", "merge"):
            assert run([command, str(tmp_path / name)]) == 2
            said.append(capsys.readouterr())
        assert said[0] == said[1]
        assert said[0].out == ""
        assert "bug" not in said[0].err


def test_damage_is_a_value_after_reading(tmp_path: Path) -> None:
    cut = cut_gzip(tmp_path)
    stream = pcaplat.read([SAMPLE, cut], files=["whole", "cut"])
    assert stream.damage() == []
    packets = pl.DataFrame(stream)
    [(file, at_byte, text)] = stream.damage()
    assert file == "cut"
    assert at_byte > sum(packets.filter(file="cut")["captured_bytes"])
    assert text == "the compressed file is cut short; what came before is used"


def test_damage_is_told_on_stderr_and_strictly_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut, rows = cut_gzip(tmp_path), tmp_path / "rows.csv"
    assert run(["read", str(cut), "-o", str(rows)]) == 0
    said = capsys.readouterr().err
    assert said.startswith(f"pcaplat: damaged-capture: {cut}: byte ")
    assert said.count("\n") == 1
    assert rows.exists()
    rows.unlink()
    assert run(["read", "--strict", str(cut), "-o", str(rows)]) == 2
    refused = capsys.readouterr().err
    assert refused.endswith("; rejected because of --strict\n")
    assert "is used" not in refused
    assert not rows.exists()


@pytest.mark.parametrize("name", ["csv", "json"])
def test_a_reader_that_has_had_enough_is_no_mistake(name: str, tmp_path: Path) -> None:
    said = tmp_path / "said"
    line = f"{' '.join(PCAPLAT)} read --format {name} {SAMPLE} 2>{said} | head -1"
    done = subprocess.run(
        ["bash", "-c", f"{line} >{tmp_path / 'first'}; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "0\n"
    assert said.read_text() == ""


def test_a_pipe_is_called_stdin(tmp_path: Path) -> None:
    done = subprocess.run(
        [*PCAPLAT, "read", "-"], input=SAMPLE.read_bytes(), capture_output=True, check=True
    )
    assert set(pl.read_csv(io.BytesIO(done.stdout))["file"]) == {"stdin"}
    text = spoiled(tmp_path).read_bytes()
    for command in ("read", "merge"):
        refused = subprocess.run(
            [*PCAPLAT, command, "-"], input=text, capture_output=True, check=False
        )
        assert refused.stderr.startswith(b"pcaplat: stdin: byte 0: not a capture"), refused
