"""A comparison: the difference segment by segment, where it lies, and what may mislead."""

from collections.abc import Iterator

from pcaplat.outputs.report import Grid, Remarks, Report, Section, Title, fields_of, warnings_of
from pcaplat.outputs.reports.merge.budget import NAMES as SOURCES
from pcaplat.tables.columns import Row
from pcaplat.units import format_amount, format_count, format_frac, format_in, format_ns, unit_for

FILES = {"comparison.json": "json", "comparison.junit.xml": "junit", "report.html": "html"}
COLUMNS = (
    *("figure", "near", "far", "direction", "baseline", "treatment", "delta", "lo", "hi"),
    *("confidence", "n", "n_effective", "unit", "reason"),
)
DURATIONS = ("baseline_mean_ns", "treatment_mean_ns", "delta_mean_ns", "lo_ns", "hi_ns", "shift_ns")
SHOWN = ("packet-rate", "throughput-l2", "goodput", "transaction-rate", "transaction-time")
"""Rates that people read; JSON and CSV have them all."""

UNKNOWN = "–"
ARROWS = {"forward": "→", "reverse": "←"}


def report(document: Row) -> Report:
    """Say what was found between two scenarios; a row for each segment and figure."""
    return Report(document, COLUMNS, _rows(document), _sections(document))


def _rows(document: Row) -> Iterator[Row]:
    for key, figure in (("round_trips", "two-way-contribution"), ("segments", "one-way-latency")):
        for row in document[key]:
            ends = {"lo": row["lo_ns"], "hi": row["hi_ns"], "delta": row["delta_mean_ns"]}
            means = {"baseline": row["baseline_mean_ns"], "treatment": row["treatment_mean_ns"]}
            yield row | ends | means | {"figure": figure, "unit": "ns"}
    for row in document["rates"]:
        ends = {"lo": row["lo_frac"], "hi": row["hi_frac"], "delta": row["delta_frac"]}
        # of a loss ratio the difference itself, of anything else a share of the baseline
        yield row | ends | {"figure": row["metric"], "unit": "frac"}


def _sections(document: Row) -> Iterator[Section]:
    yield Title(_title(document))
    yield from (Grid(heading, fields_of(rows)) for heading, rows in _tables(document))
    yield Grid("Limit", fields_of([_limit(row) for row in document["limits"]]))
    yield Remarks("History", list(_history(document["history"])))
    yield Remarks("Quantiles", _curves(document), lead="Quantiles, ")
    yield Remarks("Undecided", _reasons(document))
    yield Remarks("Between the scenarios", _between(document))
    yield Remarks("Warnings", warnings_of(document))


def _limit(row: Row) -> dict[str, str]:
    def shown(value: float | None) -> str:
        if value is None:
            return UNKNOWN
        return format_frac(value) if row["unit"] == "frac" else format_ns(value)

    words = {"segment": f"{row['near']} ⇄ {row['far']}", "slower by at most": row["limit"]}
    numbers = {name: shown(row[name]) for name in ("delta", "lo", "hi")}
    titles = {"delta": "difference", "lo": "from", "hi": "to"}
    return words | {titles[name]: text for name, text in numbers.items()} | {"": row["verdict"]}


def _history(history: Row | None) -> Iterator[str]:
    """Say since when a segment is slower, and how often a steady one would seem so."""
    if history is None:
        return
    stepped = [row for row in history["segments"] if row["since"]]
    for row in stepped:
        is_slower = row["after_ns"] > row["before_ns"]
        word = "Regression: slower" if is_slower else "Change point: faster"
        yield (
            f"{word} since {row['since']}: {row['near']} ⇄ {row['far']}, "
            f"{format_ns(row['before_ns'])} before, {format_ns(row['after_ns'])} from then on"
        )
    if stepped:
        rate = f"{100 * history['false_alarm_rate']:g} %"
        yield f"False alarms: in {rate} of looks at a steady history"
    if not stepped:
        few = history["n"] < history["least_n"]
        told = f"; {history['least_n']} or more show a step" if few else "; no step in them"
        yield f"{history['n']} comparison{'s' if history['n'] != 1 else ''} kept{told}"


def _title(document: Row) -> str:
    """Say what was subtracted from what, and what the intervals rest on."""
    both = (document["treatment"], document["baseline"])
    n_runs = ", ".join(f"{one['name']} {_n_runs(one['n_runs'])}" for one in both)
    basis = {"runs": "run to run", "within-run": "within the runs only"}
    names = " − ".join(one["name"] for one in both)
    return f"{names} ({n_runs}); intervals {basis[document['replication']]}"


