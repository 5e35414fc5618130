"""JSON: the audit as it is, `pcaplat.audit/1`."""

import json
from typing import Any, TextIO


def show(document: dict[str, Any], stream: TextIO) -> None:
    """Write the document."""
    # ASCII only, so that no name in it can steer a terminal; NaN is no JSON and would be a bug
    json.dump(document, stream, indent=2, ensure_ascii=True, allow_nan=False)
    stream.write("\n")
