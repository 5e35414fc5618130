"""What RFC 2544 asks of a benchmark, and what of it these trials have.

Each requirement is found, lacking, or not visible in captures. Sections are those of RFC 2544.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from pcaplat.records import dataclass
from pcaplat.tables.columns import Row

FOUND, LACKING, INVISIBLE = "found", "lacking", "not visible"
ETHERNET_BYTES = (64, 128, 256, 512, 1024, 1280, 1518)
TRIAL_S, LATENCY_S, RESIDUAL_S, STABLE_S = 60, 120, 2, 5
REPEATS = 20
NEAR_S = 0.5
"""A trial is cut to whole frames, and starts are not the tester's: so much less is still enough."""

NS_PER_S = 1e9


@dataclass(frozen=True)
class TrialEvidence:
    """Trials as the requirements look at them; `cover` is each direction's receiver's capture.

    `moments` are what the stamps of sender and receiver stand for: first-bit (or taken back to it),
    last-bit, host, or None where nobody says.
    """

    trials: Sequence[Row]
    cells: Sequence[Row]
    results: Sequence[Row]
    cover: dict[tuple[str, str], tuple[int, int]]
    moments: AbstractSet[tuple[str | None, str | None]] = frozenset({(None, None)})


def requirements_of(asked: TrialEvidence) -> list[Row]:
    """Judge the trials by every requirement; `verdict` is found, lacking or not visible."""
    listed = (
        ("frame sizes of Ethernet: 64, 128, 256, 512, 1024, 1280, 1518 bytes", "", _sizes(asked)),
        ("each trial lasts 60 s", "24", _duration(asked)),
        ("routes and learned addresses have settled before each trial", "23", _LEARNING),
        ("2 s for residual frames after each trial", "23", _residual(asked)),
        ("5 s more for the device to restabilise", "23", _stable(asked)),
        ("frames in both directions at once", "14", _both_ways(asked)),
        ("the fastest rate without loss, with loss at a faster one", "26.1", _throughput(asked)),
        ("latency at the throughput rate of each size", "26.2", _at_throughput(asked)),
        ("latency from streams of 120 s", "26.2", _streams(asked)),
        ("latency from 20 repetitions, their mean", "26.2", _repeats(asked)),
        ("one tagged frame, 60 s after the start", "26.2", _TAG),
        ("which latency is meant (RFC 1242 §3.8)", "26.2", _definition(asked)),
        ("frame loss from the maximum rate of the line downwards", "26.3", _LINE),
    )
    return [
        {"requirement": text, "section": section or None, "verdict": verdict, "evidence": evidence}
        for text, section, (verdict, evidence) in listed
    ]


Finding = tuple[str, str]
_LEARNING: Finding = (INVISIBLE, "what the devices had learned is in no capture")
_TAG: Finding = (
    INVISIBLE,
    "a tag looks like any other payload; pcaplat timed every frame, which is more than one",
)
_LINE: Finding = (INVISIBLE, "the line's rate is in no capture; see the table for rates and loss")


LATENCIES = {
    ("first-bit", "first-bit"): "first bit in to first bit out, as of bit forwarding devices",
    ("last-bit", "first-bit"): "last bit in to first bit out, as of store and forward devices",
}
"""What RFC 1242 §3.8 calls latency, by what stamps of sender and receiver stand for."""


def _definition(asked: TrialEvidence) -> Finding:
    if any(moment is None for both in asked.moments for moment in both):
        return INVISIBLE, (
            "latencies are differences of timestamps; captures do not show whether these mark the "
            "first or the last bit; declare it with --stamped-at POINT=first-bit or last-bit"
        )
    meant = sorted(LATENCIES[both] for both in asked.moments if both in LATENCIES)
    others = sorted(" to ".join(map(str, both)) for both in asked.moments - LATENCIES.keys())
    if not others:
        return FOUND, f"as declared, from {'; and '.join(meant)}"
    return LACKING, (
        f"as declared, from {', '.join(others)}, which is neither; --link-rate moves timestamps of "
        "the last bit to the first; timestamps of a host mark no bit"
    )


def _sizes(asked: TrialEvidence) -> Finding:
    sizes = {row["frame_bytes"] for row in asked.trials}
    missing = [size for size in ETHERNET_BYTES if size not in sizes]
    have = ", ".join(str(size) for size in sorted(size for size in sizes if size)) or "mixes only"
    if not missing:
        return FOUND, f"sizes: {have}"
    return LACKING, f"sizes: {have}; without {', '.join(map(str, missing))}"


