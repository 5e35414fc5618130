"""The stages: pure functions from tables to tables. They never import one another."""

STAGES = ("read", "survey", "match", "align", "attribute", "summarize")
