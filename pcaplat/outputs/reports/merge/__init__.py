"""A merge: the path, segments, round trips, clocks, traffic, frames, and what may mislead."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pcaplat.outputs.report import Report, Section
from pcaplat.outputs.reports.merge.breakdowns import breakdown_sections
from pcaplat.outputs.reports.merge.budget import budget_sections
from pcaplat.outputs.reports.merge.clocks import clock_sections
from pcaplat.outputs.reports.merge.frames import frame_sections, slowest_sections, warning_sections
from pcaplat.outputs.reports.merge.path import path_sections
from pcaplat.outputs.reports.merge.round_trips import round_trip_sections
from pcaplat.outputs.reports.merge.segments import interval_sections, segment_sections
from pcaplat.outputs.reports.merge.traffic import traffic_sections
from pcaplat.outputs.reports.merge.translations import translation_sections
from pcaplat.tables import SEGMENTS

if TYPE_CHECKING:
    from pcaplat.run.merge import Result


def report(result: "Result") -> Report:
    """Say what was measured; a row for each segment."""
    rows = result.document["segments"]
    more = [name for row in rows for name in row if name not in SEGMENTS.names]
    columns = [*SEGMENTS.names, *dict.fromkeys(more)]
    return Report(result.document, columns, rows, _sections(result))


def _sections(result: "Result") -> Iterator[Section]:
    document = result.document
    yield from path_sections(document)
    yield from segment_sections(document)
    yield from breakdown_sections(document)
    yield from round_trip_sections(document)
    yield from interval_sections(document)
    yield from budget_sections(document)
    yield from clock_sections(document["clocks"])
    yield from translation_sections(document["translations"])
    yield from slowest_sections(result.slowest)
    yield from traffic_sections(document)
    yield from frame_sections(document)
    yield from warning_sections(document["warnings"])
