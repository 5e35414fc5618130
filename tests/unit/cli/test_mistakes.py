"""Mistakes on the command line are one line: what was typed, and what is expected."""

from __future__ import annotations

import re

import pytest

from pcaplat.cli import run
from tests.conftest import ROOT

SAMPLES = [str(path) for path in sorted((ROOT / "samples" / "vxlan").glob("*.pcap"))[:2]]
MISTAKES = [
    (["merge", *SAMPLES, "--same-clock", "all", "--same-clock", "a,zz"], "--same-clock a: "),
    (["merge", *SAMPLES, "--clock-accuracy", "a=100"], "--clock-accuracy a=100: '100' is no"),
    (["merge", *SAMPLES, "--link-rate", "a=fast"], "--link-rate a=fast: 'fast' is no rate"),
    (["merge", *SAMPLES, "--engine", "sprak"], "--engine sprak: .* did you mean spark"),
    (["merge", *SAMPLES, "--filter", "tcp prot 80"], '--filter: .*"tcp prot 80"'),
    (["merge", *SAMPLES, "--filter-outer", "tcp prot"], '--filter-outer: .*"tcp prot"'),
    (["read", SAMPLES[0], "--decode", "x"], '--decode: "x" .*udp.port=8472:vxlan'),
    (["read", SAMPLES[0], "--format", "xml"], "--format: .*'xml'.*csv, json"),
    (["compare", *SAMPLES, "--confidence", "2"], "--confidence 2: .*0.95"),
    (["points", "nsx-egde"], "'nsx-egde' .*did you mean nsx-edge"),
    (["wireshark", "nosuch"], "'nosuch': expected install"),
    (["trace", *SAMPLES, "x:y"], "'x:y' .*uplink.pcap:1234"),
    (["digest", SAMPLES[0], "-o", SAMPLES[0]], "is no folder"),
    (["init", SAMPLES[0], "-o", "/nonexistent/x.toml"], "no directory /nonexistent"),
    (["capture", "x=lo"], "--output"),
    (["merge", *SAMPLES, "--slices", "100000000"], "--slices: .*'100000000'.*from 1 to 1024"),
    *(
        (["capture", "x=lo", "-o", "/dev/null/x", *given], told)
        for given, told in (
            (["--ring", "99999999999999999999x1MB"], "'99999999999999999999x1MB' is no ring"),
            (["--ring", f"{'9' * 5_000}x1MB"], "is no ring"),
            (["--ring", "9999999x1MB"], "--ring: at most 1,000,000 files"),
            (["--snaplen", "5GB"], "--snaplen: .* less than 2 GB"),
        )
    ),
]


@pytest.mark.parametrize(("arguments", "told"), MISTAKES, ids=lambda one: str(one[0]))
def test_a_mistake_names_what_was_typed(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert re.search(told, shown.err)
