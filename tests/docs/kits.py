"""The pages of docs/prove/studies that say how to measure a document's claims, tried out.

Each page's study file is taken from the page and run over captures of the study that ships: its
scenarios stand in for the page's, so that every claim is judged by real packets. `python -m
tests.docs.kits` writes the table of docs/prove/studies/claims.md, and the figures that the study
which ships must give, in tests/data/golden/east-west. No processor was sampled in that study: one
core that is busy all the time stands in for what esxtop would have written.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

import pcaplat
from pcaplat.comparing import compare
from pcaplat.published import load_published
from pcaplat.study.sources import RunReader
from pcaplat.validating import chosen_claims, scenarios_at, validate
from pcaplat.validating.verdicts import validate as judge
from tests.conftest import ROOT
from tests.support.shelf import SAMPLES

PAGES = ROOT / "docs" / "prove" / "studies"
TABLE_PAGE = PAGES / "claims.md"
TABLE = re.compile(r"(<!-- table -->\n).*?(<!-- end -->)", re.DOTALL)
TOML = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STUDY = SAMPLES / "east-west"
GOLDEN = ROOT / "tests" / "data" / "golden" / "east-west"
N_RUNS = 5
N_SAMPLES = 40
HOSTS = {
    "esx1-vnic": "host1-vm",
    "esx1-uplink": "host1-up",
    "esx2-uplink": "host2-up",
    "esx2-vnic": "host2-vm",
}
SIZES = (256, 512, 650, 1024, 1500)


@dataclass(frozen=True)
class Kit:
    """A page, and what stands in for its scenarios and captures in the study that ships."""

    name: str
    scenarios: dict[str, str]
    captures: dict[str, str]

    @property
    def page(self) -> str:
        """The page's text."""
        return (PAGES / f"{self.name}.md").read_text("utf-8")

    @property
    def study(self) -> str:
        """The study file that the page shows."""
        (found,) = [block for block in TOML.findall(self.page) if "[scenarios" in block]
        return str(found)

    def lay_out(self, folder: Path) -> Path:
        """Make the folder that the study file is about; give the study file."""
        for scenario, stand_in in self.scenarios.items():
            for number in range(1, N_RUNS + 1):
                run = folder / scenario / f"run{number}"
                run.mkdir(parents=True)
                for point, source in self.captures.items():
                    file = f"{source}.pcap.zst"
                    (run / f"{point}.pcap.zst").symlink_to(STUDY / stand_in / run.name / file)
                if "[instruments.cpu]" in self.study:
                    (run / "esx1-esxtop.csv").write_text(busy_core(run), "utf-8")
        where = folder / "study.toml"
        where.write_text(self.study, "utf-8")
        return where

    def verdicts(self) -> list[dict[str, Any]]:
        """Judge its claims."""
        with TemporaryDirectory(prefix="pcaplat-kit-") as name:
            where = str(self.lay_out(Path(name)))
            claims = chosen_claims([self.name])
            # one capture stands in for several scenarios, which `validate` refuses
            document = judge(claims, scenarios_at(where, claims, RunReader()))
        return list(document["verdicts"])


def busy_core(run: Path) -> str:
    """Write a run's time as esxtop would: of two cores one is busy, in each of its samples."""
    file = next(iter(sorted(run.glob("*.pcap.zst"))))
    t_ns = pl.DataFrame(pcaplat.read(file))["t_ns"].to_numpy()
    start_ns, step_ns = int(t_ns.min()), int(np.ptp(t_ns)) // N_SAMPLES
    cpu = [rf"\\esx1\Physical Cpu({core})\% Util Time" for core in ("0", "1", "_Total")]
    lines = [["(PDH-CSV 4.0) (UTC)(0)", *cpu]]
    for number in range(N_SAMPLES):
        moment = datetime.fromtimestamp((start_ns + number * step_ns) / 1e9, UTC)
        lines.append([f"{moment:%m/%d/%Y %H:%M:%S.%f}", "100", "0", "50"])
    return "".join(",".join(f'"{cell}"' for cell in line) + "\n" for line in lines)


KITS = (
    Kit(
        "nsx-dfw-latency",
        {"l2": "l2", "dfw": "dfw"},
        HOSTS,
    ),
    Kit(
        "nsx-vxlan-dlr-latency",
        {n: n for n in ("l2", "vxlan", "vxlan-routed", "dfw", "vxlan-routed-dfw")},
        HOSTS,
    ),
    Kit(
        "vds-ipfix",
        {
            "baseline": "l2",
            "ipfix": "dfw-stateless",
            "ipfix-bi": "dfw",
            "ipfix-5k": "vxlan",
            "ipfix-bi-5k": "vxlan-routed",
            "baseline-8-pairs": "l2",
            "ipfix-8-pairs": "dfw-stateless",
            "ipfix-bi-8-pairs": "dfw",
        },
        {"esx1-vnic": "host1-vm", "esx2-vnic": "host2-vm"},
    ),
    Kit(
        "nsx-bare-metal-edge",
        {f"{way}-{size}": "vxlan" for way in ("single", "lag") for size in SIZES},
        {"overlay": "host2-up", "uplink": "host2-vm"},
    ),
    Kit(
        "vxlan-draft",
        {
            "l2": "l2",
            "vxlan": "vxlan",
            "l2-4-pairs": "dfw",
            "vxlan-4-pairs": "vxlan-l3",
            "vxlan-busy": "vxlan-routed",
            "overload": "dfw-stateless",
        },
        {name: HOSTS[name] for name in ("esx1-vnic", "esx1-uplink", "esx2-vnic")},
    ),
)


def table() -> str:
    """Write every claim with its verdict on the stand-ins."""
    head = "| claim | stands in | verdict | because |\n| --- | --- | --- | --- |\n"
    return head + "".join(map(rows, KITS))


def rows(kit: Kit) -> str:
    """Write a page's claims with their verdicts."""
    found, lines = {row["id"]: row for row in kit.verdicts()}, []
    for claim in load_published(kit.name).claims:
        scope = claim.scope
        names = [n for n in (scope.treatment, scope.baseline, scope.scenario) if n]
        standing = " − ".join(f"`{kit.scenarios[name]}`" for name in names)
        row = found[claim.id]
        lines.append(f"| `{claim.id}` | {standing} | {row['verdict']} | {row['reason']} |\n")
    return "".join(lines)


def golden(name: str) -> dict[str, Any]:
    """Give the verdicts or a comparison of the study that ships, by the file they stand in."""
    where = STUDY / "study.toml"
    if name == "verdicts.json":
        return dict(validate(where))
    return dict(compare(f"{where}:l2", f"{where}:vxlan"))


def main() -> None:
    """Write the table, and the figures of the study that ships."""
    text = TABLE_PAGE.read_text("utf-8")
    TABLE_PAGE.write_text(TABLE.sub(lambda match: match[1] + table() + match[2], text), "utf-8")
    for name in ("verdicts.json", "comparison.json"):
        text = json.dumps(golden(name), indent=1, ensure_ascii=False)
        (GOLDEN / name).write_text(f"{text}\n", "utf-8")


if __name__ == "__main__":
    main()
