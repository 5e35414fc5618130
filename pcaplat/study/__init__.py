"""Study files: scenarios, runs, points, clocks and claims in one place."""
