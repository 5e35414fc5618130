"""Every metric of the schema can be claimed, and is judged on real captures, end to end."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import pytest

from pcaplat.metrics.registry import METRICS, units_of
from pcaplat.published.schema import claims_schema
from pcaplat.study.sources import RunReader
from pcaplat.validating import chosen_claims, scenarios_at
from pcaplat.validating.verdicts import validate
from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

SAMPLE = ROOT / "samples" / "instruments"
CLAIM = """
[[claims]]
id = "{id}"
sentence = "It is so"
metric = "{metric}"
scope = {scope}
relative = {relative}
interval = [-1e15, 1e15]
unit = "{unit}"
"""
MEMORY = """
[instruments.memory]
file = "memory.csv"
format = "csv"
time = "when"
value = "used"
"""
PLAIN = '{ kind = "path", scenario = "plain" }'
CHANGE = '{ kind = "difference", treatment = "again", baseline = "plain" }'
MAY_BE_NOTHING = (
    *("loss-ratio", "encapsulation-overhead", "two-way-contribution", "rtt"),
    *("throughput-l1", "throughput-l2", "throughput-l3", "goodput"),
)


def claims() -> Sequence[str]:
    found = []
    for metric in METRICS:
        core = [unit for unit in units_of(metric) if unit not in {"MHz", "GHz"}]
        found += [
            CLAIM.format(
                id=f"{metric}-{number}", metric=metric, scope=PLAIN, relative="false", unit=unit
            )
            for number, unit in enumerate(core)
        ]
        for id_, relative, unit in (
            (f"{metric}-rel", "true", "%"),
            (f"{metric}-d", "false", core[0]),
        ):
            found.append(
                CLAIM.format(id=id_, metric=metric, scope=CHANGE, relative=relative, unit=unit)
            )
    return found


@cache
def verdicts() -> dict[str, dict[str, Any]]:
    folder = Path(mkdtemp()) / "s"
    shutil.copytree(SAMPLE, folder)
    (folder / "claims.toml").write_text('document = { title = "t" }\n' + "".join(claims()))
    study = folder / "study.toml"
    sar = json.loads((folder / "run" / "sar.json").read_text())
    stamps = [row["timestamp"] for row in sar["sysstat"]["hosts"][0]["statistics"]]
    rows = [f"{one['date']}T{one['time']}Z,{1500 + n}\n" for n, one in enumerate(stamps)]
    (folder / "run" / "memory.csv").write_text("when,used\n" + "".join(rows))
    study.write_text(study.read_text() + MEMORY + '[scenarios.again]\nruns = ["run"]\n')
    asked = chosen_claims([str(folder / "claims.toml")])
    # the same run twice, which `validate` refuses
    document = validate(asked, scenarios_at(str(study), asked, RunReader()))
    shutil.rmtree(folder.parent)
    return {row["id"]: row for row in document["verdicts"]}


def test_the_schema_has_the_metrics_that_are_measured() -> None:
    schema = claims_schema()
    assert all(json.dumps(metric) in schema for metric in METRICS)
    assert len(METRICS) >= 17


@pytest.mark.parametrize("metric", METRICS)
def test_a_claim_of_it_is_judged(metric: str) -> None:
    rows = [row for id_, row in verdicts().items() if id_.startswith(f"{metric}-")]
    units = {row["unit"]: row for row in rows if row["id"][-1].isdigit()}
    assert units
    for row in units.values():
        assert row["estimate"] is not None, row["reason"]
        assert row["verdict"] in {"held", "undecided"}
        assert row["reason"]


@pytest.mark.parametrize("metric", METRICS)
def test_its_difference_and_relative_change_are_judged(metric: str) -> None:
    assert verdicts()[f"{metric}-d"]["estimate"] == pytest.approx(0)
    row = verdicts()[f"{metric}-rel"]
    if row["estimate"] is None:
        # of what may be nothing there is no share
        assert "may be 0" in row["reason"]
        assert metric in MAY_BE_NOTHING
    else:
        assert row["estimate"] == pytest.approx(0), row["reason"]
