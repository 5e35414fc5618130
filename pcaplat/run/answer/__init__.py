"""The answer of a merge: its latencies as they are shown everywhere, in sentences and in HTML."""
