"""The tables of a result: their columns, units and meaning; a module a group of tables."""

from pcaplat.tables.results import (
    CAPTURES,
    CLOCK_BANDS,
    CLOCKS,
    DETAILS,
    ERROR_BUDGET,
    LOST,
    MATCHES,
    PACKETS,
    ROUND_TRIPS,
    SEGMENTS,
    SLOWEST,
    TABLES,
    TRANSLATIONS,
    WARNINGS,
)

__all__ = [
    "CAPTURES",
    "CLOCKS",
    "CLOCK_BANDS",
    "DETAILS",
    "ERROR_BUDGET",
    "LOST",
    "MATCHES",
    "PACKETS",
    "ROUND_TRIPS",
    "SEGMENTS",
    "SLOWEST",
    "TABLES",
    "TRANSLATIONS",
    "WARNINGS",
]
