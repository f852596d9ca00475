"""Profilers, both ways: which one next, and what they left."""
