"""Pairs of frames that are one packet: as the core spills them, and as rows of results."""
