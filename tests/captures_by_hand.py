"""What reading tells of capture files, made by hand."""

from __future__ import annotations

from typing import Any

Facts = dict[str, Any]


def interface(number: int = 0, name: str | None = None, **facts: object) -> dict[str, Any]:
    usual = {
        "interface": number,
        "name": name,
        "link": 1,
        "why_unread": None,
        "declared_resolution_ns": 1.0,
        "observed_resolution_ns": 1,
        "n_dropped": None,
        "stamps": None,
        "n_frames": 10,
        "longest_bytes": 60,
        "n_undecoded": 0,
        "first_t_ns": 100,
        "last_t_ns": 900,
        "disorder_ns": 0,
        "snap_bytes": 262_144,
        "order": {"n_backward": 0, "longest_behind": 0, "n_in_bursts": [0] * 6},
        "queue": [],
        "mirrors": [],
        "hidden_ports": [],
        "n_encrypted": 0,
        "n_by_depth": [10, 0],
        "n_cut": 0,
        "n_checksums": [0, 0],
        "n_partial": [0, 0],
    }
    return usual | facts


def facts(*interfaces: dict[str, Any], damage: list[tuple[int, str]] | None = None) -> Facts:
    return {"interfaces": list(interfaces), "damage": damage or [], "is_truncated": bool(damage)}
