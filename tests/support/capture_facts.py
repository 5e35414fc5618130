"""What reading tells of capture files, made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pcaplat.model.sampled import FileFacts, FragmentCounts, InterfaceFacts, StampOrder

IN_ORDER = StampOrder(
    n_backward=0,
    longest_behind=0,
    behind_from=0,
    behind_ns=0,
    n_in_bursts=[0] * 6,
    longest_burst=0,
    burst_from=0,
    least_wait_ns=None,
)
USUAL = InterfaceFacts(
    interface=0,
    name=None,
    link=1,
    why_unread=None,
    snap_bytes=262_144,
    clock=0,
    is_aligned=False,
    declared_resolution_ns=1.0,
    n_dropped=None,
    stamps=None,
    observed_resolution_ns=1,
    n_frames=10,
    n_undecoded=0,
    n_cut=0,
    longest_bytes=60,
    first_t_ns=100,
    last_t_ns=900,
    disorder_ns=0,
    order=IN_ORDER,
    queue=[],
    hidden_ports=[],
    n_encrypted=0,
    mirrors=[],
    hop_times=[],
    n_nodes_beyond=0,
    n_by_depth=[10, 0],
    n_checksums=[0, 0],
    n_partial=[0, 0],
)


def interface(number: int = 0, name: str | None = None, **facts: Any) -> InterfaceFacts:  # noqa: ANN401 - fields of it
    return replace(USUAL, interface=number, name=name, **facts)


def facts(*interfaces: InterfaceFacts, damage: list[tuple[int, str]] | None = None) -> FileFacts:
    return FileFacts(
        format="pcap",
        digest_key=None,
        is_truncated=bool(damage),
        damage=damage or [],
        prefixes=[],
        fragments=FragmentCounts(0, 0, 0, 0),
        places=[],
        interfaces=interfaces,
    )
