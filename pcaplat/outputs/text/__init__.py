"""What outputs for a terminal share: tables that fit it, and the path as a line."""
