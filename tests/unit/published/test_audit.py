"""The audit against the same arithmetic done apart: raw numbers typed again, plain fractions."""

import csv
import io
import json
from fractions import Fraction
from typing import Any

import pytest

from pcaplat.auditing import audit
from pcaplat.cli import run
from pcaplat.errors import ClaimError
from pcaplat.outputs import formats
from pcaplat.published import load_published, published_names
from tests.conftest import ROOT

Q = Fraction
GOLDEN = ROOT / "tests" / "data" / "claims" / "golden"
CELL_KEYS = {
    "row",
    "column",
    "published_lo",
    "published_hi",
    "recomputed",
    "unit",
    "agrees",
    "deviation_frac",
    "reason",
}

# bytes: server MHz without and with VXLAN, printed increase in %, for servers 1 and 2
DRAFT = {
    "0": ((505, 515, "4.04"), (505, 450, "24.65")),
    "128": ((6085, 6395, "7.57"), (5631, 6203, "7.26")),
    "256": ((6365, 6517, "1.15"), (5726, 5937, "7.59")),
    "512": ((6330, 6668, "8.66"), (5786, 5993, "2.41")),
    "1024": ((5922, 6280, "4.49"), (5884, 5710, "0.14")),
    "1450": ((5713, 6233, "11.61"), (5856, 5863, "1.84")),
}
DRAFT_AVERAGES = ("6.51", "4.07")
HALF = Q(1, 200)
"""Half of a percentage's last digit."""

# bytes: Gb/s, frames/s, bytes with Geneve, egress Gb/s, total Gb/s
SINGLE = {
    256: ("79.8", "36146004", 314, "89.4", "178.8"),
    512: ("89.5", "21014246", 570, "95.1", "190.2"),
    650: ("91.7", "17110541", 708, "96.4", "192.8"),
    1024: ("94.7", "11340793", 1082, "97.6", "195.2"),
    1500: ("95.7", "7874434", 1558, "98.2", "196.2"),
}
# bytes: Gb/s, Mframes/s, bytes with Geneve, egress Gb/s, %, Mpps/core from and to, total Gb/s
LAG = {
    256: ("29.8", "13.5", 314, "34.0", "17", "1.1", "1.4", "64.0"),
    512: ("135.7", "31.8", 570, "145.9", "73", "2.0", "2.4", "291.8"),
    650: ("161.4", "29.9", 708, "169.3", "85", "1.1", "1.4", "338.6"),
    1024: ("184.7", "22.1", 1082, "191.4", "96", "1.4", "1.7", "382.8"),
    1500: ("189.6", "15.5", 1558, "194", "97", "0.7", "0.8", "388.0"),
}
Cells = dict[tuple[str, str], dict[str, Any]]


def table(name: str) -> dict[str, Any]:
    (found,) = audit([name])["tables"]
    assert isinstance(found, dict)
    return {**found}


def cells(name: str) -> Cells:
    return {(cell["row"], cell["column"]): cell for cell in table(name)["cells"]}


def rounds_to(value: Q, lo: str, hi: str | None = None) -> bool:
    half = Q(1, 2 * 10 ** len(lo.partition(".")[2]))
    return Q(lo) - half <= value <= Q(hi or lo) + half


def check(cell: dict[str, Any], value: Q, lo: str, hi: str | None = None) -> None:
    assert (cell["published_lo"], cell["published_hi"]) == (float(lo), float(hi or lo))
    assert cell["recomputed"] == float(value)
    assert cell["agrees"] is rounds_to(value, lo, hi), cell
    nearest = min(max(value, Q(lo)), Q(hi or lo))
    assert cell["deviation_frac"] == pytest.approx(float(value / nearest - 1), abs=1e-12)
    assert bool(cell["reason"]) is not cell["agrees"]


# ---- each document


@pytest.mark.parametrize("server", [0, 1])
def test_the_drafts_percentages(server: int) -> None:
    found = cells(f"vxlan-draft-cpu-server{server + 1}")
    increases = {}
    for row, servers in DRAFT.items():
        base, vxlan, printed = servers[server]
        increases[row] = Q(vxlan - base, base) * 100
        check(found[row, "increase_percent"], increases[row], printed)
    mean = sum(increases.values(), Q(0)) / len(increases)
    check(found["AVG", "increase_percent"], mean, DRAFT_AVERAGES[server])
    assert len(found) == 7
    assert not any(cell["agrees"] or cell["is_within_rounding"] for cell in found.values())


@pytest.mark.parametrize("server", [0, 1])
def test_no_convention_gives_the_drafts_percentages(server: int) -> None:
    tried = table(f"vxlan-draft-cpu-server{server + 1}")["conventions"]
    assert len(tried) == 10
    assert not any(row["n_within_rounding"] for row in tried)


