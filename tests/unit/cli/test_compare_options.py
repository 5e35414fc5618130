"""What compare and validate take of merge's options, and what they refuse to take."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pcaplat.cli import run
from pcaplat.cli.options import OF_MEASURING, offering
from pcaplat.comparing import compare
from pcaplat.outputs import write
from pcaplat.run.merge import merge
from tests.support.shelf import SAMPLES

if TYPE_CHECKING:
    from pathlib import Path

BASELINE, TREATMENT = str(SAMPLES / "l2"), str(SAMPLES / "vxlan")
CLAIM = """
[[claims]]
id = "rate"
sentence = "Some hundred packets a second pass"
source.document = "d"
metric = "packet-rate"
scope = { kind = "path" }
interval = [100, 10000]
unit = "pps"
"""


def compared(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    assert run(["compare", BASELINE, TREATMENT, "--format", "json", *options]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


@pytest.mark.parametrize(
    ("options", "given"),
    [
        (["--sample", "1/4"], {"sample": 4}),
        (["--from", "+10ms", "--to", "+200ms"], {"start": "+10ms", "end": "+200ms"}),
        (["--reference", "sw-a"], {"reference": "sw-a"}),
        (["--decode", "udp.port=4789:vxlan"], {"decode": ("udp.port=4789:vxlan",)}),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_merges_options_reach_the_merge(
    capsys: pytest.CaptureFixture[str], options: list[str], given: dict[str, Any]
) -> None:
    found = compared(capsys, *options)
    expected = compare(BASELINE, TREATMENT, options=given)
    assert found == json.loads(json.dumps(expected))


def test_a_part_of_the_time_is_a_part_of_the_packets(capsys: pytest.CaptureFixture[str]) -> None:
    whole, part = compared(capsys), compared(capsys, "--to", "+100ms")
    assert 0 < part["round_trips"][-1]["n"] < whole["round_trips"][-1]["n"]


def test_a_sample_has_latencies_and_no_rates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = compared(capsys, "--sample", "1/4")
    assert document["round_trips"][-1]["delta_mean_ns"] is not None
    assert {row["metric"] for row in document["rates"]} == {"loss-ratio"}
    (tmp_path / "claims.toml").write_text(CLAIM)
    claims = str(tmp_path / "claims.toml")
    captures = sorted(str(file) for file in (SAMPLES / "vxlan").glob("*.pcap"))
    assert run(["validate", claims, *captures, "--sample", "1/4"]) == 3
    assert "only a sample of its packets was taken" in " ".join(capsys.readouterr().out.split())
    assert run(["rfc2544", *captures, "--sample", "1/4"]) == 2
    assert "has no rate" in capsys.readouterr().err


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compared") / "saved"
    captures = sorted((SAMPLES / "vxlan").glob("*.pcap"))
    with merge(captures, same_clock=["all"], keep_rows=True) as result:
        write(result, folder)
    return folder


def test_a_result_is_compared(saved: Path) -> None:
    assert run(["compare", BASELINE, str(saved)]) == 0


@pytest.mark.parametrize("option", ["--filter=tcp", "--sample=1/4", "--from=+1ms"])
def test_packets_of_a_result_are_chosen_already(
    saved: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    assert run(["compare", BASELINE, str(saved), option]) == 2
    said = capsys.readouterr().err
    assert "whose packets were chosen when it was merged" in said
    assert option.partition("=")[0] in said


def test_a_file_in_place_of_a_folder_gets_its_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    file = next((SAMPLES / "vxlan").glob("*.pcap"))
    assert run(["compare", BASELINE, str(file)]) == 2
    assert "is a file; put the captures of one run into a folder" in capsys.readouterr().err
    assert run(["compare", BASELINE, "nowhere"]) == 2
    assert "check the name" in capsys.readouterr().err


def test_a_mistaken_option_is_told_before_anything_is_read() -> None:
    called = []

    @offering(OF_MEASURING)
    def command(*, options: dict[str, Any]) -> None:
        called.append(options)

    with pytest.raises(Exception, match="later"):
        command(start="later")
    assert not called
