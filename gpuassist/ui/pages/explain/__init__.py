"""Explain an error."""
