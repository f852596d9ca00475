"""Readers of what package managers are told to keep: text to hold lines, each with its number."""