@pytest.mark.parametrize("server", [0, 1])
def test_the_drafts_other_averages_stand_in_its_text(server: int) -> None:
    found = table(f"vxlan-draft-cpu-server{server + 1}")
    printed = [Q(servers[server][2]) for servers in DRAFT.values()]
    changes = [Q(v - b, b) * 100 for b, v, _ in (servers[server] for servers in DRAFT.values())]
    given = {row["convention"]: row["recomputed"] for row in found["conventions"]}
    for rows, name in ((printed, "as printed"), (changes, "recomputed")):
        for n, words in ((6, "six"), (5, "five loaded")):
            mean = float(sum(rows[-n:], Q(0)) / n)
            assert given[f"mean of the {words} rows {name}"] == {"AVG": mean}
            assert name == "recomputed" or f"{mean:.2f} %" in found["notes"][0]


@pytest.mark.parametrize(("server", "n_whole"), [(0, 4), (1, 6)])
def test_the_baseline_that_the_drafts_percentages_imply(server: int, n_whole: int) -> None:
    """Whole MHz that give the printed percentage, to its last digit; solved for by hand."""
    found = table(f"vxlan-draft-cpu-server{server + 1}")
    implied = {r["row"]: r["value"] for r in found["derived"] if r["column"] == "implied_base_mhz"}
    whole = []
    for row, servers in DRAFT.items():
        _, vxlan, printed = servers[server]
        near = range(int(vxlan / (1 + float(printed) / 100)) - 2, vxlan)
        fits = [base for base in near if abs(Q(100 * (vxlan - base), base) - Q(printed)) <= HALF]
        whole += fits
        assert implied[row] == pytest.approx(vxlan / (1 + float(printed) / 100))
    assert len(whole) == n_whole
    assert all(str(base) in found["conclusion"] for base in whole)


def test_the_edges_first_table() -> None:
    found = cells("edge-single")
    for size, (gbps, fps, geneve, egress, total) in SINGLE.items():
        row = str(size)
        check(found[row, "throughput_gbps"], Q(fps) * 8 * (size + 20) / 10**9, gbps)
        check(found[row, "rate_fps"], Q(gbps) * 10**9 / (8 * size + 160), fps)
        check(found[row, "geneve_bytes"], Q(size + 58), str(geneve))
        check(found[row, "egress_gbps"], Q(fps) * 8 * (geneve - 4) / 10**9, egress)
        check(found[row, "total_gbps"], 2 * Q(egress), total)
    assert len(found) == 25


def test_the_edges_second_table() -> None:
    found = cells("edge-lag")
    for size, (gbps, mfps, geneve, egress, share, least, most, total) in LAG.items():
        row = str(size)
        check(found[row, "throughput_gbps"], Q(mfps) * 8 * (size + 20) / 1000, gbps)
        check(found[row, "rate_mfps"], Q(gbps) * 1000 / (8 * size + 160), mfps)
        check(found[row, "geneve_bytes"], Q(size + 58), str(geneve))
        check(found[row, "egress_gbps"], Q(gbps) * geneve / (size + 20), egress)
        check(found[row, "line_percent"], Q(egress) / 2, share)
        check(found[row, "core_mpps"], Q(mfps) / 14, least, most)
        check(found[row, "total_gbps"], 2 * Q(egress), total)
        assert found[row, "cpu_percent"]["recomputed"] is None
    assert len(found) == 40


def test_what_does_not_agree_in_the_edges_tables() -> None:
    beyond = {
        name: {
            key
            for key, cell in cells(name).items()
            if cell["agrees"] is False and not cell["is_within_rounding"]
        }
        for name in ("edge-single", "edge-lag")
    }
    assert {key for key in beyond["edge-single"] if key[1] != "egress_gbps"} == {
        ("512", "throughput_gbps"),
        ("512", "rate_fps"),
        ("1500", "throughput_gbps"),
        ("1500", "rate_fps"),
        ("1500", "total_gbps"),
    }
    assert {key for key in beyond["edge-lag"] if key[1] in ("core_mpps", "total_gbps")} == {
        ("256", "core_mpps"),
        ("650", "core_mpps"),
        ("1500", "core_mpps"),
        ("256", "total_gbps"),
    }


def test_the_edges_conventions() -> None:
    used = {
        (name, row["column"]): row["convention"]
        for name in ("edge-single", "edge-lag")
        for row in table(name)["conventions"]
        if row["is_used"]
    }
    assert used["edge-single", "throughput_gbps"] == "with preamble and gap, size with FCS"
    assert used["edge-lag", "throughput_gbps"] == "with preamble and gap, size with FCS"
    assert used["edge-single", "egress_gbps"] == "without preamble and gap, without FCS"
    assert used["edge-lag", "egress_gbps"] == "without preamble and gap, with FCS"
    assert {used[name, "total_gbps"] for name in ("edge-single", "edge-lag")} == {"2 × egress"}


