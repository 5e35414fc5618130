"""Typed documents: what lint, audit, compare and validate give is what their types say."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

import pcaplat
from pcaplat.tables.documents import (
    AuditDocument,
    ComparisonDocument,
    LintDocument,
    VerdictsDocument,
)
from tests.conftest import ROOT

SAMPLES = ROOT / "samples"


def wrong(value: Any, kind: Any, at: str = "") -> list[str]:  # noqa: ANN401, PLR0911 - any part of a document
    """Where a value is not of its type."""
    if is_typeddict(kind) and not isinstance(value, dict):
        return [f"{at}: {value!r}"]
    if is_typeddict(kind):
        hints = get_type_hints(kind)
        found = [f"{at}.{name}: not declared" for name in value.keys() - hints.keys()]
        found += [f"{at}.{name}: missing" for name in kind.__required_keys__ - value.keys()]
        known = hints.keys() & value.keys()
        return found + [
            w for name in known for w in wrong(value[name], hints[name], f"{at}.{name}")
        ]
    origin, parts = get_origin(kind), get_args(kind)
    if origin is list:
        return [w for i, each in enumerate(value) for w in wrong(each, parts[0], f"{at}[{i}]")]
    if origin is dict:
        return [w for name, each in value.items() for w in wrong(each, parts[1], f"{at}.{name}")]
    if origin in {Union, UnionType}:
        return [] if any(not wrong(value, part, at) for part in parts) else [f"{at}: {value!r}"]
    if origin is Literal:
        return [] if value in parts else [f"{at}: {value!r}"]
    kinds = {float: (int, float), int: (int,), bool: (bool,), str: (str,), NoneType: (NoneType,)}
    is_bool_for_number = isinstance(value, bool) and kind in {int, float}
    is_right = isinstance(value, kinds[kind]) and not is_bool_for_number
    return [] if is_right else [f"{at}: {value!r} is no {kind.__name__}"]


def test_a_document_is_what_its_type_says() -> None:
    vxlan, delayed = SAMPLES / "vxlan", SAMPLES / "vxlan-delay200"
    runs = {"l2": str(SAMPLES / "l2"), "vxlan": str(vxlan)}
    lint = pcaplat.lint(sorted(vxlan.glob("*.pcap")))
    assert wrong(lint, LintDocument) == []
    assert wrong(pcaplat.audit(), AuditDocument) == []
    assert wrong(pcaplat.compare(vxlan, delayed), ComparisonDocument) == []
    verdicts = pcaplat.validate("nsx-vxlan-dlr-latency", runs)
    assert wrong(verdicts, VerdictsDocument) == []


def test_the_check_sees_what_is_wrong() -> None:
    finding = {"code": "a", "severity": "grave", "file": None, "point": 3, "evidence": ""}
    found = wrong({"schema": "x", "findings": [finding | {"more": 1}]}, LintDocument)
    assert len(found) == 5
