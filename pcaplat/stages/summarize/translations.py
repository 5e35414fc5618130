"""Learned translations as rows: which flow here is which flow there."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pcaplat.model.path import Findings

ROUND = 1 << 32
"""TCP sequence numbers are counted modulo this (RFC 9293 §3.4)."""


def translation_rows(
    findings: Findings, sessions: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Give one row per translated flow and segment, as packets go forward.

    Args:
        findings: What the survey found.
        sessions: What was learned: `sides` of two points, `n` packets that say so, `ahead`.
    """
    points = {point.name: i for i, point in enumerate(findings.points)}
    sessions = [_placed(findings, session, points) for session in sessions]
    nearest: dict[int, list[_Told]] = {}
    for told in sorted((_told(findings, session) for session in sessions), key=lambda t: t.span):
        # the nearest points that saw both addresses tell where; farther ones say the same again
        others = nearest.setdefault(told.leg, [])
        if not any(told.overlaps(other) for other in others):
            others.append(told)
    kept = sorted((told for others in nearest.values() for told in others), key=lambda t: t.from_ns)
    return [_row(findings, told.session) for told in kept]


def _placed(
    findings: Findings, session: Mapping[str, Any], points: Mapping[str, int]
) -> dict[str, Any]:
    """Give both sides their point; of a file that is divided by now, any of its points."""
    sides = []
    for side in session["sides"]:
        files = ({file for file, _ in point.sources} for point in findings.points)
        of_file = (at for at, of in enumerate(files) if side["file"] in of)
        point = points.get(side["point"])
        sides.append({**side, "point": next(of_file) if point is None else point})
    return {**session, "sides": sides}


class _Told(NamedTuple):
    """What was learned between two points: over how many segments, of which flow, and when."""

    span: int
    leg: int
    from_ns: int
    to_ns: int
    session: Mapping[str, Any]

    def overlaps(self, other: "_Told") -> bool:
        return self.from_ns <= other.to_ns and other.from_ns <= self.to_ns


def _told(findings: Findings, session: Mapping[str, Any]) -> _Told:
    near, far = _in_order(findings, session)
    span = findings.places[far["point"]] - findings.places[near["point"]]
    from_ns, to_ns = (
        findings.aligned(near["point"], near[name]) for name in ("first_t_ns", "last_t_ns")
    )
    return _Told(span, near["leg"], from_ns, to_ns, session)


def _in_order(findings: Findings, session: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Give both sides, the one nearer the path's first point first."""
    return sorted(session["sides"], key=lambda side: findings.places[side["point"]])


def _row(findings: Findings, session: Mapping[str, Any]) -> dict[str, Any]:
    near, far = _in_order(findings, session)
    is_forward = _goes_forward(findings, session["sides"])
    sent, heard = session["ahead"]
    if near is not session["sides"][0]:
        sent, heard = _negated(sent), _negated(heard)
    return {
        "near": findings.name(near["point"]),
        "far": findings.name(far["point"]),
        "protocol": near["protocol"],
        **_ends("near", near, is_forward=is_forward),
        **_ends("far", far, is_forward=is_forward),
        "first_t_ns": near["first_t_ns"],
        "last_t_ns": near["last_t_ns"],
        "n": session["n"],
        "seq_shift": sent if is_forward else heard,
        "ack_shift": heard if is_forward else sent,
    }


def _goes_forward(findings: Findings, sides: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether the first packet went forward; of a flow without direction say so."""
    for side in sides:
        pair, is_toward = side["is_forward_pair"]
        if pair in findings.toward_is_forward:
            return bool(findings.toward_is_forward[pair] == is_toward)
    return True


def _negated(shift: int | None) -> int | None:
    return None if shift is None else -shift % ROUND


def _ends(name: str, side: Mapping[str, Any], *, is_forward: bool) -> dict[str, Any]:
    src, dst = ("src", "dst") if is_forward else ("dst", "src")
    return {
        f"{name}_src": side[src],
        f"{name}_src_port": _port(side[f"{src}_port"]),
        f"{name}_dst": side[dst],
        f"{name}_dst_port": _port(side[f"{dst}_port"]),
    }


def _port(port: int) -> int | None:
    return None if port < 0 else port
