"""What in captures and paths may mislead: one module a kind of evidence, one catalogue of codes."""
