"""Fuzzing of merge as a whole: octets stand for captures of one path, and laws hold."""
