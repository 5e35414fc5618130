"""summary.json, as it lies in the folder of a result."""

import json
from pathlib import Path
from typing import Any

SUMMARY = "summary.json"
NEEDED = {"path", "edges", "captures", "clocks", "segments", "round_trips", "matching", "warnings"}
"""What every version has written."""


def saved_document(folder: Path) -> dict[str, Any]:
    """Read the summary in a folder.

    Raises:
        ValueError: It is none.
    """
    document = json.loads((folder / SUMMARY).read_text("utf-8"))
    if not isinstance(document, dict) or not document.keys() >= NEEDED:
        raise ValueError(f"{SUMMARY} is not that of a merge")
    return document
