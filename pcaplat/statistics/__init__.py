"""Intervals: of means, quantiles and ratios, from what was counted."""
