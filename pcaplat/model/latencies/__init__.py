"""Latencies of segments and of round trips, as the core counted them."""
