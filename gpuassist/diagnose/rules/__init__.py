"""The rules by family."""
