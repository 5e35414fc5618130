"""How points relate: usual offsets, bands about them, least delays."""
