"""Published figures: claims, and tables as data, from the TOML files of claims/ or of your own."""

import tomllib
from collections.abc import Sequence
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Self

from pydantic import Field, ValidationError, model_validator

from pcaplat.errors import ClaimError
from pcaplat.published.checks import StrictModel, Text, mistake
from pcaplat.published.claims import Claim
from pcaplat.published.mistakes import explain, explain_bytes, explain_syntax
from pcaplat.published.sheets import Table
from pcaplat.toml import read_toml


class Document(StrictModel):
    """The document that a file's claims and tables are taken from."""

    title: Text
    publisher: Text | None = None


class Published(StrictModel):
    """The claims and tables of one file."""

    document: Document | None = None
    claims: list[Claim] = Field(default_factory=list)
    tables: list[Table] = Field(default_factory=list)

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if not (self.claims or self.tables):
            raise mistake("there is no claim and no table; write [[claims]] or [[tables]]")
        self._check_items("claims", self.claims)
        self._check_items("tables", self.tables)
        return self

    def _check_items(self, key: str, items: Sequence[Claim | Table]) -> None:
        seen: list[str] = []
        for index, item in enumerate(items):
            if item.id in seen:
                raise mistake(f"there is a {item.id} already", key, index, "id")
            seen.append(item.id)
            if self.document and not item.source.document:
                item.source.document = self.document.title
            if not item.source.document:
                raise mistake("source.document is missing, and there is no [document]", key, index)


def published_names() -> list[str]:
    """List the files of claims and tables that ship with pcaplat.

    Example:
        >>> "nsx-dfw-latency" in published_names()
        True
    """
    folder = files("pcaplat") / "claims"
    return sorted(
        f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")
    )


def load_published(name: str | Path) -> Published:
    """Read claims and tables.

    Args:
        name: One of `published_names()`, or the path of a TOML file with the keys of
            docs/prove/claims.md.

    Returns:
        The claims and tables, checked; numbers are decimals, as printed.

    Raises:
        ClaimError: There is no such file of ours, or something in it is wrong; with its line.
        OSError: The file cannot be opened.

    Example:
        >>> claim = load_published("nsx-dfw-latency").claims[0]
        >>> claim.lo, claim.hi, claim.unit
        (Decimal('13.3'), Decimal('15.7'), 'us')
    """
    if name in published_names():
        content = (files("pcaplat") / "claims" / f"{name}.toml").read_bytes()
        return parse_published(content, f"claims/{name}.toml")
    if str(name).endswith(".toml"):
        return parse_published(Path(name).read_bytes(), str(name))
    raise ClaimError.unknown(str(name), published_names())


def parse_published(content: bytes, where: str) -> Published:
    """Read claims and tables from the bytes of a TOML file; `where` stands in messages."""
    try:
        # TOML knows no other encoding, and Windows' line ends are line ends
        text = content.decode("utf-8").replace("\r\n", "\n")
        return Published.model_validate(read_toml(text, parse_float=Decimal))
    except UnicodeDecodeError as error:
        raise explain_bytes(error, where) from None
    except tomllib.TOMLDecodeError as error:
        raise explain_syntax(error, where) from None
    except ValidationError as error:
        raise explain(error, text, where, Published) from None
