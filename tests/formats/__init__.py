"""Readers of foreign text and bytes, on recorded ones."""
