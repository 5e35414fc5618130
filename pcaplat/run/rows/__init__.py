"""Rows of single packets, from what a run left in its folder and from its captures."""
