"""Trials of RFC 2544, found in captures of a sender and a receiver point. See docs/rfc2544.md."""

from typing import Any

Row = dict[str, Any]
