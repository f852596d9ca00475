"""Typed records over the data handed in, and the version arithmetic. Pure."""
