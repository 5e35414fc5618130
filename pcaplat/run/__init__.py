"""A merge: what was asked for, the two passes over all frames, and what it leaves behind."""
