"""Captures as files: their names, the points in them, and what is said of their stamps."""
