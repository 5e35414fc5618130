"""What else differs between two scenarios: an effect is the treatment's only if all else is alike.

Nothing is decided by it: a treatment may well lose packets. It stands beside the verdict.
"""

from collections.abc import Callable, Iterator, Sequence
from statistics import median

from pcaplat.metrics.runs import MeasuredRun, Scenario
from pcaplat.tables.results import n_judged
from pcaplat.units import format_amount, format_frac

MOST_APART = 0.2
"""Usual sizes and rates may differ by this share; what is found of them scatters."""

LEAST_PERCENT_LOST = 0.01
"""Shares of packets lost may differ by this much."""

Figure = Callable[[MeasuredRun], float | None]


def unlike(scenarios: Sequence[Scenario]) -> Iterator[str]:
    """Say in what two scenarios differ besides what is claimed.

    Args:
        scenarios: The treatment, then the baseline.
    """
    for figure, text in (
        (_bytes, "frames of {} bytes against {} bytes"),
        (_tcp, "{} of the frames are TCP against {}"),
        (_rate, "{} frames a second against {}"),
        (_lost, "{} of the packets were lost against {}"),
    ):
        both = [_usual(one, figure) for one in scenarios]
        if None in both:
            continue
        after, before = (value or 0.0 for value in both)
        if _differ(after, before, is_share=figure in {_tcp, _lost}):
            shown = [_shown(value, figure) for value in (after, before)]
            what = text.format(*shown)
            yield f"the scenarios differ in more than what is claimed: {what}"


def _usual(scenario: Scenario, figure: Figure) -> float | None:
    values = [figure(run) for run in scenario.runs]
    known = [value for value in values if value is not None]
    return median(known) if len(known) == len(values) else None


def _differ(one: float, other: float, *, is_share: bool) -> bool:
    if is_share:
        return abs(one - other) > LEAST_PERCENT_LOST
    return abs(one - other) > MOST_APART * max(one, other)


def _shown(value: float, figure: Figure) -> str:
    if figure in {_tcp, _lost}:
        return format_frac(value)
    return f"{value:.0f}" if figure is _bytes else format_amount(value, "").strip()


def _bytes(run: MeasuredRun) -> float | None:
    """Usual size of the frames that go in."""
    rows = [] if run.rates is None else run.rates.traffic
    mine = [row for row in rows if row["point"] == run.ends[0] and row["direction"] == "forward"]
    return float(mine[0]["p50_frame_bytes"]) if mine else None


def _tcp(run: MeasuredRun) -> float | None:
    return None if run.contents is None else run.contents.share_of(run.ends[0], "tcp")


def _rate(run: MeasuredRun) -> float | None:
    row = None if run.rates is None else run.rates.row((run.ends[0], "forward"))
    value = None if row is None else row.get("packet_rate_pps")
    return None if value is None else float(value)


def _lost(run: MeasuredRun) -> float | None:
    rows = [row for key, row in run.segments.items() if key[:2] == run.ends]
    n = sum(map(n_judged, rows))
    return sum(row["n_lost"] for row in rows) / n if n else None
