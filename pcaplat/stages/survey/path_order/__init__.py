"""In which order packets pass the points, and what says so."""