def test_the_articles() -> None:
    sums = cells("nsx-east-west-sum")
    check(sums["least", "sum_us"], Q(8 + 3 + 13), "24")
    check(sums["most", "sum_us"], Q(14 + 10 + 16), "40")
    check(sums["least", "dfw_us"], Q("13.3"), "13")
    check(sums["most", "dfw_us"], Q("15.7"), "16")
    check(cells("nsx-east-west-units")["40 µs", "ms"], Q(40, 1000), "0.04")
    rates = cells("ipfix-packet-rate")
    check(rates["uni-directional", "lower_percent"], Q(25), "20", "30")
    check(rates["bi-directional", "lower_percent"], Q(10), "6", "12")
    drop = cells("ipfix-transaction-rate")["TCP_CRR", "drop_percent"]
    check(drop, Q(3700, 86), "20", "42")
    assert drop["is_within_rounding"]
    assert drop["rounding_lo"] == float(100 - 100 * Q("49.5") / Q("85.5"))
    check(cells("ipfix-configurations")["configurations", "n_sets"], Q(5), "3")


def test_pictures_are_said_to_be_pictures() -> None:
    for name in ("nsx-dfw-added-rtt", "nsx-east-west-raw", "ipfix-cpu-per-packet"):
        found = table(name)
        assert found["conclusion"].startswith("Nothing can be recomputed.")
        for cell in found["cells"]:
            assert (cell["recomputed"], cell["agrees"]) == (None, None)
            assert "picture" in cell["reason"]


@pytest.mark.parametrize(
    ("name", "column", "text"),
    [
        ("vxlan-draft-cpu-server2", "per_gbps_increase_percent", "{:.0f} to {:.0f} % more"),
        ("vxlan-draft-cpu-server2", "load_percent", "offered {:.0f} to {:.0f} %"),
        ("edge-single", "total_line_gbps", "comes to {:.1f} to {:.1f}"),
        ("edge-single", "egress_line_gbps", "{1:.1f} % of 100 Gb/s, and at {0:.1f} %"),
        ("nsx-east-west-sum", "vxlan_and_dlr_us", ""),
        ("ipfix-cpu-per-packet", "rx_change_percent", "{:.1f} % cheaper"),
        ("vxlan-draft-throughput", "change_percent", "cost {:.0f} % of"),
    ],
)
def test_a_conclusion_holds_the_figures_it_rests_on(name: str, column: str, text: str) -> None:
    found = table(name)
    values = [abs(row["value"]) for row in found["derived"] if row["column"] == column]
    ends = [max(values)] if "%" in text and text.count("{") == 1 else [min(values), max(values)]
    assert text.format(*ends) in found["conclusion"]


# ---- the document


def test_the_document_is_as_the_contract_has_it() -> None:
    document = audit()
    assert document["schema"] == "pcaplat.audit/1"
    shipped = [t.id for name in published_names() for t in load_published(name).tables]
    assert [found["id"] for found in document["tables"]] == shipped
    for found in document["tables"]:
        assert {"id", "source", "conclusion", "cells"} <= set(found)
        assert found["cells"]
        for cell in found["cells"]:
            assert set(cell) >= CELL_KEYS
            assert (cell["recomputed"] is None) is (cell["agrees"] is None)
            assert cell["reason"] or cell["agrees"]


def test_an_unknown_table_says_what_was_meant() -> None:
    with pytest.raises(ClaimError, match=r"'edge-singel' is no .*; did you mean edge-single\?"):
        audit(["edge-singel"])


# ---- the command


@pytest.mark.parametrize("name", sorted(formats("audit")))
def test_what_is_printed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "vxlan-draft", "nsx-dfw-latency", "edge-single", "--format", name]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert said.out == (GOLDEN / f"audit.{name}").read_text("utf-8")


def test_all_formats_hold_all_cells(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == audit()
    assert run(["audit", "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["table"], row["row"], row["column"]) for row in rows] == [
        (found["id"], cell["row"], cell["column"])
        for found in document["tables"]
        for cell in found["cells"]
    ]


def test_a_file_without_tables_is_skipped(
    tmp_path: Any,  # noqa: ANN401 - a path
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        '[[claims]]\nid = "a"\nsentence = "b"\nsource.document = "c"\nmetric = "rtt"\n'
        'scope.kind = "path"\nat_most = 1\nunit = "ms"\n'
    )
    assert run(["audit", str(file), "--format", "json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["tables"] == []
    assert "there is no table" in said.err
    file.write_text(file.read_text().replace("rtt", "rrt"))
    assert run(["audit", str(file)]) == 2
    assert f"{file}:5: claims[a].metric: 'rrt' is no metric; did you mean rtt?" in (
        capsys.readouterr().err
    )
