"""Values that the stages hand to each other: what they hold, and how it is read."""
