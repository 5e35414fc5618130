"""Figures of runs: what comparisons are made of and claims are about."""
