"""Your machine."""
