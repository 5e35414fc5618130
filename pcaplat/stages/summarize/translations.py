"""Learned translations as rows: which flow here is which flow there."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pcaplat.model.path import Findings
from pcaplat.model.translated import SessionSide, TranslatedSession
from pcaplat.records import dataclass

ROUND = 1 << 32
"""TCP sequence numbers are counted modulo this (RFC 9293 §3.4)."""


def translation_rows(
    findings: Findings, sessions: Sequence[TranslatedSession], names: Sequence[str]
) -> list[dict[str, Any]]:
    """Give one row per translated flow and segment, as packets go forward.

    Args:
        findings: What the survey found.
        sessions: What was learned.
        names: Of the points that were known then.
    """
    points = {point.name: i for i, point in enumerate(findings.points)}
    placed = [_placed(findings, session, names, points) for session in sessions]
    nearest: dict[int, list[_Told]] = {}
    for told in sorted((_told(findings, session) for session in placed), key=lambda t: t.span):
        # the nearest points that saw both addresses tell where; farther ones say the same again
        others = nearest.setdefault(told.leg, [])
        if not any(told.overlaps(other) for other in others):
            others.append(told)
    kept = sorted((told for others in nearest.values() for told in others), key=lambda t: t.from_ns)
    return [_row(findings, told.placed) for told in kept]


@dataclass(frozen=True)
class _Placed:
    """A session, and the point of each of its sides."""

    session: TranslatedSession
    points: tuple[int, int]

    def in_order(self, findings: Findings) -> list[tuple[int, SessionSide]]:
        """Give both sides with their points, the one nearer the path's first point first."""
        sides = zip(self.points, self.session.sides, strict=True)
        return sorted(sides, key=lambda side: findings.places[side[0]])


def _placed(
    findings: Findings,
    session: TranslatedSession,
    names: Sequence[str],
    points: Mapping[str, int],
) -> _Placed:
    """Give both sides their point; of a file that is divided by now, any of its points."""
    found = []
    for side in session.sides:
        files = ({file for file, _ in point.sources} for point in findings.points)
        of_file = (at for at, of in enumerate(files) if side.file in of)
        point = points.get(names[side.place])
        found.append(next(of_file) if point is None else point)
    return _Placed(session, (found[0], found[1]))


class _Told(NamedTuple):
    """What was learned between two points: over how many segments, of which flow, and when."""

    span: int
    leg: int
    from_ns: int
    to_ns: int
    placed: _Placed

    def overlaps(self, other: "_Told") -> bool:
        return self.from_ns <= other.to_ns and other.from_ns <= self.to_ns


def _told(findings: Findings, placed: _Placed) -> _Told:
    (near, side), (far, _) = placed.in_order(findings)
    span = findings.places[far] - findings.places[near]
    from_ns, to_ns = (findings.aligned(near, t_ns) for t_ns in (side.first_t_ns, side.last_t_ns))
    return _Told(span, side.leg, from_ns, to_ns, placed)


def _row(findings: Findings, placed: _Placed) -> dict[str, Any]:
    (near, here), (far, there) = placed.in_order(findings)
    session = placed.session
    is_forward = _goes_forward(findings, session.sides)
    sent, heard = session.ahead
    if here is not session.sides[0]:
        sent, heard = _negated(sent), _negated(heard)
    return {
        "near": findings.name(near),
        "far": findings.name(far),
        "protocol": here.protocol,
        **_ends("near", here, is_forward=is_forward),
        **_ends("far", there, is_forward=is_forward),
        "first_t_ns": here.first_t_ns,
        "last_t_ns": here.last_t_ns,
        "n": session.n,
        "seq_shift": sent if is_forward else heard,
        "ack_shift": heard if is_forward else sent,
    }


def _goes_forward(findings: Findings, sides: Sequence[SessionSide]) -> bool:
    """Tell whether the first packet went forward; of a flow without direction say so."""
    for side in sides:
        pair, is_toward = side.is_forward_pair
        if pair in findings.toward_is_forward:
            return bool(findings.toward_is_forward[pair] == is_toward)
    return True


def _negated(shift: int | None) -> int | None:
    return None if shift is None else -shift % ROUND


def _ends(name: str, side: SessionSide, *, is_forward: bool) -> dict[str, Any]:
    src, dst = (side.src, side.src_port), (side.dst, side.dst_port)
    if not is_forward:
        src, dst = dst, src
    return {
        f"{name}_src": src[0],
        f"{name}_src_port": _port(src[1]),
        f"{name}_dst": dst[0],
        f"{name}_dst_port": _port(dst[1]),
    }


def _port(port: int) -> int | None:
    return None if port < 0 else port