def _duration(asked: TrialEvidence) -> Finding:
    lasted = [row["duration_s"] or 0.0 for row in asked.trials]
    n_short = sum(one < TRIAL_S - NEAR_S for one in lasted)
    spread = f"trials last {min(lasted):.3g} s to {max(lasted):.3g} s"
    if not n_short:
        return FOUND, spread
    return LACKING, f"{spread}; {n_short} of {len(lasted)} are shorter"


def _pauses(asked: TrialEvidence) -> tuple[list[float], int]:
    """Time without trial after each, and of how many the capture ends first."""
    pauses, n_unseen = [], 0
    by_place: dict[tuple[str, str], list[Row]] = {}
    for row in asked.trials:
        by_place.setdefault((row["run"], row["direction"]), []).append(row)
    for place, rows in by_place.items():
        ordered = sorted(rows, key=lambda row: row["start_ns"])
        starts = [row["start_ns"] for row in ordered[1:]]
        pauses += [
            (at - row["end_ns"]) / NS_PER_S for row, at in zip(ordered, starts, strict=False)
        ]
        n_unseen += (asked.cover[place][1] - ordered[-1]["end_ns"]) / NS_PER_S < RESIDUAL_S
    return pauses, n_unseen


def _residual(asked: TrialEvidence) -> Finding:
    return _pause(asked, RESIDUAL_S)


def _stable(asked: TrialEvidence) -> Finding:
    return _pause(asked, RESIDUAL_S + STABLE_S)


def _pause(asked: TrialEvidence, least_s: int) -> Finding:
    pauses, n_unseen = _pauses(asked)
    n_short = sum(pause < least_s - NEAR_S for pause in pauses)
    if n_short:
        shortest = f"the shortest pause is {min(pauses):.3g} s"
        return LACKING, f"{n_short} of {len(pauses)} pauses between trials are shorter; {shortest}"
    if not pauses or (n_unseen and least_s == RESIDUAL_S):
        return (
            INVISIBLE,
            f"the receiver's capture ends within {RESIDUAL_S} s of the last frame sent",
        )
    return FOUND, f"the shortest pause is {min(pauses):.3g} s"


def _both_ways(asked: TrialEvidence) -> Finding:
    forward, reverse = (
        [row for row in asked.trials if row["direction"] == way] for way in ("forward", "reverse")
    )
    matched = [
        one
        for one in forward
        if any(
            one["run"] == other["run"]
            and one["start_ns"] < other["end_ns"]
            and other["start_ns"] < one["end_ns"]
            for other in reverse
        )
    ]
    if matched:
        return (
            FOUND,
            f"{len(matched)} of {len(forward)} forward trials had one in reverse meanwhile",
        )
    return LACKING, "every trial goes one way only"


def _throughput(asked: TrialEvidence) -> Finding:
    open_ = [row for row in asked.results if not row["is_bracketed"]]
    if not open_:
        return FOUND, "of each size, no loss at one rate and loss at a faster one"
    return LACKING, "not so: " + ", ".join(map(_named, open_))


def _named(row: Row) -> str:
    size = "a mix" if row["frame_bytes"] is None else f"{row['frame_bytes']} bytes"
    why = "every trial lost frames" if row["throughput_pps"] is None else "no trial beyond it"
    return f"{size} {row['direction']} ({why})"


def _best_cells(asked: TrialEvidence) -> list[Row]:
    return [
        cell
        for row in asked.results
        for cell in asked.cells
        if (cell["direction"], cell["frame_bytes"]) == (row["direction"], row["frame_bytes"])
        and cell["offered_pps"] == row["throughput_pps"]
    ]


def _at_throughput(asked: TrialEvidence) -> Finding:
    known = [cell for cell in _best_cells(asked) if cell["mean_ns"] is not None]
    n, n_all = len(known), len(asked.results)
    if n == n_all:
        return FOUND, "of each size"
    return LACKING, f"of {n} of {n_all} sizes and directions"


def _streams(asked: TrialEvidence) -> Finding:
    lasted = [cell["duration_s"] for cell in _best_cells(asked)]
    if not lasted:
        return LACKING, "no trial without loss"
    verdict = FOUND if min(lasted) >= LATENCY_S - NEAR_S else LACKING
    return verdict, f"trials at throughput last {min(lasted):.3g} s or more"


def _repeats(asked: TrialEvidence) -> Finding:
    n_trials = [cell["n_trials"] for cell in _best_cells(asked)]
    if not n_trials:
        return LACKING, "no trial without loss"
    verdict = FOUND if min(n_trials) >= REPEATS else LACKING
    return verdict, f"at throughput {min(n_trials)} of each size, or more"
