"""Readers of a project's own files, bytes to values with line and place: nothing of them is ever run, imported or fetched."""
