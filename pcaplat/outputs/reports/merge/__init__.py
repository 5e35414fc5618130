"""A merge: the answer, what makes it doubtful, the segments; the rest if it is asked for."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pcaplat.outputs.report import Report, Section
from pcaplat.outputs.reports.merge.breakdowns import breakdown_sections
from pcaplat.outputs.reports.merge.budget import budget_sections
from pcaplat.outputs.reports.merge.clocks import clock_sections
from pcaplat.outputs.reports.merge.distributions import distribution_sections
from pcaplat.outputs.reports.merge.doubts import doubt_sections
from pcaplat.outputs.reports.merge.frames import frame_sections, slowest_sections
from pcaplat.outputs.reports.merge.names import name_sections, short_names, with_names
from pcaplat.outputs.reports.merge.path import answer_sections, path_sections
from pcaplat.outputs.reports.merge.round_trips import round_trip_sections
from pcaplat.outputs.reports.merge.segments import segment_sections
from pcaplat.outputs.reports.merge.traffic import traffic_sections
from pcaplat.outputs.reports.merge.translations import translation_sections
from pcaplat.run.answer.view import LatencyView
from pcaplat.tables import SEGMENTS
from pcaplat.tables.columns import Row

if TYPE_CHECKING:
    from pcaplat.run.result import Result


def report(result: "Result") -> Report:
    """Say what was measured; a row for each segment."""
    rows = result.document["segments"]
    more = [name for row in rows for name in row if name not in SEGMENTS.names]
    columns = [*SEGMENTS.names, *dict.fromkeys(more)]
    return Report(result.document, columns, rows, _sections(result))


def _sections(result: "Result") -> Iterator[Section]:
    """Give what is kept with whole names, and what is read with short ones."""
    document = result.document
    short = short_names([row["point"] for row in document["captures"]])
    yield from name_sections(short)
    shown = with_names(document, short) if short else document
    yield from (one for one in _read(shown, result, short) if one.only != "paper")
    yield from (one for one in _read(document, result, {}) if one.only == "paper")


def _read(document: Row, result: "Result", short: Mapping[str, str]) -> Iterator[Section]:
    latencies = LatencyView.of(document)
    yield from path_sections(document, latencies)
    yield from answer_sections(document, latencies)
    yield from doubt_sections(document, latencies)
    yield from segment_sections(document, latencies)
    yield from distribution_sections(latencies, result.blocks, short)
    yield from breakdown_sections(document)
    yield from round_trip_sections(document, latencies)
    yield from budget_sections(document)
    yield from clock_sections(document["clocks"])
    yield from translation_sections(document["translations"])
    yield from slowest_sections(result.slowest)
    yield from traffic_sections(document)
    yield from frame_sections(document)