def _n_runs(n_runs: int) -> str:
    """Count runs in words."""
    return "1 run" if n_runs == 1 else f"{n_runs} runs"


def _tables(document: Row) -> list[tuple[str, list[dict[str, str]]]]:
    """Give headings and rows as a reader sees them."""
    names = [document[side]["name"] for side in ("baseline", "treatment")]
    found = []
    for text, key in (("Round-trip contribution", "round_trips"), ("One-way latency", "segments")):
        rows = document[key]
        unit = unit_for(row[name] for row in rows for name in DURATIONS if name in row)
        confidence = f"{100 * rows[0]['confidence']:.0f} %" if rows else ""
        found.append((f"{text}, {unit}, {confidence}", [_texts(row, names, unit) for row in rows]))
    losses = [row for row in document["rates"] if row["metric"] == "loss-ratio"]
    found.append(("Loss", [_loss(row, names) for row in losses]))
    rates = [row for row in document["rates"] if row["metric"] in SHOWN]
    found.append(("Traffic", [_rate(row, names) for row in rates]))
    return [(text, rows) for text, rows in found if rows]


def _curves(document: Row) -> list[str]:
    """Say where in the distribution the effect lies, of each segment that has a curve."""
    return [
        f"{_place(row)}: "
        + ", ".join(
            f"p{100 * one['share']:.0f} {format_ns(one['delta_ns'])} "
            f"({format_ns(one['lo_ns'])} to {format_ns(one['hi_ns'])})"
            for one in row["quantiles"]
        )
        for row in document["segments"]
        if row["quantiles"]
    ]


def _reasons(document: Row) -> list[str]:
    """Say of which segments an interval says little, and why."""
    rows = [row for row in document["round_trips"] if row["reason"]]
    return [
        f"{', '.join(_place(row) for row in rows if row['reason'] == reason)}: {reason}"
        for reason in dict.fromkeys(row["reason"] for row in rows)
    ]


def _between(document: Row) -> list[str]:
    """Say which terms of the error budget cancel between the scenarios, and which stay."""
    found = []
    for how in ("cancels", "stays"):
        rows = [row for row in document.get("terms", []) if row["between"] == how]
        texts = [f"{SOURCES[row['term']]} ({row['why']})" for row in rows]
        found += [f"What {how}: {'; '.join(texts)}"] if texts else []
    return found


def _place(row: Row) -> str:
    return f"{row['near']} {ARROWS.get(row.get('direction', ''), '⇄')} {row['far']}"


def _texts(row: Row, names: list[str], unit: str) -> dict[str, str]:
    texts = {
        "segment": _place(row),
        names[0]: format_in(row["baseline_mean_ns"], unit),
        names[1]: format_in(row["treatment_mean_ns"], unit),
        "difference": format_in(row["delta_mean_ns"], unit),
        "from": format_in(row["lo_ns"], unit),
        "to": format_in(row["hi_ns"], unit),
    }
    shift = {"median shift": format_in(row["shift_ns"], unit)} if "shift_ns" in row else {}
    n_effective = format_count(round(row["n_effective"]))
    return texts | shift | {"n": format_count(row["n"]), "indep.": n_effective}


def _loss(row: Row, names: list[str]) -> dict[str, str]:
    sides = zip(names, ("baseline", "treatment"), strict=True)
    counts = {name: _share_lost(row, side) for name, side in sides}
    ends = {"difference": "delta_frac", "from": "lo_frac", "to": "hi_frac"}
    return (
        {"segment": _place(row)}
        | counts
        | {text: format_frac(row[key]) for text, key in ends.items()}
    )


def _rate(row: Row, names: list[str]) -> dict[str, str]:
    way = ARROWS.get(row["direction"] or "", "⇄")
    shown = {
        name: _amount(row[side], row["unit"])
        for name, side in zip(names, ("baseline", "treatment"), strict=True)
    }
    ends = {"change": "delta_frac", "from": "lo_frac", "to": "hi_frac"}
    return (
        {"segment": f"{row['metric']} {way} {row['point']}"}
        | shown
        | {text: format_frac(row[key]) for text, key in ends.items()}
    )


def _amount(value: float, unit: str) -> str:
    return format_ns(value) if unit == "ns" else format_amount(value, unit)


def _share_lost(row: Row, side: str) -> str:
    n_lost = row[f"{side}_n_lost"]
    n = row[f"{side}_n"] + n_lost
    return f"{format_frac(row[side])} ({format_count(n_lost)} of {format_count(n)})"
