"""Finds the same packet in captures from several points of one path, and says where the time went.

The way of the data; a later line never hands anything to an earlier one:

    captures ─▶ stages.read       packets: what the core decodes of every frame
      pass 1 ─▶ stages.survey     the same few packets at every point: points, path, usual delays
      pass 2 ─▶ stages.match      the survey's plan; the core pairs, counts copies and losses
             ─▶ stages.align      clocks: offset, drift and steps, each with bounds
             ─▶ stages.attribute  latency of each segment and direction, share of the round trip
             ─▶ stages.summarize  summary.json: counts, quantiles, intervals, warnings
    run does all of it; a result counts breakdowns and traffic when it is asked to. metrics take
    figures from results, for comparing, validating, benchmarking; linting needs pass 1 alone;
    outputs print and write every document.

The rooms, each of which uses only those before it (docs/project/contributing.md):

    errors, records < units, text < tables < model < points, instruments < statistics < metrics
      < published < diagnostics < stages < breakdowns, traffic < run < linting, digesting < study
      < capturing, comparing, validating, benchmarking, auditing, tracing < outputs < cli

Here are the verbs and types that are public; each is imported when it is first asked for, because
`pcaplat --version` should not wait for polars.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pcaplat.auditing import audit as audit
    from pcaplat.benchmarking import rfc2544 as rfc2544
    from pcaplat.comparing import compare as compare
    from pcaplat.digesting import digest as digest
    from pcaplat.errors import EngineError as EngineError
    from pcaplat.errors import EvidenceError as EvidenceError
    from pcaplat.errors import InputError as InputError
    from pcaplat.errors import PcaplatError as PcaplatError
    from pcaplat.errors import PcaplatWarning as PcaplatWarning
    from pcaplat.linting import lint as lint
    from pcaplat.outputs import write as write
    from pcaplat.points import Profile as Profile
    from pcaplat.points import load_profile as load_profile
    from pcaplat.published import Published as Published
    from pcaplat.published import load_published as load_published
    from pcaplat.run.merge import merge as merge
    from pcaplat.run.result import Result as Result
    from pcaplat.stages.read import follow as follow
    from pcaplat.stages.read import read as read
    from pcaplat.stages.read import scan as scan
    from pcaplat.tracing import trace as trace
    from pcaplat.tracing.dissectors import from_scapy as from_scapy
    from pcaplat.tracing.dissectors import to_pyshark as to_pyshark
    from pcaplat.tracing.dissectors import to_scapy as to_scapy
    from pcaplat.validating import validate as validate

    __version__: str

HOMES = {
    "EngineError": "pcaplat.errors",
    "EvidenceError": "pcaplat.errors",
    "InputError": "pcaplat.errors",
    "PcaplatError": "pcaplat.errors",
    "PcaplatWarning": "pcaplat.errors",
    "Profile": "pcaplat.points",
    "Published": "pcaplat.published",
    "Result": "pcaplat.run.result",
    "audit": "pcaplat.auditing",
    "compare": "pcaplat.comparing",
    "digest": "pcaplat.digesting",
    "follow": "pcaplat.stages.read",
    "from_scapy": "pcaplat.tracing.dissectors",
    "lint": "pcaplat.linting",
    "load_profile": "pcaplat.points",
    "load_published": "pcaplat.published",
    "merge": "pcaplat.run.merge",
    "read": "pcaplat.stages.read",
    "rfc2544": "pcaplat.benchmarking",
    "scan": "pcaplat.stages.read",
    "to_pyshark": "pcaplat.tracing.dissectors",
    "to_scapy": "pcaplat.tracing.dissectors",
    "trace": "pcaplat.tracing",
    "validate": "pcaplat.validating",
    "write": "pcaplat.outputs",
}

__all__ = [
    "EngineError",
    "EvidenceError",
    "InputError",
    "PcaplatError",
    "PcaplatWarning",
    "Profile",
    "Published",
    "Result",
    "__version__",
    "audit",
    "compare",
    "digest",
    "follow",
    "from_scapy",
    "lint",
    "load_profile",
    "load_published",
    "merge",
    "read",
    "rfc2544",
    "scan",
    "to_pyshark",
    "to_scapy",
    "trace",
    "validate",
    "write",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - it stands for every public name
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("pcaplat")
    if name in HOMES:
        return getattr(importlib.import_module(HOMES[name]), name)
    raise AttributeError(f"module 'pcaplat' has no attribute {name!r}", name=name)


def __dir__() -> list[str]:
    return __all__
