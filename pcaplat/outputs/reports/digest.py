"""Digests that were made: a row for each."""

from pcaplat.outputs.report import Grid, Paragraph, Report, fields_of
from pcaplat.tables.columns import Row

COLUMNS = ("capture", "digest", "n_frames", "n_hidden", "n_bytes")
LEFT = ("capture", "digest")
HIDDEN = "Frames with a header that may hold addresses in unknown places: it counts as payload."


def report(document: Row) -> Report:
    """Say what was made, and how large it is."""
    rows = document["digests"]
    sections = [Grid("", fields_of([_texts(row) for row in rows], LEFT), [""] * len(rows))]
    told = [Paragraph(HIDDEN)] if any(row["n_hidden"] for row in rows) else []
    return Report(document, COLUMNS, rows, [*sections, *told])


def _texts(row: Row) -> dict[str, str]:
    texts = {
        "capture": row["capture"],
        "digest": row["digest"],
        "frames": f"{row['n_frames']:,}",
        "bytes a frame": f"{row['n_bytes'] / max(row['n_frames'], 1):.1f}",
    }
    hidden = f"{row['n_hidden']:,}" if row["n_hidden"] else "–"
    return texts | {"header hidden": hidden}
