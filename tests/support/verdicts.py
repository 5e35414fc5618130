"""Claims written for a test, and the rows that `pcaplat validate` gives for them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pcaplat.cli import run as run_command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pytest

DIFFERENCE = 'scope = { kind = "difference", treatment = "slow", baseline = "plain" }'
PATH = 'scope = { kind = "path" }'
SURE = {"held", "refuted"}


def claim(bound: str, scope: str = PATH, *, name: str = "one", metric: str = "rtt") -> str:
    """One claim in TOML; `bound` and what else stands in its lines."""
    unit = "" if "unit =" in bound else 'unit = "us"\n'
    head = f'[[claims]]\nid = "{name}"\nsentence = "a claim of {name}"\nsource.document = "d"\n'
    return f'{head}metric = "{metric}"\n{scope}\n{unit}{bound}\n'


def write_claims(folder: Path, *claims: str) -> Path:
    """A file of claims."""
    path = folder / "claims.toml"
    path.write_text("\n".join(claims))
    return path


class Validate:
    """Runs the command; keeps what it printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys
        self.out = self.err = ""
        self.status = -1

    def __call__(self, *arguments: object) -> list[dict[str, Any]]:
        """Give the verdicts; none where the command refused."""
        self.status = run_command(["validate", *map(str, arguments), "--format", "json"])
        said = self.capsys.readouterr()
        self.out, self.err = said.out, said.err
        return list(json.loads(self.out)["verdicts"]) if self.out.startswith("{") else []


def sources(folders: Mapping[str, Path]) -> list[str]:
    """SCENARIO=DIR of each."""
    return [f"{name}={folder}" for name, folder in folders.items()]


def words(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The verdicts alone."""
    return [row["verdict"] for row in rows]
